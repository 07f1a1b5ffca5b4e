// What the cores can do at most, as JSON: operations per second of f32, f16, bf16 and int8 products
// from registers, and bytes per second read from memory. benchmarks/compare.py sets layers against
// it.
//
//   cpu_peaks [threads]
//
// A type is missing where the CPU has no instruction for it. Operands are random: tiles of zeros
// draw less power, and run at a clock that no model sees.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "support/cpu_info.h"
#include "support/spin.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "backends/cpu/simd/amx_tiles.h"
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace {

constexpr int64_t kRounds = 200'000;
constexpr int64_t kReadBytes = int64_t{64} << 20;

alignas(64) uint8_t operands[4096];

// Small bf16 numbers of either sign, whose bytes do for the other types too.
void fillOperands() {
  uint32_t state = 1;
  for (uint8_t& byte : operands) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<uint8_t>((&byte - operands) % 2 ? 0x3c + (state >> 31) * 0x80 : state >> 24);
  }
}

struct Probe {
  const char* type;
  double operations;  // of one call
  std::function<void()> run;
};

// A function that does STEP(i) on sums s0, s1, … of its own. They are named, or GCC keeps them in
// memory, and hidden from it once, or it computes one for all.
#define CAMSHAFT_12(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
#define CAMSHAFT_24(DO) \
  CAMSHAFT_12(DO)       \
  DO(12) DO(13) DO(14) DO(15) DO(16) DO(17) DO(18) DO(19) DO(20) DO(21) DO(22) DO(23)
#define CAMSHAFT_DECLARE(i) Sum s##i{};
#define CAMSHAFT_HIDE(i) asm volatile("" : CAMSHAFT_IN_REGISTER(s##i));
#define CAMSHAFT_LOOP(name, target_, Type, Operand, EACH, STEP) \
  CAMSHAFT_TARGET(target_) void name() {                        \
    using Sum = Type;                                           \
    Operand a, b;                                               \
    __builtin_memcpy(&a, operands, sizeof a);                   \
    __builtin_memcpy(&b, operands + sizeof a, sizeof b);        \
    EACH(CAMSHAFT_DECLARE)                                      \
    EACH(CAMSHAFT_HIDE)                                         \
    for (int64_t i = 0; i < kRounds; ++i) {                     \
      EACH(STEP)                                                \
    }                                                           \
    EACH(CAMSHAFT_HIDE)                                         \
  }

#if defined(__x86_64__)

using camshaft::cpu::AmxProduct;
using camshaft::cpu::hasAmx;
using camshaft::cpu::TileScope;

#define CAMSHAFT_TARGET(name) __attribute__((target(name)))
#define CAMSHAFT_IN_REGISTER(sum) "+v"(sum)
#define CAMSHAFT_FMA256(i) s##i = _mm256_fmadd_ps(a, b, s##i);
#define CAMSHAFT_FMA512(i) s##i = _mm512_fmadd_ps(a, b, s##i);
#define CAMSHAFT_DPBF16(i) s##i = _mm512_dpbf16_ps(s##i, (__m512bh)a, (__m512bh)b);
#define CAMSHAFT_DPBUSD(i) s##i = _mm512_dpbusd_epi32(s##i, a, b);
CAMSHAFT_LOOP(multiplyAvx2, "avx2,fma", __m256, __m256, CAMSHAFT_12, CAMSHAFT_FMA256)
CAMSHAFT_LOOP(multiplyAvx512, "avx512f", __m512, __m512, CAMSHAFT_24, CAMSHAFT_FMA512)
CAMSHAFT_LOOP(multiplyBf16, "avx512f,avx512bf16", __m512, __m512i, CAMSHAFT_24, CAMSHAFT_DPBF16)
CAMSHAFT_LOOP(multiplyInt8, "avx512f,avx512vnni", __m512i, __m512i, CAMSHAFT_24, CAMSHAFT_DPBUSD)

// Four products of two tiles each way, as kernels have them.
#define CAMSHAFT_TILES(name, target_, product) \
  CAMSHAFT_TARGET(target_) void name() {       \
    const TileScope tiles(true);               \
    _tile_loadd(4, operands, 64);              \
    _tile_loadd(5, operands + 1024, 64);       \
    _tile_loadd(6, operands + 2048, 64);       \
    _tile_loadd(7, operands + 3072, 64);       \
    _tile_zero(0);                             \
    _tile_zero(1);                             \
    _tile_zero(2);                             \
    _tile_zero(3);                             \
    for (int64_t i = 0; i < kRounds; ++i) {    \
      product(0, 4, 6);                        \
      product(1, 4, 7);                        \
      product(2, 5, 6);                        \
      product(3, 5, 7);                        \
    }                                          \
  }
CAMSHAFT_TILES(multiplyBf16Tiles, "amx-tile,amx-bf16", _tile_dpbf16ps)
CAMSHAFT_TILES(multiplyInt8Tiles, "amx-tile,amx-int8", _tile_dpbusd)

std::vector<Probe> probes() {
  std::vector<Probe> all;
  const bool is512 = __builtin_cpu_supports("avx512f");
  if (is512)
    all.push_back({"f32", 2.0 * 16 * 24 * kRounds, multiplyAvx512});
  else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    all.push_back({"f32", 2.0 * 8 * 12 * kRounds, multiplyAvx2});
  if (hasAmx(AmxProduct::kBf16))
    all.push_back({"bf16", 2.0 * 16 * 16 * 32 * 4 * kRounds, multiplyBf16Tiles});
  else if (__builtin_cpu_supports("avx512bf16"))
    all.push_back({"bf16", 2.0 * 32 * 24 * kRounds, multiplyBf16});
  if (hasAmx(AmxProduct::kInt8))
    all.push_back({"int8", 2.0 * 16 * 16 * 64 * 4 * kRounds, multiplyInt8Tiles});
  else if (__builtin_cpu_supports("avx512vnni"))
    all.push_back({"int8", 2.0 * 64 * 24 * kRounds, multiplyInt8});
  return all;
}

#elif defined(__aarch64__)

#define CAMSHAFT_TARGET(name)  // the whole program is compiled for these instructions
#define CAMSHAFT_IN_REGISTER(sum) "+w"(sum)
#define CAMSHAFT_FMLA(i) s##i = vfmaq_f32(s##i, a, b);
#define CAMSHAFT_FMLA16(i) s##i = vfmaq_f16(s##i, a, b);
#define CAMSHAFT_BFMMLA(i) s##i = vbfmmlaq_f32(s##i, a, b);
#define CAMSHAFT_USMMLA(i) s##i = vusmmlaq_s32(s##i, vreinterpretq_u8_s8(a), b);
#define CAMSHAFT_SDOT(i) s##i = vdotq_s32(s##i, a, b);
CAMSHAFT_LOOP(multiplyF32, , float32x4_t, float32x4_t, CAMSHAFT_24, CAMSHAFT_FMLA)
CAMSHAFT_LOOP(multiplyF16, , float16x8_t, float16x8_t, CAMSHAFT_24, CAMSHAFT_FMLA16)
CAMSHAFT_LOOP(multiplyBf16, , float32x4_t, bfloat16x8_t, CAMSHAFT_24, CAMSHAFT_BFMMLA)
CAMSHAFT_LOOP(multiplyInt8, , int32x4_t, int8x16_t, CAMSHAFT_24, CAMSHAFT_USMMLA)
CAMSHAFT_LOOP(dotInt8, , int32x4_t, int8x16_t, CAMSHAFT_24, CAMSHAFT_SDOT)

std::vector<Probe> probes() {
  const auto has = [features = "+" + camshaft::cpuFeatures() + "+"](const std::string& name) {
    return features.find("+" + name + "+") != std::string::npos;
  };
  std::vector<Probe> all{{"f32", 2.0 * 4 * 24 * kRounds, multiplyF32}};
  if (has("fp16")) all.push_back({"f16", 2.0 * 8 * 24 * kRounds, multiplyF16});
  if (has("bf16")) all.push_back({"bf16", 2.0 * 16 * 24 * kRounds, multiplyBf16});
  if (has("i8mm"))
    all.push_back({"int8", 2.0 * 32 * 24 * kRounds, multiplyInt8});
  else if (has("dotprod"))
    all.push_back({"int8", 2.0 * 16 * 24 * kRounds, dotInt8});
  return all;
}

#else
std::vector<Probe> probes() { return {}; }
#endif

// Each thread has memory of its own, which it writes first.
Probe readProbe() {
  return {"read", static_cast<double>(kReadBytes), [] {
            thread_local const std::vector<uint64_t> memory(kReadBytes / sizeof(uint64_t), 1);
            uint64_t sum = 0;
            for (const uint64_t word : memory) sum += word;
            asm volatile("" : : "m"(sum));
          }};
}

// Where threads meet. They spin: one that slept would be woken on the core of the one that woke it.
class Meeting {
 public:
  explicit Meeting(int threads) : threads_(threads) {}
  void wait() {
    const int round = round_.load();
    if (arrived_.fetch_add(1) + 1 < threads_) {
      while (round_.load() == round) camshaft::relaxCpu();
    } else {
      arrived_.store(0);
      round_.store(round + 1);
    }
  }

 private:
  const int threads_;
  std::atomic<int> arrived_{0}, round_{0};
};

// Operations or bytes per second, of all threads together; the best of some rounds.
double measure(const Probe& probe, int threads) {
  constexpr int kRepetitions = 20;
  using Clock = std::chrono::steady_clock;
  Meeting meeting(threads);
  double best = 0;
  const auto work = [&](bool isFirst) {
    for (int i = 0; i < kRepetitions; ++i) {
      meeting.wait();
      const auto start = Clock::now();
      probe.run();
      meeting.wait();
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      if (isFirst && i > 0) best = std::max(best, probe.operations * threads / seconds);
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(work, false);
  work(true);
  for (std::thread& other : others) other.join();
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::max(std::atoi(argv[1]), 1) : camshaft::usableCores();
  fillOperands();
  std::printf("{\"threads\": %d", threads);
  for (const Probe& probe : probes())
    std::printf(", \"%s\": %.4g", probe.type, measure(probe, threads));
  std::printf(", \"read\": %.4g}\n", measure(readProbe(), threads));
}
