#include "model_config.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "errors.h"
#include "log.h"

namespace triton_backend {
namespace {

using nlohmann::json;

int64_t toNumber(const json& value) {
  return value.is_string() ? std::stoll(value.get<std::string>()) : value.get<int64_t>();
}

Shape shapeIn(const json& dims) {
  Shape shape;
  for (const json& size : dims) shape.push_back(toNumber(size));
  return shape;
}

json list(const json& config, const char* key) { return config.value(key, json::array()); }

// The shape that the model sees, without the batch: Triton does the reshaping.
Shape modelShape(const json& tensor) {
  return shapeIn(tensor.contains("reshape") ? tensor["reshape"].value("shape", json::array())
                                            : tensor.value("dims", json::array()));
}

bool hasFreeBatch(const Tensor& tensor) { return !tensor.shape.empty() && tensor.shape[0] == -1; }

// Whether requests may be joined along the first dimension: it is free everywhere, and inputs do
// not call it by different names.
bool canBatch(const Signature& signature) {
  std::set<std::string> names;
  for (const Tensor& input : signature.inputs) names.insert(input.batchName);
  names.erase("");
  return !signature.inputs.empty() && names.size() <= 1 &&
         std::all_of(signature.inputs.begin(), signature.inputs.end(), hasFreeBatch) &&
         std::all_of(signature.outputs.begin(), signature.outputs.end(), hasFreeBatch);
}

// Inputs that are configured with as many dimensions as the model has leave no room for a batch.
bool speaksOfBatches(const json& config, const Signature& signature) {
  for (const json& given : list(config, "input"))
    for (const Tensor& input : signature.inputs)
      if (given.value("name", "") == input.name && modelShape(given).size() == input.shape.size())
        return false;
  return true;
}

int64_t largestBatch(const std::vector<Profile>& profiles) {
  int64_t largest = 0;
  for (const Profile& profile : profiles) {
    int64_t ofProfile = INT64_MAX;
    for (const auto& [name, range] : profile)
      if (!range.max.empty()) ofProfile = std::min(ofProfile, range.max[0]);
    if (ofProfile != INT64_MAX) largest = std::max(largest, ofProfile);
  }
  return largest;
}

// A configuration has no tensors of rank 0: they have one element there.
json describe(const Tensor& tensor, bool isBatched) {
  Shape dims(tensor.shape.begin() + (isBatched ? 1 : 0), tensor.shape.end());
  json described = {{"name", tensor.name}, {"data_type", "TYPE_" + nameOf(toTriton(tensor))}};
  if (dims.empty() && isBatched) described["reshape"] = {{"shape", json::array()}};
  if (dims.empty()) dims.push_back(1);
  described["dims"] = dims;
  return described;
}

void checkTensor(const json& given, const std::vector<Tensor>& tensors, const char* kind,
                 bool isBatched) {
  const std::string name = given.value("name", "");
  const auto tensor = std::find_if(tensors.begin(), tensors.end(),
                                   [&](const Tensor& one) { return one.name == name; });
  if (tensor == tensors.end()) {
    std::string names;
    for (const Tensor& one : tensors) names += (names.empty() ? "'" : ", '") + one.name + "'";
    fail(TRITONSERVER_ERROR_INVALID_ARG, "the configuration has an ", kind, " '", name,
         "' that the model has not; it has ", names);
  }
  const std::string type = "TYPE_" + nameOf(toTriton(*tensor));
  if (given.value("data_type", type) != type)
    fail(TRITONSERVER_ERROR_INVALID_ARG, kind, " '", name, "' is ", given.value("data_type", ""),
         " in the configuration and ", type, " in the model");
  if (isBatched && !hasFreeBatch(*tensor))
    fail(TRITONSERVER_ERROR_INVALID_ARG, kind, " '", name, "' is ", toText(tensor->shape),
         " in the model, whose first dimension is no batch: set max_batch_size to 0, or export the "
         "model with a free first dimension");
  const Shape own(tensor->shape.begin() + (isBatched ? 1 : 0), tensor->shape.end());
  if (const Shape configured = modelShape(given); !fits(configured, own))
    fail(TRITONSERVER_ERROR_INVALID_ARG, kind, " '", name, "' has dims ", toText(configured),
         " in the configuration and ", toText(own), " in the model",
         isBatched ? ", without the batch" : "");
}

Shape configuredShape(const json& config, const std::string& input) {
  for (const json& given : list(config, "input"))
    if (given.value("name", "") == input) return modelShape(given);
  return {};
}

}  // namespace

int64_t maxBatchSize(const json& config) {
  return toNumber(config.value("max_batch_size", json(0)));
}

void completeConfig(json& config, const Signature& signature, const std::vector<Profile>& profiles,
                    int64_t defaultBatch) {
  if (maxBatchSize(config) == 0 && canBatch(signature) && speaksOfBatches(config, signature))
    config["max_batch_size"] = profiles.empty() ? defaultBatch : largestBatch(profiles);
  const bool isBatched = maxBatchSize(config) > 0;
  for (const char* key : {"input", "output"}) {
    if (!list(config, key).empty()) continue;
    config[key] = json::array();
    for (const Tensor& tensor : key[0] == 'i' ? signature.inputs : signature.outputs)
      config[key].push_back(describe(tensor, isBatched));
  }
  if (maxBatchSize(config) > 1 && !config.contains("dynamic_batching") &&
      !config.contains("sequence_batching"))
    config["dynamic_batching"] = json::object();
}

void checkConfig(const json& config, const Signature& signature,
                 const std::vector<Profile>& profiles) {
  const int64_t batch = maxBatchSize(config);
  for (const json& given : list(config, "input"))
    checkTensor(given, signature.inputs, "input", batch > 0);
  for (const json& given : list(config, "output"))
    checkTensor(given, signature.outputs, "output", batch > 0);
  for (const Tensor& input : signature.inputs) {
    const json inputs = list(config, "input");
    if (std::none_of(inputs.begin(), inputs.end(),
                     [&](const json& given) { return given.value("name", "") == input.name; }))
      fail(TRITONSERVER_ERROR_INVALID_ARG, "the configuration lacks the model's input '",
           input.name, "'");
  }
  if (!profiles.empty() && batch > largestBatch(profiles))
    fail(TRITONSERVER_ERROR_INVALID_ARG, "max_batch_size is ", batch,
         " and the profiles end at a batch of ", largestBatch(profiles));
  if (config.contains("sequence_batching") && !list(config["sequence_batching"], "state").empty())
    fail(TRITONSERVER_ERROR_UNSUPPORTED,
         "sequence_batching.state is not supported: make the state an input and an output");
}

std::vector<Profile> defaultProfiles(const json& config, const Signature& signature) {
  // As the builder guesses, of sizes that nobody gave bounds for.
  constexpr int64_t kLeast = 1, kUsual = 224, kMost = 896;
  const int64_t batch = maxBatchSize(config);
  Profile profile;
  std::string guessed;
  for (const Tensor& input : signature.inputs) {
    Shape given = configuredShape(config, input.name);
    if (batch > 0) given.insert(given.begin(), -1);
    ShapeRange range{input.shape, input.shape, input.shape};
    for (size_t i = 0; i < input.shape.size(); ++i) {
      if (input.shape[i] != -1) continue;
      const bool isBatch = batch > 0 && i == 0, isFixed = i < given.size() && given[i] != -1;
      range.min[i] = isFixed ? given[i] : kLeast;
      range.opt[i] = isBatch ? batch : isFixed ? given[i] : kUsual;
      range.max[i] = isBatch ? batch : isFixed ? given[i] : kMost;
      if (!isBatch && !isFixed) guessed = input.name;
    }
    if (range.min != range.max) profile[input.name] = range;
  }
  if (!guessed.empty())
    log(TRITONSERVER_LOG_WARN, "sizes of input '" + guessed + "' are taken to be " +
                                   std::to_string(kLeast) + " to " + std::to_string(kMost) +
                                   ": the setting 'profiles' says what they are");
  return profile.empty() ? std::vector<Profile>() : std::vector<Profile>{profile};
}

}  // namespace triton_backend
