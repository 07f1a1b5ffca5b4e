#include "backend/kernel.h"
#include "backends/cpu/families.h"
#include "backends/cpu/pointwise/prepare_program.h"
#include "ops/pointwise.h"

namespace camshaft::cpu::pointwise {

namespace {

// An epilogue on a pointwise node is one more expression on the same elements.
Expr wholeExpr(const Node& node) {
  const Expr& expr = node.as<PointwiseAttrs>().expr;
  if (!node.epilogue) return expr;
  std::vector<int> inner(expr.inputCount()), outer(node.epilogue->expr.inputCount());
  for (size_t i = 0; i < inner.size(); ++i) inner[i] = static_cast<int>(i);
  for (size_t i = 1; i < outer.size(); ++i)
    outer[i] = node.epilogue->firstInput + static_cast<int>(i) - 1;
  return node.epilogue->expr.composed(0, expr, inner, outer);
}

Verdict supports(const Node& node, const BuildContext&) {
  const std::string reason = whyNotCompiled(wholeExpr(node));
  return Verdict{reason};
}

Prepared prepare(const Node& node, const BuildContext&, int64_t) {
  Prepared prepared;
  ByteWriter writer;
  writeProgram(writer, compile(wholeExpr(node)));
  prepared.params = writer.take();
  prepared.inputs = allInputs(node);
  return prepared;
}

// Tile by tile, all of an input that moves with the output is read before it is written over.
bool inPlace(const Node& node, int input) {
  return node.inputs[input]->type == node.output()->type;
}

constexpr Kernel kKernels[] = {{"cpu/pointwise", supports, prepare, nullptr, inPlace}};

}  // namespace

std::span<const Kernel> kernels() { return kKernels; }

}  // namespace camshaft::cpu::pointwise
