#include <cctype>

#include "flag.h"

namespace trtexec {

using namespace nvinfer1;

namespace {

// Each stream has a context with memory of its own, and on a CPU a thread.
constexpr int kMostStreams = 256;
constexpr int kMostPairs = 1000;

// Files of the pair that --refPair named last.
Setter storesFiles(InferenceOptions& inference, FilesByName ReferencePair::* part) {
  return [&inference, part](const std::string& flag, const std::string& value) {
    FilesByName& files = inference.pairs[inference.currentPair].*part;
    if (!files.empty())
      throw std::runtime_error(flag +
                               " is given twice; list all tensors in one, name:file,other:file, "
                               "or begin another pair with --refPair");
    files = parseFiles(flag, value);
  };
}

}  // namespace

std::vector<Flag> inferenceFlags(Options& options) {
  InferenceOptions& inference = options.inference;
  return {
      {{"shapes"},
       "SPEC",
       "Input shapes to run with: name:1x3x224x224, written as for --minShapes",
       storesParsed(inference.shapes, parseShapes)},
      {{"loadInputs"},
       "SPEC",
       "Raw values of inputs from files: name:file,'in:0':file; the others are random",
       storesFiles(inference, &ReferencePair::inputs),
       true},
      {{"useProfile"},
       "N",
       "Optimisation profile to run with (default 0)",
       storesNumber<int>(inference.useProfile, 0, kMostProfiles)},

      // how often and how long
      {{"iterations"},
       "N",
       "Run at least this often (default 10)",
       storesNumber<int>(inference.iterations, 0, 1'000'000'000)},
      {{"warmUp"},
       "MS",
       "Milliseconds to run before timing (default 200)",
       storesNumber<double>(inference.warmUpMs, 0, 1e9)},
      {{"duration"},
       "S",
       "Run at least this many seconds (default 3); -1: until the process is interrupted",
       [&inference](const std::string& flag, const std::string& value) {
         inference.durationS = value == "-1" ? -1 : parseNumber<double>(flag, value, 0, 1e7);
       }},
      {{"sleepTime"},
       "MS",
       "Milliseconds between the launch and the first run that is timed (default 0)",
       storesNumber<double>(inference.sleepMs, 0, 1e7)},
      {{"idleTime"},
       "MS",
       "Milliseconds to rest after every run (default 0)",
       storesNumber<double>(inference.idleMs, 0, 1e7)},
      {{"infStreams", "streams"},
       "N",
       "Contexts that run at the same time (default 1)",
       storesNumber<int>(inference.streams, 1, kMostStreams)},
      {{"threads"}, "", "A host thread for every stream", turnsOn(inference.threads)},
      {{"exposeDMA"},
       "",
       "Let no run's copies overlap with another run",
       turnsOn(inference.exposeDMA)},
      {{"noDataTransfers"},
       "",
       "Leave inputs and outputs on the GPU instead of copying them in every run",
       turnsOn(inference.noDataTransfers)},
      {{"includeDataTransfers"},
       "",
       "Copy inputs and outputs in every run (default)",
       turnsOn(inference.includeDataTransfers)},
      {{"useCudaGraph"},
       "",
       "Runs on a GPU are always recorded into CUDA graphs where they can be",
       changesNothing()},
      {{"separateProfileRun"},
       "",
       "Layers are always timed in runs of their own",
       changesNothing()},
      {{"timeDeserialize"},
       "",
       "Time how long the engine takes to load, and end",
       turnsOn(inference.timeDeserialize)},
      {{"timeRefit"},
       "",
       "Time how long the engine takes to be refitted with the model's weights",
       turnsOn(inference.timeRefit)},

      // memory
      {{"allocationStrategy"},
       "WORD",
       "Memory of a context: static (for all profiles, default), profile (for the one that runs) "
       "or runtime (given by trtexec, for the shapes that run)",
       storesWord<ExecutionContextAllocationStrategy>(
           inference.allocation,
           {{"static", ExecutionContextAllocationStrategy::kSTATIC},
            {"profile", ExecutionContextAllocationStrategy::kON_PROFILE_CHANGE},
            {"runtime", ExecutionContextAllocationStrategy::kUSER_MANAGED}})},
      {{"weightStreamingBudget"},
       "SIZE",
       "Weights that stay on the GPU: -2 (all, default), -1 (as the library finds best), 30% or "
       "512M",
       storesParsed(inference.weightBudget, parseWeightBudget)},

      // results
      {{"loadRefOutputs"},
       "SPEC",
       "Raw values that outputs should have, from files: name:file",
       storesFiles(inference, &ReferencePair::outputs),
       true},
      {{"refPair"},
       "N",
       "The --loadInputs and --loadRefOutputs that follow belong to pair N; once for each pair",
       storesNumber<int>(inference.currentPair, 0, kMostPairs),
       true},
      {{"accuracyAlgorithm"},
       "WORD",
       "How outputs are compared: l0 (share of values beyond the tolerances, default), l1 (mean "
       "absolute error), l2 (mean squared error), lInf (largest error) or cos (1 - cosine "
       "similarity)",
       [&inference](const std::string& flag, std::string value) {
         for (char& letter : value)
           letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
         inference.loss = parseWord<AccuracyLoss>(flag, value,
                                                  {{"l0", AccuracyLoss::kL0},
                                                   {"l1", AccuracyLoss::kL1},
                                                   {"l2", AccuracyLoss::kL2},
                                                   {"linf", AccuracyLoss::kLInf},
                                                   {"cos", AccuracyLoss::kCosine}});
       }},
      {{"atol"},
       "NUMBER",
       "Absolute tolerance of l0 (default 1e-5)",
       storesNumber<double>(inference.absoluteTolerance, 0, 1e38)},
      {{"rtol"},
       "NUMBER",
       "Relative tolerance of l0 (default 1e-5)",
       storesNumber<double>(inference.relativeTolerance, 0, 1e38)},
      {{"accuracyThreshold"},
       "NUMBER",
       "Fail where an output's loss is above this; without it losses are only reported",
       storesNumber<double>(inference.lossThreshold, 0, 1e38)},
      {{"saveDebugTensors"},
       "SPEC",
       "Write tensors of --markDebug as raw values: name:file",
       storesParsed(inference.debugTensorFiles, parseFiles)},
      {{"saveAllDebugTensors"},
       "WORDS",
       "Write all tensors of --markDebug and --markUnfusedTensorsAsDebugTensors, as summary, "
       "numpy, "
       "string or raw: summary,numpy",
       [&inference](const std::string& flag, const std::string& value) {
         for (const std::string& word : split(value, ','))
           inference.debugTensorFormats.push_back(parseWord<std::string>(
               flag, word,
               {{"summary", "summary"}, {"numpy", "numpy"}, {"string", "string"}, {"raw", "raw"}}));
       }},
      {{"nvtxMode"},
       "WORD",
       "NVTX ranges around layers: verbose, default or none",
       storesWord<ProfilingVerbosity>(inference.nvtx,
                                      {{"verbose", ProfilingVerbosity::kDETAILED},
                                       {"default", ProfilingVerbosity::kLAYER_NAMES_ONLY},
                                       {"none", ProfilingVerbosity::kNONE}})},
  };
}

}  // namespace trtexec
