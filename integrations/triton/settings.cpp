#include "settings.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "errors.h"

namespace triton_backend {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& key, const json& value, const char* wanted) {
  fail(TRITONSERVER_ERROR_INVALID_ARG, "the setting '", key, "' is ", value.dump(), " and must be ",
       wanted);
}

std::string readText(const std::string& key, const json& value) {
  if (!value.is_string()) refuse(key, value, "a text");
  return value.get<std::string>();
}

int64_t readNumber(const std::string& key, const json& value, int64_t least, int64_t most,
                   const char* wanted) {
  if (!value.is_number_integer() || value.get<int64_t>() < least || value.get<int64_t>() > most)
    refuse(key, value, wanted);
  return value.get<int64_t>();
}

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0, end = 0; end != std::string::npos; begin = end + separator.size()) {
    end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
  }
  return parts;
}

// [1, 3, 224, 224] or "1x3x224x224".
Shape readShape(const std::string& key, const json& value) {
  const char* wanted = "a shape such as [1, 3, 224, 224] or \"1x3x224x224\"";
  json sizes = value;
  if (value.is_string()) {
    sizes = json::array();
    for (const std::string& size : split(value, "x"))
      sizes.push_back(json::parse(size, nullptr, false));
  }
  if (!sizes.is_array()) refuse(key, value, wanted);
  Shape shape;
  for (const json& size : sizes) {
    if (!size.is_number_unsigned()) refuse(key, value, wanted);
    shape.push_back(size.get<int64_t>());
  }
  return shape;
}

// One shape for all, "min..max", "min..opt..max", or an object with some of these keys.
ShapeRange readRange(const std::string& key, const json& value) {
  json bounds = value;
  if (value.is_string()) {
    const std::vector<std::string> shapes = split(value, "..");
    if (shapes.size() > 3) refuse(key, value, "min..max or min..opt..max");
    bounds = {{"min", shapes.front()},
              {"opt", shapes[shapes.size() == 3 ? 1 : shapes.size() - 1]},
              {"max", shapes.back()}};
  } else if (value.is_array()) {
    bounds = {{"opt", value}};
  }
  if (!bounds.is_object() || bounds.empty())
    refuse(key, value, "a shape, or an object with min, opt and max");
  json usual;
  for (const char* name : {"min", "max", "opt"})  // the last of those that are there
    if (bounds.contains(name)) usual = bounds[name];
  return {readShape(key, bounds.value("min", usual)), readShape(key, usual),
          readShape(key, bounds.value("max", usual))};
}

Profile readProfile(const std::string& key, const json& value) {
  if (!value.is_object()) refuse(key, value, "an object with a range of shapes for each input");
  Profile profile;
  for (const auto& [input, range] : value.items())
    profile[input] = readRange(key + "." + input, range);
  return profile;
}

std::vector<std::string> readPrecisions(const std::string& key, const json& value) {
  const std::set<std::string> known = {"fp32", "tf32", "fp16", "bf16",
                                       "int8", "fp8",  "fp4",  "int4"};
  std::vector<std::string> precisions;
  if (value.is_string()) precisions = split(value, ",");
  if (value.is_array())
    for (const json& item : value) precisions.push_back(readText(key, item));
  const auto isKnown = [&](const std::string& name) { return known.contains(name); };
  if (precisions.empty() || !std::all_of(precisions.begin(), precisions.end(), isKnown))
    refuse(key, value, "some of fp32, tf32, fp16, bf16, int8, fp8, fp4 and int4");
  return precisions;
}

// 4096, "512M" or "1.5G".
int64_t readBytes(const std::string& key, const json& value) {
  const char* wanted = "a number of bytes, such as 4096, \"512M\" or \"1.5G\"";
  if (!value.is_string()) return readNumber(key, value, 0, INT64_MAX, wanted);
  const std::string text = value;
  const size_t unit = std::string("KMG").find(text.empty() ? 'x' : text.back());
  const json number = json::parse(text.substr(0, text.size() - 1), nullptr, false);
  if (unit == std::string::npos || !number.is_number() || number.get<double>() < 0)
    refuse(key, value, wanted);
  return static_cast<int64_t>(number.get<double>() *
                              static_cast<double>(int64_t{1} << (10 * (unit + 1))));
}

using Setter = void (*)(Settings& settings, const std::string& key, const json& value);

const std::map<std::string, Setter>& setters() {
  static const std::map<std::string, Setter> kSetters = {
      {"device",
       [](Settings& settings, const std::string& key, const json& value) {
         settings.device = readText(key, value);
         if (value != "auto" && value != "cpu" && value != "gpu")
           refuse(key, value, "auto, cpu or gpu");
       }},
      {"threads",
       [](Settings& settings, const std::string& key, const json& value) {
         settings.threads = static_cast<int32_t>(
             readNumber(key, value, 0, INT32_MAX, "a number, 0 for all cores"));
       }},
      {"shapes", [](Settings& settings, const std::string& key,
                    const json& value) { settings.profiles = {readProfile(key, value)}; }},
      {"profiles",
       [](Settings& settings, const std::string& key, const json& value) {
         if (!value.is_array()) refuse(key, value, "a list of objects with the key 'shapes'");
         settings.profiles.clear();
         for (const json& profile : value) {
           if (!profile.is_object() || profile.size() != 1 || !profile.contains("shapes"))
             refuse(key, value, "a list of objects with the key 'shapes' and no other");
           settings.profiles.push_back(readProfile(key, profile["shapes"]));
         }
       }},
      {"precision", [](Settings& settings, const std::string& key,
                       const json& value) { settings.precision = readPrecisions(key, value); }},
      {"strongly_typed",
       [](Settings& settings, const std::string& key, const json& value) {
         if (!value.is_boolean()) refuse(key, value, "true or false");
         settings.stronglyTyped = value;
       }},
      {"optimization_level",
       [](Settings& settings, const std::string& key, const json& value) {
         settings.optimizationLevel =
             static_cast<int32_t>(readNumber(key, value, 0, 5, "a number from 0 to 5"));
       }},
      {"workspace", [](Settings& settings, const std::string& key,
                       const json& value) { settings.workspace = readBytes(key, value); }},
      {"timing_cache", [](Settings& settings, const std::string& key,
                          const json& value) { settings.timingCache = readText(key, value); }},
      {"engine_cache", [](Settings& settings, const std::string& key,
                          const json& value) { settings.engineCache = readText(key, value); }},
  };
  return kSetters;
}

void set(Settings& settings, const std::string& key, const json& value) {
  const auto setter = setters().find(key);
  if (setter != setters().end()) return setter->second(settings, key, value);
  std::string known = "config";
  for (const auto& [name, unused] : setters()) known += ", " + name;
  fail(TRITONSERVER_ERROR_INVALID_ARG, "the backend has no setting '", key, "'; it has ", known,
       ", and takes engines that were built with others as model.engine");
}

json readJsonFile(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) fail(TRITONSERVER_ERROR_NOT_FOUND, "the file of settings ", file, " is not there");
  json value = json::parse(stream, nullptr, false, true);
  if (!value.is_object())
    fail(TRITONSERVER_ERROR_INVALID_ARG, "the file of settings ", file,
         " must hold one JSON object, as BuildConfig.to_file writes it to a name that ends in "
         ".json");
  return value;
}

// Parameters of config.pbtxt are texts: numbers, lists and objects are written as JSON in them.
json valueOf(const std::string& text) {
  json value = json::parse(text, nullptr, false);
  return value.is_discarded() ? json(text) : value;
}

}  // namespace

Settings readSettings(const json& modelConfig, const std::filesystem::path& folder) {
  std::map<std::string, std::string> parameters;
  const json given = modelConfig.value("parameters", json::object());
  for (const auto& [key, value] : given.items()) parameters[key] = value.value("string_value", "");

  Settings settings;
  if (const auto file = parameters.extract("config")) {
    const json inFile = readJsonFile(folder / file.mapped());
    for (const auto& [key, value] : inFile.items()) set(settings, key, value);
  }
  for (const auto& [key, text] : parameters) set(settings, key, valueOf(text));
  for (std::string* path : {&settings.timingCache, &settings.engineCache})
    if (!path->empty()) *path = (folder / *path).string();
  return settings;
}

std::string Settings::forBuild() const {
  json all = {{"threads", threads},
              {"precision", precision},
              {"strongly_typed", stronglyTyped},
              {"optimization_level", optimizationLevel},
              {"workspace", workspace.value_or(-1)},
              {"profiles", json::array()}};
  for (const Profile& profile : profiles) {
    json inputs = json::object();
    for (const auto& [name, range] : profile) inputs[name] = {range.min, range.opt, range.max};
    all["profiles"].push_back(inputs);
  }
  return all.dump();
}

}  // namespace triton_backend
