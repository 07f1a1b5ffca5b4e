// IParserRefitter: hands a refitter the weights of a model under the model's names.
#include "api/convert.h"
#include "api/model_reader.h"
#include "api/refitter.h"
#include "compiler/refit.h"
#include "onnx/wire/tensor.h"

namespace camshaft::api {
namespace {

// A tensor of a model and the name that its constant has in networks.
struct NamedTensor {
  std::string name;
  const onnx::Tensor* tensor;
};

void collectTensors(const onnx::Graph& graph, std::vector<NamedTensor>& tensors) {
  for (const onnx::Tensor& tensor : graph.initializers)
    tensors.push_back({std::string(tensor.name), &tensor});
  for (const onnx::Node& node : graph.nodes)
    for (const onnx::Attribute& attribute : node.attributes) {
      const bool isValue = node.opType == "Constant" && attribute.name == "value" &&
                           attribute.tensors.size() == 1 && node.outputs.size() == 1;
      if (isValue) tensors.push_back({std::string(node.outputs[0]), &attribute.tensors[0]});
      for (const onnx::Graph& body : attribute.graphs) collectTensors(body, tensors);
    }
}

class ParserRefitter final : public nvonnxparser::IParserRefitter {
 public:
  ParserRefitter(Refitter& refitter, nvinfer1::ILogger* logger)
      : refitter_(refitter), reader_(logger, [this](std::shared_ptr<const void> memory) {
          memory_ = std::move(memory);
        }) {}

  bool refitFromBytes(const void* bytes, size_t size, const char* modelPath) noexcept override {
    return reader_.attempt([&] {
      const auto model = reader_.fromCopy(bytes, size, modelPath);
      return model && setAll(*model);
    });
  }
  bool refitFromFile(const char* path) noexcept override {
    return reader_.attempt([&] {
      memory_ = nullptr;
      const auto model = reader_.fromFile(path);
      return model && setAll(*model);
    });
  }

  bool loadModelProto(const void* bytes, size_t size, const char* modelPath) noexcept override {
    return reader_.loadModel(bytes, size, modelPath);
  }
  bool loadInitializer(const char* name, const void* data, size_t size) noexcept override {
    return reader_.loadInitializer(name, data, size);
  }
  bool refitModelProto() noexcept override {
    return reader_.attempt([&] { return setAll(reader_.loaded("refitModelProto")); });
  }

  int32_t getNbErrors() const noexcept override { return reader_.errorCount(); }
  const nvonnxparser::IParserError* getError(int32_t index) const noexcept override {
    return reader_.error(index);
  }
  void clearErrors() noexcept override { reader_.clearErrors(); }

 private:
  bool setAll(const onnx::LoadedModel& model) {
    std::vector<NamedTensor> tensors;
    collectTensors(model.model.graph, tensors);
    const std::map<std::string, ConstantPtr> fixed = fixedConstants(refitter_.record());
    bool knewAny = false;
    for (const auto& [name, tensor] : tensors) {
      const bool isKnown = refitter_.knows(name);
      const auto unchanged = fixed.find(name);
      if (!isKnown && unchanged == fixed.end()) continue;  // nothing that is computed needs it
      knewAny = true;
      try {
        const onnx::TensorBytes data = onnx::tensorData(*tensor, *model.files);
        if (isKnown)
          setOne(name, data, onnx::elementCount(tensor->dims, name), model);
        else if (!std::ranges::equal(data.bytes, unchanged->second->bytes))
          fail(ErrorKind::kInvalidArgument, "'", name,
               "' has other values than the engine was built with, which a refit does not "
               "replace; mark it with markWeightsRefittable() or build the engine again");
      } catch (const Error& error) {
        reader_.report({{.kind = error.kind(), .message = error.message()}});
      }
    }
    if (!knewAny)
      fail(ErrorKind::kInvalidArgument,
           "the model has no weights of the engine's names; was the engine built from it?");
    return reader_.errorCount() == 0;
  }

  // The refitter reads them later, when this object may be gone.
  void setOne(const std::string& name, const onnx::TensorBytes& data, int64_t count,
              const onnx::LoadedModel& model) {
    struct Memory {
      std::shared_ptr<const void> bytes, decoded, files;
    };
    refitter_.set(name, {toPublic(data.type), data.bytes.data(), count},
                  std::make_shared<const Memory>(Memory{memory_, data.owner, model.files}));
  }

  Refitter& refitter_;
  std::shared_ptr<const void> memory_;  // of a model that came as bytes
  ModelReader reader_;
};

}  // namespace
}  // namespace camshaft::api

extern "C" CAMSHAFT_API void* createNvOnnxParserRefitter_INTERNAL(void* refitter, void* logger,
                                                                  int32_t version) noexcept {
  using namespace camshaft::api;
  auto* typed = static_cast<nvinfer1::ILogger*>(logger);
  return createChecked<nvonnxparser::IParserRefitter>(typed, version, NV_ONNX_PARSER_VERSION, [&] {
    if (!refitter)
      camshaft::fail(camshaft::ErrorKind::kInvalidArgument,
                     "the parser's refitter was given no refitter");
    auto& own = static_cast<Refitter&>(*static_cast<nvinfer1::IRefitter*>(refitter));
    return new ParserRefitter(own, typed);
  });
}
