#include "api/layers/layer.h"

#include "api/network.h"

namespace camshaft::api {

namespace {

nvinfer1::ITensor* at(const std::vector<Tensor*>& tensors, int32_t index) {
  return index >= 0 && index < static_cast<int32_t>(tensors.size()) ? tensors[index] : nullptr;
}

}  // namespace

void LayerCore::setName(const char* text) noexcept {
  guarded(reporter(), false, [&] {
    if (!text) fail(ErrorKind::kInvalidArgument, "layer '", name, "' was given no name");
    name = text;
    for (Node* node : nodes) node->name = name;
    return true;
  });
}

void LayerCore::setMetadata(const char* text) noexcept {
  guarded(reporter(), false, [&] {
    metadata = text ? text : "";
    return true;
  });
}

nvinfer1::ITensor* LayerCore::input(int32_t index) const { return at(inputs, index); }
nvinfer1::ITensor* LayerCore::output(int32_t index) const { return at(outputs, index); }

void LayerCore::setInput(int32_t index, nvinfer1::ITensor& tensor) noexcept {
  guarded(reporter(), false, [&] {
    network.setLayerInput(*this, index, tensor);
    return true;
  });
}

const Reporter& LayerCore::reporter() const { return network.reporter(); }
void LayerCore::rebuild(const std::function<void()>& undo) { network.rebuild(*this, undo); }

}  // namespace camshaft::api
