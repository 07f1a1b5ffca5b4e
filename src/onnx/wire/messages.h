// One reader per ONNX message, for this folder's source files only. Each has one case per field,
// numbered as onnx.proto numbers it, skips fields it does not know, and merges into an object that
// already holds something, as protobuf does when a single field comes twice (tensors are replaced).
#pragma once

#include "onnx/wire/field_reader.h"
#include "onnx/wire/model.h"

namespace camshaft::onnx {

void readStringPair(FieldReader in, StringPair& pair);
void readTensor(FieldReader in, Tensor& tensor);
void readSparseTensor(FieldReader in, SparseTensor& sparse);
void readType(FieldReader in, Type& type);
void readValueInfo(FieldReader in, ValueInfo& info);
void readAttribute(FieldReader in, Attribute& attribute);
void readNode(FieldReader in, Node& node);
void readGraph(FieldReader in, Graph& graph);
void readModel(FieldReader in, Model& model);

void appendInts(FieldReader& in, std::vector<int64_t>& values);

// Reads the current field, a message with its name in field `nameTag`, as one more item.
template <class T>
void appendMessage(FieldReader& in, std::string_view kind, uint32_t nameTag, std::vector<T>& items,
                   void (*read)(FieldReader, T&)) {
  const auto index = static_cast<int64_t>(items.size());
  T& item = items.emplace_back();
  read(in.message(kind, index, nameTag), item);
}

}  // namespace camshaft::onnx
