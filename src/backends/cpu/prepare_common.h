// What the build halves of several families share: the usual reasons for a no, and parameters as
// bytes.
#pragma once

#include <utility>
#include <vector>

#include "backend/kernel.h"
#include "backends/cpu/rows_in_f32.h"
#include "support/byte_reader.h"
#include "support/text.h"

namespace camshaft::cpu {

// Yes for a node of this operator without an epilogue.
inline Verdict acceptsPlain(const Node& node, Op op) {
  if (node.op != op) return Verdict::no(str("only for ", op->name));
  if (node.epilogue) return Verdict::no("takes no epilogue");
  return Verdict::yes();
}

// The same, of elements that are addressed one by one.
inline Verdict acceptsPlainBytes(const Node& node, Op op) {
  if (Verdict verdict = acceptsPlain(node, op); !verdict) return verdict;
  return isPacked(node.output()->dataType()) ? Verdict::no("elements share bytes") : Verdict::yes();
}

inline Verdict acceptsPlainF32(const Node& node, Op op) {
  if (Verdict verdict = acceptsPlain(node, op); !verdict) return verdict;
  for (const Value* value : node.inputs)
    if (value && value->dataType() != DataType::kF32) return Verdict::no("only f32");
  return Verdict::yes();
}

// Whether kernels that widen rows on their stack take rows of bf16 of this shape.
inline bool isShortRow(const Shape& row) {
  const Dim size = numElements(row);
  return size.isConstant() && size.value() <= kLongestBf16Row;
}
inline constexpr char kLongRow[] = "rows of bf16 are known to be short, or computed in f32";

// The same of bf16 data too, where everything else is f32.
inline Verdict acceptsPlainF32OrBf16(const Node& node, Op op) {
  if (Verdict verdict = acceptsPlain(node, op); !verdict) return verdict;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i]) continue;
    const DataType type = node.inputs[i]->dataType();
    if (type != DataType::kF32 && !(i == 0 && type == DataType::kBF16))
      return Verdict::no(i == 0 ? "only f32 and bf16" : "takes its other operands in f32");
  }
  return Verdict::yes();
}

// All inputs of the node as they are; loadParams() (load_params.h) reads the parameters.
template <class Params>
Prepared preparedWith(const Node& node, const Params& params, std::vector<Dim> dimArgs = {}) {
  ByteWriter writer;
  writer.write(params);
  Prepared prepared;
  prepared.params = writer.take();
  prepared.inputs = allInputs(node);
  prepared.dimArgs = std::move(dimArgs);
  return prepared;
}

inline Prepared preparedWithout(const Node& node, const BuildContext&, int64_t) {
  Prepared prepared;
  prepared.inputs = allInputs(node);
  return prepared;
}

}  // namespace camshaft::cpu
