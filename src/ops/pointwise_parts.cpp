// Tensors put together from parts that are computed.
#include <cstring>

#include "ops/evaluate.h"
#include "ops/index_position.h"
#include "ops/move_elements.h"
#include "ops/pointwise.h"
#include "ops/rules.h"
#include "ops/walk.h"

namespace camshaft {

void PointwisePartsAttrs::fields(AttrVisitor& visit) {
  // Visitors keep names.
  static constexpr std::string_view kShapes[kMostOutputs] = {"shape0", "shape1", "shape2",
                                                             "shape3"};
  static constexpr std::string_view kFields[kMostParts][6] = {
      {"output0", "begin0", "size0", "expr0", "inputs0", "places0"},
      {"output1", "begin1", "size1", "expr1", "inputs1", "places1"},
      {"output2", "begin2", "size2", "expr2", "inputs2", "places2"},
      {"output3", "begin3", "size3", "expr3", "inputs3", "places3"},
      {"output4", "begin4", "size4", "expr4", "inputs4", "places4"},
      {"output5", "begin5", "size5", "expr5", "inputs5", "places5"},
      {"output6", "begin6", "size6", "expr6", "inputs6", "places6"},
      {"output7", "begin7", "size7", "expr7", "inputs7", "places7"}};
  const auto count = [&](std::string_view name, auto& list, size_t most) {
    auto size = static_cast<int64_t>(list.size());
    visit(name, size);
    if (size < 0 || size > static_cast<int64_t>(most))
      fail(ErrorKind::kInvalidArgument, "there are ", size, " ", name, " where ", most,
           " are possible");
    list.resize(static_cast<size_t>(size));
  };
  count("outputs", shapes, kMostOutputs);
  for (size_t i = 0; i < shapes.size(); ++i) visit(kShapes[i], shapes[i]);
  count("parts", parts, kMostParts);
  for (size_t i = 0; i < parts.size(); ++i) {
    visit(kFields[i][0], parts[i].output);
    visit(kFields[i][1], parts[i].begin);
    visit(kFields[i][2], parts[i].size);
    visit(kFields[i][3], parts[i].expr);
    visit(kFields[i][4], parts[i].inputs);
    visit(kFields[i][5], parts[i].places);
  }
  visit("caches", caches);
  visit("rows", rows);
}

namespace {

using Part = PointwisePartsAttrs::Part;

// Everything that a part reads of an operand is there.
void requirePlaces(const Node& node, const Part& part, size_t operand) {
  Dim first = part.placeOf(operand), last = first;
  const Shape strides = part.stridesOf(operand);
  for (size_t d = 0; d < strides.size(); ++d) {
    const bool isBackwards = strides[d].isConstant() && strides[d].value() < 0;
    (isBackwards ? first : last) = (isBackwards ? first : last) + (part.size[d] - 1) * strides[d];
  }
  const auto input = static_cast<size_t>(part.inputs[operand]);
  requireAtLeast(node, first, "as the first place that it reads", 0);
  requireAtLeast(node, numElements(node.inputs[input]->shape()), "elements of an operand",
                 last + 1);
}

void checkPart(const Node& node, const Part& part, const std::vector<Shape>& shapes) {
  const auto refuse = [&](auto&&... words) {
    fail(ErrorKind::kInvalidModel, describe(node), " has a part ", words...);
  };
  if (part.output < 0 || part.output >= static_cast<int64_t>(shapes.size()))
    refuse("of output ", part.output, ", which it lacks");
  const Shape& shape = shapes[static_cast<size_t>(part.output)];
  const size_t rank = shape.size();
  if (part.begin.size() != rank || part.size.size() != rank)
    refuse("of rank ", part.size.size(), " in an output of rank ", rank);
  if (part.expr.empty() || part.expr.inputCount() != static_cast<int>(part.inputs.size()) ||
      part.places.size() != part.inputs.size() * (rank + 1))
    refuse("whose expression does not fit its operands");
  for (size_t i = 0; i < part.inputs.size(); ++i) {
    const int64_t input = part.inputs[i];
    if (input < 0 || input >= node.ownInputs() || !node.inputs[input])
      refuse("of input ", input, ", which it lacks");
    if (node.inputs[input]->dataType() != part.expr.inputType(static_cast<int>(i)))
      refuse("that reads input ", input, " as ", part.expr.inputType(static_cast<int>(i)));
    requirePlaces(node, part, i);
  }
  for (size_t d = 0; d < rank; ++d) {
    requireAtLeast(node, part.begin[d], "as the begin of a part", 0);
    requireAtLeast(node, shape[d], "places along a dimension", part.begin[d] + part.size[d]);
  }
}

// The type of an output that is a cache.
TensorType cacheType(const Node& node, size_t output, DataType written) {
  const auto& attrs = node.as<PointwisePartsAttrs>();
  const auto refuse = [&](auto&&... words) {
    fail(ErrorKind::kInvalidModel, describe(node), " has a cache ", words...);
  };
  for (const int64_t input : {attrs.caches[output], attrs.rows[output]})
    if (input < 0 || input >= node.ownInputs() || !node.inputs[input])
      refuse("of input ", input, ", which it lacks");
  const TensorType& cache = node.inputs[attrs.caches[output]]->type;
  const TensorType& rows = node.inputs[attrs.rows[output]]->type;
  requireIndices(node, static_cast<int>(attrs.rows[output]));
  if (cache.type != written || isPacked(written))
    refuse("of ", cache.type, " and writes ", written);
  const Dim length = rows.rank() > 0 ? rows.shape.back() : Dim(0);
  if (!length.isConstant() || length.value() < 1 || length.value() > cache.rank())
    refuse("of rank ", cache.rank(), " and tuples of ", length);
  Shape made(rows.shape.begin(), rows.shape.end() - 1);
  made.insert(made.end(), cache.shape.begin() + length.value(), cache.shape.end());
  if (!mayBeEqual(numElements(made), numElements(attrs.shapes[output])))
    refuse("whose rows are ", made, " and writes ", attrs.shapes[output]);
  return cache;
}

std::vector<TensorType> inferParts(const Node& node) {
  const auto& attrs = node.as<PointwisePartsAttrs>();
  for (const auto* list : {&attrs.caches, &attrs.rows})
    if (!list->empty() && list->size() != attrs.shapes.size())
      fail(ErrorKind::kInvalidModel, describe(node), " has caches of ", list->size(),
           " outputs and has ", attrs.shapes.size());
  std::vector<TensorType> types;
  for (const Shape& shape : attrs.shapes) types.push_back({DataType::kF32, shape});
  for (const Part& part : attrs.parts) {
    checkPart(node, part, attrs.shapes);
    types[static_cast<size_t>(part.output)].type = part.expr.resultType();
  }
  for (size_t i = 0; i < types.size(); ++i)
    if (attrs.isCache(i)) types[i] = cacheType(node, i, types[i].type);
  return types;
}

// A copy of the cache with rows replaced.
void writeRows(const Evaluation& evaluation, size_t output, const ConstTensorView& made) {
  const auto& attrs = evaluation.node.as<PointwisePartsAttrs>();
  const TensorView& y = evaluation.outputs[output];
  const ConstTensorView& rows = evaluation.inputs[static_cast<size_t>(attrs.rows[output])];
  const int64_t length = rows.dims.back(), width = bitsOf(y.type) / 8;
  const Dims strides = stridesOf(y.dims);
  const int64_t rowBytes = countOf(std::span(y.dims).subspan(length)) * width;
  if (y.bytes() == 0) return;
  std::memcpy(y.data, evaluation.inputs[static_cast<size_t>(attrs.caches[output])].data, y.bytes());
  for (int64_t t = 0; t < rows.count() / length; ++t) {
    int64_t to = 0;
    bool isInside = true;
    for (int64_t i = 0; i < length; ++i) {
      const int64_t index = readInteger(rows.type, rows.data, t * length + i);
      const auto at = positionOf(evaluation.node, index, y.dims[i], true);
      isInside &= at.has_value();
      to += at.value_or(0) * strides[i];
    }
    if (isInside)
      std::memcpy(static_cast<std::byte*>(y.data) + to * width,
                  static_cast<const std::byte*>(made.data) + t * rowBytes, rowBytes);
  }
}

void evaluateParts(const Evaluation& evaluation) {
  const auto resolved = [&](const std::vector<Dim>& dims) {
    Dims values;
    for (const Dim& dim : dims) values.push_back(evaluation.resolve(dim));
    return values;
  };
  const auto& attrs = evaluation.node.as<PointwisePartsAttrs>();
  std::vector<TensorView> made = {evaluation.outputs.begin(), evaluation.outputs.end()};
  std::vector<HostTensor> written(made.size());  // into caches
  for (size_t i = 0; i < made.size(); ++i)
    if (attrs.isCache(i)) {
      written[i] = HostTensor(made[i].type, resolved(attrs.shapes[i]));
      made[i] = written[i].view();
    }
  for (const Part& part : attrs.parts) {
    const Dims size = resolved(part.size), within = stridesOf(size);
    std::vector<HostTensor> operands;
    std::vector<ConstTensorView> views;
    for (size_t i = 0; i < part.inputs.size(); ++i) {
      const ConstTensorView& input = evaluation.inputs[static_cast<size_t>(part.inputs[i])];
      HostTensor& operand = operands.emplace_back(input.type, size);
      moveElements(input.type, size, input.data,
                   {evaluation.resolve(part.placeOf(i)), resolved(part.stridesOf(i))},
                   operand.view().data, {0, within});
    }
    for (const HostTensor& operand : operands) views.push_back(operand.view());
    HostTensor result(part.expr.resultType(), size);
    evaluateExpr(part.expr, views, result.view());
    const TensorView& y = made[static_cast<size_t>(part.output)];
    const Dims strides = stridesOf(y.dims);
    moveElements(y.type, size, result.view().data, {0, within}, y.data,
                 {offsetOf(resolved(part.begin), strides), strides});
  }
  for (size_t i = 0; i < made.size(); ++i)
    if (attrs.isCache(i)) writeRows(evaluation, i, made[i]);
}

}  // namespace

const OpInfo ops::PointwiseParts = {
    "PointwiseParts", 1, -1, -1, makeAttrsOf<PointwisePartsAttrs>, inferParts, evaluateParts};

}  // namespace camshaft
