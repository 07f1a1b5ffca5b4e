// Graph inputs: types, and named or unknown dimensions as symbols.
#include <algorithm>
#include <cctype>
#include <map>

#include "onnx/model_import.h"
#include "onnx/wire/element_type.h"
#include "onnx/wire/tensor.h"

namespace camshaft::onnx::importer {

namespace {

// Symbol names are [A-Za-z_][A-Za-z0-9_.]*, so that dimensions can be written as text.
std::string symbolName(std::string_view text) {
  std::string name;
  for (const unsigned char c : text)
    name += std::isalnum(c) || c == '_' || c == '.' ? static_cast<char>(c) : '_';
  if (name.empty() || !(std::isalpha(static_cast<unsigned char>(name[0])) || name[0] == '_'))
    name = "d" + name;
  return name;
}

// Some exporters write "?" where nothing is known; two of those need not be equal.
bool isName(std::string_view param) {
  return std::any_of(param.begin(), param.end(), [](unsigned char c) { return std::isalnum(c); });
}

class InputShapes {
 public:
  explicit InputShapes(Graph& graph) : graph_(graph) {}

  Shape shapeOf(const wire::ValueInfo& input) {
    Shape shape;
    std::vector<int64_t> numbers;
    for (const wire::Dim& dim : *input.type.shape) {
      if (dim.value && *dim.value != -1) {  // -1: what exporters write for "unknown"
        numbers.push_back(*dim.value);
        shape.push_back(*dim.value);
      } else {
        shape.push_back(isName(dim.param) ? shared(dim.param)
                                          : symbol(str(input.name, ".", shape.size())));
      }
    }
    wire::elementCount(numbers, str("input '", input.name, "'"));
    return shape;
  }

 private:
  // A tensor's size is taken to be at least one, which lets x[-1:] have size one and not min(n, 1).
  Dim symbol(std::string_view name) { return graph_.newSymbol(symbolName(name), {.min = 1}); }
  Dim shared(std::string_view param) {
    const auto it = params_.find(param);
    return it != params_.end() ? it->second : params_.emplace(param, symbol(param)).first->second;
  }

  Graph& graph_;
  std::map<std::string_view, Dim> params_;
};

}  // namespace

void ModelImport::importInputs(const wire::Graph& graph, Scope& scope) {
  InputShapes shapes(graph_);
  std::set<std::string_view> names;
  for (const wire::ValueInfo& input : graph.inputs) {
    if (!names.insert(input.name).second) {
      report(ErrorKind::kInvalidModel, str("two inputs are named '", input.name, "'"));
      continue;
    }
    if (scope.has(input.name)) continue;  // an initializer: its value is a constant here
    if (const auto fixed = options_.fixedInputs.find(std::string(input.name));
        fixed != options_.fixedInputs.end()) {
      scope.values[input.name] =
          graph_.addConstant(std::string(input.name), fixed->second.type, fixed->second.data);
      continue;
    }
    try {
      const std::string what = str("input '", input.name, "'");
      if (input.type.kind != wire::TypeKind::kTensor)
        fail(ErrorKind::kUnsupported, what, " is a ", wire::toString(input.type.kind),
             ": only dense tensors can be inputs");
      if (!input.type.shape)
        fail(ErrorKind::kUnsupported, what,
             " has no shape: give it one of known rank when exporting");
      TensorType type{dataTypeOf(input.type.elementType, what), shapes.shapeOf(input)};
      scope.values[input.name] = graph_.addInput(std::string(input.name), std::move(type));
    } catch (const Error& error) {
      scope.poisoned.insert(input.name);
      report(error.kind(), error.message());
    }
  }
}

}  // namespace camshaft::onnx::importer
