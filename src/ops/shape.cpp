#include "ops/shape.h"

#include <algorithm>
#include <cctype>

#include "ir/dispatch.h"
#include "ir/scalar_math.h"
#include "ops/contents.h"
#include "ops/index_position.h"
#include "ops/rules.h"

namespace camshaft {

namespace {

Contents shapeContents(const Node& node) {
  const auto& attrs = node.as<ShapeAttrs>();
  const Shape& shape = node.input(0)->shape();
  return std::vector<Dim>(shape.begin() + attrs.begin, shape.begin() + attrs.end);
}

std::vector<TensorType> inferShape(const Node& node) {
  const auto& attrs = node.as<ShapeAttrs>();
  if (attrs.begin < 0 || attrs.begin > attrs.end || attrs.end > node.input(0)->rank())
    fail(ErrorKind::kInvalidModel, describe(node), " asks for dimensions ", attrs.begin, " to ",
         attrs.end, " of ", node.input(0)->type);
  return {{DataType::kI64, {attrs.end - attrs.begin}}};
}

void evaluateShape(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<ShapeAttrs>();
  const Dims& dims = evaluation.inputs[0].dims;
  std::copy(dims.begin() + attrs.begin, dims.begin() + attrs.end,
            evaluation.outputs[0].as<int64_t>());
}

std::vector<TensorType> inferRange(const Node& node) {
  requireRank(node, 0, "a start", 0);
  requireRank(node, 1, "a step", 0);
  requireSameType(node, 1, 0);
  return {{node.input(0)->dataType(), {node.as<RangeAttrs>().count}}};
}

void evaluateRange(const Evaluation& evaluation) {
  const auto& y = evaluation.outputs[0];
  dispatch(y.type, [&](auto tag) {
    using T = decltype(tag);
    using V = Compute<T>;
    const V start = static_cast<V>(*evaluation.inputs[0].as<T>());
    const V step = static_cast<V>(*evaluation.inputs[1].as<T>());
    for (int64_t i = 0; i < y.count(); ++i)
      y.as<T>()[i] = static_cast<T>(scalar::sum(start, scalar::product(static_cast<V>(i), step)));
  });
}

Contents rangeContents(const Node& node) {
  const Contents start = knownContents(node.input(0)), step = knownContents(node.input(1));
  const auto count = contentCount(node.output()->type);
  if (!start || !step || !count) return std::nullopt;
  std::vector<Dim> values;
  for (int64_t i = 0; i < *count; ++i) values.push_back(start->front() + step->front() * Dim(i));
  return values;
}

// Length of the shape vector that ReshapeDims and BindDims read.
int64_t vectorLength(const Node& node) {
  requireIndices(node, 0);
  const auto count = contentCount(node.input(0)->type);
  if (!count)
    fail(ErrorKind::kUnsupported, describe(node), " needs a vector of at most ", kMaxContents,
         " sizes and got ", node.input(0)->type);
  return *count;
}

std::vector<TensorType> inferReshapeDims(const Node& node) {
  const int64_t length = vectorLength(node);
  return {{DataType::kI64, {length}}};
}

// The requested sizes with 0 and -1 replaced. In dimensions also where all are numbers: these may
// be any, and dimensions notice when a product is too large.
template <class Divide>
std::vector<Dim> resolveReshape(const Node& node, const std::vector<Dim>& requested,
                                const std::vector<Dim>& input, Divide divide) {
  const bool allowZero = node.as<ReshapeDimsAttrs>().allowZero;
  std::vector<Dim> sizes = requested;
  Dim total = 1, known = 1;
  for (const Dim& size : input) total *= size;
  int64_t rest = -1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i].isConstant(0) && !allowZero) {
      if (i >= input.size())
        fail(ErrorKind::kInvalidArgument, describe(node), " copies dimension ", i,
             " of a tensor of rank ", input.size());
      sizes[i] = input[i];
    }
    if (sizes[i].isConstant(-1)) {
      if (rest >= 0) fail(ErrorKind::kInvalidArgument, describe(node), " has two sizes of -1");
      rest = static_cast<int64_t>(i);
    } else {
      known *= sizes[i];
    }
  }
  if (rest >= 0) sizes[rest] = divide(total, known);
  return sizes;
}

void evaluateReshapeDims(const Evaluation& evaluation) {
  const Node& node = evaluation.node;
  const auto& shape = evaluation.inputs[0];
  std::vector<Dim> requested, input;
  for (int64_t i = 0; i < shape.count(); ++i)
    requested.emplace_back(readInteger(shape.type, shape.data, i));
  for (const Dim& dim : node.as<ReshapeDimsAttrs>().input)
    input.emplace_back(evaluation.resolve(dim));
  const auto divide = [&](const Dim& total, const Dim& known) -> Dim {
    if (known.isConstant(0) || total.value() % known.value() != 0)
      fail(ErrorKind::kInvalidArgument, describe(node), " cannot divide ", total, " elements by ",
           known);
    return total.value() / known.value();
  };
  const Dims sizes = staticDims(resolveReshape(node, requested, input, divide));
  if (std::any_of(sizes.begin(), sizes.end(), [](int64_t size) { return size < 0; }))
    fail(ErrorKind::kInvalidArgument, describe(node), " has a negative size");
  std::copy(sizes.begin(), sizes.end(), evaluation.outputs[0].as<int64_t>());
}

Contents reshapeDimsContents(const Node& node) {
  const Contents& requested = node.input(0)->contents;
  if (!requested) return std::nullopt;
  const auto divide = [](const Dim& total, const Dim& known) {
    return known.isConstant(0) ? Dim(0) : floorDiv(total, known);
  };
  return resolveReshape(node, *requested, node.as<ReshapeDimsAttrs>().input, divide);
}

std::vector<TensorType> inferDimsTensor(const Node& node) {
  const auto& attrs = node.as<DimsTensorAttrs>();
  if (attrs.scalar && attrs.values.size() != 1)
    fail(ErrorKind::kInvalidModel, describe(node), " is a scalar with ", attrs.values.size(),
         " values");
  Shape shape;
  if (!attrs.scalar) shape.push_back(static_cast<int64_t>(attrs.values.size()));
  return {{attrs.type, shape}};
}

void evaluateDimsTensor(const Evaluation& evaluation) {
  const auto& y = evaluation.outputs[0];
  int64_t i = 0;
  for (const Dim& dim : evaluation.node.as<DimsTensorAttrs>().values) {
    const int64_t value = evaluation.resolve(dim);
    dispatch(y.type, [&](auto tag) {
      using T = decltype(tag);
      y.as<T>()[i++] = static_cast<T>(static_cast<Compute<T>>(value));
    });
  }
}

Contents dimsTensorContents(const Node& node) { return node.as<DimsTensorAttrs>().values; }

std::vector<TensorType> inferBindDims(const Node& node) {
  const auto& symbols = node.as<BindDimsAttrs>().symbols;
  if (vectorLength(node) != static_cast<int64_t>(symbols.size()))
    fail(ErrorKind::kInvalidModel, describe(node), " binds ", symbols.size(), " symbols to ",
         node.input(0)->type);
  for (const Dim& symbol : symbols)
    if (!symbol.isSymbol())
      fail(ErrorKind::kInvalidModel, describe(node), " cannot bind '", symbol, "'");
  return {};
}

std::vector<Dim> boundDims(const Attrs& attrs) {
  return static_cast<const BindDimsAttrs&>(attrs).symbols;
}

// Whoever runs the graph keeps the values of symbols; here is only the check that they are sizes.
void evaluateBindDims(const Evaluation& evaluation) {
  const auto& vector = evaluation.inputs[0];
  for (int64_t i = 0; i < vector.count(); ++i)
    if (readInteger(vector.type, vector.data, i) < 0)
      fail(ErrorKind::kInvalidArgument, describe(evaluation.node), " got the negative size ",
           readInteger(vector.type, vector.data, i));
}

// What remains of a tensor's name in the name of a dimension.
std::string symbolBase(const std::string& name) {
  std::string base = name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) ? "_" : "";
  for (char c : name) base += std::isalnum(static_cast<unsigned char>(c)) || c == '.' ? c : '_';
  return base;
}

// A BindDims of this value that already stands before `before`, or null. Everything stands before
// the end.
const Node* findBinding(const Graph& graph, const Value* value, const Node* before) {
  for (const Node* user : value->users) {
    if (user->op != &ops::BindDims) continue;
    if (!before) return user;
    for (const Node* node = user; node; node = graph.next(node))
      if (graph.next(node) == before) return user;
  }
  return nullptr;
}

}  // namespace

const OpInfo ops::Shape = {
    "Shape", 1, 1, 1, makeAttrsOf<ShapeAttrs>, inferShape, evaluateShape, shapeContents};
const OpInfo ops::Range = {
    "Range", 2, 2, 1, makeAttrsOf<RangeAttrs>, inferRange, evaluateRange, rangeContents};
const OpInfo ops::ReshapeDims = {"ReshapeDims",
                                 1,
                                 1,
                                 1,
                                 makeAttrsOf<ReshapeDimsAttrs>,
                                 inferReshapeDims,
                                 evaluateReshapeDims,
                                 reshapeDimsContents};
const OpInfo ops::DimsTensor = {
    "DimsTensor",      0, 0, 1, makeAttrsOf<DimsTensorAttrs>, inferDimsTensor, evaluateDimsTensor,
    dimsTensorContents};
const OpInfo ops::BindDims = {
    "BindDims",       1,       1,        0, makeAttrsOf<BindDimsAttrs>, inferBindDims,
    evaluateBindDims, nullptr, boundDims};

std::vector<Dim> contentsOf(Graph& graph, Value* value, const std::string& who, Node* before) {
  if (const Contents known = knownContents(value)) return *known;
  if (const Node* binding = findBinding(graph, value, before))
    return binding->as<BindDimsAttrs>().symbols;
  const auto count = contentCount(value->type);
  if (!count || !isInteger(value->dataType()))
    fail(isInteger(value->dataType()) ? ErrorKind::kUnsupported : ErrorKind::kInvalidModel, who,
         " needs its sizes from '", value->name, "', which is ", value->type,
         " where an integer vector of known length is needed");
  BindDimsAttrs attrs;
  const std::string base = symbolBase(value->name);
  for (int64_t i = 0; i < *count; ++i)
    attrs.symbols.push_back(graph.newSymbol(*count == 1 ? base : str(base, ".", i)));
  graph.add(&ops::BindDims, "dims of " + value->name, {value}, attrs, before);
  return attrs.symbols;
}

std::vector<Dim> boundedSizes(Graph& graph, Value* value, const std::vector<Dim>& bounds,
                              const std::string& who, Node* before) {
  // Other bounds may depend on symbols that are there already: just new ones can get one.
  const bool isNew = !knownContents(value) && !findBinding(graph, value, before);
  const std::vector<Dim> sizes = contentsOf(graph, value, who, before);
  for (size_t i = 0; isNew && i < sizes.size() && i < bounds.size(); ++i) {
    SymbolInfo& info = graph.symbols.at(sizes[i].symbolName());
    if (bounds[i].isConstant())
      info.range.max = std::max<int64_t>(bounds[i].value(), 0);
    else
      info.upper = bounds[i];
  }
  return sizes;
}

void addAssertion(Graph& graph, Value* value, int64_t expected, const std::string& what,
                  Node* before) {
  BindDimsAttrs attrs;
  attrs.symbols.push_back(graph.newSymbol("asserted", {expected, expected}));
  graph.add(&ops::BindDims, what, {value}, std::move(attrs), before);
}

bool isAssertion(const Graph& graph, const Node& node) {
  if (node.op != &ops::BindDims) return false;
  const SymbolRange rangeOfSymbol = graph.symbolRange();
  const auto& symbols = node.as<BindDimsAttrs>().symbols;
  return std::all_of(symbols.begin(), symbols.end(), [&](const Dim& symbol) {
    const DimRange range = rangeOfSymbol(symbol.symbolName());
    return range.min == range.max;
  });
}

Value* addDims(Graph& graph, const std::string& name, const std::vector<Dim>& dims, Node* before) {
  if (isStatic(dims)) {
    const Dims values = staticDims(dims);
    return graph.addConstant<int64_t>(name, DataType::kI64, {static_cast<int64_t>(values.size())},
                                      values);
  }
  DimsTensorAttrs attrs;
  attrs.values = dims;
  return graph.add(&ops::DimsTensor, name, {}, std::move(attrs), before)->output();
}

}  // namespace camshaft
