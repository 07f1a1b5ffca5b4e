#include "flag.h"

namespace trtexec {

using namespace nvinfer1;

namespace {

constexpr int kOldestCapability = 75;

// Shapes of the profile that --profile named last.
Setter storesShapes(BuildOptions& build, ShapesByName ProfileShapes::* part) {
  return [&build, part](const std::string& flag, const std::string& value) {
    ShapesByName& shapes = build.profiles[build.currentProfile].*part;
    if (!shapes.empty())
      throw std::runtime_error(flag + " is given twice for profile " +
                               std::to_string(build.currentProfile) +
                               "; list all inputs in one, name:1x3,other:4");
    shapes = parseShapes(flag, value);
  };
}

Setter storesCapability(BuildOptions& build) {
  return [&build](const std::string& flag, const std::string& value) {
    build.computeCapability = parseNumber(flag, value, 0, 999);
    if (build.computeCapability != 0 && build.computeCapability < kOldestCapability)
      throw std::runtime_error(flag + " takes 75 or more, 90 for sm_90, not '" + value + "'");
  };
}

Setter storesSparsity(Options& options) {
  return [&options](const std::string& flag, const std::string& value) {
    enum class Sparsity { kDisable, kEnable, kForce };
    switch (parseWord<Sparsity>(flag, value,
                                {{"disable", Sparsity::kDisable},
                                 {"enable", Sparsity::kEnable},
                                 {"force", Sparsity::kForce}})) {
      case Sparsity::kDisable:
        return;
      case Sparsity::kEnable:
        options.build.flags.push_back(BuilderFlag::kSPARSE_WEIGHTS);
        options.warnings.push_back(
            noEffect(flag + "=enable", "there are no kernels for sparse weights"));
        return;
      case Sparsity::kForce:
        throw std::runtime_error(flag +
                                 "=force would change the model's weights; prune the model itself");
    }
  };
}

}  // namespace

std::vector<Flag> buildFlags(Options& options) {
  BuildOptions& build = options.build;
  return {
      // shapes, inputs and outputs
      {{"minShapes"},
       "SPEC",
       "Smallest shapes of the profile: name:1x3x224x224,other:1x8. A name may be quoted ('in:0') "
       "and hold one *; name:scalar has no dimensions",
       storesShapes(build, &ProfileShapes::min),
       true},
      {{"optShapes"},
       "SPEC",
       "Shapes that kernels are chosen for",
       storesShapes(build, &ProfileShapes::opt),
       true},
      {{"maxShapes"},
       "SPEC",
       "Largest shapes, which memory is planned for",
       storesShapes(build, &ProfileShapes::max),
       true},
      {{"profile"},
       "N",
       "The shapes that follow belong to profile N; once for each profile",
       storesNumber<int>(build.currentProfile, 0, kMostProfiles),
       true},
      {{"inputIOFormats"},
       "SPEC",
       "Types and formats of the inputs, in order, or one for all: fp16:chw+hwc8,chw. Row-major "
       "(chw) must be among the formats",
       storesParsed(build.inputFormats, parseFormats)},
      {{"outputIOFormats"},
       "SPEC",
       "Types and formats of the outputs, likewise",
       storesParsed(build.outputFormats, parseFormats)},

      // precision
      {{"noTF32"}, "", "Keep f32 products at full precision", turnsOn(build.noTF32)},
      {{"fp16"},
       "",
       "Allow FP16 where the device gains from it; CPUs take it as BF16",
       sets(build, {BuilderFlag::kFP16})},
      {{"bf16"},
       "",
       "Allow BF16 where the device gains from it",
       sets(build, {BuilderFlag::kBF16})},
      {{"int8"},
       "",
       "Allow INT8, where layers are faster in it. Ranges come from --calib; without, of a model "
       "that has no QuantizeLinear, from random inputs, which is for measuring speed alone",
       sets(build, {BuilderFlag::kINT8})},
      {{"calib"},
       "FILE",
       "Calibration cache with the ranges of tensors",
       stores(build.calibrationFile)},
      {{"calibProfile"},
       "N",
       "The profile whose opt shapes calibration data have (default 0)",
       storesNumber<int>(build.calibrationProfile, 0, kMostProfiles)},
      {{"minShapesCalib"},
       "SPEC",
       "Shapes of calibration data, where they are none of a profile's; those of opt count",
       storesParsed(build.calibrationShapes.min, parseShapes)},
      {{"optShapesCalib"},
       "SPEC",
       "Likewise",
       storesParsed(build.calibrationShapes.opt, parseShapes)},
      {{"maxShapesCalib"},
       "SPEC",
       "Likewise",
       storesParsed(build.calibrationShapes.max, parseShapes)},
      {{"fp8"}, "", "Allow FP8: for models that are quantised", sets(build, {BuilderFlag::kFP8})},
      {{"int4"}, "", "Allow INT4 weights, likewise", sets(build, {BuilderFlag::kINT4})},
      {{"best"},
       "",
       "Allow every type: --fp16 --bf16 --int8",
       sets(build, {BuilderFlag::kFP16, BuilderFlag::kBF16, BuilderFlag::kINT8})},
      {{"stronglyTyped"},
       "",
       "Build with the types that the model has, and no others",
       turnsOn(build.stronglyTyped)},
      {{"precisionConstraints"},
       "WORD",
       "What becomes of the types set on layers: none, prefer or obey (default none)",
       [&build](const std::string& flag, const std::string& value) {
         const std::vector<BuilderFlag> constraints = parseWord<std::vector<BuilderFlag>>(
             flag, value,
             {{"none", {}},
              {"prefer", {BuilderFlag::kPREFER_PRECISION_CONSTRAINTS}},
              {"obey", {BuilderFlag::kOBEY_PRECISION_CONSTRAINTS}}});
         build.flags.insert(build.flags.end(), constraints.begin(), constraints.end());
       }},
      {{"layerPrecisions"},
       "SPEC",
       "Types that layers compute in: layer:fp32,conv*:fp16. A name goes before a pattern, a later "
       "pattern before an earlier one",
       storesParsed(build.layerPrecisions, parseLayerTypes)},
      {{"layerOutputTypes"},
       "SPEC",
       "Types that layers store in: layer:fp32+fp16, one per output",
       storesParsed(build.layerOutputTypes, parseOutputTypes)},
      {{"sparsity"},
       "WORD",
       "disable (default); with enable there is a warning: there are no kernels for sparse weights",
       storesSparsity(options)},

      // memory and time
      {{"memPoolSize"},
       "SPEC",
       "Memory limits in MiB, or with B, K, M or G: workspace:512,tacticSharedMem:64K",
       storesParsed(build.pools, parsePools)},
      {{"workspace"},
       "MIB",
       "Old spelling of --memPoolSize=workspace:MIB",
       [&build](const std::string& flag, const std::string& value) {
         build.pools = parsePools(flag, "workspace:" + value);
       }},
      {{"builderOptimizationLevel"},
       "N",
       "0 builds fastest, 5 runs fastest (default 3)",
       storesNumber<int>(build.optimizationLevel, 0, 5)},
      {{"avgTiming"},
       "N",
       "Runs that are averaged when a kernel is timed (default 1)",
       storesNumber<int>(build.avgTiming, 1, 1000)},
      {{"maxTactics"},
       "N",
       "Most kernels to time for a layer; -1: as the optimisation level says",
       storesNumber<int>(build.maxTactics, -1, 1'000'000)},
      {{"tacticSources"},
       "SPEC",
       "Libraries to add or leave out: -CUDNN,+CUBLAS",
       [&build](const std::string& flag, const std::string& value) {
         build.tacticSources = parseChanges<TacticSource>(
             flag, value,
             {{"CUBLAS", TacticSource::kCUBLAS},
              {"CUBLAS_LT", TacticSource::kCUBLAS_LT},
              {"CUDNN", TacticSource::kCUDNN},
              {"EDGE_MASK_CONVOLUTIONS", TacticSource::kEDGE_MASK_CONVOLUTIONS},
              {"JIT_CONVOLUTIONS", TacticSource::kJIT_CONVOLUTIONS}});
       }},
      {{"maxAuxStreams"},
       "N",
       "0: layers run one after the other; else side by side where that is faster",
       storesNumber<int>(build.maxAuxStreams, 0, 1000)},
      {{"tilingOptimizationLevel"},
       "N",
       "How long to look for tilings of several layers, 0 to 3 (default 0)",
       storesNumber<int>(build.tilingLevel, 0, 3)},
      {{"l2LimitForTiling"},
       "BYTES",
       "L2 cache that tilings may use; -1: as the library finds best",
       storesNumber<int64_t>(build.l2LimitForTiling, -1, int64_t{1} << 50)},
      {{"remoteAutoTuningConfig"},
       "SPEC",
       "Another machine to time kernels on",
       stores(build.remoteAutoTuning)},

      // caches
      {{"timingCacheFile"},
       "FILE",
       "Load kernel timings from this file and save them to it",
       stores(build.timingCacheFile)},
      {{"noBuilderCache"},
       "",
       "Remember no timings within a build",
       sets(build, {BuilderFlag::kDISABLE_TIMING_CACHE})},
      {{"errorOnTimingCacheMiss"},
       "",
       "Fail where the timing cache lacks a timing",
       sets(build, {BuilderFlag::kERROR_ON_TIMING_CACHE_MISS})},

      {{"allowGPUFallback"},
       "",
       "Run on the GPU what is to run on DLA, which there is none of",
       sets(build, {BuilderFlag::kGPU_FALLBACK})},

      // Camshaft's own
      {{"cpu"}, "", "Build for the CPU, also where there is a GPU", turnsOn(build.cpu)},
      {{"computeCapability"},
       "N",
       "Build for a GPU of this compute capability (90 for sm_90), which need not be here; with "
       "--skipInference",
       storesCapability(build)},
      {{"disablePass"},
       "NAMES",
       "Leave out these passes of the optimiser: fuse_epilogues,fuse_norms",
       storesNames(build.disabledPasses)},
      {{"dumpGraphs"},
       "FOLDER",
       "Write the graph as text into this folder, before and after the passes that change it",
       stores(build.graphFolder)},
  };
}

}  // namespace trtexec
