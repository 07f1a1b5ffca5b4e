// What RuntimeKernel::fits is made of: questions about the operands of a launch.
#pragma once

#include <algorithm>
#include <cstddef>

#include "backend/launch.h"
#include "support/volume.h"

namespace camshaft::cpu {

// Left out operands have no data; empty ones need none.
inline bool isThere(const TensorArg& tensor) { return tensor.data || tensor.count() == 0; }

inline bool isIndex(const TensorArg& tensor) {
  return isThere(tensor) && (tensor.type == DataType::kI32 || tensor.type == DataType::kI64);
}

inline bool isF32(const TensorArg& tensor) {
  return isThere(tensor) && tensor.type == DataType::kF32;
}

inline bool isBf16(const TensorArg& tensor) {
  return isThere(tensor) && tensor.type == DataType::kBF16;
}

// At least so many of each, none of them left out or of a type with parts of bytes.
inline bool hasOperands(const LaunchArgs& args, size_t inputs, size_t outputs = 1) {
  if (args.inputs.size() < inputs || args.outputs.size() < outputs) return false;
  const auto isPlain = [](const TensorArg& t) { return isThere(t) && !isPacked(t.type); };
  return std::all_of(args.inputs.begin(), args.inputs.begin() + inputs, isPlain) &&
         std::all_of(args.outputs.begin(), args.outputs.begin() + outputs, isPlain);
}

// The same, all of them f32; operands beyond these may be left out.
inline bool hasF32Operands(const LaunchArgs& args, size_t inputs, size_t outputs = 1) {
  const auto fits = [](const TensorArg& t) { return !t.data || t.type == DataType::kF32; };
  return hasOperands(args, inputs, outputs) &&
         std::all_of(args.inputs.begin(), args.inputs.end(), fits) &&
         std::all_of(args.outputs.begin(), args.outputs.begin() + outputs, fits);
}

// An input and an output of one type, f32 or bf16; operands beyond these may be left out, else are
// f32.
inline bool hasF32OrBf16Operands(const LaunchArgs& args) {
  const auto fits = [](const TensorArg& t) { return !t.data || t.type == DataType::kF32; };
  return hasOperands(args, 1) && args.inputs[0].type == args.outputs[0].type &&
         (fits(args.inputs[0]) || args.inputs[0].type == DataType::kBF16) &&
         std::all_of(args.inputs.begin() + 1, args.inputs.end(), fits);
}

// Whether a result lies where an input does, which kernels that read their input twice cannot take.
// One without elements may lie anywhere.
inline bool worksInPlace(const LaunchArgs& args) {
  return std::any_of(args.outputs.begin(), args.outputs.end(), [&](const TensorArg& y) {
    return y.data && y.count() > 0 &&
           std::any_of(args.inputs.begin(), args.inputs.end(),
                       [&](const TensorArg& x) { return x.data == y.data; });
  });
}

inline bool sameType(const TensorArg& a, const TensorArg& b) { return a.type == b.type; }

// Sizes of all dimensions but `axis` (-1: of all) agree.
inline bool sameSizes(const TensorArg& a, const TensorArg& b, int64_t axis = -1) {
  if (a.rank != b.rank || axis >= a.rank) return false;
  for (int i = 0; i < a.rank; ++i)
    if (i != axis && a.dims[i] != b.dims[i]) return false;
  return true;
}

}  // namespace camshaft::cpu
