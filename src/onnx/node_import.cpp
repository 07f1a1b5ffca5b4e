#include "onnx/node_import.h"

#include <algorithm>

#include "onnx/body_import.h"
#include "onnx/constant.h"
#include "onnx/model_import.h"
#include "onnx/scope.h"
#include "onnx/wire/element_type.h"
#include "ops/move.h"
#include "ops/pointwise.h"
#include "ops/shape.h"

namespace camshaft::onnx::importer {

std::string nodeName(const wire::Node& node) {
  if (!node.name.empty()) return std::string(node.name);
  for (const std::string_view output : node.outputs)
    if (!output.empty()) return str(node.opType, "_", output);
  return std::string(node.opType);
}

NodeImport::NodeImport(ModelImport& model, Scope& scope, const wire::Node& node, int64_t opset)
    : model_(model), scope_(scope), node_(node), name_(scope.named(node)), opset_(opset) {}

Graph& NodeImport::graph() const { return model_.graph(); }

InputSizes& NodeImport::inputSizes() const { return model_.inputSizes(); }
const PluginSource* NodeImport::plugins() const { return model_.plugins(); }

int NodeImport::inputCount() const {
  int count = static_cast<int>(node_.inputs.size());
  while (count > 0 && node_.inputs[count - 1].empty()) --count;
  return count;
}

Value* NodeImport::optionalInput(int i) const {
  const std::optional<Item> item = optionalItem(i);
  if (!item) return nullptr;
  if (!std::holds_alternative<Value*>(*item))
    unsupported("its input '", node_.inputs[i], "' is ", describe(*item),
                ", where it takes a tensor of numbers",
                std::holds_alternative<Strings>(*item)
                    ? ": cut the model behind this node, and do its work in the program"
                    : "");
  return std::get<Value*>(*item);
}

std::optional<Item> NodeImport::optionalItem(int i) const {
  if (i >= inputCount() || node_.inputs[i].empty()) return std::nullopt;
  return scope_.findItem(node_.inputs[i]);
}

Item NodeImport::item(int i) const {
  std::optional<Item> found = optionalItem(i);
  if (!found) invalid("it lacks its required input ", i);
  return std::move(*found);
}

// Elements of their own are values of the graph, which has a number of them.
Sequence NodeImport::sequence(int i) const {
  Sequence sequence = anySequence(i);
  if (sequence.stacked || sequence.continues)
    unsupported("how many elements the sequence '", node_.inputs[i],
                "' has is known at run time only, where it must know: append to it only");
  return sequence;
}

Sequence NodeImport::anySequence(int i) const {
  Item found = item(i);
  Sequence* sequence = std::get_if<Sequence>(&found);
  if (!sequence || sequence->isNothing)
    invalid("its input '", node_.inputs[i], "' is ", describe(found),
            ", where it takes a sequence");
  return std::move(*sequence);
}

Value* NodeImport::input(int i) const {
  Value* value = optionalInput(i);
  if (!value) invalid("it lacks its required input ", i);
  return value;
}

Value* NodeImport::optionalInput(int i, Ranks ranks) const {
  Value* value = optionalInput(i);
  if (!value || (value->rank() >= ranks.least && value->rank() <= ranks.most)) return value;
  const std::string wanted = ranks.most == ranks.least   ? str(ranks.least)
                             : ranks.most == Ranks::kAny ? str(ranks.least, " or more")
                                                         : str(ranks.least, " to ", ranks.most);
  invalid("its input ", i, " ('", value->name, "') must have rank ", wanted, " and has ",
          value->rank());
}

Value* NodeImport::input(int i, Ranks ranks) const {
  input(i);  // must be there
  return optionalInput(i, ranks);
}

std::vector<Value*> NodeImport::allInputs() const {
  std::vector<Value*> values;
  for (int i = 0; i < inputCount(); ++i) values.push_back(input(i));
  return values;
}

std::vector<Dim> NodeImport::dims(int i) const { return dims(input(i)); }

std::vector<Dim> NodeImport::dims(Value* value) const {
  if (!isInteger(value->dataType()))
    invalid("its input '", value->name, "' must hold integers and is ", value->dataType());
  if (!value->contents && isStatic(value->shape()))
    if (const auto known = knownIntegers(value)) return makeShape(*known);
  return contentsOf(graph(), value, name_);
}

std::optional<std::vector<int64_t>> NodeImport::knownIntegers(const Value* value) const {
  return model_.folder().integers(value);
}

std::optional<std::vector<double>> NodeImport::knownNumbers(const Value* value) const {
  return model_.folder().numbers(value);
}

int64_t NodeImport::rank(int64_t count) const {
  constexpr int64_t kMost = 64;
  if (count > kMost)
    unsupported("it needs ", count, " dimensions, and a tensor has ", kMost, " at most");
  return count;
}

int64_t NodeImport::axis(int64_t axis, int64_t rank) const {
  if (axis < -rank || axis >= rank) invalid("axis ", axis, " is outside a tensor of rank ", rank);
  return axis < 0 ? axis + rank : axis;
}

int64_t NodeImport::axisAttribute(std::string_view attribute, int64_t missing, int64_t rank) const {
  return axis(integer(attribute, missing), rank);
}

std::vector<int64_t> NodeImport::axes(std::vector<int64_t> axes, int64_t rank) const {
  for (int64_t& one : axes) one = axis(one, rank);
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) invalid("an axis is given twice");
  return axes;
}

Node* NodeImport::addNodeOf(Op op, std::vector<Value*> inputs, std::unique_ptr<Attrs> attrs,
                            int outputs) const {
  return graph().addNode(op, name_, std::move(inputs), std::move(attrs), outputs);
}

Value* NodeImport::unary(ScalarOp op, Value* x) const { return addUnary(graph(), op, name_, x); }

Value* NodeImport::binary(ScalarOp op, Value* a, Value* b) const {
  if (a->dataType() != b->dataType())
    invalid("its operands have different types, ", a->dataType(), " and ", b->dataType());
  return addBinary(graph(), op, name_, a, b);
}

Value* NodeImport::binary(ScalarOp op, Value* a, double b) const {
  Expr expr;
  const int x = expr.input(0, a->dataType());
  expr.apply(op, x, expr.constant(b, a->dataType()));
  return pointwise({a}, std::move(expr));
}

Value* NodeImport::pointwise(std::vector<Value*> inputs, Expr expr) const {
  return addPointwise(graph(), name_, std::move(inputs), std::move(expr));
}

Value* NodeImport::cast(Value* x, DataType type) const {
  return x->dataType() == type ? x : addCast(graph(), name_, x, type);
}

Value* NodeImport::scalar(DataType type, double value) const {
  return addScalar(graph(), name_, type, value);
}

Value* NodeImport::reshape(Value* x, Shape shape) const {
  if (x->shape() == shape) return x;
  ReshapeAttrs attrs;
  attrs.shape = std::move(shape);
  return add(&ops::Reshape, {x}, std::move(attrs));
}

Value* NodeImport::transpose(Value* x, std::vector<int64_t> order) const {
  TransposeAttrs attrs;
  attrs.order = std::move(order);
  return add(&ops::Transpose, {x}, std::move(attrs));
}

Value* NodeImport::expand(Value* x, Shape shape) const {
  if (x->shape() == shape) return x;
  ExpandAttrs attrs;
  attrs.shape = std::move(shape);
  return add(&ops::Expand, {x}, std::move(attrs));
}

Value* NodeImport::slice(Value* x, int64_t axis, Dim start, Dim size, int64_t step) const {
  if (axis < 0 || axis >= x->rank())
    invalid("it takes a part of '", x->name, "' along axis ", axis, ", which a tensor of rank ",
            x->rank(), " lacks");
  if (step == 1 && size == x->shape()[axis]) return x;
  SliceAttrs attrs;
  attrs.axes = {axis};
  attrs.starts = {std::move(start)};
  attrs.sizes = {std::move(size)};
  attrs.steps = {step};
  return add(&ops::Slice, {x}, std::move(attrs));
}

Value* NodeImport::concat(std::vector<Value*> parts, int64_t axis) const {
  ConcatAttrs attrs;
  attrs.axis = axis;
  return add(&ops::Concat, std::move(parts), attrs);
}

Value* NodeImport::append(Value* past, Value* rows, int64_t axis) const {
  Value* grown = model_.caches().append(*this, past, rows, axis);
  return grown ? grown : concat({past, rows}, axis);
}

Value* NodeImport::integerVector(const std::vector<int64_t>& values) const {
  return graph().addConstant<int64_t>(name_, DataType::kI64, {static_cast<int64_t>(values.size())},
                                      values);
}

std::optional<int64_t> NodeImport::declaredRank(int output) const {
  if (scope_.depth != 0 || !wants(output)) return std::nullopt;
  const wire::ValueInfo* declared = model_.declarationOf(node_.outputs[output]);
  return declared ? std::optional(static_cast<int64_t>(declared->type.shape->size()))
                  : std::nullopt;
}

bool NodeImport::wants(int output) const {
  return output < outputCount() && !node_.outputs[output].empty();
}

void NodeImport::setOutput(int output, Value* value) {
  if (wants(output)) scope_.values[node_.outputs[output]] = value;
}

void NodeImport::setOutput(int output, Item item) {
  if (wants(output)) scope_.values[node_.outputs[output]] = std::move(item);
}

const wire::Graph& NodeImport::subgraph(std::string_view attribute) const {
  const wire::Attribute* found = find(attribute, wire::AttributeType::kGraph);
  if (!found) invalid("it lacks its subgraph '", attribute, "'");
  return found->graphs.front();
}

std::vector<Item> NodeImport::importBranch(std::string_view attribute,
                                           const std::vector<Item>& inputs,
                                           std::string_view part) const {
  const std::string name = part.empty() ? name_ : str(name_, "/", part);
  return model_.importBranch(subgraph(attribute), scope_, name, inputs);
}

std::unique_ptr<BodyImport> NodeImport::body(std::string_view attribute) const {
  return std::make_unique<BodyImport>(model_, scope_, name_, subgraph(attribute));
}

}  // namespace camshaft::onnx::importer
