#include "network.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>

#include "NvOnnxParser.h"
#include "options/values.h"
#include "require.h"

namespace trtexec {
namespace {

using namespace nvinfer1;

void parseModel(const Options& options, INetworkDefinition& network, ConsoleLogger& log) {
  const std::unique_ptr<nvonnxparser::IParser> parser(nvonnxparser::createParser(network, log));
  require(parser != nullptr);
  if (options.build.pluginOverride)
    parser->setFlag(nvonnxparser::OnnxParserFlag::kENABLE_PLUGIN_OVERRIDE);
  log.info("Start parsing network model.");
  const auto start = std::chrono::steady_clock::now();
  require(parser->parseFromFile(options.model.onnx.c_str(),
                                static_cast<int>(ILogger::Severity::kINFO)));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  log.info("Finished parsing network model. Parse time: " + std::to_string(taken.count()));
}

template <class F>
void forEachLayer(INetworkDefinition& network, F&& visit) {
  for (int32_t i = 0; i < network.getNbLayers(); ++i) visit(*network.getLayer(i));
}

// One type per output, or the last for all that follow.
void setOutputTypes(ILayer& layer, const std::vector<DataType>& types) {
  for (int32_t i = 0; i < layer.getNbOutputs(); ++i)
    layer.setOutputType(i, types[std::min<size_t>(static_cast<size_t>(i), types.size() - 1)]);
}

void setLayerTypes(const BuildOptions& build, INetworkDefinition& network) {
  if (build.layerPrecisions.empty() && build.layerOutputTypes.empty()) return;
  forEachLayer(network, [&](ILayer& layer) {
    if (const DataType* type = build.layerPrecisions.find(layer.getName()))
      layer.setPrecision(*type);
    if (const auto* types = build.layerOutputTypes.find(layer.getName()))
      setOutputTypes(layer, *types);
  });
}

// One per tensor, or one for all.
template <class Get>
void setFormats(const std::vector<IoFormat>& list, int32_t count, const char* flag, Get get) {
  if (list.empty()) return;
  if (list.size() != 1 && list.size() != static_cast<size_t>(count))
    throw std::runtime_error(std::string(flag) + " lists " + std::to_string(list.size()) +
                             " tensors where the network has " + std::to_string(count));
  for (int32_t i = 0; i < count; ++i) {
    const IoFormat& format = list[list.size() == 1 ? 0 : static_cast<size_t>(i)];
    ITensor& tensor = *get(i);
    if (format.type) tensor.setType(*format.type);
    tensor.setAllowedFormats(format.formats);
    require(tensor.getAllowedFormats() == format.formats);
  }
}

std::vector<ITensor*> tensorsOf(INetworkDefinition& network) {
  std::vector<ITensor*> tensors;
  for (int32_t i = 0; i < network.getNbInputs(); ++i) tensors.push_back(network.getInput(i));
  forEachLayer(network, [&](ILayer& layer) {
    for (int32_t i = 0; i < layer.getNbOutputs(); ++i)
      if (ITensor* tensor = layer.getOutput(i)) tensors.push_back(tensor);
  });
  return tensors;
}

void markDebugTensors(const BuildOptions& build, INetworkDefinition& network) {
  if (build.debugUnfusedTensors) require(network.markUnfusedTensorsAsDebugTensors());
  if (build.debugTensors.empty()) return;
  const std::vector<ITensor*> tensors = tensorsOf(network);
  for (const std::string& name : build.debugTensors) {
    std::vector<std::string> names;
    ITensor* marked = nullptr;
    for (ITensor* tensor : tensors) {
      names.emplace_back(tensor->getName());
      if (name == tensor->getName()) marked = tensor;
    }
    const std::string suggestion = nearest(name, names);
    if (!marked)
      throw std::runtime_error("--markDebug names '" + name + "', which is no tensor of the model" +
                               (suggestion.empty() ? "" : "; did you mean '" + suggestion + "'?"));
    require(network.markDebug(*marked));
  }
}

// Reduced types of few bits come from the model's own nodes.
struct QuantizedFlag {
  BuilderFlag flag;
  const char* name;
  std::set<DataType> types;
};

void warnOfPlainModel(const BuildOptions& build, INetworkDefinition& network, ConsoleLogger& log) {
  static const QuantizedFlag kQuantized[] = {
      {BuilderFlag::kINT8, "INT8", {DataType::kINT8, DataType::kUINT8}},
      {BuilderFlag::kFP8, "FP8", {DataType::kFP8, DataType::kFP8E5M2}},
      {BuilderFlag::kINT4, "INT4", {DataType::kINT4, DataType::kUINT4}}};
  for (const QuantizedFlag& quantized : kQuantized) {
    if (std::find(build.flags.begin(), build.flags.end(), quantized.flag) == build.flags.end())
      continue;
    const std::vector<ITensor*> tensors = tensorsOf(network);
    if (std::none_of(tensors.begin(), tensors.end(), [&](const ITensor* tensor) {
          return quantized.types.contains(tensor->getType());
        }))
      log.warning(std::string("Allowing ") + quantized.name +
                  " has no effect: the model is not quantised; give it QuantizeLinear and "
                  "DequantizeLinear nodes.");
  }
}

}  // namespace

void fillNetwork(const Options& options, INetworkDefinition& network, ConsoleLogger& log) {
  const BuildOptions& build = options.build;
  parseModel(options, network, log);
  setLayerTypes(build, network);
  setFormats(build.inputFormats, network.getNbInputs(), "--inputIOFormats",
             [&](int32_t i) { return network.getInput(i); });
  setFormats(build.outputFormats, network.getNbOutputs(), "--outputIOFormats",
             [&](int32_t i) { return network.getOutput(i); });
  markDebugTensors(build, network);
  warnOfPlainModel(build, network, log);
}

}  // namespace trtexec
