#include "settings.h"

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "errors.h"

namespace triton_backend {
namespace {

using camshaft::settings::BuildSettings;
using camshaft::settings::Json;
using camshaft::settings::Reader;
using nlohmann::json;

Json readJsonFile(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) fail(TRITONSERVER_ERROR_NOT_FOUND, "the file of settings ", file, " is not there");
  Json value = Json::parse(stream, nullptr, false, true);
  if (!value.is_object())
    fail(TRITONSERVER_ERROR_INVALID_ARG, "the file of settings ", file,
         " must hold one JSON object, as BuildConfig.to_file writes it to a name that ends in "
         ".json");
  return value;
}

}  // namespace

// Parameters of config.pbtxt are texts: numbers, lists and objects are written as JSON in them.
Settings readSettings(const json& modelConfig, const std::filesystem::path& folder) {
  std::map<std::string, std::string> parameters;
  const json given = modelConfig.value("parameters", json::object());
  for (const auto& [key, value] : given.items()) parameters[key] = value.value("string_value", "");

  Settings settings;
  Json values = Json::object();
  if (const auto file = parameters.extract("config")) values = readJsonFile(folder / file.mapped());
  values.update(BuildSettings::valuesOf(Reader::kTriton, parameters), true);
  settings.build = BuildSettings(Reader::kTriton, values);
  settings.profiles = settings.build.profiles();
  const auto inFolder = [&](const std::string& path) {
    return path.empty() ? "" : (folder / path).string();
  };
  settings.timingCache = inFolder(settings.build.text("timing_cache"));
  settings.engineCache = inFolder(settings.build.text("engine_cache"));
  return settings;
}

std::string Settings::forBuild() const {
  json all = json::array({build.forBuild()});
  for (const Profile& profile : profiles) {
    json inputs = json::object();
    for (const auto& [name, range] : profile) inputs[name] = {range.min, range.opt, range.max};
    all.push_back(inputs);
  }
  return all.dump();
}

}  // namespace triton_backend
