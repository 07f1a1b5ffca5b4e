// The reasons for a no that kernels of several families share.
#pragma once

#include "backend/kernel.h"
#include "support/text.h"

namespace camshaft::cpu {

// Yes for a node of this operator without an epilogue.
inline Verdict acceptsPlain(const Node& node, Op op) {
  if (node.op != op) return Verdict::no(str("only for ", op->name));
  if (node.epilogue) return Verdict::no("takes no epilogue");
  return Verdict::yes();
}

// Also, that its own inputs and outputs are f32.
inline Verdict acceptsPlainF32(const Node& node, Op op) {
  if (Verdict verdict = acceptsPlain(node, op); !verdict) return verdict;
  for (const Value* value : node.inputs)
    if (value && value->dataType() != DataType::kF32) return Verdict::no("only f32");
  return Verdict::yes();
}

}  // namespace camshaft::cpu
