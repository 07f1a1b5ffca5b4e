#include "build.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "CamshaftFiles.h"
#include "calibration.h"
#include "config.h"
#include "files.h"
#include "network.h"
#include "progress.h"
#include "require.h"

namespace trtexec {
namespace {

using namespace nvinfer1;
using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// What others have put into the file meanwhile is kept. An engine is worth more than its timings:
// where they cannot be written, that is a warning.
void saveTimings(const std::string& file, ITimingCache& timings, ConsoleLogger& log) {
  class Warnings : public ILogger {
   public:
    explicit Warnings(ConsoleLogger& log) : log_(log) {}
    void log(Severity severity, const char* message) noexcept override {
      log_.log(std::max(severity, Severity::kWARNING), message);
    }

   private:
    ConsoleLogger& log_;
  } warnings(log);
  if (!camshaft::saveTimingCache(file.c_str(), timings, warnings))
    log.warning("The timing cache was not saved: the next build measures again.");
}

std::unique_ptr<ITimingCache> loadTimings(const std::string& file, IBuilderConfig& config) {
  if (file.empty()) return nullptr;
  std::vector<char> bytes;
  if (std::filesystem::exists(file)) bytes = readFile(file);
  std::unique_ptr<ITimingCache> timings(config.createTimingCache(bytes.data(), bytes.size()));
  if (!timings)
    throw std::runtime_error("--timingCacheFile=" + file + " is no timing cache that can be used");
  config.setTimingCache(*timings, false);
  return timings;
}

std::unique_ptr<ICudaEngine> deserialize(IRuntime& runtime, const StoredEngine& stored) {
  std::unique_ptr<ICudaEngine> engine(
      stored.bytes ? runtime.deserializeCudaEngine(stored.bytes->data(), stored.bytes->size())
                   : runtime.deserializeCudaEngineFromFile(stored.file.c_str()));
  require(engine != nullptr);
  return engine;
}

// Pipes and devices can be written and not read again.
bool canBeLoaded(const std::string& file) {
  return !file.empty() &&
         (!std::filesystem::exists(file) || std::filesystem::is_regular_file(file));
}

// What is loaded from its file is never in memory as a whole.
StoredEngine buildInto(const std::string& file, IBuilder& builder, INetworkDefinition& network,
                       IBuilderConfig& config, ConsoleLogger& log) {
  if (canBeLoaded(file)) {
    const std::unique_ptr<camshaft::IFileWriter> writer(
        camshaft::createFileWriter(file.c_str(), log));
    require(writer && builder.buildSerializedNetworkToStream(network, config, *writer) &&
            writer->commit());
    return {file, nullptr};
  }
  StoredEngine stored{
      "", std::unique_ptr<IHostMemory>(builder.buildSerializedNetwork(network, config))};
  require(stored.bytes != nullptr);
  if (!file.empty())
    writeFile(file, {static_cast<const char*>(stored.bytes->data()), stored.bytes->size()}, log);
  return stored;
}

size_t sizeOf(const StoredEngine& stored) {
  return stored.bytes ? stored.bytes->size() : std::filesystem::file_size(stored.file);
}

}  // namespace

StoredEngine buildEngine(const Options& options, ConsoleLogger& log) {
  const std::unique_ptr<IBuilder> builder(createInferBuilder(log));
  require(builder != nullptr);
  const uint32_t typing =
      1u << static_cast<uint32_t>(NetworkDefinitionCreationFlag::kSTRONGLY_TYPED);
  const std::unique_ptr<INetworkDefinition> network(
      builder->createNetworkV2(options.build.stronglyTyped ? typing : 0));
  const std::unique_ptr<IBuilderConfig> config(builder->createBuilderConfig());
  require(network && config);
  fillNetwork(options, *network, log);
  fillConfig(options, *builder, *network, *config);

  const std::unique_ptr<IInt8Calibrator> calibrator = makeCalibrator(options, *network, *config);
  if (calibrator && options.build.calibrationFile.empty())
    log.warning(
        "INT8 without --calib: ranges come from random inputs, so the engine is as fast as "
        "with real ones, and its results mean little.");
  const std::string& timingFile = options.build.timingCacheFile;
  const std::unique_ptr<ITimingCache> timings = loadTimings(timingFile, *config);
  ProgressBar bar;
  if (isatty(STDERR_FILENO) && !options.reporting.verbose) config->setProgressMonitor(&bar);

  const auto start = Clock::now();
  StoredEngine stored = buildInto(options.build.saveEngine, *builder, *network, *config, log);
  log.info("Engine built in " + std::to_string(secondsSince(start)) + " sec.");
  log.info("Created engine with size: " +
           std::to_string(static_cast<double>(sizeOf(stored)) / 1048576) + " MiB");
  if (timings) saveTimings(timingFile, *timings, log);
  return stored;
}

std::unique_ptr<ICudaEngine> loadEngine(IRuntime& runtime, const StoredEngine& stored,
                                        ConsoleLogger& log) {
  const auto start = Clock::now();
  std::unique_ptr<ICudaEngine> engine = deserialize(runtime, stored);
  log.info("Engine deserialized in " + std::to_string(secondsSince(start)) + " sec.");
  return engine;
}

void timeDeserialization(IRuntime& runtime, const StoredEngine& stored, ConsoleLogger& log) {
  constexpr int kTimes = 20;
  std::vector<double> milliseconds;
  for (int i = 0; i <= kTimes; ++i) {
    const auto start = Clock::now();
    const std::unique_ptr<ICudaEngine> engine = deserialize(runtime, stored);
    milliseconds.push_back(secondsSince(start) * 1000);
  }
  const double total = std::accumulate(milliseconds.begin() + 1, milliseconds.end(), 0.0);
  log.info("First deserialization time = " + std::to_string(milliseconds.front()) +
           " milliseconds");
  log.info("Total deserialization time = " + std::to_string(total) + " milliseconds in " +
           std::to_string(kTimes) + " iterations, average is " + std::to_string(total / kTimes) +
           " milliseconds");
}

void printPlanVersion(const Options& options, ConsoleLogger& log) {
  const std::string& file = options.build.loadEngine;
  const std::vector<char> bytes = readFile(file);
  constexpr char kOurs[] = "CAMSHAFT", kTensorRts[] = "ftrt";
  const auto startsWith = [&](const char* text, size_t least) {
    return bytes.size() >= least && std::memcmp(bytes.data(), text, std::strlen(text)) == 0;
  };
  if (startsWith(kOurs, 12)) {
    uint32_t format;
    std::memcpy(&format, bytes.data() + 8, sizeof format);
    return log.info("Plan was created with Camshaft, engine format " + std::to_string(format));
  }
  if (!startsWith(kTensorRts, 28)) throw std::runtime_error("'" + file + "' is no engine file");
  std::string version;
  for (size_t i = 24; i < 28; ++i)
    version += (version.empty() ? "" : ".") + std::to_string(static_cast<uint8_t>(bytes[i]));
  log.info("Plan was created with TensorRT version " + version +
           "; it cannot be loaded here: build it again from its model");
}

void printBuildRoutes(ConsoleLogger& log) {
  const std::unique_ptr<IBuilder> builder(createInferBuilder(log));
  require(builder != nullptr);
  const std::unique_ptr<IBuilderConfig> config(builder->createBuilderConfig());
  require(config != nullptr);
  const std::string routes = config->getAllBuildRoutes();
  log.info(routes.empty() ? "There is one build route, which has no name." : routes);
}

}  // namespace trtexec
