#include "build.h"

#include <fstream>
#include <iterator>

#include "CamshaftFiles.h"
#include "NvOnnxParser.h"
#include "errors.h"
#include "log.h"

namespace triton_backend {
namespace {

using namespace nvinfer1;

struct ParsedModel {
  ParsedModel(const std::filesystem::path& file, const Settings& settings)
      : builder(createInferBuilder(camshaftLog())) {
    settings.build.loadPlugins(builder->getPluginRegistry());
    network.reset(builder->createNetworkV2(settings.build.networkFlags()));
    const std::unique_ptr<nvonnxparser::IParser> parser(
        nvonnxparser::createParser(*network, camshaftLog()));
    settings.build.setUp(*parser);
    requireCamshaft(
        parser->parseFromFile(file.c_str(), static_cast<int>(ILogger::Severity::kWARNING)),
        TRITONSERVER_ERROR_INVALID_ARG);
  }

  std::unique_ptr<IBuilder> builder;
  std::unique_ptr<INetworkDefinition> network;
};

std::unique_ptr<ITimingCache> loadTimings(const std::string& file, IBuilderConfig& config) {
  if (file.empty()) return nullptr;
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(stream), {});
  std::unique_ptr<ITimingCache> timings(config.createTimingCache(bytes.data(), bytes.size()));
  requireCamshaft(timings && config.setTimingCache(*timings, false),
                  TRITONSERVER_ERROR_INVALID_ARG);
  return timings;
}

// A model with everything that its build depends on. Gone before the engine is loaded, since it
// holds weights of its own.
class Build {
 public:
  Build(const std::filesystem::path& file, Placement placement, const Settings& settings)
      : settings_(settings),
        model_(file, settings),
        config_(model_.builder->createBuilderConfig()),
        timings_(loadTimings(settings.timingCache, *config_)) {
    config_->setDefaultDeviceType(placement.onGpu ? DeviceType::kGPU : DeviceType::kCPU);
    const camshaft::settings::BuildTarget target{
        builder(), network(), config(),
        [](bool worked) { requireCamshaft(worked, TRITONSERVER_ERROR_INVALID_ARG); }};
    settings.build.apply(target);
    for (const Profile& profile : settings.profiles)
      camshaft::settings::addProfile(profile, target);
  }

  IBuilder& builder() const { return *model_.builder; }
  INetworkDefinition& network() const { return *model_.network; }
  IBuilderConfig& config() const { return *config_; }
  void saveTimings() const {
    if (timings_ &&
        !camshaft::saveTimingCache(settings_.timingCache.c_str(), *timings_, camshaftLog()))
      log(TRITONSERVER_LOG_WARN, "the timing cache was not saved: " + takeCamshaftError());
  }

 private:
  const Settings& settings_;
  ParsedModel model_;
  std::unique_ptr<IBuilderConfig> config_;
  std::unique_ptr<ITimingCache> timings_;
};

}  // namespace

Signature signatureOfOnnx(const std::filesystem::path& file, const Settings& settings) {
  return signatureOf(*ParsedModel(file, settings).network);
}

std::unique_ptr<ICudaEngine> buildEngine(const std::filesystem::path& file, Placement placement,
                                         const Settings& settings) {
  const Build build(file, placement, settings);
  std::unique_ptr<ICudaEngine> engine(
      build.builder().buildEngineWithConfig(build.network(), build.config()));
  requireCamshaft(engine != nullptr, TRITONSERVER_ERROR_INVALID_ARG);
  build.saveTimings();
  return engine;
}

bool buildEngineFile(const std::filesystem::path& file, Placement placement,
                     const Settings& settings, const std::filesystem::path& saved) {
  const Build build(file, placement, settings);
  const std::unique_ptr<camshaft::IFileWriter> writer(
      camshaft::createFileWriter(saved.c_str(), camshaftLog()));
  const bool isBuilt = writer && build.builder().buildSerializedNetworkToStream(
                                     build.network(), build.config(), *writer);
  requireCamshaft(isBuilt || !writer || !writer->isGood(), TRITONSERVER_ERROR_INVALID_ARG);
  if (!isBuilt || !writer->commit()) {
    log(TRITONSERVER_LOG_WARN, "the engine is not kept: " + takeCamshaftError());
    return false;
  }
  build.saveTimings();
  return true;
}

}  // namespace triton_backend
