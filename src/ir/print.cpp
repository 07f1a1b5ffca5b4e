// The graph as text; parse.cpp reads it back.
#include <algorithm>
#include <cstring>
#include <map>

#include "ir/attrs_text.h"
#include "ir/dispatch.h"
#include "ir/graph.h"
#include "ir/scanner.h"

namespace camshaft {
namespace {

constexpr int64_t kMaxPrinted = 16;

std::string valueText(const Value* value) { return value ? str("%", quoteName(value->name)) : "_"; }

template <class Values>
std::string listText(const Values& values) {
  std::string out;
  for (const Value* value : values) out += str(out.empty() ? "" : ", ", valueText(value));
  return str("(", out, ")");
}

std::string typedText(const Value* value) { return str(valueText(value), ": ", value->type); }

std::string elementText(DataType type, const void* data, int64_t index) {
  if (isFloat(type)) return realText(readElement(type, data, index));
  const int64_t integer = readInteger(type, data, index);
  return type == DataType::kU64 ? std::to_string(static_cast<uint64_t>(integer))
                                : std::to_string(integer);
}

// FNV-1a: says whether two constants differ, nothing more.
std::string digestText(std::span<const std::byte> bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (std::byte b : bytes) hash = (hash ^ static_cast<uint64_t>(b)) * 0x100000001b3;
  std::string out = "digest:0x";
  for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[(hash >> shift) & 15];
  return out;
}

std::string hexText(std::span<const std::byte> bytes) {
  std::string out = "hex:";
  for (std::byte b : bytes) {
    out += "0123456789abcdef"[static_cast<int>(b) >> 4];
    out += "0123456789abcdef"[static_cast<int>(b) & 15];
  }
  return out;
}

bool allBytesRepeat(std::span<const std::byte> bytes, size_t width) {
  return std::memcmp(bytes.data(), bytes.data() + width, bytes.size() - width) == 0;
}

std::string constantText(const Value& value, const ConstantForm& form) {
  if (const auto number = form.numberOf ? (*form.numberOf)(value) : std::nullopt)
    return str("beside ", *number);
  const DataType type = value.dataType();
  const std::span<const std::byte> bytes = value.constant->bytes;
  const int64_t count = numElements(value.shape()).value();
  if (count == 0) return "[]";
  if (!isPacked(type)) {
    if (count <= kMaxPrinted) {
      std::string out;
      for (int64_t i = 0; i < count; ++i)
        out += str(out.empty() ? "" : ", ", elementText(type, bytes.data(), i));
      return str("[", out, "]");
    }
    if (allBytesRepeat(bytes, bytesOf(type, 1)))
      return "splat " + elementText(type, bytes.data(), 0);
  }
  return form.isFull ? hexText(bytes) : digestText(bytes);
}

std::string attributesText(const Node& node, const ConstantForm& form) {
  const AttrTexts defaults = textsOf(*node.op->makeAttrs());
  std::string out;
  for (const auto& field : textsOf(*node.attrs, form)) {
    if (std::find(defaults.begin(), defaults.end(), field) != defaults.end()) continue;
    out += str(out.empty() ? "" : ", ", field.first, " = ", field.second);
  }
  return out.empty() ? "" : str(" {", out, "}");
}

// "precision(f16 -> f32, _)": the type to compute in, then those of the outputs.
std::string precisionText(const PrecisionRequest& request) {
  const auto typeText = [](std::optional<DataType> type) {
    return type ? std::string(toString(*type)) : "_";
  };
  std::string out = typeText(request.compute);
  const char* separator = " -> ";
  for (const std::optional<DataType>& type : request.outputs) {
    out += separator + typeText(type);
    separator = ", ";
  }
  return str(" precision(", out, ")");
}

// With origins where constants are whole.
std::string nodeText(const Node& node, const ConstantForm& form) {
  std::string out;
  for (const Value* output : node.outputs) out += str(out.empty() ? "" : ", ", typedText(output));
  if (!node.outputs.empty()) out += " = ";
  const auto ownEnd = node.inputs.begin() + node.ownInputs();
  out += str(node.op->name, listText(std::vector<Value*>(node.inputs.begin(), ownEnd)),
             attributesText(node, form));
  if (node.epilogue)
    out += str(" epilogue", listText(std::vector<Value*>(ownEnd, node.inputs.end())), " {",
               toString(node.epilogue->expr), "}");
  if (!node.precision.empty()) out += precisionText(node.precision);
  if (node.outputs.empty() || node.name != node.outputs[0]->name) out += str(" ", quote(node.name));
  if (form.isFull && !node.origins.empty()) {
    out += " from";
    const char* separator = " ";
    for (const std::string& origin : node.origins.list()) {
      out += separator + quote(origin);
      separator = ", ";
    }
  }
  return out;
}

std::string symbolsText(const Graph& graph) {
  const std::map<std::string, SymbolInfo> sorted(graph.symbols.begin(), graph.symbols.end());
  std::string out;
  for (const auto& [name, info] : sorted) {
    out += str(out.empty() ? "symbols " : ", ", name);
    const DimRange range = info.range;
    if (range.min == 0 && !range.bounded() && !info.upper) continue;
    std::string most = range.bounded() ? str(range.max) : "inf";
    if (info.upper) most = toString(range.bounded() ? min(*info.upper, range.max) : *info.upper);
    out += str(" in [", range.min, ", ", most, "]");
  }
  return out.empty() ? "" : out + "\n";
}

class GraphPrinter {
 public:
  GraphPrinter(const Graph& graph, const ConstantForm& form) : graph_(graph), form_(form) {}

  std::string print() {
    out_ = symbolsText(graph_) + "graph " + quoteName(graph_.name) + "(";
    const char* separator = "";
    for (const Value* input : graph_.inputs) {
      out_ += str(separator, typedText(input));
      separator = ", ";
    }
    out_ += ") {\n";
    for (const auto& [text, condition] : graph_.conditions)
      out_ += str("  require ", text, " ", quote(condition.before), " ", quote(condition.between),
                  " ", quote(condition.after), "\n");
    for (const Value* value : graph_.values())
      if (!graph_.hasUses(value)) constant(value);
    for (const auto& node : graph_.nodes()) {
      for (const Value* input : node->inputs) constant(input);
      out_ += str("  ", nodeText(*node, form_), "\n");
    }
    for (const auto& output : graph_.outputs) constant(output.value);
    returns();
    return std::move(out_);
  }

 private:
  // Constants stand just before their first use.
  void constant(const Value* value) {
    if (!value || !value->isConstant() || !printed_.insert(value).second) return;
    out_ += str("  ", typedText(value), " = constant ", constantText(*value, form_), "\n");
  }
  void returns() {
    out_ += "  return";
    const char* separator = " ";
    for (const auto& output : graph_.outputs) {
      out_ += separator + valueText(output.value);
      if (output.name != output.value->name) out_ += str(" as ", quote(output.name));
      separator = ", ";
    }
    out_ += "\n}\n";
  }

  const Graph& graph_;
  const ConstantForm& form_;
  std::set<const Value*> printed_;
  std::string out_;
};

}  // namespace

std::string toText(const Graph& graph, const ConstantForm& form) {
  return GraphPrinter(graph, form).print();
}
std::string toText(const Graph& graph, bool fullConstants) {
  return toText(graph, ConstantForm{.isFull = fullConstants});
}
std::string toText(const Graph& graph, const ConstantNumber& numberOf,
                   const ObjectNumber& objectNumberOf) {
  return toText(graph, ConstantForm{.isFull = true,
                                    .numberOf = &numberOf,
                                    .objectNumberOf = objectNumberOf ? &objectNumberOf : nullptr});
}
std::string toText(const Node& node) { return nodeText(node, {.isFull = false}); }

}  // namespace camshaft
