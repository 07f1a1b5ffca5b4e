#include "api/model_reader.h"

#include "onnx/wire/element_type.h"
#include "onnx/wire/tensor.h"

namespace camshaft::api {
namespace {

std::optional<std::filesystem::path> modelPathOf(const char* modelPath) {
  if (!modelPath) return std::nullopt;
  return modelPath;
}

std::span<const std::byte> bytesAt(const void* bytes, size_t size) {
  if (!bytes) fail(ErrorKind::kInvalidArgument, "the parser was given no bytes");
  return {static_cast<const std::byte*>(bytes), size};
}

}  // namespace

void ModelReader::report(std::vector<onnx::ImportProblem> problems) {
  for (onnx::ImportProblem& problem : problems) {
    reporter_.error(errorCodeOf(problem.kind), problem.message);
    errors_.push_back(std::make_unique<ParserError>(std::move(problem)));
  }
}

std::optional<onnx::LoadedModel> ModelReader::read(
    const std::function<onnx::LoadedModel()>& readModel) {
  try {
    onnx::LoadedModel model = readModel();
    warnOfNewer(model.model);
    return model;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInvalidModel) throw;
    reporter_.error(errorCodeOf(error.kind()), error.message());
    errors_.push_back(std::make_unique<ParserError>(
        ParserError::Code::kMODEL_DESERIALIZE_FAILED,
        onnx::ImportProblem{.kind = error.kind(), .message = error.message()}));
    return std::nullopt;
  }
}

void ModelReader::warnOfNewer(const onnx::Model& model) const {
  if (model.irVersion > onnx::kNewestIrVersion)
    reporter_.warning(str("the model is of IR version ", model.irVersion, " and ",
                          onnx::kNewestIrVersion, " is the newest known: it is read as that"));
  for (const onnx::OpsetImport& import : model.opsetImports)
    if ((import.domain.empty() || import.domain == "ai.onnx") &&
        import.version > onnx::kNewestOpset)
      reporter_.warning(str("the model is of opset ", import.version, " and ", onnx::kNewestOpset,
                            " is the newest known: its operators are read as of that"));
}

std::optional<onnx::LoadedModel> ModelReader::fromFile(const char* path) {
  if (!path) fail(ErrorKind::kInvalidArgument, "the parser was given no path");
  return read([&] { return onnx::readModelFile(path); });
}

std::optional<onnx::LoadedModel> ModelReader::fromBytes(const void* bytes, size_t size,
                                                        const char* modelPath) {
  return read([&] { return onnx::readModelBytes(bytesAt(bytes, size), modelPathOf(modelPath)); });
}

std::optional<onnx::LoadedModel> ModelReader::fromCopy(const void* bytes, size_t size,
                                                       const char* modelPath) {
  const std::span<const std::byte> given = bytesAt(bytes, size);
  auto copy = std::make_shared<const std::vector<std::byte>>(given.begin(), given.end());
  keepAlive_(copy);
  return read([&] { return onnx::readModelBytes(*copy, modelPathOf(modelPath)); });
}

bool ModelReader::loadModel(const void* bytes, size_t size, const char* modelPath) noexcept {
  return attempt([&] {
    loaded_ = fromCopy(bytes, size, modelPath);
    return loaded_.has_value();
  });
}

bool ModelReader::loadInitializer(const char* name, const void* data, size_t size) noexcept {
  return attempt([&] {
    loaded("loadInitializer");
    const std::string_view wanted = name ? name : "";
    onnx::Tensor& tensor = initializer(wanted);
    const std::string what = str("initializer '", wanted, "'");
    const uint64_t needed =
        bytesOf(onnx::dataTypeOf(tensor.dataType, what), onnx::elementCount(tensor.dims, what));
    if (!data || size != needed)
      fail(ErrorKind::kInvalidArgument, what, " needs ", needed, " bytes and is given ",
           data ? size : 0);
    tensor.external.reset();
    tensor.raw = bytesAt(data, size);
    return true;
  });
}

const onnx::LoadedModel& ModelReader::loaded(const char* call) const {
  if (!loaded_) fail(ErrorKind::kInvalidArgument, call, " needs loadModelProto first");
  return *loaded_;
}

onnx::Tensor& ModelReader::initializer(std::string_view name) {
  for (onnx::Tensor& tensor : loaded_->model.graph.initializers)
    if (tensor.name == name) return tensor;
  fail(ErrorKind::kInvalidArgument, "the model has no initializer '", name, "'");
}

}  // namespace camshaft::api
