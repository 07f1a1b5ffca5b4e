#include "ir/graph.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "ir/bounds.h"
#include "support/error.h"
#include "support/room.h"

namespace camshaft {

ConstTensorView Value::view() const {
  CAMSHAFT_CHECK(isConstant(), "value '", name, "' is not a constant");
  return {type.type, staticDims(type.shape), constant->bytes.data()};
}

TensorType Node::resultBeforeEpilogue(int i) const {
  TensorType type = outputs[i]->type;
  if (epilogue && i == 0) type.type = epilogue->expr.inputType(0);
  return type;
}

std::string toString(const TensorType& type) { return str(type.type, toString(type.shape)); }

std::string describe(const Node& node) {
  return str("node '", node.name, "' (", node.op->name, ")");
}

std::set<std::string> symbolsDefined(const Node& node) {
  std::set<std::string> names;
  if (node.op->defines)
    for (const Dim& symbol : node.op->defines(*node.attrs)) collectSymbols(symbol, names);
  return names;
}

namespace {

class BodyVisitor : public AttrVisitor {
 public:
  void operator()(std::string_view, BodyPtr& body) override { bodies.push_back(&body); }
  void operator()(std::string_view, int64_t&) override {}
  void operator()(std::string_view, double&) override {}
  void operator()(std::string_view, bool&) override {}
  void operator()(std::string_view, std::string&) override {}
  void operator()(std::string_view, DataType&) override {}
  void operator()(std::string_view, Dim&) override {}
  void operator()(std::string_view, std::vector<int64_t>&) override {}
  void operator()(std::string_view, std::vector<double>&) override {}
  void operator()(std::string_view, std::vector<Dim>&) override {}
  void operator()(std::string_view, Expr&) override {}
  void choice(std::string_view, int&, std::span<const std::string_view>) override {}
  std::vector<BodyPtr*> bodies;
};

}  // namespace

std::vector<BodyPtr*> bodiesOf(Node& node) {
  BodyVisitor visitor;
  node.attrs->fields(visitor);
  return visitor.bodies;
}

std::vector<const Graph*> bodiesOf(const Node& node) {
  std::vector<const Graph*> bodies;
  for (const BodyPtr* body : bodiesOf(const_cast<Node&>(node))) bodies.push_back(body->get());
  return bodies;
}

Value* Graph::newValue(std::string name, TensorType type) {
  name = uniqueName(name);
  auto value = std::make_unique<Value>();
  value->name = name;
  value->type = std::move(type);
  Value* raw = value.get();
  values_.emplace(std::move(name), std::move(value));
  return raw;
}

void Graph::dropValue(Value* value) {
  CAMSHAFT_CHECK(!hasUses(value), "value '", value->name, "' is still used");
  values_.erase(values_.find(value->name));
}

Value* Graph::addInput(std::string name, TensorType type) {
  roomForOneMore(inputs);
  Value* value = newValue(std::move(name), std::move(type));
  inputs.push_back(value);
  return value;
}

void Graph::removeInput(Value* input) {
  std::erase(inputs, input);
  dropValue(input);
}

Value* Graph::addConstant(std::string name, TensorType type, ConstantPtr data) {
  const size_t expected = bytesOf(type.type, numElements(type.shape).value());
  CAMSHAFT_CHECK(data->bytes.size() == expected, "constant '", name, "' has ", data->bytes.size(),
                 " bytes where its type ", type, " needs ", expected);
  constexpr int64_t kMaxContents = 64;  // shapes and index lists, not embedding tables
  std::optional<std::vector<Dim>> contents;
  const int64_t count = numElements(type.shape).value();
  if (isInteger(type.type) && !isPacked(type.type) && type.shape.size() <= 1 &&
      count <= kMaxContents) {
    contents.emplace();
    for (int64_t i = 0; i < count; ++i)
      contents->push_back(readInteger(type.type, data->bytes.data(), i));
  }
  Value* value = newValue(std::move(name), std::move(type));
  value->constant = std::move(data);
  value->contents = std::move(contents);
  return value;
}

Node* Graph::addNode(Op op, std::string name, std::vector<Value*> inputs,
                     std::unique_ptr<Attrs> attrs, int outputCount, Node* before) {
  auto owned = std::make_unique<Node>();
  Node* node = owned.get();
  node->name = std::move(name);
  node->op = op;
  node->attrs = std::move(attrs);
  if (outputCount < 0) outputCount = op->outputs;
  CAMSHAFT_CHECK(outputCount >= 0, describe(*node), " needs an output count");
  node->outputs.reserve(outputCount);
  node->position_ = nodes_.insert(before ? before->position_ : nodes_.end(), std::move(owned));
  try {
    setInputs(node, std::move(inputs));
    for (int i = 0; i < outputCount; ++i) {
      Value* value = newValue(i == 0 ? node->name : str(node->name, ".", i), {});
      value->producer = node;
      value->index = i;
      node->outputs.push_back(value);
    }
    inferTypes(node);
  } catch (...) {
    erase(node);  // a refused node leaves the graph as it was
    throw;
  }
  return node;
}

void Graph::inferTypes(Node* node) {
  const int own = node->ownInputs();
  if (own < node->op->minInputs || (node->op->maxInputs >= 0 && own > node->op->maxInputs))
    fail(ErrorKind::kInvalidModel, describe(*node), " has ", own, " inputs where ",
         node->op->minInputs == node->op->maxInputs ? "" : "at least ", node->op->minInputs,
         " are needed");
  for (int i = 0; i < node->op->minInputs; ++i)
    if (!node->inputs[i])
      fail(ErrorKind::kInvalidModel, describe(*node), " lacks its required input ", i);
  std::vector<TensorType> types = node->op->infer(*node);
  CAMSHAFT_CHECK(types.size() == node->outputs.size(), describe(*node), " infers ", types.size(),
                 " outputs and has ", node->outputs.size());
  for (const TensorType& type : types)
    for (const Dim& dim : type.shape)
      if (dim.isConstant() && dim.value() < 0)
        fail(ErrorKind::kInvalidModel, describe(*node), " would give a tensor of type ", type,
             ", and sizes are not negative");
  if (node->epilogue) types[0].type = node->epilogue->expr.resultType();
  for (size_t i = 0; i < types.size(); ++i) node->outputs[i]->type = std::move(types[i]);
  if (!node->outputs.empty()) {
    node->outputs[0]->contents.reset();
    if (node->op->contents && !node->epilogue)
      node->outputs[0]->contents = node->op->contents(*node);
  }
}

void Graph::inferAllTypes() {
  for (Node* node : nodeList()) inferTypes(node);
}

void Graph::addUse(Node* node, size_t input) {
  if (Value* value = node->inputs[input]) value->users.add(node, input);
}

void Graph::removeUse(Node* node, size_t input) {
  if (Value* value = node->inputs[input]) value->users.remove(node, input);
}

void Graph::setInput(Node* node, int index, Value* value) {
  const auto input = static_cast<size_t>(index);
  CAMSHAFT_CHECK(input < node->inputs.size(), describe(*node), " has no input ", index);
  removeUse(node, input);
  node->inputs[input] = value;
  addUse(node, input);
}

void Graph::addInputTo(Node* node, Value* value) {
  node->inputs.push_back(value);
  node->usePlaces_.push_back(0);
  addUse(node, node->inputs.size() - 1);
}

void Graph::setInputs(Node* node, std::vector<Value*> inputs) {
  std::vector<size_t> places(inputs.size());
  for (size_t i = 0; i < node->inputs.size(); ++i) removeUse(node, i);
  node->inputs.swap(inputs);
  node->usePlaces_.swap(places);
  for (size_t i = 0; i < node->inputs.size(); ++i) try {
      addUse(node, i);
    } catch (...) {  // no memory: it reads what it read so far
      node->inputs.resize(i);
      throw;
    }
}

void Graph::replaceUses(Value* from, Value* to) {
  if (from == to) return;
  for (const auto& [user, input] : from->users.uses_) {
    if (!user) continue;
    user->inputs[input] = to;
    addUse(user, input);
  }
  from->users.clear();
  for (const size_t index : from->outputs_) outputs.list_[index].value = to;
  to->outputs_.merge(from->outputs_);
}

void Graph::addOutput(std::string name, Value* value) {
  roomForOneMore(outputs.list_);
  value->outputs_.insert(outputs.size());
  outputs.list_.push_back({std::move(name), value});
}

void Graph::setOutput(size_t index, Value* value) {
  Value*& slot = outputs.list_.at(index).value;
  slot->outputs_.erase(index);
  slot = value;
  slot->outputs_.insert(index);
}

void Graph::setOutputs(std::vector<Output> list) {
  for (const Output& output : outputs) output.value->outputs_.clear();
  outputs.list_.clear();
  for (Output& output : list) addOutput(std::move(output.name), output.value);
}

void Graph::erase(Node* node) {
  setInputs(node, {});
  for (Value* output : node->outputs) dropValue(output);
  nodes_.erase(node->position_);
}

void Graph::eraseIfDead(Node* node) {
  // What defines dimensions is alive by that.
  const auto isDead = [this](const Node* candidate) {
    return std::none_of(candidate->outputs.begin(), candidate->outputs.end(),
                        [this](const Value* output) { return hasUses(output); }) &&
           symbolsDefined(*candidate).empty();
  };
  std::vector<Node*> dead;
  if (isDead(node)) dead.push_back(node);
  while (!dead.empty()) {
    Node* one = dead.back();
    dead.pop_back();
    std::unordered_set<Node*> producers;
    for (const Value* input : one->inputs)
      if (input && input->producer) producers.insert(input->producer);
    erase(one);
    std::copy_if(producers.begin(), producers.end(), std::back_inserter(dead), isDead);
  }
}

void Graph::moveBefore(Node* node, Node* before) {
  nodes_.splice(before ? before->position_ : nodes_.end(), nodes_, node->position_);
}

void Graph::eraseUnusedConstants() {
  std::erase_if(values_, [this](const auto& entry) {
    return entry.second->isConstant() && !hasUses(entry.second.get());
  });
}

std::string Graph::uniqueName(const std::string& base) {
  if (!values_.contains(base)) return base;
  int& suffix = nextSuffix_[base];
  std::string name;
  do name = str(base, "_", ++suffix);
  while (values_.contains(name));
  return name;
}

void Graph::rename(Value* value, const std::string& name) {
  if (value->name == name) return;
  CAMSHAFT_CHECK(!values_.contains(name), "two values named '", name, "'");
  std::string own = name, key = name;
  auto entry = values_.extract(value->name);
  entry.key() = std::move(key);
  value->name = std::move(own);
  values_.insert(std::move(entry));  // where there was room a moment ago
}

Value* Graph::find(std::string_view name) const {
  const auto it = values_.find(std::string(name));
  return it == values_.end() ? nullptr : it->second.get();
}

Dim Graph::newSymbol(const std::string& base, DimRange range, std::optional<Dim> upper) {
  std::string name = base;
  while (symbols.contains(name)) name = str(base, "_", ++nextSymbolSuffix_[base]);
  symbols[name] = {range, std::move(upper)};
  return Dim::symbol(name);
}

SymbolRange Graph::symbolRange() const {
  return boundedRanges([this](const std::string& name) {
    const auto it = symbols.find(name);
    return it == symbols.end() ? SymbolInfo() : it->second;
  });
}

void Graph::require(SizeCondition condition) {
  if (neverHolds(condition))
    fail(ErrorKind::kInvalidModel, condition.before, condition.a, condition.between, condition.b,
         condition.after);
  if (alwaysHolds(condition, symbolRange())) return;
  std::string text = toString(condition);
  conditions.try_emplace(std::move(text), std::move(condition));
}

std::vector<Node*> Graph::nodeList() const {
  std::vector<Node*> list;
  list.reserve(nodes_.size());
  for (const auto& node : nodes_) list.push_back(node.get());
  return list;
}

Node* Graph::next(const Node* node) const {
  auto it = std::next(node->position_);
  return it == nodes_.end() ? nullptr : it->get();
}

std::vector<Value*> Graph::values() const {
  std::vector<Value*> list;
  list.reserve(values_.size());
  for (const auto& [name, value] : values_) list.push_back(value.get());
  std::sort(list.begin(), list.end(),
            [](const Value* a, const Value* b) { return a->name < b->name; });
  return list;
}

Graph Graph::clone() const {
  Graph copy;
  copy.name = name;
  copy.symbols = symbols;
  copy.conditions = conditions;
  std::unordered_map<const Value*, Value*> copied;
  const auto copyValue = [&](const Value* from) {
    auto value = std::make_unique<Value>(*from);
    value->users.clear();
    value->outputs_.clear();
    value->producer = nullptr;
    Value* raw = value.get();
    copy.values_.emplace(raw->name, std::move(value));
    copied[from] = raw;
  };
  for (const auto& [key, value] : values_) copyValue(value.get());
  for (const Value* input : inputs) copy.inputs.push_back(copied.at(input));
  for (const auto& from : nodes_) {
    auto node = std::make_unique<Node>();
    node->name = from->name;
    node->op = from->op;
    node->attrs = from->attrs->clone();
    node->epilogue = from->epilogue;
    node->origins = from->origins;
    node->precision = from->precision;
    for (const Value* output : from->outputs) {
      node->outputs.push_back(copied.at(output));
      node->outputs.back()->producer = node.get();
    }
    std::vector<Value*> nodeInputs;
    for (const Value* input : from->inputs)
      nodeInputs.push_back(input ? copied.at(input) : nullptr);
    Node* raw = node.get();
    raw->position_ = copy.nodes_.insert(copy.nodes_.end(), std::move(node));
    copy.setInputs(raw, std::move(nodeInputs));
  }
  for (const Output& output : outputs) copy.addOutput(output.name, copied.at(output.value));
  return copy;
}

}  // namespace camshaft
