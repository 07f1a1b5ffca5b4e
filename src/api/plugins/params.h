// What an engine keeps of a plugin: whose it is, and what it wants to be given back.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "NvInferRuntime.h"

namespace camshaft::api {

// Which creator makes it: registries know creators by these.
struct PluginName {
  std::string name, version, space;
};
std::string toString(const PluginName& name);  // "'scale' of version '1'"

// Fields that own what they point to.
class PluginFields {
 public:
  PluginFields() = default;
  explicit PluginFields(const nvinfer1::PluginFieldCollection* borrowed);
  explicit PluginFields(std::span<const std::byte> bytes);  // Error(kInvalidEngine) when damaged
  void add(std::string name, nvinfer1::PluginFieldType type, int32_t length,
           std::vector<std::byte> data);

  std::vector<std::byte> bytes() const;
  // Valid until the fields change or end.
  nvinfer1::PluginFieldCollection view();

 private:
  struct Field {
    std::string name;
    nvinfer1::PluginFieldType type;
    int32_t length;
    std::vector<std::byte> data;
  };
  std::vector<Field> fields_;
  std::vector<nvinfer1::PluginField> views_;
};

struct PluginParams {
  enum class Version : uint32_t { kV2 = 2, kV3 = 3 };  // of the plugin's class
  Version version = Version::kV3;
  PluginName name;
  int32_t tactic = 0;
  std::vector<int32_t> aliases;  // for each output the input it changes, or -1; empty: none do
  std::vector<std::byte> data;   // PluginFields::bytes(), or what serialize() wrote

  static PluginParams read(std::span<const std::byte> bytes);
  std::vector<std::byte> bytes() const;
};

}  // namespace camshaft::api
