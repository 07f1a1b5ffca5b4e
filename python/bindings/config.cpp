// Build configurations and timing caches.
#include <charconv>

#include "CamshaftFiles.h"
#include "bindings.h"

namespace camshaft::python {

using namespace nvinfer1;

namespace {

using Config = IBuilderConfig;
using Class = nb::class_<Config>;

// 0x and two hexadecimal digits for each byte, as TensorRT writes keys.
std::string textOfKey(const TimingCacheKey& key) {
  std::string text = "0x";
  for (const uint8_t byte : key.data)
    for (const int digit : {byte >> 4, byte & 15}) text += "0123456789abcdef"[digit];
  return text;
}

TimingCacheKey keyFrom(const std::string& text) {
  TimingCacheKey key{};
  if (text.size() != 2 + 2 * sizeof(key.data) || text.compare(0, 2, "0x") != 0)
    throw nb::value_error("the key of a timing is 0x and 32 hexadecimal digits");
  const char* digits = text.data() + 2;
  for (uint8_t& byte : key.data) {
    if (std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2)
      throw nb::value_error("the key of a timing is 0x and 32 hexadecimal digits");
    digits += 2;
  }
  return key;
}

std::vector<TimingCacheKey> timingCacheKeys(const ITimingCache& self) {
  const int64_t count = raising(&ITimingCache::queryKeys)(self, nullptr, 0);
  std::vector<TimingCacheKey> keys(static_cast<size_t>(std::max<int64_t>(count, 0)));
  if (!keys.empty()) raising (&ITimingCache::queryKeys)(self, keys.data(), count);
  return keys;
}

void bindTimingCache(nb::module_& m) {
  nb::class_<TimingCacheKey>(m, "TimingCacheKey")
      .def_static("parse", &keyFrom, "text"_a)
      .def("__str__", &textOfKey);
  nb::class_<TimingCacheValue>(m, "TimingCacheValue")
      .def(
          "__init__",
          [](TimingCacheValue* self, uint64_t tactic, float time) {
            new (self) TimingCacheValue{tactic, time};
          },
          "tactic_hash"_a, "timing_msec"_a)
      .def_rw("tacticHash", &TimingCacheValue::tacticHash)
      .def_rw("timingMSec", &TimingCacheValue::timingMSec);
  nb::class_<ITimingCache>(m, "ITimingCache")
      .def(
          "serialize",
          [](const ITimingCache& self) {
            return checked("serialize", [&] { return self.serialize(); });
          },
          nb::rv_policy::take_ownership)
      .def(
          "save",
          [](ITimingCache& self, nb::object path) {
            const std::string name = nb::cast<std::string>(nb::str(path));
            checked("save", [&] { return saveTimingCache(name.c_str(), self, quietLogger()); });
          },
          "path"_a, "Writes the file, together with what other builds have added to it meanwhile.")
      .def("combine", &ITimingCache::combine, "input_cache"_a, "ignore_mismatch"_a)
      .def("reset", raising(&ITimingCache::reset))
      .def("queryKeys", &timingCacheKeys)
      .def("query", raising(&ITimingCache::query), "key"_a)
      .def("update", raising(&ITimingCache::update), "key"_a, "value"_a);
}

// What the user implements: the config keeps it alive.
template <class T>
void bindHeld(Class& c, const char* name, T* (Config::*get)() const noexcept,
              void (Config::*set)(T*) noexcept) {
  c.def_prop_rw(
      name, get,
      [name, set](nb::handle_t<Config> self, T* value) {
        raising(set)(nb::cast<Config&>(self), value);
        hold(self, name, nb::find(value));
      },
      nb::for_setter(nb::arg().none()), nb::for_getter(nb::rv_policy::reference));
}

void bindDevices(Class& c) {
  c.def("set_device_type", raising(&Config::setDeviceType), "layer"_a, "device_type"_a)
      .def("get_device_type", raising(&Config::getDeviceType), "layer"_a)
      .def("is_device_type_set", raising(&Config::isDeviceTypeSet), "layer"_a)
      .def("reset_device_type", raising(&Config::resetDeviceType), "layer"_a)
      .def("can_run_on_DLA", raising(&Config::canRunOnDLA), "layer"_a)
      .def_prop_rw("DLA_core", &Config::getDLACore, raising(&Config::setDLACore))
      .def_prop_rw("engine_capability", &Config::getEngineCapability,
                   raising(&Config::setEngineCapability))
      .def_prop_rw("hardware_compatibility_level", &Config::getHardwareCompatibilityLevel,
                   raising(&Config::setHardwareCompatibilityLevel))
      .def_prop_rw("runtime_platform", &Config::getRuntimePlatform,
                   raising(&Config::setRuntimePlatform))
      .def_prop_rw(
          "profile_stream", [](const Config& self) { return Stream{self.getProfileStream()}; },
          [](Config& self, Stream stream) {
            raising (&Config::setProfileStream)(self, stream.handle);
          });
}

void bindTactics(Class& c) {
  c.def("set_tactic_sources", raising(&Config::setTacticSources), "tactic_sources"_a)
      .def("get_tactic_sources", &Config::getTacticSources)
      .def("set_preview_feature", raising(&Config::setPreviewFeature), "feature"_a, "enable"_a)
      .def("get_preview_feature", raising(&Config::getPreviewFeature), "feature"_a)
      .def_prop_rw("max_num_tactics", &Config::getMaxNbTactics, raising(&Config::setMaxNbTactics))
      .def_prop_rw("tiling_optimization_level", &Config::getTilingOptimizationLevel,
                   raising(&Config::setTilingOptimizationLevel))
      .def_prop_rw("l2_limit_for_tiling", &Config::getL2LimitForTiling,
                   raising(&Config::setL2LimitForTiling))
      .def_prop_rw("remote_auto_tuning_config", text(&Config::getRemoteAutoTuningConfig),
                   raising(&Config::setRemoteAutoTuningConfig))
      .def_prop_rw("build_route", text(&Config::getBuildRoute), raising(&Config::setBuildRoute))
      .def_prop_ro("all_build_routes", text(&Config::getAllBuildRoutes));
  bindHeld(c, "algorithm_selector", &Config::getAlgorithmSelector, &Config::setAlgorithmSelector);
  bindHeld(c, "progress_monitor", &Config::getProgressMonitor, &Config::setProgressMonitor);
}

void bindCalibration(Class& c) {
  bindHeld(c, "int8_calibrator", &Config::getInt8Calibrator, &Config::setInt8Calibrator);
  c.def("set_calibration_profile", raising(&Config::setCalibrationProfile), "profile"_a.none())
      .def("get_calibration_profile", raising(&Config::getCalibrationProfile),
           nb::rv_policy::reference_internal)
      .def_prop_rw("quantization_flags", &Config::getQuantizationFlags,
                   raising(&Config::setQuantizationFlags))
      .def("set_quantization_flag", raising(&Config::setQuantizationFlag), "flag"_a)
      .def("clear_quantization_flag", raising(&Config::clearQuantizationFlag), "flag"_a)
      .def("get_quantization_flag", raising(&Config::getQuantizationFlag), "flag"_a);
}

void bindPluginsToSerialize(Class& c) {
  c.def_prop_rw(
      "plugins_to_serialize",
      [](const Config& self) {
        nb::list paths;
        for (int32_t i = 0; i < self.getNbPluginsToSerialize(); ++i)
          paths.append(textOf(self.getPluginToSerialize(i)));
        return paths;
      },
      [](Config& self, const std::vector<std::string>& paths) {
        std::vector<const char*> texts;
        for (const std::string& path : paths) texts.push_back(path.c_str());
        raising (&Config::setPluginsToSerialize)(self, texts.data(),
                                                 static_cast<int32_t>(texts.size()));
      });
}

}  // namespace

void bindConfig(nb::module_& m) {
  bindTimingCache(m);
  Class c(m, "IBuilderConfig", nb::dynamic_attr());
  bindLifetime(c, "def __enter__(self) -> IBuilderConfig");
  c.def("reset", &IBuilderConfig::reset)
      .def_prop_rw("flags", &IBuilderConfig::getFlags, raising(&IBuilderConfig::setFlags))
      .def("set_flag", raising(&IBuilderConfig::setFlag), "flag"_a)
      .def("clear_flag", raising(&IBuilderConfig::clearFlag), "flag"_a)
      .def("get_flag", raising(&IBuilderConfig::getFlag), "flag"_a)
      .def_prop_rw("default_device_type", &IBuilderConfig::getDefaultDeviceType,
                   raising(&IBuilderConfig::setDefaultDeviceType))
      .def_prop_rw("builder_optimization_level", &IBuilderConfig::getBuilderOptimizationLevel,
                   raising(&IBuilderConfig::setBuilderOptimizationLevel))
      .def_prop_rw("compute_capability", &IBuilderConfig::getComputeCapability,
                   raising(&IBuilderConfig::setComputeCapability))
      .def("set_pass_enabled", raising(&IBuilderConfig::setPassEnabled), "name"_a, "enabled"_a)
      .def("is_pass_enabled", &IBuilderConfig::isPassEnabled, "name"_a)
      .def_prop_rw("graph_folder", &IBuilderConfig::getGraphFolder,
                   raising(&IBuilderConfig::setGraphFolder))
      .def_prop_rw("avg_timing_iterations", &IBuilderConfig::getAvgTimingIterations,
                   raising(&IBuilderConfig::setAvgTimingIterations))
      .def_prop_rw("max_aux_streams", &IBuilderConfig::getMaxAuxStreams,
                   raising(&IBuilderConfig::setMaxAuxStreams))
      .def("set_memory_pool_limit", raising(&IBuilderConfig::setMemoryPoolLimit), "pool"_a,
           "pool_size"_a)
      .def("get_memory_pool_limit", raising(&IBuilderConfig::getMemoryPoolLimit), "pool"_a)
      .def_prop_rw("profiling_verbosity", &IBuilderConfig::getProfilingVerbosity,
                   raising(&IBuilderConfig::setProfilingVerbosity))
      .def(
          "add_optimization_profile",
          [](IBuilderConfig& self, const IOptimizationProfile& profile) {
            return raising(&IBuilderConfig::addOptimizationProfile)(self, &profile);
          },
          "profile"_a)
      .def_prop_ro("num_optimization_profiles", &IBuilderConfig::getNbOptimizationProfiles)
      .def(
          "create_timing_cache",
          [](const IBuilderConfig& self, nb::handle serialized) {
            const Bytes bytes(serialized);
            return checked("create_timing_cache",
                           [&] { return self.createTimingCache(bytes.data(), bytes.size()); });
          },
          "serialized_timing_cache"_a, nb::rv_policy::take_ownership)
      .def(
          "set_timing_cache",
          [](nb::handle_t<IBuilderConfig> self, ITimingCache& cache, bool ignoreMismatch) {
            const bool ok = nb::cast<IBuilderConfig&>(self).setTimingCache(cache, ignoreMismatch);
            hold(self, "timing_cache", nb::find(cache));
            return ok;
          },
          "cache"_a, "ignore_mismatch"_a)
      .def("get_timing_cache", &IBuilderConfig::getTimingCache, nb::rv_policy::reference_internal);
  bindDevices(c);
  bindTactics(c);
  bindCalibration(c);
  bindPluginsToSerialize(c);
}

}  // namespace camshaft::python
