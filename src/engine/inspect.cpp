#include "engine/inspect.h"

#include <cctype>
#include <nlohmann/json.hpp>

#include "engine/layer_work.h"
#include "support/hash.h"
#include "support/onnx_layer.h"
#include "support/text.h"

namespace camshaft {

std::string typeText(DataType type) {
  switch (type) {
    case DataType::kF32:
      return "FP32";
    case DataType::kF16:
      return "FP16";
    case DataType::kBF16:
      return "BFloat16";
    case DataType::kF64:
      return "FP64";
    case DataType::kF8E4M3:
      return "FP8";
    case DataType::kF4E2M1:
      return "FP4";
    case DataType::kF8E8M0:
      return "E8M0";
    case DataType::kBool:
      return "Bool";
    default:
      break;
  }
  const std::string text(toString(type));
  if (text[0] == 'i') return "Int" + text.substr(1);
  if (text[0] == 'u') return "UInt" + text.substr(1);
  std::string upper;
  for (const char c : text) upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return upper;
}

namespace {

using Json = nlohmann::ordered_json;

// Values of ProfilingVerbosity: what an engine tells of its layers.
constexpr int32_t kNamesOnly = 0, kNothing = 1;

std::string placeText(const Plan& plan, const Operand& operand) {
  switch (operand.place) {
    case Place::kNone:
      return "-";
    case Place::kArena:
      return str("arena+", operand.offset);
    case Place::kWeights:
      return str("weights+", operand.offset);
    case Place::kInput:
      return plan.inputs[operand.index].name;
    case Place::kOutput:
      return plan.outputs[operand.index].name;
    case Place::kDynamic:
      return str("dynamic#", operand.index);
    case Place::kHostArena:
      return str("host arena+", operand.offset);
  }
  return "?";
}

std::string operandText(const Plan& plan, const Operand& operand) {
  if (operand.place == Place::kNone) return "-";
  return str(placeText(plan, operand), ":", operand.tensor.type, "[",
             join(knownDims(operand.tensor), ","), "]");
}

std::string operandsText(const Plan& plan, const std::vector<Operand>& operands) {
  std::vector<std::string> texts;
  for (const Operand& operand : operands) texts.push_back(operandText(plan, operand));
  return join(texts, ", ");
}

std::string_view placeName(Place place) {
  constexpr std::string_view kNames[] = {"None",   "Arena",   "Weights",  "Input",
                                         "Output", "Dynamic", "HostArena"};
  return kNames[static_cast<size_t>(place)];
}

// Where an operand lies and how much of that it takes, where its size is known.
Json memoryJson(const Operand& operand) {
  Json json{{"Place", placeName(operand.place)}};
  if (operand.index < 0) json["Offset"] = operand.offset;
  if (const int64_t bytes = knownBytes(operand.tensor); bytes >= 0) json["Bytes"] = bytes;
  return json;
}

// Tensors of the network; what a kernel has of its own is no input to users.
Json operandsJson(const Plan& plan, const ProfilePlan& profile,
                  const std::vector<Operand>& operands, const std::vector<std::string>& names) {
  Json list = Json::array();
  for (size_t i = 0; i < operands.size(); ++i) {
    const Operand& operand = operands[i];
    if (operand.place == Place::kNone || operand.place == Place::kWeights) continue;
    const bool isNamed = i < names.size() && !names[i].empty();
    const bool onHost = !plan.hasDeviceMemory || isHostOperand(plan, profile, operand);
    list.push_back({{"Name", isNamed ? names[i] : placeText(plan, operand)},
                    {"Location", onHost ? "Host" : "Device"},
                    {"Dimensions", knownDims(operand.tensor)},
                    {"Format/Datatype", str("Row major linear ", typeText(operand.tensor.type))},
                    {"Datatype", typeText(operand.tensor.type)},
                    {"Format", "Row major linear"},
                    {"Memory", memoryJson(operand)}});
    if (operand.place == Place::kInput || operand.place == Place::kOutput)
      list.back()["Memory"]["Binding"] = placeText(plan, operand);
  }
  return list;
}

Json weightsJson(const Step& step) {
  Json list = Json::array();
  for (const Operand& operand : step.inputs) {
    if (operand.place != Place::kWeights) continue;
    Json block = memoryJson(operand);
    block["Datatype"] = typeText(operand.tensor.type);
    list.push_back(std::move(block));
  }
  return list;
}

// What a layer does, beside its time.
void addWork(const Step& step, Json& json) {
  json["WeightBlocks"] = weightsJson(step);
  if (step.workspace.place != Place::kNone) json["Workspace"] = memoryJson(step.workspace);
  if (const int64_t bytes = bytesMoved(step); bytes >= 0) json["BytesMoved"] = bytes;
  if (const double operations = operationsOf(step); operations >= 0)
    json["Operations"] = operations;
}

// What TensorRT calls the parameters of such an operator.
std::string parameterType(const std::string& op) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"Conv", "Convolution"},
      {"ConvTranspose", "Deconvolution"},
      {"Pool", "Pooling"},
      {"MatMul", "MatrixMultiply"},
      {"NormMatMul", "MatrixMultiply"},
      {"MomentMatMul", "MatrixMultiply"},
      {"Pointwise", "PointWise"},
      {"Softmax", "SoftMax"},
      {"Transpose", "Shuffle"},
      {"Reshape", "Shuffle"},
      {"Concat", "Concatenation"},
      {"LayerNorm", "Normalization"},
      {"GroupNorm", "Normalization"}};
  for (const auto& [own, name] : kNames)
    if (own == op) return std::string(name);
  return op;
}

// "keep_dims" as "KeepDims".
std::string keyOf(const std::string& attribute) {
  std::string key;
  bool begins = true;
  for (const char c : attribute) {
    if (c != '_')
      key += begins ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    begins = c == '_';
  }
  return key;
}

void addAttributes(const Step& step, Json& json) {
  json["ParameterType"] = parameterType(step.info.layerType);
  for (const auto& [name, text] : step.info.attributes) {
    Json value = Json::parse(text, nullptr, false);  // numbers and lists are what they look like
    if (!json.contains(keyOf(name))) json[keyOf(name)] = value.is_discarded() ? Json(text) : value;
  }
  for (const Operand& operand : step.inputs) {
    if (operand.place != Place::kWeights) continue;
    int64_t count = 1;
    for (int64_t dim : knownDims(operand.tensor)) count *= dim;
    json["Weights"] = {{"Type", typeText(operand.tensor.type)}, {"Count", count}};
    break;
  }
}

std::vector<std::string_view> originNodes(const Step& step) {
  std::vector<std::string_view> names;
  for (const std::string& origin : step.info.origins) names.push_back(onnxLayerName(origin));
  return names;
}

// One number for a kernel in its configuration.
std::string tacticValue(const Step& step) {
  uint64_t value = Hasher().add(step.kernel).update(step.params).digest();
  std::string text = "0x0000000000000000";
  for (size_t i = text.size() - 1; i > 1; --i, value >>= 4)
    text[i] = "0123456789abcdef"[value & 15];
  return text;
}

Json stepJson(const Plan& plan, const ProfilePlan& profile, const Step& step) {
  if (plan.profilingVerbosity == kNamesOnly) return step.name;
  Json json{{"Name", step.name},
            {"LayerType", step.info.layerType},
            {"Inputs", operandsJson(plan, profile, step.inputs, step.info.inputs)},
            {"Outputs", operandsJson(plan, profile, step.outputs, step.info.outputs)}};
  addAttributes(step, json);
  addWork(step, json);
  json["TacticName"] = step.kernel;
  json["TacticValue"] = tacticValue(step);
  json["StreamId"] = 0;
  json["Metadata"] = join(step.info.origins, "\x1e");
  json["Origin"] = "ONNX";
  json["OriginNodes"] = originNodes(step);
  json["Why"] = step.info.why;
  json["Alternatives"] = Json::array();
  if (step.info.milliseconds >= 0) json["TimeMs"] = step.info.milliseconds;
  for (const auto& alternative : step.info.alternatives) {
    Json entry{{"Kernel", alternative.kernel}, {"Note", alternative.note}};
    if (alternative.milliseconds >= 0) entry["TimeMs"] = alternative.milliseconds;
    json["Alternatives"].push_back(std::move(entry));
  }
  for (int32_t index : step.bodies) {
    const Plan& body = *plan.bodies[index];
    Json layers = Json::array();
    for (const Step& inner : body.profiles[0].steps)
      layers.push_back(stepJson(body, body.profiles[0], inner));
    json["Bodies"].push_back(std::move(layers));
  }
  return json;
}

// Names come from model and engine files and may be no UTF-8.
std::string toText(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string layerLine(const Plan& plan, const Step& step) {
  if (plan.profilingVerbosity == kNothing) return "";
  if (plan.profilingVerbosity == kNamesOnly) return step.name;
  std::string line =
      str(step.name, " [", step.info.layerType, "] ", step.kernel, "(",
          operandsText(plan, step.inputs), ") -> ", operandsText(plan, step.outputs));
  if (!step.info.origins.empty()) line += str(" from {", join(originNodes(step), ", "), "}");
  if (!step.info.why.empty()) line += str("; ", step.info.why);
  if (step.info.milliseconds >= 0) line += str(", ", step.info.milliseconds, " ms");
  for (const auto& alternative : step.info.alternatives) {
    line += str("; not ", alternative.kernel, ": ", alternative.note);
    if (alternative.milliseconds >= 0) line += str(" (", alternative.milliseconds, " ms)");
  }
  return line;
}

std::string layerJson(const Plan& plan, const ProfilePlan& profile, const Step& step) {
  return plan.profilingVerbosity == kNothing ? "{}" : toText(stepJson(plan, profile, step));
}

// Layers line by line, those of bodies further in.
static std::string layerLines(const Plan& plan, const ProfilePlan& profile,
                              const std::string& indent) {
  std::string text;
  if (plan.profilingVerbosity == kNothing) return text;
  for (const Step& step : profile.steps) {
    text += str(indent, layerLine(plan, step), "\n");
    for (int32_t index : step.bodies)
      text += layerLines(*plan.bodies[index], plan.bodies[index]->profiles[0], indent + "  ");
  }
  return text;
}

std::string engineText(const Plan& plan, const ProfilePlan& profile) {
  std::string text = str("Engine '", plan.networkName, "' for ", plan.device, " (", plan.builtFor,
                         "), ", profile.steps.size(), " layers, weights ", plan.weights.size(),
                         " bytes, activations ", profile.arenaBytes, " bytes\nLayers:\n");
  text += layerLines(plan, profile, "");
  text += "Bindings:\n";
  for (const auto* tensors : {&plan.inputs, &plan.outputs})
    for (const IoTensor& tensor : *tensors) text += tensor.name + "\n";
  return text;
}

std::string engineJson(const Plan& plan, const ProfilePlan& profile) {
  Json json{{"Name", plan.networkName},
            {"Device", plan.device},
            {"BuiltFor", plan.builtFor},
            {"WeightsBytes", plan.weights.size()},
            {"ActivationBytes", profile.arenaBytes},
            {"Layers", Json::array()},
            {"Bindings", Json::array()}};
  for (const Step& step : profile.steps)
    if (plan.profilingVerbosity != kNothing)
      json["Layers"].push_back(stepJson(plan, profile, step));
  for (const auto* tensors : {&plan.inputs, &plan.outputs})
    for (const IoTensor& tensor : *tensors) json["Bindings"].push_back(tensor.name);
  return toText(json);
}

}  // namespace camshaft
