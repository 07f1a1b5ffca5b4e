// How a model is built and run: camshaft.config's TritonConfig, from the parameters of config.pbtxt
// and from the JSON file that the parameter "config" names.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "settings/build_settings.h"

namespace triton_backend {

using camshaft::settings::Profile;
using camshaft::settings::Shape;
using camshaft::settings::ShapeRange;

struct Settings {
  camshaft::settings::BuildSettings build{camshaft::settings::Reader::kTriton,
                                          camshaft::settings::Json::object()};
  std::vector<Profile> profiles;
  std::string timingCache;  // a file, relative to the model's folder
  std::string engineCache;  // a folder, likewise

  std::string device() const { return build.text("device"); }
  int32_t threads() const { return static_cast<int32_t>(build.number("threads")); }
  // Everything that decides what is built, as one text.
  std::string forBuild() const;
};

// `modelConfig` is Triton's, `folder` the model's. Throws a SettingsError that
// names the key, or a Failure.
Settings readSettings(const nlohmann::json& modelConfig, const std::filesystem::path& folder);

}  // namespace triton_backend
