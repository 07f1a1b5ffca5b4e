#include "api/layers/layer.h"

#include "api/convert.h"
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
    const std::string was = str("'", name, "'");
    if (const size_t at = problem.find(was); at != std::string::npos)
      problem.replace(at, was.size(), str("'", text, "'"));
    name = text;
    for (Node* node : nodes) node->name = name;
    return true;
  });
}

void LayerCore::setMetadata(const char* text) noexcept {
  guarded(reporter(), false, [&] {
    metadata = text ? text : "";
    hasOwnMetadata = true;
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

namespace {

// Throws where a layer of this network cannot be given a type.
DataType requestedType(const LayerCore& layer, nvinfer1::DataType type) {
  const auto own = fromPublic(type);
  if (!own)
    fail(ErrorKind::kInvalidArgument, "layer '", layer.name, "' was given an unknown type ",
         static_cast<int>(type));
  if (layer.network.getFlag(nvinfer1::NetworkDefinitionCreationFlag::kSTRONGLY_TYPED))
    fail(ErrorKind::kInvalidArgument, "layer '", layer.name, "' cannot be given the type ", *own,
         ": in a strongly typed network types follow from the inputs; add a cast layer");
  return *own;
}

}  // namespace

void LayerCore::setPrecision(nvinfer1::DataType type) noexcept {
  guarded(reporter(), false, [&] {
    precision.compute = requestedType(*this, type);
    return true;
  });
}

nvinfer1::DataType LayerCore::precisionOr(nvinfer1::DataType otherwise) const noexcept {
  return precision.compute ? toPublic(*precision.compute) : otherwise;
}

void LayerCore::setOutputType(int32_t index, nvinfer1::DataType type) noexcept {
  guarded(reporter(), false, [&] {
    if (!output(index))
      fail(ErrorKind::kInvalidArgument, "layer '", name, "' has no output ", index);
    const DataType requested = requestedType(*this, type);
    precision.outputs.resize(outputs.size());
    precision.outputs[static_cast<size_t>(index)] = requested;
    return true;
  });
}

nvinfer1::DataType LayerCore::outputType(int32_t index) const noexcept {
  const nvinfer1::ITensor* tensor = output(index);
  if (!tensor) return nvinfer1::DataType::kFLOAT;
  const auto requested = precision.output(static_cast<size_t>(index));
  return requested ? toPublic(*requested) : tensor->getType();
}

void LayerCore::resetOutputType(int32_t index) noexcept {
  if (index >= 0 && static_cast<size_t>(index) < precision.outputs.size())
    precision.outputs[static_cast<size_t>(index)].reset();
}

bool LayerCore::setNbRanks(int32_t count) const noexcept {
  if (count == 1) return true;
  return refused(reporter(), "layers on several devices are not available yet", false);
}

const Reporter& LayerCore::reporter() const { return network.reporter(); }
void LayerCore::rebuild(const std::function<void()>& undo) { network.rebuild(*this, undo); }

}  // namespace camshaft::api
