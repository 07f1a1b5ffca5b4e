// Dimensions as tensors: constants where they are numbers, Shape and arithmetic elsewhere. Every
// dimension is a vector of one element, and is written once.
#include <algorithm>

#include "onnx/wire/element_type.h"
#include "onnx/write/graph_writer.h"
#include "ops/ops.h"
#include "ops/shape.h"
#include "support/text.h"

namespace camshaft::onnx::writer {

namespace {

// The tensor a symbol is bound to at run time, and which element of it.
struct Binding {
  const Value* tensor = nullptr;
  int64_t element = 0;
};

Binding bindingOf(const Graph& graph, const std::string& symbol) {
  for (const auto& node : graph.nodes()) {
    if (node->op != &ops::BindDims) continue;
    const auto& symbols = node->as<BindDimsAttrs>().symbols;
    for (size_t i = 0; i < symbols.size(); ++i)
      if (symbols[i].symbolName() == symbol) return {node->input(0), static_cast<int64_t>(i)};
  }
  return {};
}

std::string whyNotAtom(const GraphWriter& writer, const DimAtom& atom);

std::string whyNot(const GraphWriter& writer, const Dim& dim) {
  if (dim.isConstant() || writer.sourceOf(dim).value) return {};
  for (const Dim::Term& term : dim.terms())
    for (const Dim::AtomPtr& atom : term.atoms)
      if (std::string reason = whyNotAtom(writer, *atom); !reason.empty()) return reason;
  return {};
}

std::string whyNotAtom(const GraphWriter& writer, const DimAtom& atom) {
  if (atom.kind == DimAtom::Kind::kSymbol)
    return writer.sourceOf(Dim::symbol(atom.key)).value ||
                   bindingOf(writer.graph(), atom.key).tensor
               ? std::string()
               : str("the size ", atom.key, " is in no shape");
  if (atom.kind == DimAtom::Kind::kFloorDiv) {
    // ONNX's Div rounds towards zero.
    if (rangeOf(atom.a, writer.graph().symbolRange()).min < 0)
      return str(atom.key, " may be negative");
  } else if (writer.opset() < 12) {
    return "integers have no minimum before opset 12";
  }
  const std::string reason = whyNot(writer, atom.a);
  return reason.empty() ? whyNot(writer, atom.b) : reason;
}

// A written dimension, and the latest node it was read from.
using Written = GraphWriter::KnownDims;

Written writeDim(GraphWriter& writer, const Dim& dim);

Written combine(GraphWriter& writer, std::string_view op, const Written& a, const Written& b) {
  return {writer.add(op, {a.name, b.name}), std::max(a.position, b.position)};
}

Written readSize(GraphWriter& writer, const GraphWriter::Source& source) {
  const Name value = writer.use(source.value);
  if (writer.opset() >= 15)
    return {writer.add("Shape", {value},
                       {attribute("start", source.axis), attribute("end", source.axis + 1)}),
            source.position};
  const std::string key = str("shape of ", value);
  if (!writer.findDims(key)) writer.keepDims(key, writer.add("Shape", {value}), source.position);
  return {writer.add("Gather", {writer.findDims(key)->name, writer.integers({source.axis})},
                     {attribute("axis", int64_t{0})}),
          source.position};
}

Written readBound(GraphWriter& writer, const Binding& bound) {
  Name tensor = writer.use(bound.tensor);
  const int position = writer.positionOf(bound.tensor);
  if (bound.tensor->dataType() != DataType::kI64)
    tensor = writer.add("Cast", {tensor}, {attribute("to", int64_t{onnxCodeOf(DataType::kI64)})});
  if (bound.tensor->rank() == 0)
    return {writer.add("Reshape", {tensor, writer.integers({1})}), position};
  return {writer.add("Gather", {tensor, writer.integers({bound.element})},
                     {attribute("axis", int64_t{0})}),
          position};
}

// max(a, b), or 0 where one of them is: they are equal unless one is 1.
Written writeBroadcast(GraphWriter& writer, const DimAtom& atom) {
  const Written a = writeDim(writer, atom.a), b = writeDim(writer, atom.b);
  const Written isAny =
      combine(writer, "Min", combine(writer, "Min", a, b), {writer.integers({1})});
  return combine(writer, "Mul", combine(writer, "Max", a, b), isAny);
}

Written writeAtom(GraphWriter& writer, const DimAtom& atom) {
  if (atom.kind == DimAtom::Kind::kSymbol) {
    const Dim symbol = Dim::symbol(atom.key);
    return writer.sourceOf(symbol).value ? writeDim(writer, symbol)
                                         : readBound(writer, bindingOf(writer.graph(), atom.key));
  }
  if (atom.kind == DimAtom::Kind::kBroadcast) return writeBroadcast(writer, atom);
  const std::string_view op = atom.kind == DimAtom::Kind::kFloorDiv ? "Div"
                              : atom.kind == DimAtom::Kind::kMin    ? "Min"
                                                                    : "Max";
  return combine(writer, op, writeDim(writer, atom.a), writeDim(writer, atom.b));
}

Written writeSum(GraphWriter& writer, const Dim& dim) {
  Written sum;
  for (const Dim::Term& term : dim.terms()) {
    Written product;
    for (const Dim::AtomPtr& atom : term.atoms) {
      const Written factor = writeAtom(writer, *atom);
      product = product.name.empty() ? factor : combine(writer, "Mul", product, factor);
    }
    if (term.coefficient != 1)
      product = combine(writer, "Mul", product, {writer.integers({term.coefficient})});
    sum = sum.name.empty() ? product : combine(writer, "Add", sum, product);
  }
  return dim.constantPart() == 0
             ? sum
             : combine(writer, "Add", sum, {writer.integers({dim.constantPart()})});
}

Written writeDim(GraphWriter& writer, const Dim& dim) {
  if (dim.isConstant()) return {writer.integers({dim.value()})};
  const std::string key = toString(dim);
  if (const Written* known = writer.findDims(key)) return *known;
  const GraphWriter::Source source = writer.sourceOf(dim);
  const Written written = source.value ? readSize(writer, source) : writeSum(writer, dim);
  writer.keepDims(key, written.name, written.position);
  return written;
}

// The whole shape of an input, where that is what is wanted.
const Value* valueOfShape(const GraphWriter& writer, const std::vector<Dim>& dims) {
  for (const Value* input : writer.modelInputs())
    if (input->shape() == dims) return input;
  return nullptr;
}

// The i64 vector these dimensions were read from.
const Value* boundVector(const GraphWriter& writer, const std::vector<Dim>& dims) {
  for (const auto& node : writer.graph().nodes())
    if (node->op == &ops::BindDims && node->as<BindDimsAttrs>().symbols == dims &&
        node->input(0)->rank() == 1 && node->input(0)->dataType() == DataType::kI64)
      return node->input(0);
  return nullptr;
}

}  // namespace

std::string whyNoDims(const GraphWriter& writer, const std::vector<Dim>& dims) {
  for (const Dim& dim : dims)
    if (std::string reason = whyNot(writer, dim); !reason.empty()) return reason;
  return {};
}

DimsResult writeDims(GraphWriter& writer, const std::vector<Dim>& dims) {
  if (isStatic(dims)) return {writer.integers(staticDims(dims)), {}};
  if (std::string reason = whyNoDims(writer, dims); !reason.empty()) return {{}, std::move(reason)};
  const std::string key = toString(dims);
  if (const Written* known = writer.findDims(key)) return {known->name, {}};
  if (const Value* value = boundVector(writer, dims))
    return {writer.keepDims(key, writer.use(value), writer.positionOf(value)), {}};
  if (const Value* value = valueOfShape(writer, dims))
    return {writer.keepDims(key, writer.add("Shape", {writer.use(value)}), -1), {}};
  std::vector<Name> pieces;
  int position = -1;
  for (size_t i = 0; i < dims.size();) {
    std::vector<int64_t> numbers;
    for (; i < dims.size() && dims[i].isConstant(); ++i) numbers.push_back(dims[i].value());
    const Written piece =
        numbers.empty() ? writeDim(writer, dims[i++]) : Written{writer.integers(numbers)};
    pieces.push_back(piece.name);
    position = std::max(position, piece.position);
  }
  const Name name = pieces.size() == 1
                        ? pieces.front()
                        : writer.add("Concat", pieces, {attribute("axis", int64_t{0})});
  return {writer.keepDims(key, name, position), {}};
}

DimsResult writeDims(GraphWriter& writer, const std::vector<Dim>& dims, DataType type,
                     bool scalar) {
  if (scalar && dims.front().isConstant()) {
    const int64_t value = dims.front().value();
    return {writer.scalar(type, static_cast<double>(value), value), {}};
  }
  DimsResult result = writeDims(writer, dims);
  if (!result.refusal.empty()) return result;
  if (type != DataType::kI64)
    result.name = writer.add("Cast", {result.name}, {attribute("to", int64_t{onnxCodeOf(type)})});
  if (scalar) result.name = writer.add("Reshape", {result.name, writer.integers({})});
  return result;
}

}  // namespace camshaft::onnx::writer
