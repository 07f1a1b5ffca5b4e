// What trtexec was asked for.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "NvInfer.h"
#include "by_name.h"

namespace trtexec {

using ShapesByName = ByName<std::vector<int64_t>>;
using FilesByName = std::map<std::string, std::string>;

struct ProfileShapes {
  ShapesByName min, opt, max;
};

// What an input or output may look like. No type: that of the model. No formats: row-major.
struct IoFormat {
  std::optional<nvinfer1::DataType> type;
  nvinfer1::TensorFormats formats = 0;  // bits of TensorFormat
};

struct ModelOptions {
  std::string onnx;
};

struct BuildOptions {
  std::string saveEngine, loadEngine;
  bool getPlanVersionOnly = false;

  std::map<int, ProfileShapes> profiles;  // by the number that --profile gave
  int currentProfile = 0;                 // that the shapes which follow belong to
  std::string calibrationFile;
  ProfileShapes calibrationShapes;        // of batches; none: those of calibrationProfile
  std::optional<int> calibrationProfile;  // by its number
  std::vector<IoFormat> inputFormats, outputFormats;

  std::vector<nvinfer1::BuilderFlag> flags;  // beside those that a config has from the start
  bool noTF32 = false, stronglyTyped = false;
  ByName<nvinfer1::DataType> layerPrecisions;
  ByName<std::vector<nvinfer1::DataType>> layerOutputTypes;  // one per output
  ByName<nvinfer1::DeviceType> layerDevices;

  std::map<nvinfer1::MemoryPoolType, size_t> pools;  // bytes
  std::optional<int> optimizationLevel, avgTiming, maxTactics, maxAuxStreams, tilingLevel;
  std::optional<int64_t> l2LimitForTiling;
  std::map<nvinfer1::TacticSource, bool> tacticSources;  // added, or taken away
  std::string timingCacheFile, remoteAutoTuning, buildRoute;
  bool showBuildRoutes = false;
  nvinfer1::ProfilingVerbosity verbosity = nvinfer1::ProfilingVerbosity::kLAYER_NAMES_ONLY;
  nvinfer1::EngineCapability capability = nvinfer1::EngineCapability::kSTANDARD;
  nvinfer1::HardwareCompatibilityLevel hardware = nvinfer1::HardwareCompatibilityLevel::kNONE;
  nvinfer1::RuntimePlatform platform = nvinfer1::RuntimePlatform::kSAME_AS_BUILD;
  std::vector<std::string> debugTensors;
  bool debugUnfusedTensors = false, pluginOverride = false;
  std::string leanRuntime, refitFromOnnx;
  // Camshaft's own
  bool cpu = false;
  int computeCapability = 0;  // 0: that of the GPU at hand
  std::vector<std::string> disabledPasses;
  std::string graphFolder;

  bool skipInference = false;
};

// Weights that stay on the device: all, as many as the library finds best, bytes, or a share.
struct WeightBudget {
  enum class Kind { kAll, kAutomatic, kBytes, kPercent } kind = Kind::kAll;
  double amount = 0;
};

// Inputs from files, and what the outputs should be.
struct ReferencePair {
  FilesByName inputs, outputs;
};

enum class AccuracyLoss { kL0, kL1, kL2, kLInf, kCosine };

struct InferenceOptions {
  ShapesByName shapes;
  std::map<int, ReferencePair> pairs;  // by the number that --refPair gave
  int currentPair = 0;
  AccuracyLoss loss = AccuracyLoss::kL0;
  double absoluteTolerance = 1e-5, relativeTolerance = 1e-5;
  std::optional<double> lossThreshold;

  int iterations = 10;
  double warmUpMs = 200;
  double durationS = 3;  // -1: until the process is interrupted
  double sleepMs = 0, idleMs = 0;
  int streams = 1;
  bool threads = false, exposeDMA = false, timeDeserialize = false, timeRefit = false;
  bool noDataTransfers = false, includeDataTransfers = false;
  int useProfile = 0;
  nvinfer1::ExecutionContextAllocationStrategy allocation =
      nvinfer1::ExecutionContextAllocationStrategy::kSTATIC;
  std::optional<nvinfer1::ProfilingVerbosity> nvtx;
  WeightBudget weightBudget;
  FilesByName debugTensorFiles;
  std::vector<std::string> debugTensorFormats;  // of all debug tensors
};

struct ReportingOptions {
  bool verbose = false;
  int avgRuns = 10;
  std::vector<double> percentiles{90, 95, 99};
  bool dumpRefit = false, dumpOutput = false, dumpRawBindings = false, dumpProfile = false;
  bool dumpLayerInfo = false, dumpOptimizationProfile = false;
  std::string exportTimes, exportOutput, exportProfile, exportLayerInfo;
};

struct SystemOptions {
  int device = 0;
  std::optional<int> dlaCore;
  std::vector<std::string> staticPlugins, dynamicPlugins, serializedPlugins;
};

struct Options {
  ModelOptions model;
  BuildOptions build;
  InferenceOptions inference;
  ReportingOptions reporting;
  SystemOptions system;
  std::vector<std::string> warnings;  // of flags that were given and have no effect
};

// The flags' names and values as the program was called.
std::string commandLineOf(int argc, const char* const* argv);

enum class ParseResult { kRun, kHelp, kError };

// Collects one sentence per mistake.
ParseResult parseOptions(int argc, const char* const* argv, Options& options,
                         std::vector<std::string>& mistakes);
// Every flag, in TensorRT's groups.
std::string helpText();

// The sections that begin trtexec's log, line by line.
std::vector<std::string> describe(const Options& options);

}  // namespace trtexec
