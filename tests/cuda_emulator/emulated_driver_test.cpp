#include "cuda_emulator/emulated_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace camshaft::emulator {
namespace {

using ::testing::HasSubstr;

constexpr char kScaleSource[] = R"(
extern "C" __global__ void scale(float* x, float factor, int n) {
  extern __shared__ float copy[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  copy[threadIdx.x] = x[i];
  x[i] = copy[threadIdx.x] * factor;
})";

class EmulatedDriverTest : public ::testing::Test {
 protected:
  EmulatedDriverTest() {
    CUcontext context = nullptr;
    EXPECT_EQ(driver.cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    EXPECT_EQ(driver.cuCtxSetCurrent(context), CUDA_SUCCESS);
  }

  CUdeviceptr upload(const std::vector<float>& values) {
    CUdeviceptr address = 0;
    const size_t bytes = values.size() * sizeof(float);
    EXPECT_EQ(driver.cuMemAlloc(&address, bytes), CUDA_SUCCESS);
    const auto from = reinterpret_cast<CUdeviceptr>(values.data());
    EXPECT_EQ(driver.cuMemcpyAsync(address, from, bytes, nullptr), CUDA_SUCCESS);
    return address;
  }

  std::vector<float> download(CUdeviceptr address, size_t count) {
    std::vector<float> values(count);
    const auto to = reinterpret_cast<CUdeviceptr>(values.data());
    EXPECT_EQ(driver.cuMemcpyAsync(to, address, count * sizeof(float), nullptr), CUDA_SUCCESS);
    return values;
  }

  CUkernel loadScale() {
    CUkernel kernel = nullptr;
    EXPECT_EQ(
        driver.cuLibraryLoadData(&library, kScaleSource, nullptr, nullptr, 0, nullptr, nullptr, 0),
        CUDA_SUCCESS);
    EXPECT_EQ(driver.cuLibraryGetKernel(&kernel, library, "scale"), CUDA_SUCCESS);
    return kernel;
  }

  CUresult launchScale(CUkernel kernel, CUdeviceptr x, float factor, int n, CUstream stream,
                       unsigned sharedBytes = 16) {
    CUfunction function = nullptr;
    EXPECT_EQ(driver.cuKernelGetFunction(&function, kernel), CUDA_SUCCESS);
    CUlaunchConfig config{};
    config.gridDimX = static_cast<unsigned>(n + 3) / 4;
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.blockDimX = 4;
    config.sharedMemBytes = sharedBytes;
    config.hStream = stream;
    void* parameters[] = {&x, &factor, &n};
    return driver.cuLaunchKernelEx(&config, function, parameters, nullptr);
  }

  EmulatedDriver emulated;
  const cuda::Driver& driver = emulated.table();
  CUlibrary library = nullptr;
};

TEST_F(EmulatedDriverTest, EveryFunctionOfTheTableIsEmulated) {
  EXPECT_THAT(emulated.missing(), ::testing::IsEmpty());
}

TEST_F(EmulatedDriverTest, LaunchesAndGivesEverythingBack) {
  const CUkernel kernel = loadScale();
  const CUdeviceptr x = upload({1, 2, 3, 4, 5});
  EXPECT_EQ(launchScale(kernel, x, 2.0f, 5, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(download(x, 5), (std::vector<float>{2, 4, 6, 8, 10}));
  EXPECT_EQ(emulated.count("cuLaunchKernelEx", "scale grid 2x1x1 block 4x1x1 shared 16"), 1u);
  EXPECT_EQ(emulated.leaks(), "1 device allocations\n1 libraries\n");
  EXPECT_EQ(driver.cuMemFree(x), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemFree(x), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver.cuLibraryUnload(library), CUDA_SUCCESS);
  EXPECT_EQ(emulated.leaks(), "");
}

TEST_F(EmulatedDriverTest, CapturedWorkRunsWhenTheGraphIsLaunched) {
  const CUkernel kernel = loadScale();
  const CUdeviceptr x = upload({1, 2, 3});
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  CUdeviceptr none = 0;
  ASSERT_EQ(driver.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
  EXPECT_EQ(launchScale(kernel, x, 3.0f, 3, stream), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemAlloc(&none, 16), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  ASSERT_EQ(driver.cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemAlloc(&none, 16), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_EQ(driver.cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(launchScale(kernel, x, 3.0f, 3, nullptr), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  ASSERT_EQ(driver.cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  EXPECT_EQ(download(x, 3), (std::vector<float>{1, 2, 3}));

  ASSERT_EQ(driver.cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuGraphDestroy(graph), CUDA_SUCCESS);
  for (int replay = 0; replay < 2; ++replay) {
    EXPECT_EQ(driver.cuGraphLaunch(exec, stream), CUDA_SUCCESS);
  }
  EXPECT_EQ(download(x, 3), (std::vector<float>{9, 18, 27}));
  EXPECT_EQ(emulated.count("cuGraphLaunch", "1 nodes"), 2u);
  EXPECT_EQ(emulated.count("graph: cuLaunchKernelEx", "scale"), 2u);
  EXPECT_EQ(driver.cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuStreamDestroy(stream), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuStreamDestroy(stream), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(EmulatedDriverTest, FailsWhenToldTo) {
  CUdeviceptr first = 0, second = 0;
  emulated.failAllocation(2);
  EXPECT_EQ(driver.cuMemAlloc(&first, 64), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemAlloc(&second, 64), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(driver.cuMemAlloc(&second, 64), CUDA_SUCCESS);
  emulated.setMemory(200);
  EXPECT_EQ(driver.cuMemAlloc(&second, 100), CUDA_ERROR_OUT_OF_MEMORY);
  emulated.failCall("cuMemFree", 1, CUDA_ERROR_UNKNOWN);
  EXPECT_EQ(driver.cuMemFree(first), CUDA_ERROR_UNKNOWN);
  EXPECT_EQ(driver.cuMemFree(first), CUDA_SUCCESS);
}

TEST_F(EmulatedDriverTest, SharedMemoryBeyond48KiBMustBeAskedFor) {
  const CUkernel kernel = loadScale();
  const CUdeviceptr x = upload({1});
  EXPECT_EQ(launchScale(kernel, x, 2.0f, 1, nullptr, 60000), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver.cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000,
                                        kernel, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(launchScale(kernel, x, 2.0f, 1, nullptr, 60000), CUDA_SUCCESS);
}

TEST_F(EmulatedDriverTest, AKernelsFailureIsTheErrorString) {
  const CUkernel kernel = loadScale();
  const CUdeviceptr x = upload({1, 2});
  const CUresult result = launchScale(kernel, x, 0.0f, 3, nullptr);
  EXPECT_EQ(result, CUDA_ERROR_LAUNCH_FAILED);
  const char* words = nullptr;
  driver.cuGetErrorString(result, &words);
  EXPECT_THAT(words, HasSubstr("0 bytes past the end of the allocation of 8 bytes"));
  // The damage would be reported again when the allocation goes.
  const unsigned char redzone[4] = {0xA5, 0xA5, 0xA5, 0xA5};
  std::memcpy(reinterpret_cast<float*>(x) + 2, redzone, sizeof redzone);
}

TEST_F(EmulatedDriverTest, CallsNeedAContext) {
  CUdeviceptr address = 0;
  EXPECT_EQ(driver.cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemAlloc(&address, 16), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(EmulatedDriverTest, EventsMeasureTime) {
  CUevent start = nullptr, end = nullptr;
  float milliseconds = -1;
  ASSERT_EQ(driver.cuEventCreate(&start, 0), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuEventCreate(&end, 0), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuEventElapsedTime(&milliseconds, start, end), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(driver.cuEventRecord(start, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuEventRecord(end, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuEventElapsedTime(&milliseconds, start, end), CUDA_SUCCESS);
  EXPECT_GE(milliseconds, 0.0f);
}

TEST_F(EmulatedDriverTest, TensorMapsFollowTheRulesOfTheDriver) {
  CUtensorMap map;
  const cuuint64_t sizes[] = {64, 32};
  const cuuint32_t ones[] = {1, 1};
  const auto encode = [&](cuuint64_t stride, cuuint32_t inner) {
    const cuuint32_t box[] = {inner, 16};
    return driver.cuTensorMapEncodeTiled(
        &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, reinterpret_cast<void*>(0x1000), sizes, &stride,
        box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  EXPECT_EQ(encode(128, 64), CUDA_SUCCESS);
  EXPECT_EQ(encode(130, 64), CUDA_ERROR_INVALID_VALUE);   // strides are multiples of 16 bytes
  EXPECT_EQ(encode(128, 128), CUDA_ERROR_INVALID_VALUE);  // wider than the swizzle
}

TEST_F(EmulatedDriverTest, MapsOfImagesFollowTheRulesOfTheDriver) {
  CUtensorMap map;
  const cuuint64_t sizes[] = {64, 7, 5, 2}, strides[] = {64, 448, 2240};
  const auto encode = [&](int lower, int upper, cuuint32_t step) {
    const int lowers[] = {lower, 0}, uppers[] = {upper, 0};
    const cuuint32_t steps[] = {1, step, 1, 1};
    return driver.cuTensorMapEncodeIm2col(
        &map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 4, reinterpret_cast<void*>(0x1000), sizes, strides,
        lowers, uppers, 64, 128, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_64B,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  EXPECT_EQ(encode(-1, -1, 2), CUDA_SUCCESS);
  EXPECT_EQ(encode(-129, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(encode(0, -7, 1), CUDA_ERROR_INVALID_VALUE);  // no window fits
  EXPECT_EQ(encode(0, 0, 9), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace camshaft::emulator
