#include "onnx/wire/read_model.h"

#include "onnx/wire/messages.h"
#include "support/error.h"
#include "support/mapped_file.h"

namespace camshaft::onnx {

namespace {

void readOpsetImport(FieldReader in, OpsetImport& opset) {
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        opset.domain = in.bytes();
        break;
      case 2:
        opset.version = in.varint();
        break;
      default:
        in.skip();
    }
  }
}

void readFunction(FieldReader in, Function& function) {
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        function.name = in.bytes();
        break;
      case 4:
        function.inputs.push_back(in.bytes());
        break;
      case 5:
        function.outputs.push_back(in.bytes());
        break;
      case 6:
        function.attributes.push_back(in.bytes());
        break;
      case 7:
        appendMessage(in, "node", 3, function.nodes, readNode);
        break;
      case 9:
        appendMessage(in, "opset import", 1, function.opsetImports, readOpsetImport);
        break;
      case 10:
        function.domain = in.bytes();
        break;
      case 11:
        appendMessage(in, "attribute", 1, function.attributesWithDefault, readAttribute);
        break;
      case 12:
        appendMessage(in, "value info", 1, function.valueInfos, readValueInfo);
        break;
      case 13:
        function.overload = in.bytes();
        break;
      default:
        in.skip();
    }
  }
}

LoadedModel read(OwnedBytes bytes, const std::optional<std::filesystem::path>& path,
                 const std::string& source) {
  if (bytes.bytes.empty()) fail(ErrorKind::kInvalidModel, source, " is empty, not an ONNX model");
  const std::string_view text(reinterpret_cast<const char*>(bytes.bytes.data()),
                              bytes.bytes.size());
  LoadedModel loaded;
  Trail trail(source);
  readModel(FieldReader(trail, {"model", -1, text, 0}), loaded.model);
  std::optional<ModelPlace> place;
  if (path) place = ModelPlace::ofFile(*path);
  loaded.files = std::make_shared<const ModelFiles>(std::move(bytes), std::move(place));
  return loaded;
}

}  // namespace

void readModel(FieldReader in, Model& model) {
  bool hasGraph = false;
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        model.irVersion = in.varint();
        break;
      case 2:
        model.producerName = in.bytes();
        break;
      case 3:
        model.producerVersion = in.bytes();
        break;
      case 4:
        model.domain = in.bytes();
        break;
      case 5:
        model.modelVersion = in.varint();
        break;
      case 6:
        model.docString = in.bytes();
        break;
      case 7:
        readGraph(in.message("graph", -1, 2), model.graph);
        hasGraph = true;
        break;
      case 8:
        appendMessage(in, "opset import", 1, model.opsetImports, readOpsetImport);
        break;
      case 14:
        appendMessage(in, "metadata", 1, model.metadata, readStringPair);
        break;
      case 25:
        appendMessage(in, "function", 1, model.functions, readFunction);
        break;
      default:
        in.skip();
    }
  }
  if (!hasGraph) in.fail("there is no graph");
}

LoadedModel readModelFile(const std::filesystem::path& path) {
  const auto file = std::make_shared<const MappedFile>(MappedFile::open(path.string()));
  return read({file->bytes(), file}, path, str("'", path.string(), "'"));
}

LoadedModel readModelBytes(std::span<const std::byte> bytes,
                           const std::optional<std::filesystem::path>& path) {
  return read({bytes, nullptr}, path, "the model in memory");
}

}  // namespace camshaft::onnx
