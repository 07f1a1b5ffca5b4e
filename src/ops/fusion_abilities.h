// What the kernels of a backend do in one go. Passes form only what there is a kernel for.
#pragma once

#include <span>

#include "ops/ops.h"

namespace camshaft {

inline constexpr Op kProducts[] = {&ops::Conv,          &ops::ConvTranspose, &ops::MatMul,
                                   &ops::MatMulInteger, &ops::ConvInteger,   &ops::MatMulNBits,
                                   &ops::NormMatMul};

inline constexpr DataType kBytesOfCaches[] = {DataType::kI8, DataType::kF8E4M3};
inline constexpr std::span<const DataType> kSignedBytes = std::span(kBytesOfCaches).first(1);

struct FusionAbilities {
  // Operators that apply an expression to their result before they store it (Epilogue).
  std::span<const Op> epilogues = kProducts;
  // PointwiseNorm.
  bool pointwiseNorms = false;
  // PointwiseParts.
  bool pointwiseParts = false;
  // Products are cheaper than convolutions of one pixel, and of patches that do not overlap.
  bool pixelProducts = false;
  // MatMulInteger and ConvInteger. Others get them as floating-point work.
  bool integerProducts = true;
  // Those of two activations too.
  bool activationProducts = true;
  // Epilogues of whatever kernel may end in bytes. Otherwise those of integer products alone.
  bool bytesFromAnywhere = false;
  // DynamicQuantize. Others get it as reductions and arithmetic.
  bool dynamicQuantisation = true;
  // MatMulNBits. Others get its weights unpacked, and a MatMul.
  bool packedWeights = true;
  // MatMulNBits of a few rows, of up to so many elements, may have a gate and normalise its rows
  // (MatMulNBitsAttrs::gate, rms). 0: there are none.
  int64_t streamedElements = 0;
  // NormMatMul of f16 and bf16, of up to so many rows, and MomentMatMul. 0: there are none.
  int64_t normalisedRows = 0;
  // MatMul of f8e4m3 and f8e5m2. Others get what they are dequantised to.
  bool float8Products = false;
  // Types of 8 bits of which Attention reads keys and values. It gets those of others as floats.
  std::span<const DataType> attendedBytes = kSignedBytes;
};

// Of a backend that generates its kernels: an expression is printed wherever a result is stored.
inline constexpr Op kStoresOfGeneratedKernels[] = {
    &ops::Conv,        &ops::ConvTranspose, &ops::MatMul,    &ops::MatMulInteger, &ops::ConvInteger,
    &ops::MatMulNBits, &ops::NormMatMul,    &ops::LayerNorm, &ops::GroupNorm,     &ops::Softmax,
    &ops::Reduce,      &ops::Pool,          &ops::Transpose, &ops::Slice,         &ops::Concat,
    &ops::Gather,      &ops::Pad,           &ops::Expand,    &ops::Resize,        &ops::Attention,
};
inline constexpr FusionAbilities kGeneratedKernels{.epilogues = kStoresOfGeneratedKernels,
                                                   .pointwiseNorms = true,
                                                   .pointwiseParts = true,
                                                   .pixelProducts = true,
                                                   .activationProducts = false,
                                                   .bytesFromAnywhere = true,
                                                   .dynamicQuantisation = false,
                                                   .attendedBytes = kBytesOfCaches};

}  // namespace camshaft
