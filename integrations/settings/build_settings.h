// camshaft.config's BuildConfig in C++, with its extensions for programs that others lead: the same
// keys, values and sentences, since both follow the schemas of docs/schema.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "NvInfer.h"
#include "NvOnnxParser.h"
#include "settings/read.h"

namespace camshaft::settings {

using Shape = std::vector<int64_t>;

struct ShapeRange {
  Shape min, opt, max;
  bool operator==(const ShapeRange&) const = default;
};
using Profile = std::map<std::string, ShapeRange>;  // by the input's name

// Which of the schemas.
enum class Reader { kOnnxRuntime, kTriton };

// What a build is made of.
struct BuildTarget {
  nvinfer1::IBuilder& builder;
  nvinfer1::INetworkDefinition& network;
  nvinfer1::IBuilderConfig& config;
  // Ends the build, with what the library has logged, where a call has failed.
  std::function<void(bool worked)> require;
};

class BuildSettings {
 public:
  // Values by key. Throws SettingsError.
  BuildSettings(Reader reader, const Json& given);
  // Such values of texts.
  static Json valuesOf(Reader reader, const std::map<std::string, std::string>& texts);

  std::string text(const char* key) const;  // "" where it is left out
  int64_t number(const char* key) const;
  bool flag(const char* key) const;
  std::vector<std::string> list(const char* key) const;
  std::vector<Profile> profiles() const;  // `shapes`, or those of `profiles`

  // Of the network: before anything is parsed into it.
  nvinfer1::NetworkDefinitionCreationFlags networkFlags() const;
  void loadPlugins(nvinfer1::IPluginRegistry& registry) const;
  void setUp(nvonnxparser::IParser& parser) const;
  // Everything else but `device`, `shapes`, `profiles` and `timing_cache`, which callers follow.
  void apply(BuildTarget target) const;

  // What decides how an engine is built, as one text.
  std::string forBuild() const;

 private:
  const Json& value(const char* key) const;

  const Json* schema_;  // one of the library's
  Json values_;
};

// Adds shapes to the configuration, for the inputs that the network has.
void addProfile(const Profile& profile, const BuildTarget& target);

// A key of the schema that apply() and its callers do not know, or one of theirs that the schema
// has not; empty where they agree.
std::string keyOfOneSide(Reader reader);

}  // namespace camshaft::settings
