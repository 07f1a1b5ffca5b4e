// Graphs, their nodes, and the nodes' attributes, which may hold graphs again.
#include <cstring>

#include "onnx/wire/messages.h"
#include "support/text.h"

namespace camshaft::onnx {

namespace {

void appendFloats(FieldReader& in, std::vector<float>& values) {
  const std::string_view encoded = in.fixed(sizeof(float));
  if (encoded.empty()) return;
  const size_t before = values.size();
  values.resize(before + encoded.size() / sizeof(float));
  std::memcpy(values.data() + before, encoded.data(), encoded.size());
}

// The single messages of an attribute, kept apart from its lists until its type is known.
struct SingleValues {
  std::vector<Tensor> tensor;
  std::vector<Graph> graph;
  std::vector<SparseTensor> sparseTensor;
  std::vector<Type> type;
};

template <class T>
T& only(std::vector<T>& single) {
  if (single.empty()) single.emplace_back();
  return single.front();
}

// Reads the current field and returns the type of value it holds; kUndefined when it holds none.
AttributeType readValueField(FieldReader& in, Attribute& attribute, SingleValues& single) {
  using enum AttributeType;
  switch (in.tag()) {
    case 2:
      attribute.f = in.fixed32();
      return kFloat;
    case 3:
      attribute.i = in.varint();
      return kInt;
    case 4:
      attribute.s = in.bytes();
      return kString;
    case 5:
      readTensor(in.message("tensor", -1, 8), only(single.tensor));
      return kTensor;
    case 6:
      readGraph(in.message("graph", -1, 2), only(single.graph));
      return kGraph;
    case 7:
      appendFloats(in, attribute.floats);
      return kFloats;
    case 8:
      appendInts(in, attribute.ints);
      return kInts;
    case 9:
      attribute.strings.push_back(in.bytes());
      return kStrings;
    case 10:
      appendMessage(in, "tensor", 8, attribute.tensors, readTensor);
      return kTensors;
    case 11:
      appendMessage(in, "graph", 2, attribute.graphs, readGraph);
      return kGraphs;
    case 14:
      readType(in.message("type", -1, 0), only(single.type));
      return kType;
    case 15:
      appendMessage(in, "type", 0, attribute.types, readType);
      return kTypes;
    case 22:
      readSparseTensor(in.message("sparse tensor", -1, 0), only(single.sparseTensor));
      return kSparseTensor;
    case 23:
      appendMessage(in, "sparse tensor", 0, attribute.sparseTensors, readSparseTensor);
      return kSparseTensors;
    default:
      in.skip();
      return kUndefined;
  }
}

// The first ONNX files declared no type; then the field that was there tells.
AttributeType resolveType(const FieldReader& in, int64_t declared, AttributeType found) {
  if (declared == 0) return found;
  if (declared < 0 || declared > static_cast<int64_t>(AttributeType::kTypes)) {
    in.fail(str("the attribute's type code ", declared, " is none that ONNX defines"));
  }
  return static_cast<AttributeType>(declared);
}

template <class T>
void takeSingle(const FieldReader& in, const Attribute& attribute, std::vector<T>& single,
                std::vector<T>& list) {
  if (single.empty() && attribute.refAttrName.empty()) {
    in.fail(str("the attribute's type is ", attribute.type, " but its value is missing"));
  }
  list = std::move(single);
}

}  // namespace

void readAttribute(FieldReader in, Attribute& attribute) {
  int64_t declared = 0;
  AttributeType found = AttributeType::kUndefined;
  SingleValues single;
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        attribute.name = in.bytes();
        break;
      case 20:
        declared = in.varint();
        break;
      case 21:
        attribute.refAttrName = in.bytes();
        break;
      default: {
        const AttributeType type = readValueField(in, attribute, single);
        if (type != AttributeType::kUndefined) found = type;
      }
    }
  }
  attribute.type = resolveType(in, declared, found);
  switch (attribute.type) {
    case AttributeType::kTensor:
      return takeSingle(in, attribute, single.tensor, attribute.tensors);
    case AttributeType::kGraph:
      return takeSingle(in, attribute, single.graph, attribute.graphs);
    case AttributeType::kSparseTensor:
      return takeSingle(in, attribute, single.sparseTensor, attribute.sparseTensors);
    case AttributeType::kType:
      return takeSingle(in, attribute, single.type, attribute.types);
    default:
      return;
  }
}

void readNode(FieldReader in, Node& node) {
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        node.inputs.push_back(in.bytes());
        break;
      case 2:
        node.outputs.push_back(in.bytes());
        break;
      case 3:
        node.name = in.bytes();
        break;
      case 4:
        node.opType = in.bytes();
        break;
      case 5:
        appendMessage(in, "attribute", 1, node.attributes, readAttribute);
        break;
      case 6:
        node.docString = in.bytes();
        break;
      case 7:
        node.domain = in.bytes();
        break;
      case 8:
        node.overload = in.bytes();
        break;
      default:
        in.skip();
    }
  }
}

void readGraph(FieldReader in, Graph& graph) {
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        appendMessage(in, "node", 3, graph.nodes, readNode);
        break;
      case 2:
        graph.name = in.bytes();
        break;
      case 5:
        appendMessage(in, "initializer", 8, graph.initializers, readTensor);
        break;
      case 10:
        graph.docString = in.bytes();
        break;
      case 11:
        appendMessage(in, "input", 1, graph.inputs, readValueInfo);
        break;
      case 12:
        appendMessage(in, "output", 1, graph.outputs, readValueInfo);
        break;
      case 13:
        appendMessage(in, "value info", 1, graph.valueInfos, readValueInfo);
        break;
      case 15:
        appendMessage(in, "sparse initializer", 0, graph.sparseInitializers, readSparseTensor);
        break;
      default:
        in.skip();
    }
  }
}

}  // namespace camshaft::onnx
