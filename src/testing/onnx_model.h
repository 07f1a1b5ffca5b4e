// Builds small models for tests, as the bytes an exporter would write.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "onnx/import.h"
#include "testing/onnx_message.h"

namespace camshaft::onnx {

inline constexpr int64_t kFloatCode = 1, kInt64Code = 7;

struct TestAttribute {
  std::string name;
  std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>, Message>
      value;              // a Message is a graph
  std::string reference;  // to an attribute of the function around it

  Message encode() const {
    Message message = Message().bytes(1, name);
    if (!reference.empty()) return message.bytes(21, reference).varint(20, 2);
    if (const auto* i = std::get_if<int64_t>(&value)) return message.varint(3, *i).varint(20, 2);
    if (const auto* f = std::get_if<float>(&value)) return message.fixed(2, *f).varint(20, 1);
    if (const auto* s = std::get_if<std::string>(&value)) return message.bytes(4, *s).varint(20, 3);
    if (const auto* g = std::get_if<Message>(&value)) return message.message(6, *g).varint(20, 5);
    if (const auto* list = std::get_if<std::vector<float>>(&value)) {
      for (const float f : *list) message.fixed(7, f);
      return message.varint(20, 6);
    }
    return message.varints(8, std::get<std::vector<int64_t>>(value)).varint(20, 7);
  }
};

struct TestNode {
  std::string op;
  std::vector<std::string> inputs, outputs;
  std::vector<TestAttribute> attributes;
  std::string name, domain;

  Message encode() const {
    Message message;
    for (const auto& input : inputs) message.bytes(1, input);
    for (const auto& output : outputs) message.bytes(2, output);
    message.bytes(3, name).bytes(4, op).bytes(7, domain);
    for (const auto& attribute : attributes) message.message(5, attribute.encode());
    return message;
  }
};

using TestDims = std::vector<std::variant<int64_t, std::string>>;  // numbers, names, "" for unknown

// new TestModel().input("x", {"n", 3}).node({"Relu", {"x"}, {"y"}}).output("y")
class TestModel {
 public:
  explicit TestModel(int64_t opset = 17) { opset_ = opset; }

  TestModel& input(const std::string& name, const TestDims& dims, int64_t type = kFloatCode) {
    return info(11, name, dims, type);
  }
  // The declared type of a tensor between nodes.
  TestModel& value(const std::string& name, const TestDims& dims, int64_t type = kFloatCode) {
    return info(13, name, dims, type);
  }
  // Of elements of this shape, or of none that is declared.
  TestModel& sequenceInput(const std::string& name, const std::optional<TestDims>& dims = {}) {
    Message tensor = Message().varint(1, kFloatCode);
    if (dims) tensor.message(2, shapeOf(*dims));
    const Message element = Message().message(1, Message().message(1, tensor));
    graph_.message(11, Message().bytes(1, name).message(2, Message().message(4, element)));
    return *this;
  }
  TestModel& integers(const std::string& name, const std::vector<int64_t>& values) {
    const std::vector<int64_t> dims{static_cast<int64_t>(values.size())};
    graph_.message(5, tensorMessage(name, kInt64Code, dims).packed(7, values));
    return *this;
  }
  TestModel& floats(const std::string& name, const std::vector<int64_t>& dims,
                    const std::vector<float>& values) {
    std::string raw(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    graph_.message(5, tensorMessage(name, kFloatCode, dims).bytes(9, raw));
    return *this;
  }
  TestModel& node(const TestNode& node) {
    graph_.message(1, node.encode());
    return *this;
  }
  TestModel& output(const std::string& name) {
    graph_.message(12, Message().bytes(1, name));
    return *this;
  }
  TestModel& function(const std::string& name, const std::vector<std::string>& inputs,
                      const std::vector<std::string>& outputs,
                      const std::vector<std::string>& attributes,
                      const std::vector<TestNode>& nodes) {
    Message message = Message()
                          .bytes(1, name)
                          .bytes(10, "local")
                          .message(9, Message().bytes(1, "").varint(2, opset_));
    message.message(9, Message().bytes(1, "local").varint(2, 1));
    for (const auto& input : inputs) message.bytes(4, input);
    for (const auto& output : outputs) message.bytes(5, output);
    for (const auto& attribute : attributes) message.bytes(6, attribute);
    for (const auto& node : nodes) message.message(7, node.encode());
    functions_.push_back(std::move(message));
    return *this;
  }

  const std::string& bytes() {
    load();
    return bytes_;
  }
  LoadedModel load() {
    Message model = modelWith(graph_);
    if (opset_ > 0) model.message(8, Message().bytes(1, "").varint(2, opset_));
    if (!functions_.empty()) model.message(8, Message().bytes(1, "local").varint(2, 1));
    for (const auto& function : functions_) model.message(25, function);
    bytes_ = model.encoded();
    return readModelBytes(asBytes(bytes_));
  }
  std::vector<ImportProblem> import(camshaft::Graph& graph) { return importModel(load(), graph); }

 private:
  static Message shapeOf(const TestDims& dims) {
    Message shape;
    for (const auto& dim : dims) {
      Message encoded;
      if (const auto* number = std::get_if<int64_t>(&dim))
        encoded.varint(1, *number);
      else if (!std::get<std::string>(dim).empty())
        encoded.bytes(2, std::get<std::string>(dim));
      shape.message(1, encoded);
    }
    return shape;
  }
  TestModel& info(uint32_t field, const std::string& name, const TestDims& dims, int64_t type) {
    const Message tensor = Message().varint(1, type).message(2, shapeOf(dims));
    graph_.message(field, Message().bytes(1, name).message(2, Message().message(1, tensor)));
    return *this;
  }

  int64_t opset_;
  Message graph_;
  std::vector<Message> functions_;
  std::string bytes_;
};

}  // namespace camshaft::onnx
