// TensorRT's flags, of today and of the past, that do nothing here: with the reason, for
// scripts. A flag that asks something of the library is not among them: the library answers.
#include "flag.h"

namespace trtexec {
namespace {

enum class Effect { kNone, kRefused };

struct UnavailableFlag {
  Group group;
  const char* names;  // with a comma between
  const char* value;  // as in Flag
  Effect effect;
  const char* reason;
};

constexpr char kNoDla[] = "there is no DLA backend; leave it out to run on the CPU or a GPU";
constexpr char kOnnxOnly[] = "only ONNX models are read; convert the model and give it with --onnx";
constexpr char kNoBatch[] =
    "a batch is a dimension like others; say it with --shapes=name:8x3x224x224";
constexpr char kOneRoute[] = "there is one build route, so that there is nothing to tune";
constexpr char kNoTemporaryFiles[] = "engines are loaded without temporary files";
constexpr char kWaitsForMany[] =
    "the host waits once for many queued runs, so that waking up costs nothing";

constexpr UnavailableFlag kUnavailable[] = {
    // Models of formats that TensorRT has dropped.
    {Group::kModel, "model", "FILE", Effect::kRefused, kOnnxOnly},
    {Group::kModel, "deploy", "FILE", Effect::kRefused, kOnnxOnly},
    {Group::kModel, "uff", "FILE", Effect::kRefused, kOnnxOnly},
    {Group::kModel, "uffInput", "SPEC", Effect::kRefused, kOnnxOnly},
    {Group::kModel, "uffNHWC", "", Effect::kRefused, kOnnxOnly},
    {Group::kModel, "output", "NAMES", Effect::kRefused,
     "outputs are those of the ONNX model; mark others in the model"},

    // Builds.
    {Group::kBuild, "explicitBatch", "", Effect::kNone,
     "every network has its batch in its shapes"},
    {Group::kBuild, "maxBatch", "N", Effect::kRefused, kNoBatch},
    {Group::kBuild, "explicitPrecision", "", Effect::kNone,
     "quantised models always run as their nodes say"},
    {Group::kBuild, "nativeInstanceNorm,ni", "", Effect::kNone,
     "InstanceNormalization always is native"},
    {Group::kBuild, "pluginInstanceNorm,pi", "", Effect::kNone,
     "InstanceNormalization always is native"},
    {Group::kBuild, "heuristic", "", Effect::kNone,
     "kernels are timed; --builderOptimizationLevel=0 takes the first that fits"},
    {Group::kBuild, "minTiming", "N", Effect::kNone,
     "the optimisation level decides how long kernels are timed"},
    {Group::kBuild, "directIO", "", Effect::kNone,
     "inputs and outputs are row-major, and the build converts layouts where that is faster"},
    {Group::kBuild, "distributiveIndependence", "", Effect::kNone,
     "kernels are chosen by their time, whether they keep it or not"},
    {Group::kBuild, "preview", "SPEC", Effect::kNone, "no preview feature is a choice here"},
    {Group::kBuild, "decomposableAttentions", "NAMES", Effect::kNone,
     "attention that no fused kernel takes is always computed in parts"},
    {Group::kBuild, "noCompilationCache", "", Effect::kNone, "timing caches hold no compiled code"},
    {Group::kBuild, "monitorMemory", "", Effect::kNone,
     "the log says how much memory an engine takes"},
    {Group::kBuild, "excludeLeanRuntime", "", Effect::kNone, "engines never hold a runtime"},
    {Group::kBuild, "asyncFileReader", "", Effect::kNone,
     "engine files are mapped into memory, which reads nothing twice"},
    {Group::kBuild, "tempdir", "FOLDER", Effect::kNone, kNoTemporaryFiles},
    {Group::kBuild, "tempfileControls", "SPEC", Effect::kNone, kNoTemporaryFiles},
    {Group::kBuild, "consistency", "", Effect::kNone, "there are no safe engines to check"},
    {Group::kBuild, "dumpKernelText", "", Effect::kRefused,
     "it goes with --safe, and there are no safe engines"},
    {Group::kBuild, "cpuOnly", "", Effect::kRefused,
     "it needs another machine to time kernels on; build for a GPU that is not here with "
     "--computeCapability, or for the CPU with --cpu"},
    {Group::kBuild, "uint8AsymmetricQuantizationDLA", "", Effect::kRefused, kNoDla},
    {Group::kBuild, "reportCapabilityDLA", "", Effect::kRefused, kNoDla},
    {Group::kBuild, "adjustForDLA", "", Effect::kRefused, kNoDla},

    // Runs.
    {Group::kInference, "batch", "N", Effect::kRefused, kNoBatch},
    {Group::kInference, "useSpinWait", "", Effect::kNone, kWaitsForMany},
    {Group::kInference, "noSpinWait", "", Effect::kNone, kWaitsForMany},
    {Group::kInference, "noCudaGraph", "", Effect::kNone,
     "an engine itself decides whether it records runs"},
    {Group::kInference, "useManagedMemory", "", Effect::kNone,
     "inputs and outputs have pinned memory on the host beside that of the device"},
    {Group::kInference, "persistentCacheRatio", "RATIO", Effect::kNone,
     "no part of the L2 cache is set aside"},

    // Tuning.
    {Group::kTuning, "tuneBuildRoutes", "SPEC", Effect::kRefused, kOneRoute},
    {Group::kTuning, "tuneBuildRouteFile", "FILE", Effect::kRefused, kOneRoute},
    {Group::kTuning, "tuningSearch", "WORD", Effect::kRefused, kOneRoute},
    {Group::kTuning, "tuningCacheFile", "FILE", Effect::kRefused, kOneRoute},
    {Group::kTuning, "tuningResultFile", "FILE", Effect::kRefused, kOneRoute},
    {Group::kTuning, "tuningTimeOut", "S", Effect::kRefused, kOneRoute},
    {Group::kTuning, "saveAllEngines", "", Effect::kRefused, kOneRoute},
    {Group::kTuning, "dryRun", "", Effect::kRefused, kOneRoute},
    {Group::kTuning, "continue", "", Effect::kRefused, kOneRoute},

    // Plugins.
    {Group::kSystem, "ignoreParsedPluginLibs", "", Effect::kNone,
     "models name no plugin libraries"},
    {Group::kSystem, "safetyPlugins", "SPEC", Effect::kRefused,
     "there are no safe engines; load plugins with --dynamicPlugins"},
};

Setter answers(const UnavailableFlag& flag, Options& options) {
  if (flag.effect == Effect::kNone)
    return [&flag, &options](const std::string& given, const std::string&) {
      options.warnings.push_back(noEffect(given, flag.reason));
    };
  return [&flag](const std::string& given, const std::string&) {
    throw std::runtime_error(given + " is refused: " + flag.reason);
  };
}

}  // namespace

std::string noEffect(const std::string& flag, const std::string& reason) {
  return flag + " has no effect: " + reason + ".";
}

std::vector<Flag> unavailableFlags(Group group, Options& options) {
  std::vector<Flag> flags;
  for (const UnavailableFlag& flag : kUnavailable)
    if (flag.group == group)
      flags.push_back(
          {split(flag.names, ','), flag.value,
           (flag.effect == Effect::kNone ? "No effect: " : "Refused: ") + std::string(flag.reason),
           answers(flag, options)});
  return flags;
}

}  // namespace trtexec
