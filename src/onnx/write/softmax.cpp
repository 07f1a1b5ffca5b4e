// Softmax, log-softmax and hardmax.
#include "onnx/write/printers.h"
#include "ops/softmax.h"

namespace camshaft::onnx::writer {

std::string printSoftmax(GraphWriter& writer, const Node& node) {
  const auto& attrs = node.as<SoftmaxAttrs>();
  constexpr std::string_view kKinds[] = {"Softmax", "LogSoftmax", "Hardmax"};
  // Older ones flatten everything from the axis on.
  if (writer.opset() < 13 && attrs.axis != node.output()->rank() - 1)
    return "before opset 13 a Softmax is over the last axis or several";
  writer.add(kKinds[static_cast<size_t>(attrs.kind)], {writer.use(node.input(0))},
             {attribute("axis", attrs.axis)}, node.output());
  return {};
}

}  // namespace camshaft::onnx::writer
