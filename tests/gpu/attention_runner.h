// Operands of attention_check on the device, and launches.
#pragma once

#include <cuda.h>

#include <cstring>
#include <memory>
#include <random>

#include "attention_kernels.h"
#include "support/half.h"

namespace attention_check {

using namespace camshaft;
using namespace camshaft::cuda;

inline void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  cuGetErrorString(result, &text);
  throw std::runtime_error(str(what, ": ", text ? text : "unknown error"));
}
#define CHECK(call) check(call, #call)

struct Memory {
  CUdeviceptr address = 0;
  size_t bytes;
  explicit Memory(size_t bytes) : bytes(std::max<size_t>(bytes, 16)) {
    CHECK(cuMemAlloc(&address, this->bytes));
  }
  Memory(const Memory&) = delete;
  ~Memory() { cuMemFree(address); }
};

// Random elements of any type as bytes.
inline std::vector<char> randomBytes(DataType type, int64_t count, std::mt19937& generator) {
  std::normal_distribution<float> normal;
  std::vector<char> bytes(bytesOf(type, count));
  for (int64_t i = 0; i < count; ++i) {
    const float value = normal(generator);
    const auto put = [&](auto element) {
      std::memcpy(bytes.data() + i * sizeof(element), &element, sizeof(element));
    };
    switch (type) {
      case DataType::kF16:
        put(Half(value));
        break;
      case DataType::kBF16: {
        uint32_t bits;
        std::memcpy(&bits, &value, 4);
        put(static_cast<uint16_t>(bits >> 16));
        break;
      }
      case DataType::kF64:
        put(static_cast<double>(value));
        break;
      case DataType::kI8:
        put(static_cast<int8_t>(std::clamp(40 * value, -128.0f, 127.0f)));
        break;
      case DataType::kBool:
        put(value > -0.5f);
        break;
      default:
        put(value);
    }
  }
  return bytes;
}

inline double toDouble(DataType type, const char* bytes, int64_t i) {
  switch (type) {
    case DataType::kF16:
      return static_cast<float>(reinterpret_cast<const Half*>(bytes)[i]);
    case DataType::kBF16: {
      const uint32_t bits = uint32_t(reinterpret_cast<const uint16_t*>(bytes)[i]) << 16;
      float value;
      std::memcpy(&value, &bits, 4);
      return value;
    }
    case DataType::kF64:
      return reinterpret_cast<const double*>(bytes)[i];
    default:
      return reinterpret_cast<const float*>(bytes)[i];
  }
}

// Operands of a case on the device; packed ones share one tensor.
struct Operands {
  Plan plan;
  std::vector<std::unique_ptr<Memory>> owned;
  CUdeviceptr q, k, v, bias, out;
  size_t outBytes;

  Operands(const Case& c, unsigned seed) : plan(c) {
    std::mt19937 generator(seed);
    q = upload(randomBytes(c.element, plan.q.count, generator));
    const bool isPacked = c.layout == Layout::kPacked;
    k = isPacked ? q : upload(randomBytes(c.storedType(), plan.k.count, generator));
    v = isPacked ? q : upload(randomBytes(c.storedType(), plan.v.count, generator));
    std::vector<char> biases =
        randomBytes(c.bias.value_or(DataType::kF32), c.bias ? plan.bias.count : 4, generator);
    if (c.hidesRows) hideRows(c, biases);
    bias = upload(biases);
    outBytes = bytesOf(c.element, plan.out.count);
    owned.push_back(std::make_unique<Memory>(outBytes));
    out = owned.back()->address;
  }

 private:
  CUdeviceptr upload(const std::vector<char>& bytes) {
    owned.push_back(std::make_unique<Memory>(bytes.size()));
    CHECK(cuMemcpyHtoD(owned.back()->address, bytes.data(), bytes.size()));
    return owned.back()->address;
  }
  // Every third row: all minus infinity, or false.
  void hideRows(const Case& c, std::vector<char>& biases) {
    const int64_t row = c.keys + c.biasPadding, bytes = bytesOf(*c.bias, 1);
    for (int64_t r = 0; r < plan.bias.count / row; r += 3)
      for (int64_t i = 0; i < row; ++i) {
        char* at = biases.data() + (r * row + i) * bytes;
        std::memset(at, 0, bytes);
        if (*c.bias == DataType::kF16) at[1] = '\xfc';
        if (*c.bias == DataType::kBF16) at[0] = '\x80', at[1] = '\xff';
        if (*c.bias == DataType::kF32) at[2] = '\x80', at[3] = '\xff';
      }
  }
};

struct Loaded {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  Launch launch;

  Loaded(const Launch& launch, const std::vector<char>& cubin) : launch(launch) {
    CHECK(cuModuleLoadData(&module, cubin.data()));
    CHECK(cuModuleGetFunction(&function, module, "run"));
    CHECK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                             launch.shared));
    if (launch.cluster > 8)
      CHECK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  }
  Loaded(const Loaded&) = delete;
  ~Loaded() { cuModuleUnload(module); }

  void run(const Operands& operands, CUdeviceptr out, CUstream stream, bool overlaps) const {
    CUdeviceptr addresses[] = {operands.q, operands.k, operands.v, operands.bias, out};
    void* arguments[] = {&addresses[0], &addresses[1], &addresses[2], &addresses[3], &addresses[4]};
    CUlaunchAttribute attributes[2] = {};
    unsigned count = 0;
    if (launch.cluster > 1) {
      attributes[count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
      attributes[count].value.clusterDim = {launch.cluster, 1, 1};
      ++count;
    }
    if (overlaps) {
      attributes[count].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
      attributes[count].value.programmaticStreamSerializationAllowed = 1;
      ++count;
    }
    CUlaunchConfig config{};
    config.gridDimX = launch.grid[0];
    config.gridDimY = launch.grid[1];
    config.gridDimZ = launch.grid[2];
    config.blockDimX = launch.block;
    config.blockDimY = config.blockDimZ = 1;
    config.sharedMemBytes = launch.shared;
    config.hStream = stream;
    config.attrs = attributes;
    config.numAttrs = count;
    CHECK(cuLaunchKernelEx(&config, function, arguments, nullptr));
  }
};

// Microseconds of one launch, from replays of a graph of many.
inline double microseconds(const Loaded& kernel, const Operands& operands, CUstream stream) {
  constexpr int kLaunches = 24, kReplays = 9;
  CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  for (int i = 0; i < kLaunches; ++i) kernel.run(operands, operands.out, stream, i > 0);
  CUgraph graph;
  CHECK(cuStreamEndCapture(stream, &graph));
  CUgraphExec replayed;
  CHECK(cuGraphInstantiate(&replayed, graph, 0));
  CUevent begin, end;
  CHECK(cuEventCreate(&begin, CU_EVENT_DEFAULT));
  CHECK(cuEventCreate(&end, CU_EVENT_DEFAULT));
  std::vector<float> times;
  for (int i = 0; i < kReplays + 2; ++i) {
    CHECK(cuEventRecord(begin, stream));
    CHECK(cuGraphLaunch(replayed, stream));
    CHECK(cuEventRecord(end, stream));
    CHECK(cuEventSynchronize(end));
    float milliseconds;
    CHECK(cuEventElapsedTime(&milliseconds, begin, end));
    if (i >= 2) times.push_back(milliseconds);
  }
  std::sort(times.begin(), times.end());
  cuEventDestroy(begin);
  cuEventDestroy(end);
  cuGraphExecDestroy(replayed);
  cuGraphDestroy(graph);
  return times[kReplays / 2] * 1000 / kLaunches;
}

}  // namespace attention_check
