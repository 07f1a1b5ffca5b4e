#include "engine/inspect.h"

#include <nlohmann/json.hpp>

#include "support/text.h"

namespace camshaft {
namespace {

using Json = nlohmann::ordered_json;

std::vector<int64_t> knownDims(const TensorDesc& tensor) {
  std::vector<int64_t> dims;
  for (const DimRef& dim : tensor.dims) dims.push_back(dim.isConstant() ? dim.constant : -1);
  return dims;
}

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

Json operandsJson(const Plan& plan, const std::vector<Operand>& operands) {
  Json list = Json::array();
  for (const Operand& operand : operands) {
    if (operand.place == Place::kNone) continue;
    list.push_back({{"Name", placeText(plan, operand)},
                    {"Dimensions", knownDims(operand.tensor)},
                    {"Datatype", std::string(toString(operand.tensor.type))},
                    {"Format", "Row major linear"},
                    {"Format/Datatype", str("Row major linear ", operand.tensor.type)}});
  }
  return list;
}

Json stepJson(const Plan& plan, const Step& step) {
  Json json{{"Name", step.name},
            {"LayerType", step.info.layerType},
            {"Inputs", operandsJson(plan, step.inputs)},
            {"Outputs", operandsJson(plan, step.outputs)},
            {"TacticName", step.kernel},
            {"TacticValue", step.kernel},
            {"Origin", "ONNX"},
            {"OriginNodes", step.info.origins},
            {"Why", step.info.why},
            {"Alternatives", Json::array()}};
  if (step.info.milliseconds >= 0) json["TimeMs"] = step.info.milliseconds;
  for (const auto& alternative : step.info.alternatives) {
    Json entry{{"Kernel", alternative.kernel}, {"Note", alternative.note}};
    if (alternative.milliseconds >= 0) entry["TimeMs"] = alternative.milliseconds;
    json["Alternatives"].push_back(std::move(entry));
  }
  for (int32_t index : step.bodies) {
    const Plan& body = *plan.bodies[index];
    Json layers = Json::array();
    for (const Step& inner : body.profiles[0].steps) layers.push_back(stepJson(body, inner));
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
  std::string line =
      str(step.name, " [", step.info.layerType, "] ", step.kernel, "(",
          operandsText(plan, step.inputs), ") -> ", operandsText(plan, step.outputs));
  if (!step.info.origins.empty()) line += str(" from {", join(step.info.origins, ", "), "}");
  if (!step.info.why.empty()) line += str("; ", step.info.why);
  if (step.info.milliseconds >= 0) line += str(", ", step.info.milliseconds, " ms");
  for (const auto& alternative : step.info.alternatives) {
    line += str("; not ", alternative.kernel, ": ", alternative.note);
    if (alternative.milliseconds >= 0) line += str(" (", alternative.milliseconds, " ms)");
  }
  return line;
}

std::string layerJson(const Plan& plan, const Step& step) { return toText(stepJson(plan, step)); }

// Layers line by line, those of bodies further in.
static std::string layerLines(const Plan& plan, const ProfilePlan& profile,
                              const std::string& indent) {
  std::string text;
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
  for (const Step& step : profile.steps) json["Layers"].push_back(stepJson(plan, step));
  for (const auto* tensors : {&plan.inputs, &plan.outputs})
    for (const IoTensor& tensor : *tensors) json["Bindings"].push_back(tensor.name);
  return toText(json);
}

}  // namespace camshaft
