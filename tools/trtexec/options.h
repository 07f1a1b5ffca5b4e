// trtexec's command line.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trtexec {

using ShapeMap = std::map<std::string, std::vector<int64_t>>;

struct ProfileShapes {
  ShapeMap min, opt, max;
};

struct Options {
  // model and engine
  std::string onnx, saveEngine, loadEngine;
  // build
  std::vector<ProfileShapes> profiles;
  int optimizationLevel = 3;
  std::optional<int> maxAuxStreams;
  std::string timingCacheFile;
  std::map<std::string, double> memPoolMiB;
  std::string profilingVerbosity = "layer_names_only";
  bool noTF32 = false, fp16 = false, bf16 = false, stronglyTyped = false;
  std::string precisionConstraints = "none";
  std::map<std::string, std::string> layerPrecisions;                // layer or "*" to type
  std::map<std::string, std::vector<std::string>> layerOutputTypes;  // one per output
  std::vector<std::string> inputTypes, outputTypes;  // of network inputs and outputs, in order
  bool skipInference = false;
  // inference
  ShapeMap shapes;
  std::map<std::string, std::string> loadInputs;
  int iterations = 10;
  double warmUpMs = 200;
  double durationS = 3;
  int streams = 1;
  bool threads = false, noDataTransfers = false, useSpinWait = false, useCudaGraph = false;
  bool separateProfileRun = false;
  int device = 0;
  bool cpu = false;
  int computeCapability = 0;
  std::vector<std::string> disabledPasses;
  std::string graphFolder;
  int useProfile = 0;
  // reporting
  int avgRuns = 10;
  std::vector<double> percentiles{90, 95, 99};
  bool dumpLayerInfo = false, dumpProfile = false, dumpOutput = false, verbose = false;
  std::string exportLayerInfo, exportProfile, exportTimes, exportOutput;
  std::string commandLine;
};

enum class ParseResult { kRun, kHelp, kError };

// Prints help, or one sentence per mistake with the nearest known flag, by itself.
ParseResult parseOptions(int argc, char** argv, Options& options);

// "x:1x3x224x224,y:4" as trtexec writes shapes; throws std::runtime_error naming the part.
ShapeMap parseShapes(const std::string& flag, const std::string& text);

}  // namespace trtexec
