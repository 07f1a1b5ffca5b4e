#include "options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <limits>
#include <stdexcept>

#include "numbers.h"

namespace trtexec {
namespace {

// Each has a context with memory of its own, and on a CPU a thread.
constexpr int kMostStreams = 256;
constexpr int kMostProfiles = 1000;
constexpr int kOldestCapability = 75;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

int64_t parseSize(const std::string& flag, const std::string& spec, const std::string& text) {
  try {
    return parseNumber<int64_t>(flag, text, 0, std::numeric_limits<int64_t>::max());
  } catch (const std::runtime_error&) {
    throw std::runtime_error(flag + ": '" + text + "' in '" + spec + "' is not a size");
  }
}

// An option whose value is a number within limits.
template <class T, class Target>
CLI::Option* addNumber(CLI::App& app, const std::string& flags, Target& target, T least, T most,
                       const std::string& description) {
  const std::string flag = flags.substr(flags.rfind(',') + 1);
  return app.add_option_function<std::string>(
      flags,
      [&target, flag, least, most](const std::string& text) {
        target = parseNumber<T>(flag, text, least, most);
      },
      description);
}

size_t editDistance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = diagonal + (a[i - 1] != b[j - 1] ? 1 : 0);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

std::string nearestFlag(const CLI::App& app, const std::string& unknown) {
  const std::string name = unknown.substr(
      unknown.find_first_not_of('-') == std::string::npos ? 0 : unknown.find_first_not_of('-'));
  std::string best;
  size_t bestDistance = std::max<size_t>(3, name.size() / 2);
  for (const CLI::Option* option : app.get_options())
    for (const std::string& known : option->get_lnames()) {
      const size_t distance = editDistance(name, known);
      if (distance < bestDistance) {
        best = known;
        bestDistance = distance;
      }
    }
  return best;
}

// TensorRT's flags for things that are not here yet, so that scripts learn which and why.
const std::map<std::string, std::string> kKnownElsewhere = {
    {"int8", "INT8 engines are not built yet"},
    {"best", "INT8 engines are not built yet; --fp16 and --bf16 are"},
    {"useDLACore", "there is no DLA backend"},
    {"plugins", "plugins are not loaded yet"},
    {"staticPlugins", "plugins are not loaded yet"},
};

// --profile=N starts the options of profile N, so the shape flags are gathered in order.
std::vector<ProfileShapes> gatherProfiles(const std::vector<std::string>& args) {
  std::map<int, ProfileShapes> profiles;
  int current = 0;
  for (size_t i = 0; i < args.size(); ++i) {
    // "--flag=value" or "--flag value"
    const size_t equals = args[i].find('=');
    const std::string flag = args[i].substr(0, equals);
    const std::string value = equals != std::string::npos ? args[i].substr(equals + 1)
                              : i + 1 < args.size()       ? args[i + 1]
                                                          : "";
    if (flag == "--profile") current = parseNumber(flag, value, 0, kMostProfiles);
    if (flag == "--minShapes") profiles[current].min = parseShapes(flag, value);
    if (flag == "--optShapes") profiles[current].opt = parseShapes(flag, value);
    if (flag == "--maxShapes") profiles[current].max = parseShapes(flag, value);
  }
  std::vector<ProfileShapes> list;
  for (auto& [index, profile] : profiles) list.push_back(std::move(profile));
  // As trtexec does, what is left out is taken from what is given.
  for (ProfileShapes& profile : list) {
    const ShapeMap given = !profile.opt.empty()   ? profile.opt
                           : !profile.max.empty() ? profile.max
                                                  : profile.min;
    for (ShapeMap* part : {&profile.min, &profile.opt, &profile.max})
      for (const auto& [name, dims] : given) part->try_emplace(name, dims);
  }
  return list;
}

std::map<std::string, double> parsePools(const std::string& text) {
  std::map<std::string, double> pools;
  for (const std::string& item : split(text, ',')) {
    const size_t colon = item.find(':');
    const std::string name = item.substr(0, colon);
    if (colon == std::string::npos ||
        (name != "workspace" && name != "tacticSharedMem" && name.rfind("dla", 0) != 0))
      throw std::runtime_error("--memPoolSize: '" + item +
                               "' is not pool:size with a pool such as workspace");
    std::string size = item.substr(colon + 1);
    double factor = 1;  // MiB
    const std::map<char, double> suffixes = {
        {'B', 1.0 / 1048576}, {'K', 1.0 / 1024}, {'M', 1}, {'G', 1024}};
    if (!size.empty() && suffixes.contains(size.back())) {
      factor = suffixes.at(size.back());
      size.pop_back();
    }
    constexpr double kMostMiB = 1 << 30;  // a pebibyte
    const std::string given = item.substr(colon + 1);
    double number = -1;
    try {
      number = parseNumber<double>("", size, 0, kMostMiB) * factor;
    } catch (const std::runtime_error&) {
    }
    if (number < 0 || number > kMostMiB)
      throw std::runtime_error("--memPoolSize: '" + given + "' in '" + item +
                               "' is not a size such as 512, 512M or 2G");
    pools[name] = number;
  }
  return pools;
}

std::map<std::string, std::string> parsePairs(const std::string& flag, const std::string& text,
                                              const std::string& form = "name:file") {
  std::map<std::string, std::string> pairs;
  for (const std::string& item : split(text, ',')) {
    const size_t colon = item.rfind(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == item.size())
      throw std::runtime_error(flag + ": '" + item + "' is not " + form);
    pairs[item.substr(0, colon)] = item.substr(colon + 1);
  }
  return pairs;
}

void checkType(const std::string& flag, const std::string& type) {
  static const std::vector<std::string> kTypes = {"fp32",  "fp16",  "bf16",  "int8",
                                                  "int32", "int64", "uint8", "bool"};
  if (std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end())
    throw std::runtime_error(flag + ": '" + type + "' is not a type such as fp32, fp16 or bf16");
}

// "fp16:chw,fp32:chw", one per tensor: the types. Tensors are contiguous, so chw is the one format.
std::vector<std::string> parseFormats(const std::string& flag, const std::string& text) {
  std::vector<std::string> types;
  for (const std::string& item : split(text, ',')) {
    const size_t colon = item.find(':');
    types.push_back(item.substr(0, colon));
    checkType(flag, types.back());
    if (colon == std::string::npos || item.substr(colon + 1) != "chw")
      throw std::runtime_error(flag + ": '" + item + "' is not type:chw, the one format there is");
  }
  return types;
}

void parsePrecisions(const std::string& layers, const std::string& outputs, Options& options) {
  options.layerPrecisions = parsePairs("--layerPrecisions", layers, "layer:type");
  for (const auto& [layer, type] : options.layerPrecisions) checkType("--layerPrecisions", type);
  for (const auto& [layer, types] : parsePairs("--layerOutputTypes", outputs, "layer:type")) {
    options.layerOutputTypes[layer] = split(types, '+');
    for (const std::string& type : options.layerOutputTypes[layer])
      checkType("--layerOutputTypes", type);
  }
}

}  // namespace

ShapeMap parseShapes(const std::string& flag, const std::string& text) {
  ShapeMap shapes;
  for (const std::string& item : split(text, ',')) {
    const size_t colon = item.rfind(':');
    if (colon == std::string::npos || colon == 0)
      throw std::runtime_error(flag + ": '" + item + "' is not name:1x3x224x224");
    std::vector<int64_t>& dims = shapes[item.substr(0, colon)];
    const std::string sizes = item.substr(colon + 1);
    if (sizes == "scalar") continue;
    for (const std::string& size : split(sizes, 'x')) dims.push_back(parseSize(flag, item, size));
  }
  return shapes;
}

ParseResult parseOptions(int argc, char** argv, Options& options) {
  CLI::App app{"Builds an engine from an ONNX model, or loads one, and times it.", "trtexec"};
  app.set_help_flag("-h,--help", "Print this help");
  app.option_defaults()->always_capture_default(false);
  std::string layerPrecisions, layerOutputTypes, inputFormats, outputFormats;
  std::string disabledPasses, memPools, shapes, loadInputs, percentiles, profileText, unusedShapes;

  const char* model = "Model and engine";
  app.add_option("--onnx", options.onnx, "ONNX model to build")->group(model);
  app.add_option("--saveEngine", options.saveEngine, "Write the engine to this file")->group(model);
  app.add_option("--loadEngine", options.loadEngine, "Run this engine instead of building one")
      ->group(model);

  const char* build = "Build";
  app.add_option("--minShapes", unusedShapes,
                 "Smallest shapes of the profile: name:1x3x224x224,other:1x8")
      ->group(build);
  app.add_option("--optShapes", unusedShapes, "Shapes kernels are chosen for")->group(build);
  app.add_option("--maxShapes", unusedShapes, "Largest shapes, what memory is planned for")
      ->group(build);
  app.add_option("--profile", profileText,
                 "The shape flags after this one belong to profile N (repeatable)")
      ->take_last()
      ->group(build);
  for (const char* repeatable : {"--minShapes", "--optShapes", "--maxShapes"})
    app.get_option(repeatable)->take_last();
  addNumber<int>(app, "--builderOptimizationLevel", options.optimizationLevel, 0, 5,
                 "0 builds fastest, 5 runs fastest (default 3)")
      ->group(build);
  addNumber<int>(app, "--maxAuxStreams", options.maxAuxStreams, 0, 1000,
                 "0: layers run one after the other; else side by side where that is faster")
      ->group(build);
  app.add_option("--timingCacheFile", options.timingCacheFile,
                 "Load kernel timings from and save them to this file")
      ->group(build);
  app.add_option("--memPoolSize", memPools,
                 "Memory limits in MiB (or with B, K, M, G): workspace:512")
      ->group(build);
  app.add_option("--profilingVerbosity", options.profilingVerbosity,
                 "What the engine remembers of its layers: layer_names_only, detailed or none")
      ->check(CLI::IsMember({"layer_names_only", "detailed", "none"}))
      ->group(build);
  app.add_option("--disablePass", disabledPasses,
                 "Leave out these passes of the optimiser: fuse_epilogues,fuse_norms")
      ->group(build);
  app.add_option("--dumpGraphs", options.graphFolder,
                 "Write the graph as text into this folder, before and after the passes that "
                 "change it")
      ->group(build);
  app.add_flag("--noTF32", options.noTF32, "Keep f32 products at full precision")->group(build);
  app.add_flag("--fp16", options.fp16, "Allow FP16, where the device gains from it")->group(build);
  app.add_flag("--bf16", options.bf16, "Allow BF16, where the device gains from it")->group(build);
  app.add_flag("--stronglyTyped", options.stronglyTyped, "Build with the types the model has")
      ->group(build);
  app.add_option("--precisionConstraints", options.precisionConstraints,
                 "What becomes of the types set on layers: none, prefer or obey (default none)")
      ->check(CLI::IsMember({"none", "prefer", "obey"}))
      ->group(build);
  app.add_option("--layerPrecisions", layerPrecisions,
                 "Types layers compute in: layer:fp32,other:fp16; '*' is every layer not named")
      ->group(build);
  app.add_option("--layerOutputTypes", layerOutputTypes,
                 "Types layers store in: layer:fp32+fp16, one per output")
      ->group(build);
  app.add_option("--inputIOFormats", inputFormats, "Types of the inputs, in order: fp16:chw,...")
      ->group(build);
  app.add_option("--outputIOFormats", outputFormats, "Types of the outputs, in order: fp16:chw,...")
      ->group(build);
  app.add_flag("--skipInference", options.skipInference, "Stop once the engine is built")
      ->group(build);

  const char* inference = "Inference";
  app.add_option("--shapes", shapes, "Input shapes to run: name:1x3x224x224")->group(inference);
  app.add_option("--loadInputs", loadInputs,
                 "Raw input values from files: name:file,...; others are random")
      ->group(inference);
  addNumber<int>(app, "--iterations", options.iterations, 0, 1'000'000'000,
                 "Run at least this often (default 10)")
      ->group(inference);
  addNumber<double>(app, "--duration", options.durationS, 0, 1e7,
                    "Run at least this many seconds (default 3)")
      ->group(inference);
  addNumber<double>(app, "--warmUp", options.warmUpMs, 0, 1e9,
                    "Milliseconds to run before timing (default 200)")
      ->group(inference);
  addNumber<int>(app, "--infStreams,--streams", options.streams, 1, kMostStreams,
                 "Contexts that run at the same time (default 1)")
      ->group(inference);
  app.add_flag("--threads", options.threads, "One host thread per stream")->group(inference);
  addNumber<int>(app, "--useProfile", options.useProfile, 0, kMostProfiles,
                 "Optimisation profile to run with (default 0)")
      ->group(inference);
  addNumber<int>(app, "--device", options.device, 0, 1023, "GPU to use (default 0)")
      ->group(inference);
  addNumber<int>(
      app, "--computeCapability", options.computeCapability, 0, 999,
      "Build for a GPU of this compute capability (90 for sm_90), which need not be here; "
      "use with --skipInference")
      ->group(inference);
  app.add_flag("--cpu", options.cpu, "Build for the CPU, also where there is a GPU")
      ->group(inference);
  app.add_flag("--noDataTransfers", options.noDataTransfers,
               "Leave inputs and outputs on the GPU instead of copying them in every run")
      ->group(inference);
  app.add_flag("--useCudaGraph", options.useCudaGraph,
               "Accepted: runs are recorded into CUDA graphs anyway")
      ->group(inference);
  app.add_flag(
         "--useSpinWait", options.useSpinWait,
         "Accepted: the host waits once for many queued runs, so that waking up costs nothing")
      ->group(inference);

  const char* report = "Reporting";
  addNumber<int>(app, "--avgRuns", options.avgRuns, 1, 1'000'000'000,
                 "Runs per line of the trace (default 10)")
      ->group(report);
  app.add_option("--percentile", percentiles, "Percentiles to report (default 90,95,99)")
      ->group(report);
  app.add_flag("--dumpLayerInfo", options.dumpLayerInfo, "Print every layer: kernel, origin, why")
      ->group(report);
  app.add_flag("--dumpProfile", options.dumpProfile, "Print the time of every layer")
      ->group(report);
  app.add_flag("--separateProfileRun", options.separateProfileRun,
               "Accepted: layers are timed in runs of their own anyway")
      ->group(report);
  app.add_flag("--dumpOutput", options.dumpOutput, "Print the outputs of the last run")
      ->group(report);
  app.add_option("--exportLayerInfo", options.exportLayerInfo, "Write the layers to this JSON file")
      ->group(report);
  app.add_option("--exportProfile", options.exportProfile,
                 "Write the layers' times to this JSON file")
      ->group(report);
  app.add_option("--exportTimes", options.exportTimes, "Write every run's times to this JSON file")
      ->group(report);
  app.add_option("--exportOutput", options.exportOutput,
                 "Write the outputs of the last run to this JSON file")
      ->group(report);
  app.add_flag("--verbose", options.verbose, "Log everything")->group(report);
  app.allow_extras();

  std::vector<std::string> args(argv + 1, argv + argc);
  for (int i = 0; i < argc; ++i) options.commandLine += std::string(i ? " " : "") + argv[i];
  try {
    app.parse(argc, argv);
    bool ok = true;
    for (const std::string& extra : app.remaining()) {
      const std::string flag = extra.substr(0, extra.find('='));
      const auto known = kKnownElsewhere.find(flag.rfind("--", 0) == 0 ? flag.substr(2) : flag);
      const std::string nearest = nearestFlag(app, flag);
      std::cerr << "trtexec: unknown option '" << flag << "'"
                << (known != kKnownElsewhere.end() ? ": " + known->second
                    : nearest.empty()              ? "; see --help"
                                                   : "; did you mean --" + nearest + "?")
                << "\n";
      ok = false;
    }
    if (!ok) return ParseResult::kError;
    options.profiles = gatherProfiles(args);
    options.shapes = parseShapes("--shapes", shapes);
    options.memPoolMiB = parsePools(memPools);
    options.loadInputs = parsePairs("--loadInputs", loadInputs);
    parsePrecisions(layerPrecisions, layerOutputTypes, options);
    options.inputTypes = parseFormats("--inputIOFormats", inputFormats);
    options.outputTypes = parseFormats("--outputIOFormats", outputFormats);
    if (!disabledPasses.empty()) options.disabledPasses = split(disabledPasses, ',');
    if (!percentiles.empty()) {
      options.percentiles.clear();
      for (const std::string& p : split(percentiles, ','))
        options.percentiles.push_back(parseNumber<double>("--percentile", p, 0, 100));
    }
    if (options.computeCapability != 0 && options.computeCapability < kOldestCapability)
      throw std::runtime_error("--computeCapability takes 75 or more, 90 for sm_90, not '" +
                               std::to_string(options.computeCapability) + "'");
    if (options.onnx.empty() == options.loadEngine.empty())
      throw std::runtime_error(
          options.onnx.empty() ? "give a model with --onnx=FILE or an engine with --loadEngine=FILE"
                               : "--onnx and --loadEngine exclude each other");
    if (options.profiles.empty() && !options.shapes.empty() && !options.onnx.empty())
      options.profiles.push_back({options.shapes, options.shapes, options.shapes});
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    return ParseResult::kHelp;
  } catch (const CLI::ParseError& error) {
    std::cerr << "trtexec: " << error.what() << "\n";
    return ParseResult::kError;
  } catch (const std::exception& error) {
    std::cerr << "trtexec: " << error.what() << "\n";
    return ParseResult::kError;
  }
  return ParseResult::kRun;
}

}  // namespace trtexec
