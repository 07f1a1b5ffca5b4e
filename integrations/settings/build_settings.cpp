#include "settings/build_settings.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "settings/schemas.h"

namespace camshaft::settings {
namespace {

using namespace nvinfer1;

struct Named {
  std::string_view word;
  int value;
};
template <class Enum>
constexpr Named named(std::string_view word, Enum value) {
  return {word, static_cast<int>(value)};
}

constexpr Named kPrecisions[] = {
    named("fp16", BuilderFlag::kFP16), named("bf16", BuilderFlag::kBF16),
    named("int8", BuilderFlag::kINT8), named("fp8", BuilderFlag::kFP8),
    named("fp4", BuilderFlag::kFP4),   named("int4", BuilderFlag::kINT4)};
constexpr Named kTypes[] = {named("fp32", DataType::kFLOAT),  named("fp16", DataType::kHALF),
                            named("bf16", DataType::kBF16),   named("fp8", DataType::kFP8),
                            named("fp4", DataType::kFP4),     named("int64", DataType::kINT64),
                            named("int32", DataType::kINT32), named("int8", DataType::kINT8),
                            named("int4", DataType::kINT4),   named("uint8", DataType::kUINT8),
                            named("bool", DataType::kBOOL)};
constexpr Named kSources[] = {
    named("cublas", TacticSource::kCUBLAS), named("cublas_lt", TacticSource::kCUBLAS_LT),
    named("cudnn", TacticSource::kCUDNN),
    named("edge_mask_convolutions", TacticSource::kEDGE_MASK_CONVOLUTIONS),
    named("jit_convolutions", TacticSource::kJIT_CONVOLUTIONS)};
constexpr Named kCompatibilities[] = {
    named("none", HardwareCompatibilityLevel::kNONE),
    named("ampere_plus", HardwareCompatibilityLevel::kAMPERE_PLUS),
    named("same_compute_capability", HardwareCompatibilityLevel::kSAME_COMPUTE_CAPABILITY)};
constexpr Named kVerbosities[] = {named("none", ProfilingVerbosity::kNONE),
                                  named("layer_names_only", ProfilingVerbosity::kLAYER_NAMES_ONLY),
                                  named("detailed", ProfilingVerbosity::kDETAILED)};

// The schema has made sure that there is one.
template <class Enum, size_t n>
Enum valueOf(const Named (&names)[n], const Json& word) {
  return static_cast<Enum>(std::ranges::find(names, word.get<std::string>(), &Named::word)->value);
}

bool fits(std::string_view pattern, std::string_view name) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  for (size_t at = star; at <= name.size(); ++at)
    if (fits(pattern.substr(star + 1), name.substr(at))) return true;
  return false;
}

// A name goes before a pattern, and a later pattern before an earlier one.
const Json* found(const Json& byName, const std::string& name) {
  if (byName.contains(name)) return &byName[name];
  const Json* last = nullptr;
  for (const auto& [pattern, value] : byName.items())
    if (fits(pattern, name)) last = &byName[pattern];
  return last;
}

template <class Visit>
void eachLayer(const INetworkDefinition& network, const Visit& visit) {
  for (int32_t i = 0; i < network.getNbLayers(); ++i) visit(*network.getLayer(i));
}

using Applier = void (*)(const Json& value, const BuildTarget& target);

void applyPrecision(const Json& precisions, const BuildTarget& target) {
  for (const Json& word : precisions) {
    if (word == "fp32") target.config.clearFlag(BuilderFlag::kTF32);
    if (word != "fp32" && word != "tf32")
      target.config.setFlag(valueOf<BuilderFlag>(kPrecisions, word));
  }
}

void applyConstraints(const Json& word, const BuildTarget& target) {
  if (word == "prefer") target.config.setFlag(BuilderFlag::kPREFER_PRECISION_CONSTRAINTS);
  if (word == "obey") target.config.setFlag(BuilderFlag::kOBEY_PRECISION_CONSTRAINTS);
}

void applyLayerPrecisions(const Json& byName, const BuildTarget& target) {
  eachLayer(target.network, [&](ILayer& layer) {
    if (const Json* word = found(byName, layer.getName()))
      layer.setPrecision(valueOf<DataType>(kTypes, *word));
  });
}

void applyLayerOutputTypes(const Json& byName, const BuildTarget& target) {
  eachLayer(target.network, [&](ILayer& layer) {
    const Json* words = found(byName, layer.getName());
    for (int32_t i = 0; words && !words->empty() && i < layer.getNbOutputs(); ++i)
      layer.setOutputType(
          i, valueOf<DataType>(kTypes, (*words)[std::min<size_t>(i, words->size() - 1)]));
  });
}

// Tensors of other parts of the model may be named, too.
void applyDynamicRanges(const Json& byName, const BuildTarget& target) {
  const auto set = [&](ITensor* tensor) {
    if (!tensor || !byName.contains(tensor->getName())) return;
    const Json& range = byName[tensor->getName()];
    target.require(tensor->setDynamicRange(range[0].get<float>(), range[1].get<float>()));
  };
  for (int32_t i = 0; i < target.network.getNbInputs(); ++i) set(target.network.getInput(i));
  eachLayer(target.network, [&](ILayer& layer) {
    for (int32_t i = 0; i < layer.getNbOutputs(); ++i) set(layer.getOutput(i));
  });
}

void applySources(const Json& byName, const BuildTarget& target) {
  TacticSources sources = target.config.getTacticSources();
  for (const auto& [name, isOn] : byName.items()) {
    const TacticSources bit = 1u << static_cast<uint32_t>(valueOf<TacticSource>(kSources, name));
    sources = isOn.get<bool>() ? sources | bit : sources & ~bit;
  }
  target.require(target.config.setTacticSources(sources));
}

template <BuilderFlag flag>
void applyFlag(const Json& isOn, const BuildTarget& target) {
  if (isOn.get<bool>()) target.config.setFlag(flag);
}

template <MemoryPoolType pool>
void applyPool(const Json& bytes, const BuildTarget& target) {
  target.config.setMemoryPoolLimit(pool, bytes.get<size_t>());
}

// In the order in which they are applied; those without a function are read by whoever builds.
struct Setting {
  std::string_view key;
  Applier apply;
};
constexpr Setting kSettings[] = {
    {"threads",
     [](const Json& count, const BuildTarget& target) {
       if (count > 0) target.require(target.builder.setMaxThreads(count.get<int32_t>()));
     }},
    {"device", nullptr},
    {"shapes", nullptr},
    {"profiles", nullptr},
    {"precision", applyPrecision},
    {"strongly_typed", nullptr},
    {"precision_constraints", applyConstraints},
    {"layer_precisions", applyLayerPrecisions},
    {"layer_output_types", applyLayerOutputTypes},
    {"dynamic_ranges", applyDynamicRanges},
    {"optimization_level",
     [](const Json& level, const BuildTarget& target) {
       target.config.setBuilderOptimizationLevel(level.get<int32_t>());
     }},
    {"timing_cache", nullptr},
    {"timing_cache_required", applyFlag<BuilderFlag::kERROR_ON_TIMING_CACHE_MISS>},
    {"timing_iterations",
     [](const Json& count, const BuildTarget& target) {
       target.config.setAvgTimingIterations(count.get<int32_t>());
     }},
    {"max_tactics",
     [](const Json& count, const BuildTarget& target) {
       target.config.setMaxNbTactics(count.get<int32_t>());
     }},
    {"max_aux_streams",
     [](const Json& count, const BuildTarget& target) {
       target.config.setMaxAuxStreams(count.get<int32_t>());
     }},
    {"tiling_level",
     [](const Json& level, const BuildTarget& target) {
       target.require(target.config.setTilingOptimizationLevel(
           static_cast<TilingOptimizationLevel>(level.get<int32_t>())));
     }},
    {"l2_limit_for_tiling",
     [](const Json& bytes, const BuildTarget& target) {
       target.require(target.config.setL2LimitForTiling(bytes.get<int64_t>()));
     }},
    {"tactic_sources", applySources},
    {"workspace", applyPool<MemoryPoolType::kWORKSPACE>},
    {"tactic_shared_memory", applyPool<MemoryPoolType::kTACTIC_SHARED_MEMORY>},
    {"tactic_dram", applyPool<MemoryPoolType::kTACTIC_DRAM>},
    {"weight_streaming", applyFlag<BuilderFlag::kWEIGHT_STREAMING>},
    {"version_compatible", applyFlag<BuilderFlag::kVERSION_COMPATIBLE>},
    {"hardware_compatibility",
     [](const Json& word, const BuildTarget& target) {
       target.config.setHardwareCompatibilityLevel(
           valueOf<HardwareCompatibilityLevel>(kCompatibilities, word));
     }},
    {"verbosity",
     [](const Json& word, const BuildTarget& target) {
       target.config.setProfilingVerbosity(valueOf<ProfilingVerbosity>(kVerbosities, word));
     }},
    {"plugins", nullptr},
    {"static_plugins", nullptr},
    {"plugin_override", nullptr},
    {"fixed_caches", nullptr},
    {"disabled_passes",
     [](const Json& names, const BuildTarget& target) {
       for (const Json& name : names)
         target.require(target.config.setPassEnabled(name.get<std::string>().c_str(), false));
     }},
    {"graph_folder",
     [](const Json& folder, const BuildTarget& target) {
       target.config.setGraphFolder(folder.get<std::string>().c_str());
     }},
    {"engine_cache", nullptr},
};
// Of one reader alone.
constexpr std::string_view kProvidersOwn[] = {"min_nodes", "dump_subgraphs"};
// What leaves the engine as it is.
constexpr std::string_view kNotOfTheEngine[] = {"device",       "shapes",        "profiles",
                                                "timing_cache", "graph_folder",  "engine_cache",
                                                "min_nodes",    "dump_subgraphs"};

const Json& schemaOf(Reader reader) {
  static const Json kProvider = Json::parse(kOnnxruntimeSchema),
                    kTriton = Json::parse(kTritonSchema);
  return reader == Reader::kOnnxRuntime ? kProvider : kTriton;
}

}  // namespace

BuildSettings::BuildSettings(Reader reader, const Json& given)
    : schema_(&schemaOf(reader)), values_(readSettings(*schema_, given)) {}

Json BuildSettings::valuesOf(Reader reader, const std::map<std::string, std::string>& texts) {
  Json values = Json::object();
  for (const auto& [key, text] : texts) values[key] = parseText(schemaOf(reader), key, text);
  return values;
}

const Json& BuildSettings::value(const char* key) const {
  return values_.contains(key) ? values_.at(key) : schema_->at("properties").at(key).at("default");
}

std::string BuildSettings::text(const char* key) const {
  return value(key).is_null() ? "" : value(key).get<std::string>();
}
int64_t BuildSettings::number(const char* key) const { return value(key).get<int64_t>(); }
bool BuildSettings::flag(const char* key) const { return value(key).get<bool>(); }
std::vector<std::string> BuildSettings::list(const char* key) const {
  return value(key).get<std::vector<std::string>>();
}

std::vector<Profile> BuildSettings::profiles() const {
  const auto profileOf = [](const Json& shapes) {
    Profile profile;
    for (const auto& [input, range] : shapes.items())
      profile[input] = {range["min"].get<Shape>(), range["opt"].get<Shape>(),
                        range["max"].get<Shape>()};
    return profile;
  };
  std::vector<Profile> profiles;
  if (const Json& shapes = value("shapes"); !shapes.empty()) profiles.push_back(profileOf(shapes));
  for (const Json& one : values_.value("profiles", Json::array())) {
    if (!one.value("values", Json::object()).empty())
      throw SettingsError(
          "profiles." + std::to_string(profiles.size()) +
          ".values cannot be set here: inputs whose values decide sizes have no range of them");
    profiles.push_back(profileOf(one.value("shapes", Json::object())));
  }
  return profiles;
}

NetworkDefinitionCreationFlags BuildSettings::networkFlags() const {
  const auto typed = static_cast<uint32_t>(NetworkDefinitionCreationFlag::kSTRONGLY_TYPED);
  return flag("strongly_typed") ? 1u << typed : 0;
}

void BuildSettings::loadPlugins(IPluginRegistry& registry) const {
  for (const std::string& path : list("static_plugins"))
    if (!dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL))
      throw SettingsError("static_plugins names '" + path +
                          "', which cannot be loaded: " + dlerror());
  for (const std::string& path : list("plugins"))
    if (!registry.loadLibrary(path.c_str()))
      throw SettingsError("plugins names '" + path + "', which cannot be loaded");
}

void BuildSettings::setUp(nvonnxparser::IParser& parser) const {
  if (flag("plugin_override"))
    parser.setFlag(nvonnxparser::OnnxParserFlag::kENABLE_PLUGIN_OVERRIDE);
  if (flag("fixed_caches")) parser.setFlag(nvonnxparser::OnnxParserFlag::kCAMSHAFT_FIXED_CACHES);
}

void BuildSettings::apply(BuildTarget target) const {
  for (const Setting& setting : kSettings) {
    const Json& given = value(std::string(setting.key).c_str());
    if (setting.apply && !given.is_null()) setting.apply(given, target);
  }
  if (flag("timing_cache_required") && text("timing_cache").empty())
    throw SettingsError("timing_cache_required wants a timing_cache");
}

std::string BuildSettings::forBuild() const {
  Json deciding = values_;
  for (const std::string_view key : kNotOfTheEngine) deciding.erase(std::string(key));
  return nlohmann::json(deciding).dump();  // keys in order
}

void addProfile(const Profile& profile, const BuildTarget& target) {
  IOptimizationProfile* made = target.builder.createOptimizationProfile();
  for (const auto& [name, range] : profile) {
    const std::pair<OptProfileSelector, const Shape&> bounds[] = {
        {OptProfileSelector::kMIN, range.min},
        {OptProfileSelector::kOPT, range.opt},
        {OptProfileSelector::kMAX, range.max}};
    for (const auto& [bound, shape] : bounds) {
      if (shape.size() > static_cast<size_t>(Dims::MAX_DIMS))
        throw SettingsError("shapes." + name + " has more than " + std::to_string(Dims::MAX_DIMS) +
                            " dimensions");
      Dims dims{static_cast<int32_t>(shape.size()), {}};
      std::ranges::copy(shape, dims.d);
      target.require(made->setDimensions(name.c_str(), bound, dims));
    }
  }
  target.require(target.config.addOptimizationProfile(made) >= 0);
}

std::string keyOfOneSide(Reader reader) {
  std::set<std::string> known(std::begin(kProvidersOwn), std::end(kProvidersOwn));
  if (reader != Reader::kOnnxRuntime) known.clear();
  for (const Setting& setting : kSettings) known.emplace(setting.key);
  for (const auto& [key, field] : schemaOf(reader).at("properties").items()) {
    const bool isKnown = known.erase(key) > 0;
    if (!isKnown && !field.contains("refused")) return key;
  }
  for (const auto& [key, field] : schemaOf(reader).at("properties").items()) known.erase(key);
  return known.empty() ? "" : *known.begin();
}

}  // namespace camshaft::settings
