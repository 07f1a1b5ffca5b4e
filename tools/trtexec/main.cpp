// trtexec: build an engine from ONNX or load one, run it, report times. Exit code 0 when all of it
// worked, 1 otherwise.
#include <cstdlib>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "build.h"
#include "files.h"
#include "inference.h"
#include "options.h"
#include "report.h"
#include "timing.h"

namespace {

using namespace trtexec;

constexpr int kVersion = NV_TENSORRT_VERSION;

void announce(ConsoleLogger& log, const char* state, const Options& options) {
  log.info("&&&& " + std::string(state) + " TensorRT.trtexec [TensorRT v" +
           std::to_string(kVersion) + "] [Camshaft] # " + options.commandLine);
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
  if (!device && options.device != 0)
    throw std::runtime_error("--device=" + std::to_string(options.device) +
                             ": the engine runs on the CPU, which is device 0");
  log.info("Selected device: " + std::string(device ? device->getName() : "CPU"));
  if (!device && options.noDataTransfers)
    log.info("--noDataTransfers changes nothing: a CPU engine reads and writes host memory.");
}

void inspect(nvinfer1::ICudaEngine& engine, const Options& options, ConsoleLogger& log) {
  if (!options.dumpLayerInfo && options.exportLayerInfo.empty()) return;
  const std::unique_ptr<nvinfer1::IEngineInspector> inspector(engine.createEngineInspector());
  if (options.dumpLayerInfo)
    log.info("Layer Information:\n" + std::string(inspector->getEngineInformation(
                                          nvinfer1::LayerInformationFormat::kONELINE)));
  if (!options.exportLayerInfo.empty())
    writeFile(options.exportLayerInfo,
              inspector->getEngineInformation(nvinfer1::LayerInformationFormat::kJSON), log);
}

void saveCopy(const nvinfer1::ICudaEngine& engine, const Options& options, ConsoleLogger& log) {
  const std::unique_ptr<nvinfer1::IHostMemory> file(engine.serialize());
  if (!file) throw std::runtime_error("");
  writeFile(options.saveEngine, {static_cast<const char*>(file->data()), file->size()}, log);
}

void profile(Stream& stream, const Options& options, ConsoleLogger& log) {
  if (!options.dumpProfile && options.exportProfile.empty()) return;
  LayerProfiler profiler;
  stream.context().setProfiler(&profiler);
  for (int i = 0; i < std::max(options.iterations, 10); ++i) stream.run();
  stream.context().setProfiler(nullptr);
  if (options.dumpProfile) profiler.print(log);
  if (!options.exportProfile.empty()) writeFile(options.exportProfile, profiler.json(), log);
}

void run(const Options& options, ConsoleLogger& log) {
  std::vector<char> bytes;
  if (options.loadEngine.empty()) bytes = buildEngine(options, log);
  if (!options.saveEngine.empty() && options.loadEngine.empty())
    writeFile(options.saveEngine, {bytes.data(), bytes.size()}, log);
  if (options.skipInference && options.computeCapability != 0)
    return log.info("The engine is for another GPU perhaps: it was not loaded.");
  const std::unique_ptr<nvinfer1::IRuntime> runtime(nvinfer1::createInferRuntime(log));
  if (options.streams > 1) {
    // Streams share the cores instead of fighting for them.
    const auto cores = static_cast<int32_t>(runtime->getMaxThreads());
    runtime->setMaxThreads(std::max(1, cores / options.streams));
  }
  const std::unique_ptr<nvinfer1::ICudaEngine> engine = loadEngine(*runtime, options, bytes, log);
  bytes = {};
  if (!options.saveEngine.empty() && !options.loadEngine.empty()) saveCopy(*engine, options, log);
  announceDevice(*engine, options, log);
  inspect(*engine, options, log);
  if (options.skipInference)
    return log.info("Skipped inference phase since --skipInference is added.");

  std::vector<std::unique_ptr<Stream>> streams;
  for (int i = 0; i < options.streams; ++i)
    streams.push_back(std::make_unique<Stream>(*engine, options, log, i == 0));
  log.info("Created execution context with device memory size: " +
           std::to_string(static_cast<double>(engine->getDeviceMemorySizeV2()) / 1048576) + " MiB");
  log.info("Starting inference");
  const TimedRuns timed = timeStreams(streams, options, log);
  printSummary(log, timed.runs, timed.wallMs, options, streams.front()->isOnDevice());
  if (!options.exportTimes.empty()) writeFile(options.exportTimes, timesJson(timed.runs), log);
  profile(*streams.front(), options, log);
  if (options.dumpOutput || !options.exportOutput.empty()) streams.front()->fetchOutputs();
  if (options.dumpOutput) streams.front()->printOutputs(log);
  if (!options.exportOutput.empty())
    writeFile(options.exportOutput, streams.front()->outputsJson(), log);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  switch (parseOptions(argc, argv, options)) {
    case ParseResult::kHelp:
      return 0;
    case ParseResult::kError:
      return 1;
    case ParseResult::kRun:
      break;
  }
  ConsoleLogger log(options.verbose);
  announce(log, "RUNNING", options);
  try {
    if (options.device != 0) showOnlyDevice(options.device);
    log.info("TensorRT version: " + std::to_string(NV_TENSORRT_MAJOR) + "." +
             std::to_string(NV_TENSORRT_MINOR) + "." + std::to_string(NV_TENSORRT_PATCH) +
             " (API of Camshaft)");
    run(options, log);
  } catch (const std::exception& error) {
    // An empty message: the library has logged the reason.
    if (*error.what()) log.error(error.what());
    announce(log, "FAILED", options);
    return 1;
  }
  announce(log, "PASSED", options);
  return 0;
}
