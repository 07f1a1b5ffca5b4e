// Graph inputs: types, and named or unknown dimensions as symbols.
#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

#include "onnx/model_import.h"
#include "onnx/past_lengths.h"
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
  using Caches = std::map<std::string_view, int64_t>;
  InputShapes(Graph& graph, InputSizes& sizes, const wire::Graph& model, Caches fixedCaches = {})
      : graph_(graph),
        sizes_(sizes),
        pastLengths_(pastLengths(model)),
        fixedCaches_(std::move(fixedCaches)) {}

  Shape shapeOf(std::string_view input, const wire::Type& type) {
    Shape shape;
    std::vector<int64_t> numbers;
    for (const wire::Dim& dim : *type.shape) {
      const auto axis = static_cast<int64_t>(shape.size());
      if (const auto cache = fixedCaches_.find(input);
          cache != fixedCaches_.end() && cache->second == axis) {
        if (!room_) room_ = graph_.newSymbol("room");
        shape.push_back(*room_);
      } else if (dim.value && *dim.value != -1) {  // -1: what exporters write for "unknown"
        numbers.push_back(*dim.value);
        shape.push_back(*dim.value);
      } else {
        shape.push_back(isName(dim.param) ? shared(dim.param) : symbol(str(input, ".", axis)));
        if (pastLengths_.contains({input, axis})) ofPasts_.insert(shape.back().symbolName());
      }
    }
    wire::elementCount(numbers, str("input '", input, "'"));
    return shape;
  }

  // Once all shapes are known. Caches begin empty: nothing may be taken for granted of their
  // length.
  void letSizesBeAssumed() {
    for (const std::string& symbol : symbols_)
      if (!ofPasts_.contains(symbol)) sizes_.mayAssume(symbol);
  }

  Dim symbol(std::string_view name) {
    const Dim made = graph_.newSymbol(symbolName(name));
    symbols_.push_back(made.symbolName());
    return made;
  }

 private:
  Dim shared(std::string_view param) {
    const auto it = params_.find(param);
    return it != params_.end() ? it->second : params_.emplace(param, symbol(param)).first->second;
  }

  Graph& graph_;
  InputSizes& sizes_;
  std::set<std::pair<std::string_view, int64_t>> pastLengths_;
  Caches fixedCaches_;
  std::optional<Dim> room_;  // of all of these
  std::vector<std::string> symbols_;
  std::set<std::string> ofPasts_;
  std::map<std::string_view, Dim> params_;
};

// An optional tensor is taken to be there.
const wire::Type& heldBy(const wire::Type& type) {
  const bool isOptional = type.kind == wire::TypeKind::kOptional && !type.element.empty();
  return isOptional ? heldBy(type.element.front()) : type;
}

const wire::Type& tensorTypeOf(const wire::Type& type, const std::string& what) {
  if (type.kind != wire::TypeKind::kTensor)
    fail(ErrorKind::kUnsupported, what, " is a ", wire::toString(type.kind),
         ": only dense tensors and sequences of them can be inputs");
  return type;
}

TensorType tensorType(const wire::ValueInfo& input, const wire::Type& type, InputShapes& shapes) {
  const std::string what = str("input '", input.name, "'");
  const wire::Type& declared = tensorTypeOf(type, what);
  if (!declared.shape)
    fail(ErrorKind::kUnsupported, what, " has no shape: give it one of known rank when exporting");
  return {dataTypeOf(declared.elementType, what), shapes.shapeOf(input.name, declared)};
}

// A sequence is one tensor with its elements along dimension 0.
Item importSequence(Graph& graph, const wire::ValueInfo& input, const wire::Type& type,
                    InputShapes& shapes) {
  const wire::Type element = type.element.empty() ? wire::Type() : type.element.front();
  if (element.kind != wire::TypeKind::kTensor || !element.shape)
    fail(ErrorKind::kUnsupported, "input '", input.name,
         "' is a sequence of elements without a shape: give them one of known rank when exporting, "
         "or make them inputs of the model and the sequence of them with a SequenceConstruct node");
  TensorType all = tensorType(input, element, shapes);
  all.shape.insert(all.shape.begin(), shapes.symbol(str(input.name, ".length")));
  return Sequence{.stacked = graph.addInput(std::string(input.name), std::move(all))};
}

Item importInput(Graph& graph, const wire::ValueInfo& input, InputShapes& shapes) {
  const wire::Type& type = heldBy(input.type);
  if (type.kind == wire::TypeKind::kSequence) return importSequence(graph, input, type, shapes);
  if (type.kind == wire::TypeKind::kTensor && type.elementType == kOnnxString) return Strings{};
  return graph.addInput(std::string(input.name), tensorType(input, type, shapes));
}

}  // namespace

const wire::ValueInfo* ModelImport::declarationOf(std::string_view tensor) {
  if (declared_.empty()) {
    for (const auto& info : loaded_.model.graph.valueInfos) declared_.emplace(info.name, &info);
    for (const auto& info : loaded_.model.graph.outputs) declared_.emplace(info.name, &info);
  }
  const auto found = declared_.find(tensor);
  if (found == declared_.end()) return nullptr;
  const wire::Type& type = found->second->type;
  return type.kind == wire::TypeKind::kTensor && type.shape ? found->second : nullptr;
}

// Integers are left out: they are mostly sizes and axes, whose values would be missed next.
Value* ModelImport::standIn(std::string_view tensor) {
  const wire::ValueInfo* declared = declarationOf(tensor);
  if (!declared) return nullptr;
  const wire::ValueInfo& info = *declared;
  try {
    const DataType type = dataTypeOf(info.type.elementType, "it");
    if (!isFloat(type)) return nullptr;
    InputShapes shapes(graph_, inputSizes_, {});
    Shape shape = shapes.shapeOf(info.name, info.type);
    shapes.letSizesBeAssumed();
    return graph_.addInput(graph_.uniqueName(std::string(tensor)), {type, std::move(shape)});
  } catch (const Error&) {  // a declaration nobody needs to be right
    return nullptr;
  }
}

void ModelImport::importInputs(const wire::Graph& graph, Scope& scope) {
  const auto caches = options_.fixedCaches ? growingCaches(graph) : InputShapes::Caches();
  InputShapes shapes(graph_, inputSizes_, graph, caches);
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
      scope.values[input.name] = importInput(graph_, input, shapes);
    } catch (const Error& error) {
      scope.poisoned.insert(input.name);
      report(error.kind(), error.message());
    }
  }
  caches_.add(graph_, caches, scope);
  if (!options_.emptyInputs) shapes.letSizesBeAssumed();
}

}  // namespace camshaft::onnx::importer
