#include "engine_source.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <set>

#include "build.h"
#include "content_hash.h"
#include "errors.h"
#include "log.h"

namespace triton_backend {
namespace {

using namespace nvinfer1;
namespace fs = std::filesystem;

// Engines are made for the current GPU of the thread, as CUDA's runtime has it. Triton has that
// library in the process; where it has not, there is one GPU, or none.
void selectGpu(int32_t gpu) {
  using SetDevice = int (*)(int);
  const auto setDevice = reinterpret_cast<SetDevice>(dlsym(RTLD_DEFAULT, "cudaSetDevice"));
  if (setDevice ? setDevice(gpu) != 0 : gpu != 0)
    fail(TRITONSERVER_ERROR_UNAVAILABLE, "GPU ", gpu,
         " cannot be used: there is no such GPU, or its driver is missing");
}

std::unique_ptr<IRuntime> makeRuntime(const Settings& settings) {
  std::unique_ptr<IRuntime> runtime(createInferRuntime(camshaftLog()));
  requireCamshaft(runtime != nullptr, TRITONSERVER_ERROR_INTERNAL);
  if (settings.threads() > 0)
    requireCamshaft(runtime->setMaxThreads(settings.threads()), TRITONSERVER_ERROR_INVALID_ARG);
  return runtime;
}

std::unique_ptr<ICudaEngine> loadFile(const fs::path& file, const Settings& settings) {
  std::unique_ptr<ICudaEngine> engine(
      makeRuntime(settings)->deserializeCudaEngineFromFile(file.c_str()));
  requireCamshaft(engine != nullptr, TRITONSERVER_ERROR_INVALID_ARG);
  return engine;
}

// The model's file and whatever lies beside it, where its external data may be.
std::string keyOf(const fs::path& file, Placement placement, const Settings& settings) {
  std::set<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(file.parent_path()))
    if (entry.is_regular_file()) files.insert(entry.path());
  ContentHash hash;
  for (const fs::path& one : files) {
    hash.add(one == file ? "model" : one.filename().string());
    hash.addFile(one);
  }
  hash.add(placement.onGpu ? "gpu " + std::to_string(placement.gpu) : "cpu");
  hash.add(settings.forBuild());
  hash.add(std::to_string(getInferLibVersion()));
  return hash.text();
}

// Builds that share a folder take turns: they time kernels, and the second may find the engine of
// the first.
class Turn {
 public:
  explicit Turn(const fs::path& folder)
      : file_(open((folder / "lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644)) {
    if (file_ < 0 || flock(file_, LOCK_EX) != 0)
      log(TRITONSERVER_LOG_WARN, "the folder of engines " + folder.string() +
                                     " cannot be locked: builds may disturb one another");
  }
  ~Turn() {
    if (file_ >= 0) close(file_);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  int file_;
};

std::unique_ptr<ICudaEngine> buildAndLoad(const fs::path& file, Placement placement,
                                          const Settings& settings, const fs::path& saved) {
  log(TRITONSERVER_LOG_INFO, "building an engine of " + file.string());
  if (!saved.empty() && buildEngineFile(file, placement, settings, saved))
    return loadFile(saved, settings);
  return buildEngine(file, placement, settings);
}

// An engine of an older library or of another machine is built again in its place.
std::unique_ptr<ICudaEngine> loadOrBuild(const fs::path& file, Placement placement,
                                         const Settings& settings) {
  const fs::path folder =
      settings.engineCache.empty() ? defaultEngineCache() : fs::path(settings.engineCache);
  std::error_code problem;
  if (folder.empty() || (fs::create_directories(folder, problem), problem)) {
    log(TRITONSERVER_LOG_WARN,
        "there is no folder for engines, so the model is built whenever it "
        "is loaded: set engine_cache to one that can be written");
    return buildAndLoad(file, placement, settings, {});
  }
  const fs::path saved = folder / (keyOf(file, placement, settings) + ".engine");
  const Turn turn(folder);
  if (fs::exists(saved)) try {
      return loadFile(saved, settings);
    } catch (const Failure& failure) {
      log(TRITONSERVER_LOG_INFO, std::string("a kept engine is built again: ") + failure.what());
    }
  return buildAndLoad(file, placement, settings, saved);
}

}  // namespace

Signature EngineSource::signature(const Settings& settings) const {
  return isBuilt() ? signatureOf(*loadFile(file_, settings)) : signatureOfOnnx(file_, settings);
}

std::vector<Profile> EngineSource::profiles() const {
  std::vector<Profile> profiles;
  if (!isBuilt()) return profiles;
  const std::unique_ptr<ICudaEngine> engine = loadFile(file_, {});
  for (int32_t i = 0; i < engine->getNbOptimizationProfiles(); ++i) {
    Profile& profile = profiles.emplace_back();
    for (const Tensor& input : signatureOf(*engine).inputs) {
      const auto bound = [&](OptProfileSelector which) {
        return toShape(engine->getProfileShape(input.name.c_str(), i, which));
      };
      profile[input.name] = {bound(OptProfileSelector::kMIN), bound(OptProfileSelector::kOPT),
                             bound(OptProfileSelector::kMAX)};
    }
  }
  return profiles;
}

std::shared_ptr<ICudaEngine> EngineSource::engine(Placement placement, const Settings& settings) {
  if (placement.onGpu) selectGpu(placement.gpu);
  const std::lock_guard lock(mutex_);
  std::shared_ptr<ICudaEngine>& engine = engines_[placement];
  if (!engine)
    engine = isBuilt() ? loadFile(file_, settings) : loadOrBuild(file_, placement, settings);
  if (isBuilt() && placement.onGpu != (engine->getDevice() != nullptr))
    fail(TRITONSERVER_ERROR_INVALID_ARG, file_, " was built for the ",
         placement.onGpu ? "CPU" : "GPU", "; say kind: ", placement.onGpu ? "KIND_CPU" : "KIND_GPU",
         " in its instance_group");
  return engine;
}

fs::path findModelFile(const fs::path& folder, const std::string& wanted) {
  for (const std::string& name :
       {wanted, std::string("model.onnx"), std::string("model.engine"), std::string("model.plan")})
    if (!name.empty() && fs::is_regular_file(folder / name)) return folder / name;
  fail(TRITONSERVER_ERROR_NOT_FOUND, "there is no model.onnx, model.engine or model.plan in ",
       folder);
}

fs::path defaultEngineCache() {
  if (const char* caches = std::getenv("XDG_CACHE_HOME"); caches && *caches)
    return fs::path(caches) / "camshaft" / "engines";
  if (const char* home = std::getenv("HOME"); home && *home)
    return fs::path(home) / ".cache" / "camshaft" / "engines";
  return {};
}

}  // namespace triton_backend
