// Timing caches with changes and the right checksum: read and used by a build, or refused in words.
// Built with libFuzzer under clang; elsewhere driver.cpp mutates the corpus.
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>

#include "compiler/compile.h"
#include "fuzz/mutator.h"
#include "ops/ops.h"
#include "support/error.h"
#include "support/hash.h"
#include "tuner/timing_cache.h"

namespace camshaft::fuzz {
namespace {

constexpr size_t kHeader = 16;  // magic and checksum

void rehash(Bytes& cache) {
  if (cache.size() < kHeader) return;
  const uint64_t hash = hashBytes(std::as_bytes(std::span(cache).subspan(kHeader)));
  std::memcpy(cache.data() + 8, &hash, sizeof hash);
}

// Two products that several kernels take, so that the cache is asked for their times.
Plan build(TimingCache& timings) {
  static const Graph graph = parseGraph(
      "graph g(%x: f32[4, 8], %w: f32[8, 8], %v: f32[2, 8, 4]) { %y = MatMul(%x, %w) "
      "%z = MatMul(%v, %y) return %z }",
      findOp);
  CompileOptions options;
  options.threads = 1;
  options.timings = &timings;
  return compile(graph.clone(), options);
}

// The cache as the build above leaves it.
Bytes learntCache() {
  TimingCache timings;
  build(timings);
  const std::vector<std::byte> bytes = timings.serialize();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

double oddTime(Random& random) {
  static constexpr double kOdd[] = {0.0,
                                    -0.0,
                                    -1.0,
                                    1e-300,
                                    1e300,
                                    std::numeric_limits<double>::infinity(),
                                    -std::numeric_limits<double>::infinity(),
                                    std::numeric_limits<double>::quiet_NaN()};
  return oneIn(random, 4) ? std::bit_cast<double>(random()) : kOdd[below(random, std::size(kOdd))];
}

// Times follow keys, so a time is what ends before a key's length.
class CacheMutator : public Mutator {
 public:
  void learn(std::string_view) override {}
  std::vector<Bytes> seeds() const override { return {"", learntCache()}; }
  Bytes mutated(Bytes cache, Random& random) const override {
    for (uint64_t changes = 1 + below(random, 4); changes > 0; --changes) {
      const std::vector<size_t> times = timesIn(cache);
      if (times.empty() || oneIn(random, 3)) {
        cache = changedBytes(std::move(cache), random);
      } else {
        const double time = oddTime(random);
        std::memcpy(cache.data() + times[below(random, times.size())], &time, sizeof time);
      }
    }
    if (!oneIn(random, 16)) rehash(cache);
    return cache;
  }

 private:
  // Where the times of the cache lie.
  static std::vector<size_t> timesIn(const Bytes& cache) {
    std::vector<size_t> times;
    for (size_t at = kHeader + 8; at + 8 <= cache.size();) {
      uint64_t length;
      std::memcpy(&length, cache.data() + at, sizeof length);
      at += 8;
      if (length > cache.size() || at + length + 8 > cache.size()) break;
      times.push_back(at + length);
      at += length + 8;
    }
    return times;
  }
};

[[noreturn]] void stop(const char* why) {
  std::fprintf(stderr, "%s\n", why);
  std::abort();
}

void tryCache(std::span<const std::byte> bytes) {
  TimingCache cache(bytes);
  if (TimingCache(cache.serialize()).serialize() != cache.serialize())
    stop("a cache does not survive being written and read");
  TimingCache both;
  both.combine(cache);
  both.combine(cache, true);
  if (both.size() != cache.size()) stop("a cache combined with nothing changes");
  build(both);
}

}  // namespace

std::unique_ptr<Mutator> makeMutator() { return std::make_unique<CacheMutator>(); }

}  // namespace camshaft::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace camshaft;
  try {
    fuzz::tryCache(std::as_bytes(std::span(data, size)));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInternal) fuzz::stop(error.what());
  }
  return 0;
}
