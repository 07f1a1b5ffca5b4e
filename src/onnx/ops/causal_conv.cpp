// Depthwise convolution over time that carries its last inputs from call to call.
#include "onnx/size_rules.h"
#include "ops/conv.h"
#include "ops/move.h"

namespace camshaft::onnx::importer {

void importCausalConvWithState(NodeImport& node) {
  if (node.integer("state_window", 0) != 0)  // of com.microsoft's form
    node.unsupported("a window of states is not supported: export it with state_window 0");
  Value *x = node.input(0, 3), *weights = node.input(1, 3);
  // A convolution's groups and window are numbers: kernels are laid out for them.
  if (!isStatic(weights->shape()) || weights->shape()[2].value() < 1)
    node.invalid("its weights ('", weights->name,
                 "') must have a known shape and a kernel of at least 1: give them when exporting");
  const Dim history = weights->shape()[2] - 1;
  Value* past = node.optionalInput(3);
  requireShape(node, past, "past", {x->shape()[0], x->shape()[1], history});
  if (!past)
    past = node.expand(node.scalar(x->dataType(), 0), {x->shape()[0], x->shape()[1], history});
  ConcatAttrs inTime;
  inTime.axis = 2;
  Value* whole = node.add(&ops::Concat, {past, x}, inTime);

  ConvAttrs conv;
  conv.strides = conv.dilations = {1};
  conv.padsBegin = conv.padsEnd = {0};
  conv.groups = weights->shape()[0].value();
  std::vector<Value*> inputs{whole, weights};
  if (node.hasInput(2)) inputs.push_back(node.input(2));
  Value* y = node.add(&ops::Conv, std::move(inputs), std::move(conv));
  const bool swish = node.choice("activation", "none", {"none", "silu", "swish"}) != 0;
  node.setOutput(0, swish ? node.unary(ScalarOp::kSilu, y) : y);

  SliceAttrs last;
  last.axes = {2};
  last.starts = {whole->shape()[2] - history};
  last.sizes = {history};
  last.steps = {1};
  if (node.wants(1)) node.setOutput(1, node.add(&ops::Slice, {whole}, std::move(last)));
}

}  // namespace camshaft::onnx::importer
