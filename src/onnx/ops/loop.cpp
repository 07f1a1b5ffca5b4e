#include "onnx/ops/loop.h"

#include <algorithm>
#include <set>

#include "ops/control_flow.h"
#include "ops/index.h"
#include "ops/pointwise.h"

namespace camshaft::onnx::importer {

namespace {

using Position = std::pair<size_t, size_t>;  // a dimension of a carried value

class LoopImport {
 public:
  LoopImport(NodeImport& node, const LoopInputs& inputs,
             const std::function<std::unique_ptr<BodyImport>()>& newBody, const BodyMaker& make)
      : node_(node), inputs_(inputs), newBody_(newBody), make_(make) {}

  std::vector<Value*> run() {
    importBody();
    LoopAttrs attrs;
    attrs.carried = static_cast<int64_t>(inputs_.carried.size());
    recordSizes(attrs);
    std::vector<Value*> operands{inputs_.trips, inputs_.condition};
    operands.insert(operands.end(), inputs_.carried.begin(), inputs_.carried.end());
    const int outputs = static_cast<int>(outputs_.size()) - 1;
    attrs.body = body_->finish(outputs_);
    operands.insert(operands.end(), body_->captured().begin(), body_->captured().end());
    return node_.addNode(&ops::Loop, std::move(operands), std::move(attrs), outputs)->outputs;
  }

 private:
  // Carried values begin with the sizes they have outside. Sizes that the body changes are then
  // taken as unknown, and the body is imported again, until nothing changes any more.
  void importBody() {
    for (bool isLast = false;;) {
      body_ = newBody_();
      const std::vector<TensorType> types = carriedTypes();
      outputs_ = make_(*body_, types);
      if (outputs_.empty()) {
        // What fails at the first sizes may work at others.
        if (isLast) body_->fail();
        isLast = true;
        if (!varyEverything(types)) body_->fail();
        continue;
      }
      if (!varyChanged(types)) return;
    }
  }

  std::vector<TensorType> carriedTypes() {
    std::vector<TensorType> types;
    for (size_t c = 0; c < inputs_.carried.size(); ++c) {
      TensorType type = inputs_.carried[c]->type;
      for (size_t d = 0; d < type.shape.size(); ++d)
        type.shape[d] = varying_.contains({c, d}) ? body_->newSize(str("carried", c, ".", d))
                                                  : body_->inside(type.shape[d]);
      types.push_back(std::move(type));
    }
    return types;
  }

  bool varyEverything(const std::vector<TensorType>& types) {
    const size_t before = varying_.size();
    for (size_t c = 0; c < types.size(); ++c)
      for (size_t d = 0; d < types[c].shape.size(); ++d) varying_.insert({c, d});
    return varying_.size() > before;
  }

  bool varyChanged(const std::vector<TensorType>& types) {
    const size_t before = varying_.size() + fitted_.size();
    for (size_t c = 0; c < types.size(); ++c) {
      const TensorType& given = outputs_.at(1 + c)->type;
      if (given.type != types[c].type)
        node_.invalid("it carries ", types[c], " into an iteration and ", given, " out of it");
      if (given.rank() != types[c].rank()) {
        if (!fitRank(c, given.shape))
          node_.unsupported("it carries a tensor of rank ", types[c].rank(),
                            " into an iteration and of rank ", given.rank(),
                            " out of it: its rank must stay the same");
        continue;
      }
      for (size_t d = 0; d < given.shape.size(); ++d)
        if (given.shape[d] != types[c].shape[d]) varying_.insert({c, d});
    }
    return varying_.size() + fitted_.size() > before;
  }

  // Exporters begin with any one number where the body sets a variable before it reads it, or with
  // a scalar where it goes on with a vector of one: the number takes the rank of what follows.
  bool fitRank(size_t c, const Shape& given) {
    const bool isUnread = body_->graph().inputs.at(2 + c)->users.empty();
    if (!isSingle(inputs_.carried[c]->shape()) || !(isUnread || isSingle(given))) return false;
    if (!fitted_.insert(c).second) return false;  // the body changes it each time
    inputs_.carried[c] = node_.reshape(inputs_.carried[c], Shape(given.size(), Dim(1)));
    return true;
  }

  void recordSizes(LoopAttrs& attrs) {
    const size_t carried = inputs_.carried.size();
    const auto decidedByRun = [&](int64_t most) {
      attrs.symbols.push_back(node_.graph().newSymbol("size", {.max = most}));
      return attrs.symbols.back();
    };
    std::optional<Dim> trips;
    for (size_t i = 0; i + 1 < outputs_.size(); ++i) {
      const Shape& shape = outputs_[1 + i]->shape();
      if (i >= carried) {
        if (!trips) trips = tripCount(attrs);
        attrs.sizes.push_back(*trips);
      }
      for (size_t d = 0; d < shape.size(); ++d) {
        const bool varies = i < carried && varying_.contains({i, d});
        const std::optional<Dim> outside = varies ? std::nullopt : body_->outside(shape[d]);
        const int64_t most =
            varies ? DimRange::kUnbounded : rangeOf(shape[d], body_->graph().symbolRange()).max;
        attrs.sizes.push_back(outside ? *outside : decidedByRun(most));
      }
    }
  }

  // How often the body runs, as a size where nothing but the trip count decides it.
  Dim tripCount(LoopAttrs& attrs) {
    std::optional<Dim> most;
    if (inputs_.trips) {
      if (const auto known = node_.knownIntegers(inputs_.trips))
        most = std::max<int64_t>(known->at(0), 0);
      else if (inputs_.trips->contents)
        most = max(inputs_.trips->contents->at(0), 0);
    }
    const Value* next = outputs_[0];
    const bool staysTrue = body_->isKnownTrue(next) || next == body_->graph().inputs[1];
    const auto first = inputs_.condition ? node_.knownIntegers(inputs_.condition) : std::nullopt;
    const bool beginsTrue = !inputs_.condition || (first && first->at(0) != 0);
    if (most && staysTrue && beginsTrue) return *most;
    DimRange range;
    if (most && most->isConstant()) range.max = most->value();
    attrs.symbols.push_back(
        node_.graph().newSymbol("trips", range, most && !most->isConstant() ? most : std::nullopt));
    return attrs.symbols.back();
  }

  NodeImport& node_;
  LoopInputs inputs_;
  const std::function<std::unique_ptr<BodyImport>()>& newBody_;
  const BodyMaker& make_;
  std::set<Position> varying_;
  std::set<size_t> fitted_;  // carried values that took another rank
  std::unique_ptr<BodyImport> body_;
  std::vector<Value*> outputs_;
};

}  // namespace

LoopInputs limitsOf(const NodeImport& node) {
  LoopInputs inputs;
  if (node.hasInput(0)) inputs.trips = node.reshape(node.cast(node.input(0), DataType::kI64), {});
  if (node.hasInput(1)) inputs.condition = node.reshape(node.input(1), {});
  return inputs;
}

// A body sees iteration and condition in the rank that it declares.
void addLimits(BodyImport& body) {
  const auto add = [&](const wire::ValueInfo& input, DataType type) {
    const bool isVector = input.type.shape && input.type.shape->size() == 1;
    body.addInput(input.name, {type, isVector ? Shape{1} : Shape{}});
  };
  add(body.wireGraph().inputs[0], DataType::kI64);
  add(body.wireGraph().inputs[1], DataType::kBool);
}

void checkCarried(const NodeImport& node, const wire::Graph& body, size_t count) {
  if (body.inputs.size() != 2 + count || body.outputs.size() < 1 + count)
    node.invalid("its body takes ", body.inputs.size(), " inputs and gives ", body.outputs.size(),
                 " outputs, which does not fit ", count, " carried values");
}

bool isSingle(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](const Dim& dim) { return dim == Dim(1); });
}

Value* elementAt(Graph& graph, const std::string& name, Value* x, Value* index, int64_t axis) {
  GatherAttrs attrs;
  attrs.axis = axis;
  return graph.add(&ops::Gather, name, {x, index}, std::move(attrs))->output();
}

std::vector<Value*> goingOn(Graph& graph, std::vector<Value*> outputs) {
  outputs.insert(outputs.begin(), addScalar(graph, "go_on", DataType::kBool, 1));
  return outputs;
}

std::vector<Value*> addLoop(NodeImport& node, const LoopInputs& inputs,
                            const std::function<std::unique_ptr<BodyImport>()>& newBody,
                            const BodyMaker& make) {
  return LoopImport(node, inputs, newBody, make).run();
}

}  // namespace camshaft::onnx::importer
