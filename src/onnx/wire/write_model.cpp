#include "onnx/wire/write_model.h"

#include <optional>
#include <protozero/pbf_writer.hpp>

#include "onnx/wire/element_type.h"
#include "onnx/wire/tensor.h"
#include "support/error.h"
#include "support/new_file.h"

namespace camshaft::onnx {

namespace {

using Writer = protozero::pbf_writer;

constexpr size_t kMinExternalBytes = 1024;  // shapes and scalars stay where readers see them
constexpr uint64_t kExternalAlignment = 4096;

// Where large initializers go when they cannot stay in the model.
struct ExternalFile {
  NewFile& file;
  std::string location;
  uint64_t offset = 0;
};

void bytes(Writer& out, uint32_t tag, std::string_view text) {
  if (!text.empty()) out.add_bytes(tag, text.data(), text.size());
}

template <class Texts>
void texts(Writer& out, uint32_t tag, const Texts& values) {
  for (const std::string_view value : values) out.add_bytes(tag, value.data(), value.size());
}

std::string_view asText(std::span<const std::byte> data) {
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

// A message without fields, which the writer of nested messages leaves out: the rank of a shape is
// the number of its dimensions, whether anything is known of them or not.
void emptyMessage(Writer& out, uint32_t tag) { out.add_message(tag, "", 0); }

void writePair(Writer out, std::string_view key, std::string_view value) {
  bytes(out, 1, key);
  out.add_bytes(2, value.data(), value.size());
}

// One encoder per model: it knows where tensors may be read from and written to.
class Encoder {
 public:
  Encoder(const ModelFiles& files, ExternalFile* external) : files_(files), external_(external) {}

  void model(Writer out, const Model& model) {
    out.add_int64(1, model.irVersion);
    bytes(out, 2, model.producerName);
    bytes(out, 3, model.producerVersion);
    bytes(out, 4, model.domain);
    if (model.modelVersion) out.add_int64(5, model.modelVersion);
    bytes(out, 6, model.docString);
    graph(Writer(out, 7), model.graph, true);
    for (const auto& import : model.opsetImports) opset(Writer(out, 8), import);
    for (const auto& pair : model.metadata) writePair(Writer(out, 14), pair.key, pair.value);
    for (const auto& one : model.functions) function(Writer(out, 25), one);
  }

 private:
  void opset(Writer out, const OpsetImport& import) {
    out.add_bytes(1, import.domain.data(), import.domain.size());
    out.add_int64(2, import.version);
  }

  void function(Writer out, const Function& function) {
    bytes(out, 1, function.name);
    texts(out, 4, function.inputs);
    texts(out, 5, function.outputs);
    texts(out, 6, function.attributes);
    for (const auto& one : function.nodes) node(Writer(out, 7), one);
    for (const auto& import : function.opsetImports) opset(Writer(out, 9), import);
    bytes(out, 10, function.domain);
    for (const auto& preset : function.attributesWithDefault) attribute(Writer(out, 11), preset);
    for (const auto& info : function.valueInfos) valueInfo(Writer(out, 12), info);
    bytes(out, 13, function.overload);
  }

  void graph(Writer out, const Graph& graph, bool main = false) {
    for (const auto& one : graph.nodes) node(Writer(out, 1), one);
    bytes(out, 2, graph.name);
    for (const auto& one : graph.initializers) tensor(out, 5, one, main);
    bytes(out, 10, graph.docString);
    for (const auto& info : graph.inputs) valueInfo(Writer(out, 11), info);
    for (const auto& info : graph.outputs) valueInfo(Writer(out, 12), info);
    for (const auto& info : graph.valueInfos) valueInfo(Writer(out, 13), info);
    for (const auto& one : graph.sparseInitializers) sparse(Writer(out, 15), one);
  }

  void node(Writer out, const Node& node) {
    texts(out, 1, node.inputs);
    texts(out, 2, node.outputs);
    bytes(out, 3, node.name);
    bytes(out, 4, node.opType);
    for (const auto& one : node.attributes) attribute(Writer(out, 5), one);
    bytes(out, 6, node.docString);
    bytes(out, 7, node.domain);
    bytes(out, 8, node.overload);
  }

  void attribute(Writer out, const Attribute& attribute) {
    bytes(out, 1, attribute.name);
    using enum AttributeType;
    const bool refers = !attribute.refAttrName.empty();
    switch (refers ? kUndefined : attribute.type) {
      case kUndefined:
        break;
      case kFloat:
        out.add_float(2, attribute.f);
        break;
      case kInt:
        out.add_int64(3, attribute.i);
        break;
      case kString:
        out.add_bytes(4, attribute.s.data(), attribute.s.size());
        break;
      case kTensor:
        tensor(out, 5, attribute.tensors.front(), false);
        break;
      case kGraph:
        graph(Writer(out, 6), attribute.graphs.front());
        break;
      case kFloats:
        out.add_packed_float(7, attribute.floats.begin(), attribute.floats.end());
        break;
      case kInts:
        out.add_packed_int64(8, attribute.ints.begin(), attribute.ints.end());
        break;
      case kStrings:
        texts(out, 9, attribute.strings);
        break;
      case kTensors:
        for (const auto& one : attribute.tensors) tensor(out, 10, one, false);
        break;
      case kGraphs:
        for (const auto& one : attribute.graphs) graph(Writer(out, 11), one);
        break;
      case kSparseTensor:
        sparse(Writer(out, 22), attribute.sparseTensors.front());
        break;
      case kSparseTensors:
        for (const auto& one : attribute.sparseTensors) sparse(Writer(out, 23), one);
        break;
      case kType:
        type(Writer(out, 14), attribute.types.front());
        break;
      case kTypes:
        for (const auto& one : attribute.types) type(Writer(out, 15), one);
        break;
    }
    out.add_int32(20, static_cast<int32_t>(attribute.type));
    bytes(out, 21, attribute.refAttrName);
  }

  // A tensor that was read is copied as it stood, unless its data lie elsewhere.
  void tensor(Writer& parent, uint32_t tag, const Tensor& tensor, bool mayMove) {
    if (!tensor.encoded.empty() && !tensor.external)
      return parent.add_bytes(tag, asText(tensor.encoded).data(), tensor.encoded.size());
    Writer out(parent, tag);
    const TensorBytes outside =
        tensor.external ? tensorData(tensor, files_) : TensorBytes{.bytes = *tensor.raw};
    for (const int64_t dim : tensor.dims) out.add_int64(1, dim);
    out.add_int32(2, tensor.dataType);
    bytes(out, 8, tensor.name);
    if (external_ && mayMove && outside.bytes.size() >= kMinExternalBytes)
      return moveOut(out, outside.bytes);
    out.add_bytes(9, asText(outside.bytes).data(), outside.bytes.size());
  }

  void moveOut(Writer& out, std::span<const std::byte> data) {
    const uint64_t padding =
        (kExternalAlignment - external_->offset % kExternalAlignment) % kExternalAlignment;
    const std::vector<std::byte> zeros(padding);
    external_->file.write(zeros);
    external_->file.write(data);
    external_->offset += padding;
    writePair(Writer(out, 13), "location", external_->location);
    writePair(Writer(out, 13), "offset", std::to_string(external_->offset));
    writePair(Writer(out, 13), "length", std::to_string(data.size()));
    out.add_int32(14, 1);
    external_->offset += data.size();
  }

  void sparse(Writer out, const SparseTensor& sparse) {
    tensor(out, 1, sparse.values, false);
    tensor(out, 2, sparse.indices, false);
    for (const int64_t dim : sparse.dims) out.add_int64(3, dim);
  }

  void valueInfo(Writer out, const ValueInfo& info) {
    bytes(out, 1, info.name);
    if (info.type.kind != TypeKind::kNone) type(Writer(out, 2), info.type);
    bytes(out, 3, info.docString);
  }

  void type(Writer out, const Type& one) {
    const auto nested = [&](uint32_t tag) {
      Writer inner(out, tag);
      for (const Type& element : one.element) type(Writer(inner, 1), element);
    };
    switch (one.kind) {
      case TypeKind::kTensor:
        return tensorType(Writer(out, 1), one);
      case TypeKind::kSparseTensor:
        return tensorType(Writer(out, 8), one);
      case TypeKind::kSequence:
        return nested(4);
      case TypeKind::kOptional:
        return nested(9);
      case TypeKind::kMap: {
        Writer inner(out, 5);
        inner.add_int32(1, one.elementType);
        for (const Type& element : one.element) type(Writer(inner, 2), element);
        return;
      }
      case TypeKind::kNone:
      case TypeKind::kOpaque:
        return;
    }
  }

  void tensorType(Writer out, const Type& type) {
    out.add_int32(1, type.elementType);
    if (!type.shape) return;
    if (type.shape->empty()) return emptyMessage(out, 2);
    Writer shape(out, 2);
    for (const Dim& dim : *type.shape) {
      if (!dim.value && dim.param.empty()) {
        emptyMessage(shape, 1);
        continue;
      }
      Writer encoded(shape, 1);
      if (dim.value) encoded.add_int64(1, *dim.value);
      bytes(encoded, 2, dim.param);
    }
  }

  const ModelFiles& files_;
  ExternalFile* external_;
};

size_t bytesIn(const Tensor& tensor) {
  return tensor.raw ? tensor.raw->size() : tensor.encoded.size();
}

size_t bytesIn(const Graph& graph) {
  size_t sum = 0;
  for (const auto& tensor : graph.initializers) sum += bytesIn(tensor);
  for (const auto& node : graph.nodes)
    for (const auto& attribute : node.attributes) {
      for (const auto& tensor : attribute.tensors) sum += bytesIn(tensor);
      for (const auto& inner : attribute.graphs) sum += bytesIn(inner);
    }
  return sum;
}

}  // namespace

size_t tensorBytes(const Model& model) { return bytesIn(model.graph); }

std::string encodeModel(const Model& model, const ModelFiles& files) {
  const size_t size = tensorBytes(model);
  if (size > kMaxModelBytes)
    fail(ErrorKind::kInvalidArgument, "the model holds ", size,
         " bytes of tensors, more than fit into one message: write it to a file");
  std::string encoded;
  encoded.reserve(size + size / 64 + 65536);
  Encoder(files, nullptr).model(Writer(encoded), model);
  return encoded;
}

size_t writeModelFile(const Model& model, const ModelFiles& files,
                      const std::filesystem::path& path) {
  std::string encoded;
  size_t outside = 0;
  std::optional<NewFile> weights;
  if (tensorBytes(model) > kMaxModelBytes - kMaxModelBytes / 8) {
    const std::filesystem::path beside = path.string() + ".data";
    ExternalFile external{weights.emplace(beside.string()), beside.filename().string()};
    Encoder(files, &external).model(Writer(encoded), model);
    outside = external.offset;
  } else {
    encoded = encodeModel(model, files);
  }
  NewFile file(path.string());
  file.write(std::as_bytes(std::span(encoded)));
  if (weights) weights->commit();
  file.commit();
  return encoded.size() + outside;
}

}  // namespace camshaft::onnx
