// IOnnxConfig: plain settings.
#include "NvOnnxConfig.h"

#include <optional>
#include <string>

namespace camshaft::api {
namespace {

// A string of the caller's, null before it was set; without memory for it, as it was.
class Text {
 public:
  const char* get() const { return text_ ? text_->c_str() : nullptr; }
  void set(const char* text) noexcept {
    try {
      text_ = text ? std::optional<std::string>(text) : std::nullopt;
    } catch (const std::bad_alloc&) {
    }
  }

 private:
  std::optional<std::string> text_;
};

class OnnxConfig final : public nvonnxparser::IOnnxConfig {
 public:
  void setModelDtype(nvinfer1::DataType type) noexcept override { type_ = type; }
  nvinfer1::DataType getModelDtype() const noexcept override { return type_; }
  const char* getModelFileName() const noexcept override { return model_.get(); }
  void setModelFileName(const char* name) noexcept override { model_.set(name); }
  Verbosity getVerbosityLevel() const noexcept override { return verbosity_; }
  void addVerbosity() noexcept override { ++verbosity_; }
  void reduceVerbosity() noexcept override { --verbosity_; }
  void setVerbosityLevel(Verbosity verbosity) noexcept override { verbosity_ = verbosity; }
  const char* getTextFileName() const noexcept override { return text_.get(); }
  void setTextFileName(const char* name) noexcept override { text_.set(name); }
  const char* getFullTextFileName() const noexcept override { return fullText_.get(); }
  void setFullTextFileName(const char* name) noexcept override { fullText_.set(name); }
  bool getPrintLayerInfo() const noexcept override { return printsLayers_; }
  void setPrintLayerInfo(bool prints) noexcept override { printsLayers_ = prints; }

 private:
  nvinfer1::DataType type_ = nvinfer1::DataType::kFLOAT;
  Text model_, text_, fullText_;
  Verbosity verbosity_ = static_cast<Verbosity>(nvinfer1::ILogger::Severity::kWARNING);
  bool printsLayers_ = false;
};

}  // namespace
}  // namespace camshaft::api

nvonnxparser::IOnnxConfig* nvonnxparser::createONNXConfig() {
  return new (std::nothrow) camshaft::api::OnnxConfig;
}
