// Prints, loads and launches the Hopper matrix product by itself, for hopper_gemm_check.cpp.
#pragma once

#include <bit>
#include <cstdlib>

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/gemm/hopper/geometry.h"
#include "backends/cuda/gemm/hopper/params.h"
#include "backends/cuda/gemm/hopper/text.h"
#include "device_process.h"

using namespace camshaft::cuda;

// What is checked: types, layouts and an epilogue.
struct Variant {
  const char* name;
  DataType typeA, typeB, output;
  bool transposedA, transposedB, wholeColumns, isFull;  // isFull: bias, residual and relu
  double tolerance;
  bool isGelu = false;   // bias, then GELU
  bool isQuads = false;  // B's columns are packed in fours
  // The columns are a multiple of kWholeTile, and so of what clusters have of them.
  bool hasWholeTiles = false;
  bool isFetched = false;  // isFull, with a residual of the output's type, in tiles
  DataType residual() const { return isFetched ? output : DataType::kF16; }
};
inline constexpr int kWholeTile = 256;
inline int64_t bytesOf(DataType type) { return camshaft::bitsOf(type) / 8; }
inline std::string_view storage(DataType type) { return camshaft::cuda::storageType(type); }
// ---- Device code ------------------------------------------------------------------------------

inline const std::string& prelude() {
  static const std::string text =
      str(deviceSource("device/prelude.cuh"), deviceSource("device/bytes.cuh"));
  return text;
}

// Sums of integers are scaled to lie among bytes; those that stay integers are stored as they are.
inline constexpr const char* kScaling = R"(
__device__ float scaled(float sum) { return sum; }
__device__ float scaled(int sum) { return (float)sum * 1e-4f; }
template <class T> __device__ void store(T& to, float x) { assign(to, x); }
__device__ void store(int& to, float x) { to = (int)x; }
__device__ void store(unsigned char& to, float x) {
  to = (unsigned char)(int)rintf(fminf(fmaxf(x, 0.0f), 255.0f));
}
__device__ void store(signed char& to, float x) {
  to = (signed char)(int)rintf(fminf(fmaxf(x, -128.0f), 127.0f));
}
)";

inline std::string epilogueText(const Variant& v) {
  // Results as numbers that are stored, or that are rounded to bytes two at a time.
  const std::string_view number = v.isQuads ? "float" : "Compute<Output>";
  std::string text = str(kScaling, R"(
template <int kWidth>
static __device__ __forceinline__ Elements<Output, kWidth> epilogue(
    const Accumulator (&sum)[kWidth], const Place& at, const GemmParams& p) {
  const float* bias = static_cast<const float*>(p.extra[0]) + at.column + at.ahead;
  )",
                         number, " out[kWidth];\n");
  // Rounding to bytes without a sign ends at zero by itself. Stated as well, ptxas 13.0 makes one
  // instruction of both (F2IP.U8.F32.NTZ.RELU), which an H200 refuses as illegal.
  const bool isBounded = v.isQuads && v.output == DataType::kU8;
  const std::string residual =
      v.isFetched
          ? str("residualOf<", storage(v.output), ", kWidth>(at)")
          : "readElements<kWidth>(static_cast<const f16*>(p.extra[1]) + at.start + at.ahead)";
  if (v.isFull)
    text += str("  const auto add = ", residual, ";", R"(
  const auto vector = loadVector<kWidth>(bias);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    const float x = scaled(sum[i]) + vector.v[i] + toCompute(storedAt(add, i));
    store(out[i], )",
                isBounded ? "x" : "x > 0 ? x : 0.0f", ");\n  }");
  else
    text += str(R"(
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    const float x = scaled(sum[i]) + (kWholeColumns || i < at.columns ? bias[i] : 0.0f);
    )",
                v.output == DataType::kI32 ? "out[i] = sum[i];"
                : v.isGelu                 ? "store(out[i], op::Gelu(x));"
                                           : "store(out[i], x);",
                "\n  }");
  text += str("\n  return ", v.isQuads ? "toRoundedBytes" : "toElements", "<Output>(out);\n}\n");
  text += R"(
static __device__ __forceinline__ u32 touchOperands(const Place& at, const GemmParams& p) {
  u32 bits = *(static_cast<const u32*>(p.extra[0]) + at.column);
)";
  if (v.isFull && !v.isFetched)
    text += R"(
  const long long row = (long long)at.batch * p.m + at.row;
  bits ^= static_cast<const u16*>(p.extra[1])[row * p.n + at.column];
)";
  return text + "  return bits;\n}\n";
}

inline std::string gemmText(const HopperConfig& config, const Variant& v, bool isGuarded) {
  static const std::string hopper = std::string(deviceSource("device/barriers.cuh")) +
                                    std::string(deviceSource("device/hopper.cuh"));
  static const std::string activations =
      "namespace camshaft::scalar {\n__device__ inline float maximum(float a, float b) { return "
      "fmaxf(a, b); }\n}\nnamespace op {\ntemplate <class T> __device__ T Sigmoid(T);\n"
      "template <class T> __device__ T Silu(T);\n"
      "template <class T> __device__ T Gelu(T);\ntemplate <class T> __device__ T "
      "GeluTanh(T);\n}\n" +
      std::string(deviceSource("device/fast_activations.cuh"));
  static const std::string device = std::string(deviceSource("gemm/hopper/tiles.cuh")) +
                                    std::string(deviceSource("gemm/hopper/moments.cuh")) +
                                    std::string(deviceSource("gemm/hopper/store.cuh")) +
                                    std::string(deviceSource("gemm/hopper/gemm.cuh"));
  return str(prelude(), v.isGelu ? activations : "",
             isGuarded ? "#define CAMSHAFT_HANG_GUARD 300000000ll\n" : "", hopper,
             hopperHead({.config = config,
                         .typeA = v.typeA,
                         .typeB = v.typeB,
                         .outputType = storage(v.output),
                         .transposedA = v.transposedA,
                         .transposedB = v.transposedB,
                         .constantB = true,
                         .wholeColumns = v.wholeColumns,
                         .wholeTiles = v.hasWholeTiles,
                         .columnEpilogue = !v.isFull,
                         .quads = v.isQuads,
                         .unrollEpilogue = config.blocksPerSm > 1 ? 2 : 4}),
             device, epilogueText(v));
}

inline std::string helperText(const Variant& v) {
  return str(prelude(), kScaling, "using A = ", storage(v.typeA), ";\nusing B = ", storage(v.typeB),
             ";\nusing Output = ", storage(v.output), ";\nusing Residual = ", storage(v.residual()),
             ";\nusing Wanted = ", v.output == DataType::kI32 ? "int" : "float",
             ";\nusing Accumulator = ", camshaft::isFloat(v.typeA) ? "float" : "int",
             ";\nconstexpr bool kTransposedA = ", v.transposedA, ", kTransposedB = ", v.transposedB,
             ", kFull = ", v.isFull, ", kGelu = ", v.isGelu, ", kQuads = ", v.isQuads, ";\n", R"(
template <class T> __device__ void fill(T* to, long long count, unsigned seed) {
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < count; i += gridDim.x * 256ll) {
    unsigned x = (unsigned)i * 2654435761u + seed * 40503u;
    x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; x ^= x >> 16;
    if constexpr (sizeof(T) == 1 && std::is_integral_v<Compute<T>>) to[i] = (T)(x >> 24);
    else assign(to[i], (float)(int)x * (1.0f / 2147483648.0f));
  }
}
extern "C" __global__ void fillA(A* to, long long count, unsigned seed) { fill(to, count, seed); }
extern "C" __global__ void fillB(B* to, long long count, unsigned seed) { fill(to, count, seed); }
extern "C" __global__ void fillResidual(Residual* to, long long count, unsigned seed) { fill(to, count, seed); }
extern "C" __global__ void fillFloats(float* to, long long count, unsigned seed) { fill(to, count, seed); }
extern "C" __global__ void reference(const A* a, const B* b, const float* bias, const Residual* residual,
                                     Wanted* out, long long m, long long n, long long k,
                                     long long batch, int batchA, int batchB) {
  const long long at = blockIdx.x * 256ll + threadIdx.x;
  if (at >= m * n * batch) return;
  const long long column = at % n, row = at / n % m, item = at / n / m;
  a += batchA ? item * m * k : 0;
  b += batchB ? item * n * k : 0;
  // Of 16 columns, 4j + 2i and the next are rows 8i + 2j and the next of B.
  const long long rowB = !kQuads ? column : column / 16 * 16 + column % 4 / 2 * 8 +
                                            column % 16 / 4 * 2 + column % 2;
  Accumulator total = 0;
  for (long long i = 0; i < k; ++i)
    total += (Accumulator)toCompute(kTransposedA ? a[i * m + row] : a[row * k + i]) *
             (Accumulator)toCompute(kTransposedB ? b[rowB * k + i] : b[i * n + column]);
  if constexpr (std::is_same_v<Wanted, int>) { out[at] = total; return; }
  float sum = scaled(total) + bias[column];
  if (kFull) { sum += toCompute(residual[at]); sum = sum > 0 ? sum : 0; }
  if (kGelu) sum *= normcdff(sum);
  Output rounded;
  store(rounded, sum);
  out[at] = toCompute(rounded);
}
__device__ void add(double difference, double size, double* sums) {
  __shared__ double scratch[8];
  difference = blockReduce<256>(difference, Sum(), scratch);
  size = blockReduce<256>(size, Sum(), scratch);
  if (threadIdx.x == 0) { atomicAdd(sums, difference); atomicAdd(sums + 1, size); }
}
extern "C" __global__ void compare(const Output* is, const Wanted* wanted, long long count, double* sums) {
  double difference = 0, size = 0;
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < count; i += gridDim.x * 256ll) {
    const double d = (double)toCompute(is[i]) - wanted[i];
    difference += d * d;
    size += (double)wanted[i] * wanted[i];
  }
  add(difference, size, sums);
}
extern "C" __global__ void compareHalfs(const f16* is, const f16* wanted, long long count, double* sums) {
  double difference = 0, size = 0;
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < count; i += gridDim.x * 256ll) {
    const double w = toCompute(wanted[i]), d = toCompute(is[i]) - w;
    difference += d * d;
    size += w * w;
  }
  add(difference, size, sums);
}
extern "C" __global__ void guard(const unsigned char* bytes, int count, double* sums) {
  for (int i = threadIdx.x; i < count; i += 256)
    if (bytes[i] != 0xff) atomicAdd(sums + 2, 1.0);
}
)");
}

// ---- Device -----------------------------------------------------------------------------------

struct Helpers {
  CUmodule module = nullptr;
  CUfunction fillA, fillB, fillResidual, fillFloats, reference, compare, compareHalfs, guard;
  explicit Helpers(const Binary& binary) {
    CHECK(cuModuleLoadData(&module, binary.code.data()));
    fillA = functionOf(module, "fillA");
    fillB = functionOf(module, "fillB");
    fillResidual = functionOf(module, "fillResidual");
    fillFloats = functionOf(module, "fillFloats");
    reference = functionOf(module, "reference");
    compare = functionOf(module, "compare");
    compareHalfs = functionOf(module, "compareHalfs");
    guard = functionOf(module, "guard");
  }
};

inline CUtensorMap encode(const BoxedTensor& t, DataType type, CUdeviceptr at, int swizzle = 128) {
  CUtensorMap map;
  const CUtensorMapDataType dataType = type == DataType::kF16    ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                       : type == DataType::kBF16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                       : type == DataType::kF32  ? CU_TENSOR_MAP_DATA_TYPE_TFLOAT32
                                                                 : CU_TENSOR_MAP_DATA_TYPE_UINT8;
  const cuuint64_t dims[] = {t.dims[0], t.dims[1], t.dims[2]},
                   strides[] = {t.strides[0], t.strides[1]};
  const cuuint32_t box[] = {t.box[0], t.box[1], t.box[2]}, ones[] = {1, 1, 1};
  CHECK(cuTensorMapEncodeTiled(
      &map, dataType, 3, reinterpret_cast<void*>(at), dims, strides, box, ones,
      CU_TENSOR_MAP_INTERLEAVE_NONE,
      swizzle == 128 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B,
      CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  return map;
}

struct Gemm {
  HopperConfig config;
  CUmodule module = nullptr;
  CUfunction function;
  int activeClusters = 0;

  Gemm(const HopperConfig& c, const Binary& binary) : config(c) {
    CHECK(cuModuleLoadData(&module, binary.code.data()));
    function = functionOf(module, kHopperGemmEntry);
    CHECK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                             static_cast<int>(sharedBytesOf(config))));
    if (clusterSize(config) > 8)
      CHECK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    CUlaunchAttribute attributes[2];
    CUlaunchConfig launch = launchConfig(clusterSize(config), nullptr, false, attributes);
    CHECK(cuOccupancyMaxActiveClusters(&activeClusters, function, &launch));
    if (activeClusters < 1) throw DeviceError{"no cluster fits"};
  }
  ~Gemm() { cuModuleUnload(module); }

  CUlaunchConfig launchConfig(unsigned grid, CUstream stream, bool isOverlapped,
                              CUlaunchAttribute (&attributes)[2]) const {
    CUlaunchConfig launch = {};
    launch.gridDimX = grid;
    launch.gridDimY = launch.gridDimZ = launch.blockDimY = launch.blockDimZ = 1;
    launch.blockDimX = threadsOf(config);
    launch.sharedMemBytes = static_cast<unsigned>(sharedBytesOf(config));
    launch.hStream = stream;
    attributes[0] = {};
    attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[0].value.clusterDim.x = clusterSize(config);
    attributes[0].value.clusterDim.y = attributes[0].value.clusterDim.z = 1;
    attributes[1] = {};
    attributes[1].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attributes[1].value.programmaticStreamSerializationAllowed = 1;
    launch.attrs = attributes;
    launch.numAttrs = isOverlapped ? 2 : 1;
    return launch;
  }

  void launch(const HopperProblem& problem, CUdeviceptr a, CUdeviceptr b, CUdeviceptr out,
              CUdeviceptr bias, CUdeviceptr residual, CUstream stream, bool isOverlapped) const {
    CUtensorMap mapA = encode(boxedA(config, problem), problem.typeA, a);
    CUtensorMap mapB = encode(boxedB(config, problem), problem.typeB, b);
    TiledArguments tiled = {argumentsOf(config, problem), {}, {}};
    HopperArguments& arguments = tiled.arguments;
    if (config.residualTiles > 0) {
      const int line = residualLine(config);
      const auto map = [line](const BoxedTensor& tensor, CUdeviceptr at) {
        return std::bit_cast<TiledArguments::Map>(encode(tensor, DataType::kU8, at, line));
      };
      tiled.residual = map(boxedResidual(config, problem), residual);
      tiled.out = map(boxedResult(config, problem), out);
    }
    arguments.out = reinterpret_cast<void*>(out);
    arguments.extra[0] = reinterpret_cast<void*>(bias);
    arguments.extra[1] = reinterpret_cast<void*>(residual);
    void* pointers[] = {&mapA, &mapB, &tiled};
    CUlaunchAttribute attributes[2];
    const CUlaunchConfig launch =
        launchConfig(static_cast<unsigned>(gridOf(config, arguments, activeClusters)), stream,
                     isOverlapped, attributes);
    CHECK(cuLaunchKernelEx(&launch, function, pointers, nullptr));
  }
};
