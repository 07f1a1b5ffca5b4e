#include "cuda_emulator/emulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>

namespace camshaft::emulator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count) : count_(count), data_(allocateArray(count)) {}
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    copy(data_, values.data(), values.size() * sizeof(T));
  }
  ~DeviceArray() { release(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() { return data_; }
  std::vector<T> values() const { return std::vector<T>(data_, data_ + count_); }

 private:
  static T* allocateArray(size_t count) { return static_cast<T*>(allocate(count * sizeof(T))); }
  size_t count_;
  T* data_;
};

template <class... P>
void launchOn(const Function& function, unsigned grid, unsigned block, size_t sharedBytes,
              P... parameters) {
  void* addresses[] = {&parameters..., nullptr};
  const unsigned grid3[3] = {grid, 1, 1};
  const unsigned block3[3] = {block, 1, 1};
  launch(function, grid3, block3, sharedBytes, addresses);
}

// Of the one kernel in `source`.
Function kernelOf(const std::string& source) {
  const auto module = Module::compile(source);
  return module->find(module->kernels().at(0));
}

template <class Action>
std::string errorOf(Action action) {
  try {
    action();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

std::vector<float> ramp(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

TEST(Emulator, AddsVectorsOfOddSizes) {
  const Function add = kernelOf(R"(
    extern "C" __global__ void __launch_bounds__(64) add(const float* __restrict__ a,
        const float* __restrict__ b, float* __restrict__ c, int n) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) c[i] = __ldg(a + i) + b[i];
    })");
  EXPECT_EQ(add.parameterSizes, (std::vector<size_t>{8, 8, 8, 4}));
  for (int n : {1, 63, 64, 65, 12345}) {
    const std::vector<float> values = ramp(static_cast<size_t>(n));
    DeviceArray<float> a(values), b(values), c(values.size());
    launchOn(add, static_cast<unsigned>(n + 63) / 64, 64, 0, a.data(), b.data(), c.data(), n);
    const std::vector<float> sums = c.values();
    for (size_t i = 0; i < sums.size(); ++i) ASSERT_EQ(sums[i], 2 * values[i]) << i;
  }
}

TEST(Emulator, ReducesABlockThroughSharedMemory) {
  const Function sum = kernelOf(R"(
    template <int N> __device__ float total(float x) {
      __shared__ float partial[N];
      partial[threadIdx.x] = x;
      for (int half = N / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
      }
      __syncthreads();
      return partial[0];
    }
    extern "C" __global__ void sum(const float* x, float* y) {
      y[blockIdx.x * 256 + threadIdx.x] = total<256>(x[blockIdx.x * 256 + threadIdx.x]);
    })");
  constexpr unsigned kBlocks = 200;
  DeviceArray<float> x(std::vector<float>(kBlocks * 256, 0.5f)), y(kBlocks * 256);
  launchOn(sum, kBlocks, 256, 0, x.data(), y.data());
  for (float value : y.values()) ASSERT_EQ(value, 128.0f);
}

TEST(Emulator, SharedMemoryStartsAsNan) {
  const Function read = kernelOf(R"(
    extern "C" __global__ void read(float* y) {
      __shared__ float fixed[4];
      extern __shared__ __align__(16) float dynamic[];
      y[2 * blockIdx.x] = fixed[1];
      y[2 * blockIdx.x + 1] = dynamic[2];
      fixed[1] = dynamic[2] = 1.0f;
    })");
  DeviceArray<float> y(8);
  launchOn(read, 4, 1, 16, y.data());
  for (float value : y.values()) EXPECT_TRUE(std::isnan(value));
}

TEST(Emulator, ShufflesWithinAWarp) {
  const Function shuffle = kernelOf(R"(
    extern "C" __global__ void shuffle(float* sums, int* downs, unsigned* votes, double* first) {
      const int i = threadIdx.x;
      float x = i;
      for (int offset = 16; offset; offset >>= 1) x += __shfl_xor_sync(0xffffffffu, x, offset);
      sums[i] = x;
      downs[i] = __shfl_down_sync(0xffffffffu, i, 1, 8);
      votes[i] = __ballot_sync(0xffffffffu, i % 2);
      first[i] = __shfl_sync(0xffffffffu, i + 0.25, 3);
    })");
  DeviceArray<float> sums(64);
  DeviceArray<int> downs(64);
  DeviceArray<unsigned> votes(64);
  DeviceArray<double> first(64);
  launchOn(shuffle, 1, 64, 0, sums.data(), downs.data(), votes.data(), first.data());
  for (int i = 0; i < 64; ++i) {
    const size_t at = static_cast<size_t>(i);
    EXPECT_EQ(sums.values()[at], i < 32 ? 496.0f : 1520.0f);
    EXPECT_EQ(downs.values()[at], i % 8 == 7 ? i : i + 1);
    EXPECT_EQ(votes.values()[at], 0xAAAAAAAAu);
    EXPECT_EQ(first.values()[at], i / 32 * 32 + 3.25);
  }
}

TEST(Emulator, ThreadsThatReturnedDontCount) {
  const Function early = kernelOf(R"(
    extern "C" __global__ void early(int* counts, int* sums, unsigned* masks, int n) {
      if (threadIdx.x >= n) return;
      counts[threadIdx.x] = __syncthreads_count(1);
      const unsigned mask = __activemask();
      sums[threadIdx.x] = __reduce_add_sync(mask, (int)threadIdx.x - 10);
      masks[threadIdx.x] = __ballot_sync(0xffffffffu, 1);
    })");
  constexpr int kRunning = 40;
  DeviceArray<int> counts(kRunning), sums(kRunning);
  DeviceArray<unsigned> masks(kRunning);
  launchOn(early, 1, 96, 0, counts.data(), sums.data(), masks.data(), kRunning);
  EXPECT_THAT(counts.values(), ::testing::Each(kRunning));
  EXPECT_EQ(sums.values()[0], 496 - 320);
  EXPECT_EQ(sums.values()[35], 35 * 8 + 4 - 80);
  EXPECT_EQ(masks.values()[0], 0xFFFFFFFFu);
  EXPECT_EQ(masks.values()[39], 0xFFu);
}

TEST(Emulator, GivesDynamicSharedMemory) {
  const Function reverse = kernelOf(R"(
    namespace device { struct Pair { float value; int index; }; }
    extern "C" __global__ void reverse(float* x, int n) {
      extern __shared__ __align__(16) unsigned char bytes[];
      extern __shared__ device::Pair pairs[];
      device::Pair* same = reinterpret_cast<device::Pair*>(bytes);
      pairs[threadIdx.x] = {x[threadIdx.x], (int)threadIdx.x};
      __syncthreads();
      x[n - 1 - same[threadIdx.x].index] = pairs[threadIdx.x].value;
    })");
  DeviceArray<float> x(ramp(77));
  launchOn(reverse, 1, 77, 77 * 8, x.data(), 77);
  for (size_t i = 0; i < 77; ++i) EXPECT_EQ(x.values()[i], 77.0f - static_cast<float>(i));
  EXPECT_THAT(errorOf([&] { launchOn(reverse, 1, 77, 76 * 8, x.data(), 77); }),
              HasSubstr("608 bytes of dynamic shared memory"));
  EXPECT_THAT(errorOf([&] { launchOn(reverse, 1, 77, 0, x.data(), 77); }),
              HasSubstr("past the end of 0 bytes of dynamic shared memory"));
}

TEST(Emulator, DynamicSharedMemoryMayBeDeclaredOutsideOfFunctions) {
  const Function swap = kernelOf(R"(
    namespace device {
    extern __shared__ char bytes[];
    __device__ float* floats() { return reinterpret_cast<float*>(bytes + 4); }
    }
    extern "C" {
    __global__ void swap(float* x) {
      device::floats()[threadIdx.x] = x[threadIdx.x];
      __syncthreads();
      x[threadIdx.x] = device::floats()[1 - threadIdx.x];
    }
    })");
  DeviceArray<float> x(std::vector<float>{1.0f, 2.0f});
  launchOn(swap, 1, 2, 12, x.data());
  EXPECT_EQ(x.values(), (std::vector<float>{2.0f, 1.0f}));
}

TEST(Emulator, AtomicsCountAllBlocks) {
  const Function count = kernelOf(R"(
    extern "C" __global__ void count(unsigned* total, float* sum, int* largest,
                                     unsigned long long* wide) {
      atomicAdd(total, 1u);
      atomicAdd(sum, 0.5f);
      atomicMax(largest, (int)(blockIdx.x * blockDim.x + threadIdx.x));
      unsigned long long old = *wide, seen;
      while ((seen = atomicCAS(wide, old, old + 2)) != old) old = seen;
    })");
  DeviceArray<unsigned> total(std::vector<unsigned>{0});
  DeviceArray<float> sum(std::vector<float>{0});
  DeviceArray<int> largest(std::vector<int>{-1});
  DeviceArray<unsigned long long> wide(std::vector<unsigned long long>{0});
  launchOn(count, 1000, 128, 0, total.data(), sum.data(), largest.data(), wide.data());
  EXPECT_EQ(total.values()[0], 128000u);
  EXPECT_EQ(sum.values()[0], 64000.0f);
  EXPECT_EQ(largest.values()[0], 127999);
  EXPECT_EQ(wide.values()[0], 256000u);
}

TEST(Emulator, NamedBarriersAndWaitingLoops) {
  const Function pipeline = kernelOf(R"(
    extern "C" __global__ void pipeline(int* y) {
      __shared__ volatile int ready;
      __shared__ int value;
      if (threadIdx.x == 0) ready = 0;
      __syncthreads();
      if (threadIdx.x < 32) {
        while (!ready) __nanosleep(20);
        y[threadIdx.x] = value;
        emulatedBarrierArrive(1, 64);
      } else {
        if (threadIdx.x == 40) { value = 7; ready = 1; }
        emulatedBarrierSync(1, 64);
        y[threadIdx.x] = y[threadIdx.x - 32] + 1;
      }
    })");
  DeviceArray<int> y(64);
  launchOn(pipeline, 1, 64, 0, y.data());
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(y.values()[i], i < 32 ? 7 : 8);
}

TEST(Emulator, KnowsTheBuiltinsOfNvrtc) {
  const Function builtins = kernelOf(R"(
    struct Parameters { float scale; int4 sizes; };
    __constant__ float table[2] = {2.0f, 3.0f};
    extern "C" __global__ void builtins(const __grid_constant__ Parameters p, float4* vectors,
                                        float* y, dim3 unused) {
      const float4 v = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
      vectors[0] = v;
      y[0] = exp(0.0f) + expf(0.0f) + __expf(0.0f);
      y[1] = rsqrtf(4.0f) + __fdividef(1.0f, 4.0f) + fmaf(2.0f, 3.0f, 1.0f);
      y[2] = __int_as_float(__float_as_int(1.5f)) + table[1];
      y[3] = __popc(0xF0u) + __clz(1) + __ffs(8) + __byte_perm(0x11223344u, 0u, 0x4441u);
      y[4] = min(3, 4u) + max(2.0f, NAN) + p.sizes.w * p.scale;
      y[5] = __float2int_rn(2.5f) + __float2int_rz(1e30f) / 2147483647 + __float2uint_rn(-3.0f);
      y[6] = halfToFloat(floatToHalf(1.0f / 3)) * 3;
      y[7] = __dp4a(0x01FF0203, 0x01010101, 1) + isnan(NAN) + isfinite(INFINITY);
    })");
  struct Parameters {
    float scale;
    alignas(16) int sizes[4];
  } p{0.5f, {1, 2, 3, 4}};
  struct {
    unsigned x, y, z;
  } unused{1, 1, 1};
  DeviceArray<float> vectors(4), y(8);
  launchOn(builtins, 1, 1, 0, p, vectors.data(), y.data(), unused);
  EXPECT_EQ(vectors.values(), ramp(4));
  const std::vector<float> values = y.values();
  EXPECT_EQ(values[0], 3.0f);
  EXPECT_EQ(values[1], 7.75f);
  EXPECT_EQ(values[2], 4.5f);
  EXPECT_EQ(values[3], 4 + 31 + 4 + 0x33);
  EXPECT_EQ(values[4], 7.0f);
  EXPECT_EQ(values[5], 3.0f);
  EXPECT_NEAR(values[6], 1.0f, 1e-3);
  EXPECT_EQ(values[7], 1 - 1 + 2 + 3 + 1 + 1);
}

TEST(Emulator, OutOfBoundsAccessIsNamed) {
  const Function poke = kernelOf(R"(
extern "C" __global__ void poke(float* y, long offset) {
  if (threadIdx.x == 5)
    y[offset] = 1.0f;
})");
  DeviceArray<float> y(3);
  // Within the redzone: found after the launch.
  EXPECT_THAT(errorOf([&] { launchOn(poke, 1, 32, 0, y.data(), 3L); }),
              AllOf(HasSubstr("0 bytes past the end of the allocation of 12 bytes"),
                    HasSubstr("after kernel 'poke'")));
  EXPECT_THROW(checkMemory(), std::runtime_error);
  std::memset(y.data() + 3, 0xA5, 4);
  EXPECT_NO_THROW(checkMemory());
  // Beyond it: found by the page that follows, with thread and line.
  EXPECT_THAT(errorOf([&] { launchOn(poke, 1, 32, 0, y.data(), 100L); }),
              AllOf(HasSubstr("kernel 'poke', block (0,0,0), thread (5,0,0)"),
                    HasSubstr("kernel.cu:4"), HasSubstr("388 bytes past the end of")));
  EXPECT_THAT(errorOf([&] { launchOn(poke, 1, 32, 0, static_cast<float*>(nullptr), 0L); }),
              HasSubstr("null pointer"));
  launchOn(poke, 1, 32, 0, y.data(), 2L);
  EXPECT_EQ(y.values()[2], 1.0f);
}

TEST(Emulator, BadIndexAlignmentAndDivisionAreNamed) {
  const Function bad = kernelOf(R"(
    extern "C" __global__ void bad(char* y, int index, int offset, int divisor) {
      __shared__ int fixed[8];
      fixed[index] = 1;
      *reinterpret_cast<float2*>(y + offset) = make_float2(1.0f, 2.0f);
      y[20] = 100 / divisor;
    })");
  DeviceArray<char> y(32);
  launchOn(bad, 1, 1, 0, y.data(), 7, 8, 5);
  EXPECT_EQ(y.values()[20], 20);
  EXPECT_THAT(errorOf([&] { launchOn(bad, 1, 1, 0, y.data(), 8, 8, 5); }),
              HasSubstr("an index outside of an array"));
  EXPECT_THAT(errorOf([&] { launchOn(bad, 1, 1, 0, y.data(), 7, 4, 5); }),
              HasSubstr("a misaligned pointer"));
  EXPECT_THAT(errorOf([&] { launchOn(bad, 1, 1, 0, y.data(), 7, 8, 0); }),
              HasSubstr("division by zero"));
}

TEST(Emulator, TrapAndDeadlockAreNamed) {
  const Function stuck = kernelOf(R"(
    extern "C" __global__ void stuck(int trap) {
      if (trap && blockIdx.x == 2 && threadIdx.x == 3) __trap();
      if (threadIdx.x == 0) emulatedBarrierSync(1, 64); else __syncthreads();
    })");
  EXPECT_THAT(errorOf([&] { launchOn(stuck, 1, 32, 0, 0); }),
              AllOf(HasSubstr("the block is stuck"), HasSubstr("thread 0 waits at a named barrier"),
                    HasSubstr("thread 1 waits at __syncthreads()")));
  const Function trap = kernelOf(R"(
    extern "C" __global__ void trap() {
      if (blockIdx.x == 2 && threadIdx.x == 3) __trap();
    })");
  EXPECT_THAT(errorOf([&] { launchOn(trap, 4, 32, 0); }),
              HasSubstr("kernel 'trap', block (2,0,0), thread (3,0,0): __trap() was called"));
}

TEST(Emulator, CompileErrorsAreShown) {
  EXPECT_THAT(
      errorOf([] { Module::compile("extern \"C\" __global__ void f() {\n  int x = y;\n}"); }),
      AllOf(HasSubstr("the source does not compile"), HasSubstr("kernel.cu:2"),
            HasSubstr("'y' was not declared")));
  EXPECT_THAT(errorOf([] { Module::compile("extern \"C\" __global__ void f() {}")->find("g"); }),
              HasSubstr("no kernel 'g'"));
  EXPECT_THAT(errorOf([] { prefetch({"extern \"C\" __global__ void f() {}", "int x = ;"}); }),
              HasSubstr("kernel.cu:1"));
}

TEST(Emulator, BadLaunchesAreRefused) {
  const Function nothing = kernelOf("extern \"C\" __global__ void nothing() {}");
  EXPECT_THAT(errorOf([&] { launchOn(nothing, 0, 32, 0); }), HasSubstr("grid size 0"));
  EXPECT_THAT(errorOf([&] { launchOn(nothing, 1, 1025, 0); }), HasSubstr("1025 threads"));
  EXPECT_THAT(errorOf([&] { launchOn(nothing, 1, 32, 233000); }), HasSubstr("233000 bytes"));
}

TEST(Emulator, CopiesStayInsideAllocations) {
  DeviceArray<char> a(10);
  char host[16] = {};
  EXPECT_NO_THROW(copy(a.data(), host, 10));
  EXPECT_THAT(errorOf([&] { copy(a.data() + 4, host, 7); }), HasSubstr("leaves the allocation"));
  EXPECT_THAT(errorOf([&] { copy(host, a.data(), 11); }), HasSubstr("leaves the allocation"));
  EXPECT_THAT(errorOf([&] { fill(a.data() + 9, 0, 2); }), HasSubstr("leaves the allocation"));
  EXPECT_THROW(release(host), std::runtime_error);
}

}  // namespace
}  // namespace camshaft::emulator
