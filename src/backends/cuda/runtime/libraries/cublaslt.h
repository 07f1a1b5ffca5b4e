// cuBLASLt, opened at run time.
#pragma once

#include <cublasLt.h>

#include <memory>

namespace camshaft::cuda {

inline constexpr const char* kCublasLtNames[] = {"libcublasLt.so.13", "libcublasLt.so.12"};

struct CublasLt {
  decltype(cublasLtGetVersion)* getVersion;
  decltype(cublasLtGetStatusString)* statusString;
  decltype(cublasLtCreate)* create;
  decltype(cublasLtMatmulDescCreate)* matmulDescCreate;
  decltype(cublasLtMatmulDescDestroy)* matmulDescDestroy;
  decltype(cublasLtMatmulDescSetAttribute)* matmulDescSet;
  decltype(cublasLtMatrixLayoutCreate)* layoutCreate;
  decltype(cublasLtMatrixLayoutDestroy)* layoutDestroy;
  decltype(cublasLtMatrixLayoutSetAttribute)* layoutSet;
  decltype(cublasLtMatmulPreferenceCreate)* preferenceCreate;
  decltype(cublasLtMatmulPreferenceDestroy)* preferenceDestroy;
  decltype(cublasLtMatmulPreferenceSetAttribute)* preferenceSet;
  decltype(cublasLtMatmulAlgoGetHeuristic)* getHeuristic;
  decltype(cublasLtMatmulAlgoCheck)* checkAlgorithm;
  decltype(cublasLtMatmulAlgoConfigGetAttribute)* getAlgorithmAttribute;
  decltype(cublasLtMatmul)* matmul;

  CublasLt();
  // Throws Error(kDevice) unless `status` is success.
  void check(cublasStatus_t status, const char* doing) const;
};

// Throws Error(kUnsupported) where the library is missing.
const CublasLt& cublasLt();

// The handle of the calling thread's context: one for all threads, kept for good.
cublasLtHandle_t cublasLtHandle();

// Opens the library, which is large, and makes the handle on another thread while an engine's other
// steps are loaded; whoever holds the result waits for that thread before it goes. Null without a
// device.
std::shared_ptr<const void> openCublasLtMeanwhile();

}  // namespace camshaft::cuda
