// An ONNX model as plain structs. Names, strings and tensor bytes are views into the bytes the
// model was read from, which the LoadedModel of read_model.h keeps alive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace camshaft::onnx {

struct StringPair {
  std::string_view key;
  std::string_view value;
};

struct OpsetImport {
  std::string_view domain;  // "" is ai.onnx
  int64_t version = 0;
};

// Where a tensor's bytes lie when they are not in the model itself.
struct ExternalData {
  std::string_view location;  // relative to the model's folder
  uint64_t offset = 0;
  std::optional<uint64_t> length;  // absent: as many bytes as the dims need
};

// `dataType` is ONNX's code; element_type.h translates it. Values: tensorData() in tensor.h.
struct Tensor {
  std::string_view name;
  std::vector<int64_t> dims;
  int32_t dataType = 0;
  std::optional<std::span<const std::byte>> raw;
  std::optional<ExternalData> external;
  bool segmented = false;  // a piece of a larger tensor, which no tool writes
  // The whole encoded TensorProto: float_data, int32_data and the like are decoded on demand.
  std::span<const std::byte> encoded;
};

// Coordinate format; the tensor's name is values.name.
struct SparseTensor {
  Tensor values;
  Tensor indices;
  std::vector<int64_t> dims;
};

// A number, a name, or neither when the dimension is unknown.
struct Dim {
  std::optional<int64_t> value;
  std::string_view param;
};

enum class TypeKind { kNone, kTensor, kSparseTensor, kSequence, kMap, kOptional, kOpaque };
std::string_view toString(TypeKind kind);

struct Type {
  TypeKind kind = TypeKind::kNone;
  int32_t elementType = 0;                // ONNX code, of tensors; of maps, the key's
  std::optional<std::vector<Dim>> shape;  // of tensors; absent: unknown rank
  std::vector<Type> element;              // of sequences, optionals and maps: at most one
};

struct ValueInfo {
  std::string_view name;
  Type type;
  std::string_view docString;
};

enum class AttributeType {
  kUndefined,
  kFloat,
  kInt,
  kString,
  kTensor,
  kGraph,
  kFloats,
  kInts,
  kStrings,
  kTensors,
  kGraphs,
  kSparseTensor,
  kSparseTensors,
  kType,
  kTypes,
};
std::string_view toString(AttributeType type);

struct Graph;

// `type` says which member holds the value. A single tensor, graph, sparse tensor or type is the
// only element of its list: the reader refuses an attribute that declares one and has none.
struct Attribute {
  std::string_view name;
  AttributeType type = AttributeType::kUndefined;
  std::string_view refAttrName;  // in a function's body: the function's attribute to take
  float f = 0;
  int64_t i = 0;
  std::string_view s;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
  std::vector<Tensor> tensors;
  std::vector<Graph> graphs;
  std::vector<SparseTensor> sparseTensors;
  std::vector<Type> types;
};

struct Node {
  std::string_view name;
  std::string_view opType;
  std::string_view domain;
  std::string_view overload;
  std::vector<std::string_view> inputs;   // "" is an omitted optional input
  std::vector<std::string_view> outputs;  // "" is an output nobody asked for
  std::vector<Attribute> attributes;
  std::string_view docString;
};

struct Graph {
  std::string_view name;
  std::vector<Node> nodes;
  std::vector<Tensor> initializers;
  std::vector<SparseTensor> sparseInitializers;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  std::vector<ValueInfo> valueInfos;
  std::string_view docString;
};

struct Function {
  std::string_view name;
  std::string_view domain;
  std::string_view overload;
  std::vector<OpsetImport> opsetImports;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<std::string_view> attributes;  // without a default
  std::vector<Attribute> attributesWithDefault;
  std::vector<Node> nodes;
  std::vector<ValueInfo> valueInfos;
};

struct Model {
  int64_t irVersion = 0;
  std::string_view producerName;
  std::string_view producerVersion;
  std::string_view domain;
  int64_t modelVersion = 0;
  std::vector<OpsetImport> opsetImports;
  Graph graph;
  std::vector<Function> functions;
  std::vector<StringPair> metadata;
  std::string_view docString;
};

}  // namespace camshaft::onnx
