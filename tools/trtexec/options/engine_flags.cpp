#include "flag.h"

namespace trtexec {

using namespace nvinfer1;

namespace {

Setter isOf(EngineCapability& target, EngineCapability capability) {
  return [&target, capability](const std::string&, const std::string&) { target = capability; };
}

}  // namespace

std::vector<Flag> engineFlags(Options& options) {
  BuildOptions& build = options.build;
  return {
      {{"saveEngine"}, "FILE", "Write the engine to this file", stores(build.saveEngine)},
      {{"loadEngine"}, "FILE", "Run this engine instead of building one", stores(build.loadEngine)},
      {{"getPlanVersionOnly"},
       "",
       "Print what version wrote the file of --loadEngine, and end",
       turnsOn(build.getPlanVersionOnly)},
      {{"skipInference", "buildOnly"},
       "",
       "End once the engine is built",
       turnsOn(build.skipInference)},
      {{"profilingVerbosity"},
       "WORD",
       "What the engine remembers of its layers: layer_names_only (default), detailed or none",
       storesWord<ProfilingVerbosity>(build.verbosity,
                                      {{"layer_names_only", ProfilingVerbosity::kLAYER_NAMES_ONLY},
                                       {"detailed", ProfilingVerbosity::kDETAILED},
                                       {"none", ProfilingVerbosity::kNONE}})},

      // weights
      {{"refit"}, "", "Let the engine be refitted", sets(build, {BuilderFlag::kREFIT})},
      {{"stripWeights", "weightless"},
       "",
       "Leave weights out of the engine that a refit gives back: the same ones, or with --refit "
       "any",
       sets(build, {BuilderFlag::kSTRIP_PLAN})},
      {{"stripAllWeights"},
       "",
       "--refit and --stripWeights",
       sets(build, {BuilderFlag::kREFIT, BuilderFlag::kSTRIP_PLAN})},
      {{"refitFromOnnx"},
       "FILE",
       "Give the engine the weights of this model",
       stores(build.refitFromOnnx)},
      {{"allowWeightStreaming"},
       "",
       "Let weights stay on the host until they are needed; see --weightStreamingBudget",
       sets(build, {BuilderFlag::kWEIGHT_STREAMING})},

      // where it may run
      {{"versionCompatible", "vc"},
       "",
       "Let later versions load the engine",
       sets(build, {BuilderFlag::kVERSION_COMPATIBLE})},
      {{"leanDLLPath"},
       "FILE",
       "Load the engine with the runtime of this library",
       stores(build.leanRuntime)},
      {{"useRuntime"},
       "WORD",
       "full, the one runtime that this program has",
       [](const std::string& flag, const std::string& value) {
         if (!parseWord<bool>(flag, value, {{"full", true}, {"lean", false}, {"dispatch", false}}))
           throw std::runtime_error(
               flag + "=" + value +
               ": this program has the full runtime alone; leave the flag out");
       }},
      {{"hardwareCompatibilityLevel"},
       "WORD",
       "GPUs that the engine is to run on: none (those like the one here), ampere+ or "
       "sameComputeCapability",
       storesWord<HardwareCompatibilityLevel>(
           build.hardware,
           {{"none", HardwareCompatibilityLevel::kNONE},
            {"ampere+", HardwareCompatibilityLevel::kAMPERE_PLUS},
            {"sameComputeCapability", HardwareCompatibilityLevel::kSAME_COMPUTE_CAPABILITY}})},
      {{"runtimePlatform"},
       "WORD",
       "Platform that the engine is to run on: SameAsBuild or WindowsAMD64",
       storesWord<RuntimePlatform>(build.platform,
                                   {{"SameAsBuild", RuntimePlatform::kSAME_AS_BUILD},
                                    {"WindowsAMD64", RuntimePlatform::kWINDOWS_AMD64}})},
      {{"safe"},
       "",
       "Build an engine for the safe runtime",
       isOf(build.capability, EngineCapability::kSAFETY)},
      {{"restricted"},
       "",
       "Build with what the safe runtime could run",
       sets(build, {BuilderFlag::kSAFETY_SCOPE})},
      {{"buildDLAStandalone"},
       "",
       "Build a loadable for a DLA alone",
       isOf(build.capability, EngineCapability::kDLA_STANDALONE)},
      {{"layerDeviceTypes"},
       "SPEC",
       "Devices of layers, GPU or DLA: layer:GPU,conv*:DLA",
       storesParsed(build.layerDevices, parseLayerDevices)},

      // what shows its insides
      {{"markDebug"},
       "NAMES",
       "Tensors to look at with --saveDebugTensors",
       storesNames(build.debugTensors)},
      {{"markUnfusedTensorsAsDebugTensors"},
       "",
       "All tensors that the build keeps, likewise",
       turnsOn(build.debugUnfusedTensors)},
      {{"enablePluginOverride"},
       "",
       "Let a plugin take the place of an operator of the same name",
       turnsOn(build.pluginOverride)},
  };
}

}  // namespace trtexec
