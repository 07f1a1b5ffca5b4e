// NonZero: the IR has its results at the beginning of a larger tensor, and a count.
#include <algorithm>

#include "onnx/write/printers.h"
#include "ops/move.h"
#include "ops/ops.h"
#include "ops/select.h"
#include "ops/shape.h"
#include "support/text.h"

namespace camshaft::onnx::writer {

namespace {

bool isCountOf(const Node& search, const Dim& size) {
  const auto& users = search.outputs.back()->users;
  return std::any_of(users.begin(), users.end(), [&](const Node* user) {
    return user->op == &ops::BindDims &&
           user->as<BindDimsAttrs>().symbols == std::vector<Dim>{size};
  });
}

// ONNX's NonZero has a row for each axis, that of the IR a column.
Name rowsFound(GraphWriter& writer, const Node& search) {
  const Name x = writer.use(search.input(0));
  const std::string key = str("not zero in ", x);
  if (const auto* known = writer.findDims(key)) return known->name;
  return writer.keepDims(key, writer.add("NonZero", {x}), writer.positionOf(search.output(0)));
}

}  // namespace

bool printResults(GraphWriter& writer, const Node& slice) {
  const Node* search = slice.input(0)->producer;
  if (!search || search->op != &ops::NonZero || slice.input(0) != search->output(0)) return false;
  const auto& attrs = slice.as<SliceAttrs>();
  const bool takesAll = attrs.axes == std::vector<int64_t>{0} && attrs.starts[0].isConstant(0) &&
                        attrs.steps[0] == 1 && isCountOf(*search, attrs.sizes[0]);
  if (!takesAll || writer.opset() < 9) return false;
  writer.add("Transpose", {rowsFound(writer, *search)},
             {attribute("perm", std::vector<int64_t>{1, 0})}, slice.output());
  return true;
}

bool printCount(GraphWriter& writer, const Node& search, const Value* wanted) {
  if (search.op != &ops::NonZero || wanted != search.outputs.back() || writer.opset() < 9)
    return false;
  const Name shape = writer.add("Shape", {rowsFound(writer, search)});
  writer.add("Gather", {shape, writer.integers({1})}, {attribute("axis", int64_t{0})}, wanted);
  return true;
}

}  // namespace camshaft::onnx::writer
