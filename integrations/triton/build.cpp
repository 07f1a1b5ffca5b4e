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
  ParsedModel(const std::filesystem::path& file, bool isStronglyTyped)
      : builder(createInferBuilder(camshaftLog())),
        network(builder->createNetworkV2(
            isStronglyTyped
                ? 1u << static_cast<uint32_t>(NetworkDefinitionCreationFlag::kSTRONGLY_TYPED)
                : 0)) {
    const std::unique_ptr<nvonnxparser::IParser> parser(
        nvonnxparser::createParser(*network, camshaftLog()));
    requireCamshaft(parser && parser->parseFromFile(file.c_str(),
                                                    static_cast<int>(ILogger::Severity::kWARNING)),
                    TRITONSERVER_ERROR_INVALID_ARG);
  }

  std::unique_ptr<IBuilder> builder;
  std::unique_ptr<INetworkDefinition> network;
};

// TF32 is on in a new configuration.
void setPrecision(const Settings& settings, IBuilderConfig& config) {
  const std::pair<const char*, BuilderFlag> flags[] = {
      {"tf32", BuilderFlag::kTF32}, {"fp16", BuilderFlag::kFP16}, {"bf16", BuilderFlag::kBF16},
      {"int8", BuilderFlag::kINT8}, {"fp8", BuilderFlag::kFP8},   {"fp4", BuilderFlag::kFP4},
      {"int4", BuilderFlag::kINT4}};
  config.clearFlag(BuilderFlag::kTF32);
  for (const std::string& precision : settings.precision)
    for (const auto& [name, flag] : flags)
      if (precision == name) config.setFlag(flag);
}

void addProfile(const Profile& shapes, IBuilder& builder, IBuilderConfig& config) {
  IOptimizationProfile* profile = builder.createOptimizationProfile();
  for (const auto& [name, range] : shapes) {
    const std::pair<OptProfileSelector, const Shape&> bounds[] = {
        {OptProfileSelector::kMIN, range.min},
        {OptProfileSelector::kOPT, range.opt},
        {OptProfileSelector::kMAX, range.max}};
    for (const auto& [bound, shape] : bounds)
      requireCamshaft(profile->setDimensions(name.c_str(), bound, toDims(shape)),
                      TRITONSERVER_ERROR_INVALID_ARG);
  }
  requireCamshaft(config.addOptimizationProfile(profile) >= 0, TRITONSERVER_ERROR_INVALID_ARG);
}

std::unique_ptr<ITimingCache> loadTimings(const std::string& file, IBuilderConfig& config) {
  if (file.empty()) return nullptr;
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(stream), {});
  std::unique_ptr<ITimingCache> timings(config.createTimingCache(bytes.data(), bytes.size()));
  requireCamshaft(timings && config.setTimingCache(*timings, false),
                  TRITONSERVER_ERROR_INVALID_ARG);
  return timings;
}

}  // namespace

Signature signatureOfOnnx(const std::filesystem::path& file) {
  return signatureOf(*ParsedModel(file, false).network);
}

std::unique_ptr<IHostMemory> buildEngine(const std::filesystem::path& file, Placement placement,
                                         const Settings& settings) {
  const ParsedModel model(file, settings.stronglyTyped);
  IBuilder& builder = *model.builder;
  if (settings.threads > 0)
    requireCamshaft(builder.setMaxThreads(settings.threads), TRITONSERVER_ERROR_INVALID_ARG);
  const std::unique_ptr<IBuilderConfig> config(builder.createBuilderConfig());
  config->setDefaultDeviceType(placement.onGpu ? DeviceType::kGPU : DeviceType::kCPU);
  setPrecision(settings, *config);
  config->setBuilderOptimizationLevel(settings.optimizationLevel);
  if (settings.workspace)
    config->setMemoryPoolLimit(MemoryPoolType::kWORKSPACE,
                               static_cast<size_t>(*settings.workspace));
  for (const Profile& profile : settings.profiles) addProfile(profile, builder, *config);
  const std::unique_ptr<ITimingCache> timings = loadTimings(settings.timingCache, *config);

  std::unique_ptr<IHostMemory> engine(builder.buildSerializedNetwork(*model.network, *config));
  requireCamshaft(engine != nullptr, TRITONSERVER_ERROR_INVALID_ARG);
  if (timings && !camshaft::saveTimingCache(settings.timingCache.c_str(), *timings, camshaftLog()))
    log(TRITONSERVER_LOG_WARN, "the timing cache was not saved: " + takeCamshaftError());
  return engine;
}

}  // namespace triton_backend
