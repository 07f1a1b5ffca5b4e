// trtexec: build an engine from ONNX or load one, run it, report times. Exit code 0 when all of it
// worked, 1 otherwise.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "build.h"
#include "files.h"
#include "inference.h"
#include "options/options.h"
#include "plugins.h"
#include "refit.h"
#include "report.h"
#include "require.h"
#include "results.h"
#include "timing.h"

namespace {

using namespace trtexec;

void announce(ConsoleLogger& log, const char* state, const std::string& commandLine) {
  log.info("&&&& " + std::string(state) + " TensorRT.trtexec [TensorRT v" +
           std::to_string(NV_TENSORRT_VERSION) + "] [Camshaft] # " + commandLine);
}

// Engines use the first GPU this process sees, so that it is to see this one alone.
void showOnlyDevice(int device) {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  std::string chosen = std::to_string(device);
  if (visible) {
    std::stringstream list(visible);
    for (int i = 0; i <= device; ++i)
      if (!std::getline(list, chosen, ','))
        throw std::runtime_error("--device=" + std::to_string(device) +
                                 ": CUDA_VISIBLE_DEVICES lists fewer GPUs");
  }
  setenv("CUDA_VISIBLE_DEVICES", chosen.c_str(), 1);
}

void announceDevice(const nvinfer1::ICudaEngine& engine, const Options& options,
                    ConsoleLogger& log) {
  const nvinfer1::IDevice* device = engine.getDevice();
  const int index = options.system.device;
  if (!device && index != 0)
    throw std::runtime_error("--device=" + std::to_string(index) +
                             ": the engine runs on the CPU, which is device 0");
  log.info("=== Device Information ===");
  log.info("Selected Device: " + std::string(device ? device->getName() : "CPU"));
  log.info("Selected Device ID: " + std::to_string(index));
  log.info("");
  if (!device && options.inference.noDataTransfers)
    log.info("--noDataTransfers changes nothing: a CPU engine reads and writes host memory.");
}

void inspect(nvinfer1::ICudaEngine& engine, const ReportingOptions& reporting, ConsoleLogger& log) {
  if (!reporting.dumpLayerInfo && reporting.exportLayerInfo.empty()) return;
  const std::unique_ptr<nvinfer1::IEngineInspector> inspector(engine.createEngineInspector());
  require(inspector != nullptr);
  if (reporting.dumpLayerInfo)
    log.info("Layer Information:\n" + std::string(inspector->getEngineInformation(
                                          nvinfer1::LayerInformationFormat::kONELINE)));
  if (!reporting.exportLayerInfo.empty())
    writeFile(reporting.exportLayerInfo,
              inspector->getEngineInformation(nvinfer1::LayerInformationFormat::kJSON), log);
}

void printProfiles(const nvinfer1::ICudaEngine& engine, ConsoleLogger& log) {
  using nvinfer1::OptProfileSelector;
  log.info("Optimization Profile Information:");
  for (int32_t profile = 0; profile < engine.getNbOptimizationProfiles(); ++profile)
    for (int32_t i = 0; i < engine.getNbIOTensors(); ++i) {
      const char* name = engine.getIOTensorName(i);
      if (engine.getTensorIOMode(name) != nvinfer1::TensorIOMode::kINPUT) continue;
      const auto shape = [&](OptProfileSelector select) {
        return textOf(engine.getProfileShape(name, profile, select));
      };
      log.info("Model input " + std::string(name) + " (profile " + std::to_string(profile) +
               "): min=" + shape(OptProfileSelector::kMIN) + ", opt=" +
               shape(OptProfileSelector::kOPT) + ", max=" + shape(OptProfileSelector::kMAX));
    }
}

void saveCopy(const nvinfer1::ICudaEngine& engine, const std::string& file, ConsoleLogger& log) {
  const std::unique_ptr<nvinfer1::IHostMemory> bytes(engine.serialize());
  require(bytes != nullptr);
  writeFile(file, {static_cast<const char*>(bytes->data()), bytes->size()}, log);
}

void streamWeights(nvinfer1::ICudaEngine& engine, const WeightBudget& budget) {
  using Kind = WeightBudget::Kind;
  if (budget.kind == Kind::kAll) return;
  const auto streamable = static_cast<double>(engine.getStreamableWeightsSize());
  const int64_t bytes = budget.kind == Kind::kAutomatic ? engine.getWeightStreamingAutomaticBudget()
                        : budget.kind == Kind::kPercent
                            ? static_cast<int64_t>(streamable * budget.amount / 100)
                            : static_cast<int64_t>(budget.amount);
  require(engine.setWeightStreamingBudgetV2(bytes));
}

void profile(Stream& stream, const Options& options, ConsoleLogger& log) {
  const ReportingOptions& reporting = options.reporting;
  if (!reporting.dumpProfile && reporting.exportProfile.empty()) return;
  LayerProfiler profiler;
  stream.context().setProfiler(&profiler);
  for (int i = 0; i < std::max(options.inference.iterations, 10); ++i) stream.run();
  stream.context().setProfiler(nullptr);
  if (reporting.dumpProfile) profiler.print(log);
  if (!reporting.exportProfile.empty()) writeFile(reporting.exportProfile, profiler.json(), log);
}

void infer(nvinfer1::ICudaEngine& engine, const Options& options, ConsoleLogger& log) {
  std::vector<std::unique_ptr<Stream>> streams;
  for (int i = 0; i < options.inference.streams; ++i)
    streams.push_back(std::make_unique<Stream>(engine, options, log, i == 0));
  Stream& first = *streams.front();
  log.info("Created execution context with device memory size: " +
           std::to_string(static_cast<double>(engine.getDeviceMemorySizeV2()) / 1048576) + " MiB");
  const bool isAccurate = checkAccuracy(first, options.inference, log);
  log.info("Starting inference");
  const TimedRuns timed = timeStreams(streams, options, log);
  printSummary(log, timed.runs, timed.wallMs, options, first.isOnDevice());
  const std::string& timesFile = options.reporting.exportTimes;
  if (!timesFile.empty()) writeFile(timesFile, timesJson(timed.runs), log);
  profile(first, options, log);
  reportResults(first, options.reporting, log);
  if (!isAccurate)
    throw std::runtime_error("an output is further from its reference than --accuracyThreshold");
}

void run(const Options& options, ConsoleLogger& log) {
  const BuildOptions& build = options.build;
  const bool isBuilt = build.loadEngine.empty();
  loadPlugins(options.system, log);
  if (build.showBuildRoutes) return printBuildRoutes(log);
  if (build.getPlanVersionOnly) return printPlanVersion(options, log);
  StoredEngine stored{build.loadEngine, nullptr};
  if (isBuilt) stored = buildEngine(options, log);
  if (build.skipInference && build.computeCapability != 0)
    return log.info("The engine is for another GPU perhaps: it was not loaded.");

  const std::unique_ptr<nvinfer1::IRuntime> runtime(nvinfer1::createInferRuntime(log));
  require(runtime != nullptr);
  // A runtime of another library, where one is given, loads the engine.
  std::unique_ptr<nvinfer1::IRuntime> lean;
  if (!build.leanRuntime.empty()) {
    lean.reset(runtime->loadRuntime(build.leanRuntime.c_str()));
    require(lean != nullptr);
  }
  nvinfer1::IRuntime& loader = lean ? *lean : *runtime;
  if (options.inference.streams > 1) {
    // Streams share the cores instead of fighting for them.
    const auto cores = static_cast<int32_t>(loader.getMaxThreads());
    loader.setMaxThreads(std::max(1, cores / options.inference.streams));
  }
  if (options.inference.timeDeserialize) return timeDeserialization(loader, stored, log);
  const std::unique_ptr<nvinfer1::ICudaEngine> engine = loadEngine(loader, stored, log);
  stored.bytes.reset();
  refit(*engine, options, log);
  if (!isBuilt && !build.saveEngine.empty()) saveCopy(*engine, build.saveEngine, log);
  announceDevice(*engine, options, log);
  inspect(*engine, options.reporting, log);
  if (options.reporting.dumpOptimizationProfile) printProfiles(*engine, log);
  if (build.skipInference)
    return log.info("Skipped inference phase since --skipInference is added.");
  if (lacksWeights(*engine))
    return log.warning(
        "Skipped inference phase since the engine is stripped of its weights; give them with "
        "--refitFromOnnx=FILE.");
  streamWeights(*engine, options.inference.weightBudget);
  infer(*engine, options, log);
}

// What the program was asked for, before it does it.
void printOptions(const Options& options, ConsoleLogger& log) {
  for (const std::string& line : describe(options)) log.info(line);
  log.info("TensorRT version: " + std::to_string(NV_TENSORRT_MAJOR) + "." +
           std::to_string(NV_TENSORRT_MINOR) + "." + std::to_string(NV_TENSORRT_PATCH) +
           " (API of Camshaft)");
  for (const std::string& warning : options.warnings) log.warning(warning);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::vector<std::string> mistakes;
  const ParseResult parsed = parseOptions(argc, argv, options, mistakes);
  const std::string commandLine = commandLineOf(argc, argv);
  ConsoleLogger log(options.reporting.verbose);
  announce(log, "RUNNING", commandLine);
  bool worked = parsed != ParseResult::kError;
  try {
    for (const std::string& mistake : mistakes)
      if (!worked) log.error(mistake);
    if (parsed == ParseResult::kHelp) std::cout << helpText() << std::flush;
    if (parsed == ParseResult::kRun) {
      printOptions(options, log);
      if (options.system.device != 0) showOnlyDevice(options.system.device);
      run(options, log);
    }
  } catch (const std::exception& error) {
    // An empty message: the library has logged the reason.
    if (*error.what()) log.error(error.what());
    worked = false;
  }
  announce(log, worked ? "PASSED" : "FAILED", commandLine);
  return worked ? 0 : 1;
}
