// Convolution of moved taps, and columns put back where they came from.
#include "ops/im2col.h"

#include "onnx/ops/conv_run_time.h"
#include "onnx/ops/range.h"
#include "onnx/ops/window.h"
#include "onnx/size.h"
#include "ops/gemm.h"
#include "ops/index.h"
#include "ops/rules.h"

namespace camshaft::onnx::importer {

namespace {

template <class Attrs>
void setWindow(Attrs& attrs, const Window& window) {
  attrs.kernel = window.kernel;
  attrs.strides = window.strides;
  attrs.dilations = window.dilations;
  attrs.padsBegin = window.padsBegin;
  attrs.padsEnd = window.padsEnd;
}

}  // namespace

// A product of the weights with what every tap sees.
void importDeformConv(NodeImport& node) {
  Value *x = node.input(0, 4), *offsets = node.input(2, 4);
  Value* weights = weightsOf(node, node.input(1, 4));
  const int64_t groups = node.integer("group", 1);
  DeformColumnsAttrs attrs;
  setWindow(attrs, windowOf(node, kernelOf(node, x, weights)));
  attrs.groups = node.integer("offset_group", 1);
  const Dim &channels = x->shape()[1], &filters = weights->shape()[0];
  if (groups < 1 || !mayBeEqual(mod(filters, groups), 0) ||
      !mayBeEqual(weights->shape()[1] * groups, channels))
    node.invalid("its weights ", weights->type, " do not fit an input ", x->type, " in ", groups,
                 " groups");
  std::vector<Value*> inputs{x, offsets};
  if (node.hasInput(4)) inputs.push_back(node.input(4));
  Value* columns = node.add(&ops::DeformColumns, std::move(inputs), std::move(attrs));
  node.setOutput(multiplyColumns(node, weights, columns, {offsets->shape()[2], offsets->shape()[3]},
                                 node.optionalInput(3)));
}

namespace {

// One spatial dimension of an image whose columns have blocks of a size known at run time only.
struct FoldedAxis {
  Dim block, windows, padded;  // sizes; the image's with its pads
  int64_t stride, dilation, padBegin, padEnd;
};

std::vector<FoldedAxis> foldedAxes(const NodeImport& node, const std::vector<Dim>& sizes,
                                   const std::vector<Dim>& block) {
  // Everything but the kernel is an attribute.
  const Window window = windowOf(node, std::vector<int64_t>(block.size(), 1));
  std::vector<FoldedAxis> axes;
  for (size_t i = 0; i < block.size(); ++i) {
    FoldedAxis axis{block[i],
                    0,
                    sizes[i] + window.padsBegin[i] + window.padsEnd[i],
                    window.strides[i],
                    window.dilations[i],
                    window.padsBegin[i],
                    window.padsEnd[i]};
    const Dim extent = (axis.block - 1) * axis.dilation + 1;
    axis.windows = floorDiv(axis.padded - extent, axis.stride) + 1;
    axes.push_back(std::move(axis));
  }
  return axes;
}

// Where in the padded image, flattened, each element of a column lies: [taps * windows].
Value* foldedPlaces(const NodeImport& node, const std::vector<FoldedAxis>& axes) {
  const size_t rank = axes.size();
  Value* places = nullptr;
  for (size_t i = 0; i < rank; ++i) {
    const FoldedAxis& axis = axes[i];
    const auto spread = [&](size_t at, const Dim& count, int64_t step) {
      Shape shape(2 * rank, Dim(1));
      shape[at] = count;
      Value* steps = node.binary(ScalarOp::kMul, counting(node, DataType::kI64, count),
                                 static_cast<double>(step));
      return node.reshape(steps, std::move(shape));
    };
    Value* at = node.binary(ScalarOp::kAdd, spread(i, axis.block, axis.dilation),
                            spread(rank + i, axis.windows, axis.stride));
    if (places)
      at = node.binary(ScalarOp::kAdd, at,
                       node.binary(ScalarOp::kMul, places, sizeTensor(node, axis.padded)));
    places = at;
  }
  return node.reshape(places, {numElements(places->shape())});
}

// Every element of the columns is added where it lies in the padded image, which is then cropped.
Value* foldAtRunTime(const NodeImport& node, Value* columns, const std::vector<Dim>& sizes,
                     const std::vector<Dim>& block) {
  const std::vector<FoldedAxis> axes = foldedAxes(node, sizes, block);
  Dim taps = 1, windows = 1, pixels = 1;
  for (const FoldedAxis& axis : axes) {
    taps *= axis.block;
    windows *= axis.windows;
    pixels *= axis.padded;
  }
  const Dim &batch = columns->shape()[0], channels = floorDiv(columns->shape()[1], taps);
  const Dim planes = batch * channels, perPlane = taps * windows;
  ScatterElementsAttrs sum;
  sum.axis = 1;
  sum.reduction = ScatterReduction::kAdd;
  Value* zeros = node.expand(node.scalar(columns->dataType(), 0), {planes, pixels});
  Value* places = node.expand(foldedPlaces(node, axes), {planes, perPlane});
  Value* image = node.add(&ops::ScatterElements,
                          {zeros, places, node.reshape(columns, {planes, perPlane})}, sum);
  Shape shape{batch, channels};
  RunTimePads crops;
  for (const FoldedAxis& axis : axes) {
    shape.push_back(axis.padded);
    crops.begin.emplace_back(-axis.padBegin);
    crops.end.emplace_back(-axis.padEnd);
  }
  return padded(node, node.reshape(image, std::move(shape)), crops);
}

}  // namespace

void importCol2Im(NodeImport& node) {
  Value* columns = node.input(0, 3);
  FoldColumnsAttrs attrs;
  attrs.sizes = node.dims(1);
  const std::vector<Dim> block = node.dims(2);
  if (block.size() != attrs.sizes.size())
    node.invalid("its block_shape has ", block.size(), " entries and its image_shape ",
                 attrs.sizes.size());
  if (!isStatic(block)) return node.setOutput(foldAtRunTime(node, columns, attrs.sizes, block));
  setWindow(attrs, windowOf(node, staticDims(block)));
  node.setOutput(node.add(&ops::FoldColumns, {columns}, std::move(attrs)));
}

}  // namespace camshaft::onnx::importer
