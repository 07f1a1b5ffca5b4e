// Slimming, as include/CamshaftSlim.h offers it.
#include "slim/slim.h"

#include <memory>
#include <string>
#include <vector>

#include "CamshaftSlim.h"
#include "api/convert.h"
#include "api/report.h"
#include "onnx/wire/read_model.h"

namespace camshaft::api {
namespace {

class SlimModelView final : public ISlimModel {
 public:
  SlimModelView(std::vector<std::byte> bytes, const char* path, nvinfer1::ILogger* logger)
      : bytes_(std::move(bytes)), reporter_(logger), model_(slim(read(path))) {}

  nvinfer1::IHostMemory* serialize() noexcept override {
    return guarded<nvinfer1::IHostMemory*>(reporter_, nullptr, [&] {
      const std::string encoded = model_.encode();
      const auto* begin = reinterpret_cast<const std::byte*>(encoded.data());
      return makeHostMemory({begin, begin + encoded.size()});
    });
  }

  bool writeFile(const char* path) noexcept override {
    return guarded(reporter_, false, [&] {
      if (!path) fail(ErrorKind::kInvalidArgument, "writeFile was given no path");
      model_.writeFile(path);
      return true;
    });
  }

  const char* reportTable() noexcept override {
    return guarded<const char*>(reporter_, "",
                                [&] { return (text_ = model_.report().table()).c_str(); });
  }
  const char* reportJson() noexcept override {
    return guarded<const char*>(reporter_, "",
                                [&] { return (text_ = model_.report().json()).c_str(); });
  }

 private:
  onnx::LoadedModel read(const char* path) const {
    if (bytes_.empty()) return onnx::readModelFile(path);
    if (!path) return onnx::readModelBytes(bytes_);
    return onnx::readModelBytes(bytes_, std::filesystem::absolute(path));
  }

  std::vector<std::byte> bytes_;  // the caller's, copied: the model points into them
  Reporter reporter_;
  SlimModel model_;
  std::string text_;
};

}  // namespace
}  // namespace camshaft::api

extern "C" CAMSHAFT_API void* createSlimModel_INTERNAL(const void* bytes, size_t size,
                                                       const char* path, void* logger,
                                                       int version) noexcept {
  auto* typed = static_cast<nvinfer1::ILogger*>(logger);
  return camshaft::api::createChecked<camshaft::ISlimModel>(
      typed, version, CAMSHAFT_SLIM_VERSION, [&] {
        const auto* begin = static_cast<const std::byte*>(bytes);
        if ((!size || !bytes) && !path)
          camshaft::fail(camshaft::ErrorKind::kInvalidArgument, "there is no model to slim");
        return new camshaft::api::SlimModelView({begin, begin + (bytes ? size : 0)}, path, typed);
      });
}
