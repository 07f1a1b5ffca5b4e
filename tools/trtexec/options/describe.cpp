// The options in the words of TensorRT's log, which scripts read.
#include <algorithm>
#include <sstream>

#include "options.h"
#include "values.h"

namespace trtexec {

using namespace nvinfer1;

namespace {

using Lines = std::vector<std::string>;

std::string enabled(bool is) { return is ? "Enabled" : "Disabled"; }

std::string number(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

template <class T>
std::string orAuto(const std::optional<T>& value, const char* otherwise) {
  return value ? std::to_string(*value) : otherwise;
}

std::string joined(const Lines& words, const char* separator = ",") {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

template <class T>
std::string wordOf(T value, const Words<T>& words) {
  for (const auto& [word, meaning] : words)
    if (meaning == value) return std::string(word);
  return "";
}

std::string shapeText(const std::vector<int64_t>& dims) {
  Lines sizes;
  for (int64_t dim : dims) sizes.push_back(std::to_string(dim));
  return sizes.empty() ? "scalar" : joined(sizes, "x");
}

bool has(const BuildOptions& build, BuilderFlag flag) {
  return std::find(build.flags.begin(), build.flags.end(), flag) != build.flags.end();
}

std::string precisionsOf(const BuildOptions& build) {
  if (build.stronglyTyped) return "Strongly Typed";
  std::string text = "FP32";
  for (const auto& [flag, word] :
       {std::pair(BuilderFlag::kFP16, "+FP16"), std::pair(BuilderFlag::kBF16, "+BF16"),
        std::pair(BuilderFlag::kINT8, "+INT8"), std::pair(BuilderFlag::kFP8, "+FP8"),
        std::pair(BuilderFlag::kINT4, "+INT4")})
    if (has(build, flag)) text += word;
  if (has(build, BuilderFlag::kOBEY_PRECISION_CONSTRAINTS)) text += " (obey precision constraints)";
  if (has(build, BuilderFlag::kPREFER_PRECISION_CONSTRAINTS))
    text += " (prefer precision constraints)";
  return text;
}

std::string poolsOf(const BuildOptions& build) {
  Lines pools;
  for (const auto& [name, pool] :
       {std::pair("workspace", MemoryPoolType::kWORKSPACE),
        std::pair("dlaSRAM", MemoryPoolType::kDLA_MANAGED_SRAM),
        std::pair("dlaLocalDRAM", MemoryPoolType::kDLA_LOCAL_DRAM),
        std::pair("dlaGlobalDRAM", MemoryPoolType::kDLA_GLOBAL_DRAM),
        std::pair("tacticSharedMem", MemoryPoolType::kTACTIC_SHARED_MEMORY)}) {
    const auto limit = build.pools.find(pool);
    pools.push_back(std::string(name) + ": " +
                    (limit == build.pools.end()
                         ? "default"
                         : number(static_cast<double>(limit->second) / (1 << 20)) + " MiB"));
  }
  return joined(pools, ", ");
}

std::string sourcesOf(const BuildOptions& build) {
  static constexpr const char* kNames[] = {"cublas", "cublasLt", "cudnn", "edge mask convolutions",
                                           "JIT convolutions"};
  if (build.tacticSources.empty()) return "Using default tactic sources";
  Lines changes;
  for (const auto& [source, isAdded] : build.tacticSources)
    changes.push_back(kNames[static_cast<size_t>(source)] +
                      std::string(isAdded ? " [ON]" : " [OFF]"));
  return joined(changes, ", ");
}

std::string layerTypesOf(const BuildOptions& build) {
  Lines types;
  for (const auto& [layer, type] : build.layerPrecisions)
    types.push_back(layer + ":" + wordOf(type, kTypeWords));
  return joined(types);
}

void addFormats(const char* direction, const std::vector<IoFormat>& list, Lines& lines) {
  if (list.empty()) lines.push_back(std::string(direction) + "s format: the model's types, CHW");
  for (const IoFormat& io : list) {
    Lines formats;
    for (const auto& [word, format] : kFormatWords)
      if (io.formats & 1u << static_cast<uint32_t>(format)) formats.emplace_back(word);
    lines.push_back(std::string(direction) + ": " +
                    (io.type ? wordOf(*io.type, kTypeWords) + ":" : "") + joined(formats, "+"));
  }
}

void addModel(const Options& options, Lines& lines) {
  const bool isOnnx = !options.model.onnx.empty();
  lines.insert(lines.end(),
               {"=== Model Options ===", std::string("Format: ") + (isOnnx ? "ONNX" : "*"),
                "Model: " + options.model.onnx, "Output:"});
}

void addBuild(const Options& options, Lines& lines) {
  const BuildOptions& build = options.build;
  const auto flag = [&](BuilderFlag own) { return enabled(has(build, own)); };
  if (!build.loadEngine.empty()) return;  // nothing is built
  lines.insert(lines.end(),
               {"=== Build Options ===",
                "Memory Pools: " + poolsOf(build),
                "avgTiming: " + orAuto(build.avgTiming, "default"),
                "Precision: " + precisionsOf(build),
                "LayerPrecisions: " + layerTypesOf(build),
                "Refit: " + flag(BuilderFlag::kREFIT),
                "Strip weights: " + flag(BuilderFlag::kSTRIP_PLAN),
                "Version Compatible: " + flag(BuilderFlag::kVERSION_COMPATIBLE),
                "TensorRT runtime: full",
                "Lean DLL Path: " + build.leanRuntime,
                "Sparsity: " + flag(BuilderFlag::kSPARSE_WEIGHTS),
                "Safe mode: " + enabled(build.capability == EngineCapability::kSAFETY),
                "Skip inference: " + enabled(build.skipInference),
                "Save engine: " + build.saveEngine,
                "Load engine: " + build.loadEngine,
                "Profiling verbosity: " + std::to_string(static_cast<int>(build.verbosity)),
                "Tactic sources: " + sourcesOf(build),
                std::string("timingCacheMode: ") + (!build.timingCacheFile.empty() ? "global"
                                                    : has(build, BuilderFlag::kDISABLE_TIMING_CACHE)
                                                        ? "disable"
                                                        : "local"),
                "timingCacheFile: " + build.timingCacheFile,
                "errorOnTimingCacheMiss: " + flag(BuilderFlag::kERROR_ON_TIMING_CACHE_MISS),
                "MaxAuxStreams: " + orAuto(build.maxAuxStreams, "-1"),
                "BuilderOptimizationLevel: " + orAuto(build.optimizationLevel, "3"),
                "MaxTactics: " + orAuto(build.maxTactics, "-1"),
                "Weight Streaming: " + flag(BuilderFlag::kWEIGHT_STREAMING),
                "Debug Tensors: " + joined(build.debugTensors)});
  addFormats("Input(s)", build.inputFormats, lines);
  addFormats("Output(s)", build.outputFormats, lines);
  for (const auto& [number, profile] : build.profiles)
    for (const auto& [name, opt] : profile.opt) {
      const auto* min = profile.min.find(name);
      const auto* max = profile.max.find(name);
      lines.push_back("Input build shape (profile " + std::to_string(number) + "): " + name + "=" +
                      shapeText(min ? *min : opt) + "+" + shapeText(opt) + "+" +
                      shapeText(max ? *max : opt));
    }
}

void addSystem(const Options& options, Lines& lines) {
  const SystemOptions& system = options.system;
  lines.insert(lines.end(), {"=== System Options ===", "Device: " + std::to_string(system.device),
                             "DLACore: " + orAuto(system.dlaCore, ""),
                             "Plugins: " + joined(system.staticPlugins, " "),
                             "setPluginsToSerialize: " + joined(system.serializedPlugins, " "),
                             "dynamicPlugins: " + joined(system.dynamicPlugins, " ")});
}

std::string budgetText(const WeightBudget& budget) {
  using Kind = WeightBudget::Kind;
  return budget.kind == Kind::kAll         ? "Disabled"
         : budget.kind == Kind::kAutomatic ? "Automatic"
         : budget.kind == Kind::kPercent   ? number(budget.amount) + "%"
                                           : number(budget.amount) + " bytes";
}

void addInference(const Options& options, Lines& lines) {
  const InferenceOptions& inference = options.inference;
  lines.insert(lines.end(), {"=== Inference Options ===", "Batch: Explicit"});
  for (const auto& [name, dims] : inference.shapes)
    lines.push_back("Input inference shape : " + name + "=" + shapeText(dims));
  lines.insert(lines.end(),
               {"Iterations: " + std::to_string(inference.iterations),
                "Duration: " + number(inference.durationS) + "s (+ " + number(inference.warmUpMs) +
                    "ms warm up)",
                "Sleep time: " + number(inference.sleepMs) + "ms",
                "Idle time: " + number(inference.idleMs) + "ms",
                "Inference Streams: " + std::to_string(inference.streams),
                "ExposeDMA: " + enabled(inference.exposeDMA),
                "Data transfers: " + enabled(!inference.noDataTransfers),
                "Multithreading: " + enabled(inference.threads),
                "Time Deserialize: " + enabled(inference.timeDeserialize),
                "Time Refit: " + enabled(inference.timeRefit),
                "Optimization Profile Index: " + std::to_string(inference.useProfile),
                "Weight Streaming Budget: " + budgetText(inference.weightBudget), "Inputs:"});
  for (const auto& [number, pair] : inference.pairs)
    for (const auto& [name, file] : pair.inputs) lines.push_back(name + "<-" + file);
}

void addReporting(const Options& options, Lines& lines) {
  const ReportingOptions& reporting = options.reporting;
  Lines percentiles;
  for (double percentile : reporting.percentiles) percentiles.push_back(number(percentile));
  lines.insert(lines.end(), {"=== Reporting Options ===", "Verbose: " + enabled(reporting.verbose),
                             "Averages: " + std::to_string(reporting.avgRuns) + " inferences",
                             "Percentiles: " + joined(percentiles),
                             "Dump refittable layers: " + enabled(reporting.dumpRefit),
                             "Dump output: " + enabled(reporting.dumpOutput),
                             "Profile: " + enabled(reporting.dumpProfile),
                             "Export timing to JSON file: " + reporting.exportTimes,
                             "Export output to JSON file: " + reporting.exportOutput,
                             "Export profile to JSON file: " + reporting.exportProfile, ""});
}

}  // namespace

std::vector<std::string> describe(const Options& options) {
  Lines lines;
  for (const auto add : {addModel, addBuild, addSystem, addInference, addReporting})
    add(options, lines);
  return lines;
}

}  // namespace trtexec
