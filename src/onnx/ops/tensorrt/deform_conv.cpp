// Modulated deformable convolution, under the names of TensorRT and of MMCV.
#include "onnx/ops/conv_run_time.h"
#include "onnx/ops/tensorrt/fields.h"
#include "ops/im2col.h"
#include "ops/rules.h"

namespace camshaft::onnx::importer {

// ONNX's DeformConv, with the inputs in another order: x, offsets, mask, weights, bias.
void importModulatedDeformConv(NodeImport& node) {
  Value *x = node.input(0, 4), *offsets = node.input(1, 4), *mask = node.input(2, 4);
  Value* weights = node.input(3, 4);
  const auto pairIn = [&](std::string_view field, int64_t missing) {
    std::vector<int64_t> pair = integersIn(node, field, {missing, missing});
    if (pair.size() == 1) pair.push_back(pair.front());
    if (pair.size() != 2 || pair[0] < 0 || pair[1] < 0)
      node.invalid("its field '", field, "' must be two sizes");
    return pair;
  };
  const Shape& shape = weights->shape();
  if (!shape[2].isConstant() || !shape[3].isConstant())
    node.unsupported("the window of its weights ", weights->type, " must be known");
  DeformColumnsAttrs attrs;
  attrs.kernel = {shape[2].value(), shape[3].value()};
  attrs.strides = pairIn("stride", 1);
  attrs.dilations = pairIn("dilation", 1);
  attrs.padsBegin = attrs.padsEnd = pairIn("padding", 0);
  attrs.groups =
      positiveIn(node, node.has("deform_groups") ? "deform_groups" : "deformable_group", 1);
  // Where a model has no mask, TensorRT's parser gives ones as many as there are offsets.
  const int64_t masks = attrs.groups * attrs.kernel[0] * attrs.kernel[1];
  if (mask->shape()[1] == offsets->shape()[1]) mask = node.slice(mask, 1, 0, masks);
  const int64_t groups = positiveIn(node, node.has("groups") ? "groups" : "group", 1);
  if (!mayBeEqual(shape[1] * groups, x->shape()[1]) || !mayBeEqual(mod(shape[0], groups), 0))
    node.invalid("its weights ", weights->type, " do not fit an input ", x->type, " in ", groups,
                 " groups");
  Value* columns = node.add(&ops::DeformColumns, {x, offsets, mask}, std::move(attrs));
  node.setOutput(multiplyColumns(node, weights, columns, {offsets->shape()[2], offsets->shape()[3]},
                                 node.optionalInput(4)));
}

}  // namespace camshaft::onnx::importer
