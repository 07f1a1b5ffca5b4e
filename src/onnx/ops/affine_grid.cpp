// AffineGrid: sampling positions of an affine map, for GridSample.
#include "onnx/formula.h"
#include "onnx/ops/range.h"
#include "onnx/size.h"
#include "ops/gemm.h"
#include "ops/move.h"

namespace camshaft::onnx::importer {

namespace {

// Positions of `size` pixels between -1 and 1: at the corners, or at the pixels' centres.
Value* coordinates(const NodeImport& node, const Dim& size, DataType type, bool corners) {
  Value* pixels = counting(node, DataType::kI64, size);
  Value* steps = sizeTensor(node, corners ? size - 1 : size);
  Formula formula;
  const Term pixel = cast(formula.input(0, DataType::kI64), type);
  const Term count = cast(formula.input(1, DataType::kI64), type);
  const Term result = corners ? pixel * 2 / count - 1 : (pixel * 2 + 1) / count - 1;
  return node.pointwise({pixels, steps}, formula.take(result));
}

}  // namespace

void importAffineGrid(NodeImport& node) {
  Value* theta = node.input(0, 3);
  const DataType type = theta->dataType();
  const std::vector<Dim> size = node.dims(1);
  if (size.size() != 4 && size.size() != 5)
    node.invalid("its size must have 4 or 5 elements and has ", size.size());
  const Shape space(size.begin() + 2, size.end());
  const size_t rank = space.size();

  // Columns x, y(, z), 1 of every position; x belongs to the last dimension.
  Shape column = space;
  column.push_back(1);
  std::vector<Value*> columns;
  for (size_t axis = rank; axis-- > 0;) {
    Shape line(rank + 1, Dim(1));
    line[axis] = space[axis];
    Value* values = coordinates(node, space[axis], type, node.flag("align_corners"));
    columns.push_back(node.expand(node.reshape(values, line), column));
  }
  columns.push_back(node.expand(node.scalar(type, 1), column));
  ConcatAttrs side;
  side.axis = static_cast<int64_t>(rank);
  const auto components = static_cast<int64_t>(rank);
  Value* positions = node.reshape(node.add(&ops::Concat, std::move(columns), side),
                                  {numElements(space), components + 1});
  MatMulAttrs attrs;
  attrs.transposeB = true;
  Shape grid = space;
  grid.insert(grid.begin(), size[0]);
  grid.push_back(components);
  node.setOutput(node.reshape(node.add(&ops::MatMul, {positions, theta}, attrs), grid));
}

}  // namespace camshaft::onnx::importer
