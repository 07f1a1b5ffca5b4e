// What the build halves of several families share: the usual reasons for a no, and parameters as
// bytes.
#pragma once

#include <utility>
#include <vector>

#include "backend/kernel.h"
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
