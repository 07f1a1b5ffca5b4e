// Matrix products on cuBLASLt. It counts columns first, so that a row-major matrix is its own
// transpose: what is asked for is Dᵀ = Bᵀ·Aᵀ, whose bias runs along its rows, as epilogues want.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "backends/cuda/runtime/libraries/calling_context.h"
#include "backends/cuda/runtime/libraries/cublaslt.h"
#include "backends/cuda/runtime/libraries/libraries.h"
#include "backends/cuda/runtime/libraries/library_queue.h"
#include "backends/cuda/runtime/libraries/shape_cache.h"
#include "support/byte_reader.h"
#include "support/error.h"

namespace camshaft::cuda {
namespace {

constexpr int64_t kPlannedAlignment = 16;  // bytes; what engines' buffers have at least

cudaDataType_t cudaTypeOf(DataType type) {
  switch (type) {
    case DataType::kF16:
      return CUDA_R_16F;
    case DataType::kBF16:
      return CUDA_R_16BF;
    case DataType::kF32:
      return CUDA_R_32F;
    case DataType::kF64:
      return CUDA_R_64F;
    case DataType::kI8:
      return CUDA_R_8I;
    case DataType::kI32:
      return CUDA_R_32I;
    case DataType::kF8E4M3:
      return CUDA_R_8F_E4M3;
    case DataType::kF8E5M2:
      return CUDA_R_8F_E5M2;
    default:
      fail(ErrorKind::kUnsupported, "cuBLASLt takes no ", type);
  }
}

cublasComputeType_t computeTypeOf(const GemmProblem& problem) {
  if (problem.typeA == DataType::kF64) return CUBLAS_COMPUTE_64F;
  if (problem.typeA == DataType::kI8) return CUBLAS_COMPUTE_32I;
  const bool isTf32 = problem.typeA == DataType::kF32 && problem.allowTf32;
  return isTf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

cudaDataType_t scaleTypeOf(const GemmProblem& problem) {
  if (problem.typeD == DataType::kF64) return CUDA_R_64F;
  return problem.typeD == DataType::kI32 ? CUDA_R_32I : CUDA_R_32F;
}

cublasLtEpilogue_t epilogueOf(const GemmProblem& problem) {
  switch (problem.activation) {
    case GemmActivation::kRelu:
      return problem.hasBias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case GemmActivation::kGeluTanh:
      return problem.hasBias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    case GemmActivation::kNone:
      break;
  }
  return problem.hasBias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

// A number in the type that alpha and beta have.
class Scale {
 public:
  Scale(float value, cudaDataType_t type) {
    if (type == CUDA_R_64F)
      store(static_cast<double>(value));
    else if (type == CUDA_R_32I)
      store(static_cast<int32_t>(value));
    else
      store(value);
  }
  const void* address() const { return bytes_; }

 private:
  template <class T>
  void store(T value) {
    std::memcpy(bytes_, &value, sizeof value);
  }
  alignas(8) std::byte bytes_[8] = {};
};

// A matrix stored by rows, as cuBLASLt sees it.
class Layout {
 public:
  Layout(DataType type, int64_t rows, int64_t columns, int64_t rowStride, int64_t batch,
         int64_t batchStride) {
    const CublasLt& lt = cublasLt();
    lt.check(lt.layoutCreate(&layout_, cudaTypeOf(type), columns, rows, rowStride),
             "describing a matrix");
    const int32_t count = static_cast<int32_t>(batch);
    lt.check(lt.layoutSet(layout_, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
             "describing a batch");
    lt.check(lt.layoutSet(layout_, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &batchStride,
                          sizeof batchStride),
             "describing a batch");
  }
  ~Layout() { cublasLt().layoutDestroy(layout_); }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  cublasLtMatrixLayout_t get() const { return layout_; }

 private:
  cublasLtMatrixLayout_t layout_ = nullptr;
};

// The operation and its four matrices at given sizes.
class Descriptors {
 public:
  Descriptors(const GemmProblem& p, const GemmSizes& s)
      : a(p.typeA, p.transposeA ? s.k : s.m, p.transposeA ? s.m : s.k, s.lda, s.batch, s.strideA),
        b(p.typeB, p.transposeB ? s.n : s.k, p.transposeB ? s.k : s.n, s.ldb, s.batch, s.strideB),
        c(p.typeD, s.m, s.n, p.beta == 0 ? s.ldd : s.ldc, s.batch,
          p.beta == 0 ? s.strideD : s.strideC),
        d(p.typeD, s.m, s.n, s.ldd, s.batch, s.strideD) {
    const CublasLt& lt = cublasLt();
    lt.check(lt.matmulDescCreate(&operation, computeTypeOf(p), scaleTypeOf(p)),
             "describing a product");
    const cublasOperation_t ofB = p.transposeB ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasOperation_t ofA = p.transposeA ? CUBLAS_OP_T : CUBLAS_OP_N;
    set(CUBLASLT_MATMUL_DESC_TRANSA, ofB);  // B comes first: the product is transposed
    set(CUBLASLT_MATMUL_DESC_TRANSB, ofA);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogueOf(p));
    if (p.hasBias)
      set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, static_cast<int32_t>(cudaTypeOf(p.typeD)));
  }
  ~Descriptors() { cublasLt().matmulDescDestroy(operation); }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;

  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    cublasLt().check(cublasLt().matmulDescSet(operation, attribute, &value, sizeof value),
                     "describing a product");
  }

  const Layout a, b, c, d;
  cublasLtMatmulDesc_t operation = nullptr;
};

struct Algorithm {
  cublasLtMatmulAlgo_t algorithm;
  int64_t workspaceBytes = 0;
};

class Preference {
 public:
  Preference(int64_t workspaceLimit, uint32_t alignment) {
    cublasLt().check(cublasLt().preferenceCreate(&preference_), "asking for algorithms");
    set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<uint64_t>(workspaceLimit));
    for (const auto operand :
         {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
          CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
      set(operand, alignment);
    }
  }
  ~Preference() { cublasLt().preferenceDestroy(preference_); }
  Preference(const Preference&) = delete;
  Preference& operator=(const Preference&) = delete;
  cublasLtMatmulPreference_t get() const { return preference_; }

 private:
  template <class T>
  void set(cublasLtMatmulPreferenceAttributes_t attribute, const T& value) {
    cublasLt().check(cublasLt().preferenceSet(preference_, attribute, &value, sizeof value),
                     "asking for algorithms");
  }
  cublasLtMatmulPreference_t preference_ = nullptr;
};

// The library's list, best first; empty when it takes no such product.
std::vector<Algorithm> findAlgorithms(const GemmProblem& problem, const GemmSizes& sizes,
                                      int64_t workspaceLimit, int64_t alignment, int most) {
  const CublasLt& lt = cublasLt();
  Descriptors descriptors(problem, sizes);
  // Not dereferenced here: only its alignment counts.
  if (problem.hasBias)
    descriptors.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, reinterpret_cast<void*>(alignment));
  const Preference preference(workspaceLimit, static_cast<uint32_t>(alignment));
  std::vector<cublasLtMatmulHeuristicResult_t> results(most);
  int count = 0;
  const cublasStatus_t status = lt.getHeuristic(
      cublasLtHandle(), descriptors.operation, descriptors.b.get(), descriptors.a.get(),
      descriptors.c.get(), descriptors.d.get(), preference.get(), most, results.data(), &count);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE) return {};
  lt.check(status, "looking for algorithms");
  std::vector<Algorithm> algorithms;
  for (int i = 0; i < count; ++i) {
    if (results[i].state != CUBLAS_STATUS_SUCCESS) continue;
    algorithms.push_back({results[i].algo, static_cast<int64_t>(results[i].workspaceSize)});
  }
  return algorithms;
}

std::string nameOf(const cublasLtMatmulAlgo_t& algorithm) {
  std::string name = "cublaslt";
  const std::pair<cublasLtMatmulAlgoConfigAttributes_t, const char*> parts[] = {
      {CUBLASLT_ALGO_CONFIG_ID, " algorithm "},
      {CUBLASLT_ALGO_CONFIG_TILE_ID, " tile "},
      {CUBLASLT_ALGO_CONFIG_STAGES_ID, " stages "},
      {CUBLASLT_ALGO_CONFIG_SPLITK_NUM, " split "}};
  for (const auto& [attribute, text] : parts) {
    int32_t value = 0;
    size_t written = 0;
    cublasLt().getAlgorithmAttribute(&algorithm, attribute, &value, sizeof value, &written);
    name += str(text, value);
  }
  return name;
}

struct GemmKey {
  GemmSizes sizes;
  int64_t alignment = kPlannedAlignment;
  friend bool operator==(const GemmKey&, const GemmKey&) = default;
};

struct GemmState {
  GemmProblem problem;
  uint64_t libraryVersion = 0;  // of the stored algorithm
  Algorithm stored;
  ShapeCache<GemmKey, Algorithm> algorithms;
  std::shared_ptr<const void> opening;  // of the library
};

std::vector<std::byte> paramsOf(const GemmProblem& problem, const Algorithm& algorithm) {
  ByteWriter writer;
  write(writer, problem);
  writer.write<uint64_t>(cublasLt().getVersion());
  writer.write(algorithm.algorithm);
  writer.write(algorithm.workspaceBytes);
  return writer.take();
}

std::shared_ptr<const void> load(std::span<const std::byte> params) {
  ByteReader reader(params, "the parameters of a matrix product");
  auto state = std::make_shared<GemmState>();
  state->problem = readGemmProblem(reader);
  state->libraryVersion = reader.read<uint64_t>();
  state->stored.algorithm = reader.read<cublasLtMatmulAlgo_t>();
  state->stored.workspaceBytes = reader.read<int64_t>();
  reader.expectEnd();
  state->opening = openCublasLtMeanwhile();
  return state;
}

GemmSizes sizesAt(const GemmProblem& problem, const LaunchArgs& args) {
  if (args.dims.size() != kGemmSizeCount) return problem.sizes;
  GemmSizes sizes;
  std::memcpy(static_cast<void*>(&sizes), args.dims.data(), sizeof sizes);
  return sizes;
}

// The stored algorithm where it is one of this library and device, for these sizes.
std::optional<Algorithm> storedFor(const GemmState& state, const GemmKey& key,
                                   int64_t workspaceBytes) {
  const CublasLt& lt = cublasLt();
  if (key != GemmKey{state.problem.sizes} || state.libraryVersion != lt.getVersion())
    return std::nullopt;
  const Descriptors descriptors(state.problem, key.sizes);
  cublasLtMatmulHeuristicResult_t result = {};
  const cublasStatus_t status = lt.checkAlgorithm(
      cublasLtHandle(), descriptors.operation, descriptors.b.get(), descriptors.a.get(),
      descriptors.c.get(), descriptors.d.get(), &state.stored.algorithm, &result);
  if (status != CUBLAS_STATUS_SUCCESS ||
      static_cast<int64_t>(result.workspaceSize) > workspaceBytes)
    return std::nullopt;
  return Algorithm{state.stored.algorithm, static_cast<int64_t>(result.workspaceSize)};
}

std::shared_ptr<const Algorithm> algorithmFor(const GemmState& state, const GemmKey& key,
                                              int64_t workspaceBytes) {
  return state.algorithms.get(key, [&] {
    if (const auto stored = storedFor(state, key, workspaceBytes))
      return std::make_shared<const Algorithm>(*stored);
    const auto found = findAlgorithms(state.problem, key.sizes, workspaceBytes, key.alignment, 1);
    if (found.empty()) {
      fail(ErrorKind::kUnsupported, "cuBLASLt has no algorithm for a product of ", key.sizes.m, "x",
           key.sizes.k, " and ", key.sizes.k, "x", key.sizes.n, " on this device");
    }
    return std::make_shared<const Algorithm>(found.front());
  });
}

int64_t alignmentOf(std::initializer_list<const void*> addresses) {
  uintptr_t bits = kPlannedAlignment;
  for (const void* address : addresses) bits |= reinterpret_cast<uintptr_t>(address);
  return static_cast<int64_t>(bits & (~bits + 1));
}

void launch(const void* opaque, const LaunchArgs& args) {
  const GemmState& state = *static_cast<const GemmState*>(opaque);
  const GemmProblem& problem = state.problem;
  const GemmSizes sizes = sizesAt(problem, args);
  if (sizes.m == 0 || sizes.n == 0 || sizes.batch == 0) return;
  const RelaxedCapture relaxed;
  void* const d = args.outputs[0].data;
  const void* const bias = problem.hasBias ? args.inputs[2].data : nullptr;
  const void* const c = problem.beta == 0 ? d : args.inputs[problem.hasBias ? 3 : 2].data;
  const GemmKey key{sizes, alignmentOf({args.inputs[0].data, args.inputs[1].data, c, d, bias})};
  const auto algorithm = algorithmFor(state, key, args.workspaceBytes);

  Descriptors descriptors(problem, sizes);
  if (bias) descriptors.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  const Scale alpha(problem.alpha, scaleTypeOf(problem)), beta(problem.beta, scaleTypeOf(problem));
  const auto multiply = [&](void* stream) {
    const CublasLt& lt = cublasLt();
    lt.check(
        lt.matmul(cublasLtHandle(), descriptors.operation, alpha.address(), args.inputs[1].data,
                  descriptors.b.get(), args.inputs[0].data, descriptors.a.get(), beta.address(), c,
                  descriptors.c.get(), d, descriptors.d.get(), &algorithm->algorithm,
                  args.workspace, args.workspaceBytes, static_cast<cudaStream_t>(stream)),
        "multiplying matrices");
  };
  queueLibrary(args.stream, [] { cublasLtHandle(); }, multiply);
}

// Whether a batch of `rows` x `columns` lies inside the operand.
bool covers(const TensorArg& tensor, DataType type, int64_t rows, int64_t columns,
            int64_t rowStride, int64_t batch, int64_t batchStride) {
  if (!tensor.data || tensor.type != type || rowStride < columns || batchStride < 0) return false;
  const __int128 last =
      static_cast<__int128>(batch - 1) * batchStride + static_cast<__int128>(rows - 1) * rowStride;
  return last + columns <= tensor.count();
}

bool fits(const void* opaque, const LaunchArgs& args) {
  const GemmProblem& p = static_cast<const GemmState*>(opaque)->problem;
  const size_t inputs = 2 + (p.hasBias ? 1 : 0) + (p.beta != 0 ? 1 : 0);
  if (args.inputs.size() != inputs || args.outputs.size() != 1) return false;
  if (!args.dims.empty() && args.dims.size() != kGemmSizeCount) return false;
  const GemmSizes s = sizesAt(p, args);
  if (s.m < 0 || s.n < 0 || s.k < 0 || s.batch < 0) return false;
  if (s.m == 0 || s.n == 0 || s.batch == 0) return true;
  if (s.k == 0) return false;
  if (p.hasBias && (args.inputs[2].type != p.typeD || args.inputs[2].count() < s.n)) return false;
  if (p.beta != 0 && !covers(args.inputs.back(), p.typeD, s.m, s.n, s.ldc, s.batch, s.strideC))
    return false;
  return covers(args.inputs[0], p.typeA, p.transposeA ? s.k : s.m, p.transposeA ? s.m : s.k, s.lda,
                s.batch, s.strideA) &&
         covers(args.inputs[1], p.typeB, p.transposeB ? s.n : s.k, p.transposeB ? s.k : s.n, s.ldb,
                s.batch, s.strideB) &&
         covers(args.outputs[0], p.typeD, s.m, s.n, s.ldd, s.batch, s.strideD);
}

}  // namespace

const RuntimeKernel kGemmCublasLt = {
    .name = kGemmKernel, .load = load, .launch = launch, .fits = fits};

std::vector<LibraryPlan> gemmPlans(const GemmProblem& problem, int most) {
  std::vector<LibraryPlan> plans;
  for (const Algorithm& algorithm :
       findAlgorithms(problem, problem.sizes, problem.workspaceLimit, kPlannedAlignment, most)) {
    plans.push_back(
        {nameOf(algorithm.algorithm), paramsOf(problem, algorithm), algorithm.workspaceBytes});
  }
  return plans;
}

}  // namespace camshaft::cuda
