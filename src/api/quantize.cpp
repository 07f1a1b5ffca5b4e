// Quantisation, as include/CamshaftQuantize.h offers it.
#include "quantize/quantize.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "CamshaftQuantize.h"
#include "api/convert.h"
#include "api/report.h"
#include "api/samples.h"
#include "onnx/wire/element_type.h"
#include "onnx/wire/read_model.h"
#include "quantize/options.h"

namespace camshaft::api {
namespace {

class Quantizer final : public IQuantizer {
 public:
  Quantizer(std::vector<std::byte> bytes, const char* path, nvinfer1::ILogger* logger)
      : bytes_(std::move(bytes)),
        path_(path ? path : ""),
        reporter_(logger),
        source_(read()),
        inputs_(inputNames(source_.model)) {}

  int32_t getNbInputs() const noexcept override { return static_cast<int32_t>(inputs_.size()); }
  const char* getInputName(int32_t index) const noexcept override {
    return isInput(index) ? inputs_[static_cast<size_t>(index)].c_str() : nullptr;
  }
  nvinfer1::DataType getInputType(int32_t index) const noexcept override {
    if (!isInput(index)) return nvinfer1::DataType::kFLOAT;
    const auto type = onnx::findDataType(infoOf(index).type.elementType);
    return toPublic(type.value_or(DataType::kF32));
  }
  nvinfer1::Dims getInputShape(int32_t index) const noexcept override {
    if (!isInput(index) || !infoOf(index).type.shape) return invalidDims();
    nvinfer1::Dims dims{};
    for (const onnx::Dim& dim : *infoOf(index).type.shape) {
      if (dims.nbDims == nvinfer1::Dims::MAX_DIMS) return invalidDims();
      dims.d[dims.nbDims++] = dim.value && *dim.value >= 0 ? *dim.value : -1;
    }
    return dims;
  }

  bool set(const char* option, const char* value) noexcept override {
    return guarded(reporter_, false, [&] {
      if (!option || !value) fail(ErrorKind::kInvalidArgument, "set was given no option or value");
      setOption(options_, option, value);
      return true;
    });
  }

  bool run(ICalibrationSamples* samples, IQuantizerProgress* progress) noexcept override {
    return guarded(reporter_, false, [&] {
      std::optional<SamplesOfUser> data;
      if (samples) data.emplace(*samples, inputs_.size());
      QuantizeOptions options = options_;
      if (progress)
        options.progress = [&](const char* phase, int done, int total) {
          return progress->advance(phase, done, total);
        };
      made_.emplace(quantize(source_, data ? &*data : nullptr, options));
      return true;
    });
  }

  nvinfer1::IHostMemory* serialize() noexcept override {
    return guarded<nvinfer1::IHostMemory*>(reporter_, nullptr, [&] {
      const std::string encoded = made().encode();
      const auto* begin = reinterpret_cast<const std::byte*>(encoded.data());
      return makeHostMemory({begin, begin + encoded.size()});
    });
  }
  bool writeFile(const char* path) noexcept override {
    return guarded(reporter_, false, [&] {
      if (!path) fail(ErrorKind::kInvalidArgument, "writeFile was given no path");
      made().writeFile(path);
      return true;
    });
  }
  const char* reportTable() noexcept override {
    return guarded<const char*>(reporter_, "",
                                [&] { return (text_ = made().report().table()).c_str(); });
  }
  const char* reportJson() noexcept override {
    return guarded<const char*>(reporter_, "",
                                [&] { return (text_ = made().report().json()).c_str(); });
  }

 private:
  onnx::LoadedModel read() const {
    if (bytes_.empty()) return onnx::readModelFile(path_);
    if (path_.empty()) return onnx::readModelBytes(bytes_);
    return onnx::readModelBytes(bytes_, std::filesystem::absolute(path_));
  }
  bool isInput(int32_t index) const { return index >= 0 && index < getNbInputs(); }
  const onnx::ValueInfo& infoOf(int32_t index) const {
    for (const onnx::ValueInfo& info : source_.model.graph.inputs)
      if (info.name == inputs_[static_cast<size_t>(index)]) return info;
    return source_.model.graph.inputs.front();
  }
  QuantizedModel& made() {
    if (!made_) fail(ErrorKind::kInvalidArgument, "the quantizer has not run");
    return *made_;
  }

  std::vector<std::byte> bytes_;  // the caller's, copied: the model points into them
  const std::string path_;
  Reporter reporter_;
  const onnx::LoadedModel source_;
  const std::vector<std::string> inputs_;
  QuantizeOptions options_;
  std::optional<QuantizedModel> made_;
  std::string text_;
};

}  // namespace
}  // namespace camshaft::api

extern "C" CAMSHAFT_API void* createQuantizer_INTERNAL(const void* bytes, size_t size,
                                                       const char* path, void* logger,
                                                       int version) noexcept {
  auto* typed = static_cast<nvinfer1::ILogger*>(logger);
  return camshaft::api::createChecked<camshaft::IQuantizer>(
      typed, version, CAMSHAFT_QUANTIZER_VERSION, [&] {
        const auto* begin = static_cast<const std::byte*>(bytes);
        if ((!size || !bytes) && !path)
          camshaft::fail(camshaft::ErrorKind::kInvalidArgument, "there is no model to quantise");
        return new camshaft::api::Quantizer({begin, begin + (bytes ? size : 0)}, path, typed);
      });
}
