// How a model is built and run: keys of camshaft.config's BuildConfig and their values as that takes
// and writes them, from the parameters of config.pbtxt and from the JSON file that the parameter
// "config" names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace triton_backend {

using Shape = std::vector<int64_t>;

struct ShapeRange {
  Shape min, opt, max;
};
using Profile = std::map<std::string, ShapeRange>;  // by the input's name

struct Settings {
  std::string device = "auto";  // "cpu" or "gpu" for instances of KIND_MODEL
  int32_t threads = 0;          // 0: all cores
  std::vector<Profile> profiles;
  std::vector<std::string> precision = {"tf32"};  // what kernels may compute in beside f32
  bool stronglyTyped = false;
  int32_t optimizationLevel = 3;
  std::optional<int64_t> workspace;  // bytes
  std::string timingCache;           // a file, relative to the model's folder
  std::string engineCache;           // a folder, likewise; Triton's backend alone has it

  // Everything that decides what is built, as one text.
  std::string forBuild() const;
};

// `modelConfig` is Triton's, `folder` the model's. Throws a Failure that names the key.
Settings readSettings(const nlohmann::json& modelConfig, const std::filesystem::path& folder);

}  // namespace triton_backend
