// The same matrix product by cuBLASLt, to hold times and results against.
#pragma once

#include <cublasLt.h>
#include <dlfcn.h>

#include <vector>

#include "hopper_gemm_runner.h"

// D[m, n] = A[m, k] · B[n, k]ᵀ + bias, which column-major is Dᵀ = Bᵀᵀ · Aᵀ. Of f16 and floats of 8
// bits D is f16; of i8 it is i8, without a bias, which the library does not have there.
class Library {
 public:
  Library() : workspace_(kWorkspace) {
    void* handle = dlopen("libcublasLt.so.13", RTLD_NOW);
    if (!handle) handle = dlopen("/usr/local/cuda/lib64/libcublasLt.so.13", RTLD_NOW);
    if (!handle) throw DeviceError{"no libcublasLt.so.13"};
#define FIND(name) \
  name##_ = reinterpret_cast<decltype(&cublasLt##name)>(dlsym(handle, "cublasLt" #name))
    FIND(Create);
    FIND(MatmulDescCreate);
    FIND(MatmulDescSetAttribute);
    FIND(MatrixLayoutCreate);
    FIND(MatmulPreferenceCreate);
    FIND(MatmulPreferenceSetAttribute);
    FIND(MatmulAlgoGetHeuristic);
    FIND(Matmul);
#undef FIND
    check(Create_(&handle_));
  }

  // The algorithms that the library recommends, for later calls of run().
  int prepare(DataType type, int64_t m, int64_t n, int64_t k, CUdeviceptr bias) {
    const bool isInteger = type == DataType::kI8;
    const cudaDataType element = isInteger                ? CUDA_R_8I
                                 : type == DataType::kF16 ? CUDA_R_16F
                                                          : CUDA_R_8F_E4M3;
    check(MatmulDescCreate_(&product_, isInteger ? CUBLAS_COMPUTE_32I : CUBLAS_COMPUTE_32F,
                            CUDA_R_32F));
    const cublasOperation_t transposed = CUBLAS_OP_T;
    set(CUBLASLT_MATMUL_DESC_TRANSA, transposed);
    if (!isInteger) {
      set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, reinterpret_cast<void*>(bias));
    }
    check(MatrixLayoutCreate_(&left_, element, k, n, k));
    check(MatrixLayoutCreate_(&right_, element, k, m, k));
    check(MatrixLayoutCreate_(&out_, isInteger ? CUDA_R_8I : CUDA_R_16F, n, m, n));
    cublasLtMatmulPreference_t preference;
    check(MatmulPreferenceCreate_(&preference));
    const uint64_t bytes = kWorkspace;
    check(MatmulPreferenceSetAttribute_(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                        &bytes, sizeof bytes));
    int count = 0;
    check(MatmulAlgoGetHeuristic_(handle_, product_, left_, right_, out_, out_, preference, 8,
                                  algorithms_, &count));
    return count;
  }

  void run(int algorithm, CUdeviceptr a, CUdeviceptr b, CUdeviceptr out, CUstream stream) {
    const float one = 1, zero = 0;
    check(Matmul_(handle_, product_, &one, reinterpret_cast<void*>(b), left_,
                  reinterpret_cast<void*>(a), right_, &zero, reinterpret_cast<void*>(out), out_,
                  reinterpret_cast<void*>(out), out_, &algorithms_[algorithm].algo,
                  reinterpret_cast<void*>(workspace_.at), kWorkspace,
                  reinterpret_cast<cudaStream_t>(stream)));
  }

 private:
  static constexpr uint64_t kWorkspace = 64 << 20;

  static void check(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS) throw DeviceError{str("cuBLASLt status ", int(status))};
  }
  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    check(MatmulDescSetAttribute_(product_, attribute, &value, sizeof value));
  }

  decltype(&cublasLtCreate) Create_;
  decltype(&cublasLtMatmulDescCreate) MatmulDescCreate_;
  decltype(&cublasLtMatmulDescSetAttribute) MatmulDescSetAttribute_;
  decltype(&cublasLtMatrixLayoutCreate) MatrixLayoutCreate_;
  decltype(&cublasLtMatmulPreferenceCreate) MatmulPreferenceCreate_;
  decltype(&cublasLtMatmulPreferenceSetAttribute) MatmulPreferenceSetAttribute_;
  decltype(&cublasLtMatmulAlgoGetHeuristic) MatmulAlgoGetHeuristic_;
  decltype(&cublasLtMatmul) Matmul_;
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatrixLayout_t left_ = nullptr, right_ = nullptr, out_ = nullptr;
  cublasLtMatmulHeuristicResult_t algorithms_[8] = {};
  Memory workspace_;
};
