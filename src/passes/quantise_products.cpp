// Convolutions and products with constant weights read bytes, where the range of what they read is
// known: from calibration or from the user. Weights become bytes with a scale for each channel.
//
//   %y = Conv(%x, %w)                                  // x between -4 and 4
//   →
//   %q = Pointwise(%x, 4/127) {quantised}
//   %a = Pointwise(%q, 4/127) {dequantised}
//   %b = Pointwise(%w_quantised, %w_scale) {dequantised}
//   %y = Conv(%a, %b)
//
// as a model with Q/DQ nodes has it, which the passes behind this one make products of integers of.
// Tensors that only move on to one another (through a pool, a concatenation) have one scale, so
// that bytes are what moves. What a product of integers stores is stored as bytes alone, so others
// who read it read those too: residual additions ride on the next product.
#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "ir/rewrite.h"
#include "ops/gemm.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "passes/edit.h"
#include "passes/interval.h"
#include "passes/passes.h"
#include "passes/quantisation.h"
#include "support/error.h"

namespace camshaft {
namespace {

bool isReal(const Value* value) {
  return value && value->dataType() == DataType::kF32 && !value->isConstant();
}

bool isFinite(const Value& constant) {
  const ConstTensorView view = constant.view();
  const std::span values(view.as<float>(), static_cast<size_t>(view.count()));
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

bool isMover(const Node* node) {
  return node && !node->epilogue && movesElements(*node) && isReal(node->output());
}

// Whether it gives bytes of the scale that its inputs have: interpolation does too, where its
// result is quantised.
bool keepsScale(const Node* node) {
  const bool resizes = node->op == &ops::Resize && !node->epilogue && isReal(node->output());
  return resizes || isMover(node);
}

// Tensors of which each is moved to make another.
class Movements {
 public:
  explicit Movements(const Graph& graph) {
    for (const auto& node : graph.nodes()) {
      if (!keepsScale(node.get())) continue;
      for (const Value* input : movedInputs(*node))
        if (isReal(input)) first_[firstOf(input)] = firstOf(node->output());
    }
  }
  // The same for all of one group.
  const Value* firstOf(const Value* value) const {
    for (auto it = first_.find(value); it != first_.end() && it->second != value;
         it = first_.find(value))
      value = it->second;
    return value;
  }

 private:
  std::unordered_map<const Value*, const Value*> first_;
};

class Quantisation {
 public:
  Quantisation(Graph& graph, const PassOptions& options)
      : graph_(graph), options_(options), movements_(graph) {}

  bool run() {
    findRanges();
    chooseProducts();
    dropMetWishes();
    if (products_.empty()) return false;
    for (auto& [first, group] : groups_)
      if (group.isRead) group.scale = scaleOf(group);
    for (Value* value : graph_.values())
      if (isReal(value) && isRead(value) && (isMade(value) || isReadByProduct(value)))
        quantise(value);
    for (Node* node : graph_.nodeList())
      if (products_.contains(node)) quantiseWeights(node);
    graph_.eraseUnusedConstants();
    return true;
  }

 private:
  struct Group {
    std::vector<const Value*> made;  // by other work than movements
    double low = 0, high = 0;
    bool isKnown = false, isRead = false;  // by a product
    ByteScale scale;
  };

  Group* groupOf(const Value* value) {
    const auto it = groups_.find(movements_.firstOf(value));
    return it == groups_.end() ? nullptr : &it->second;
  }
  static bool isMade(const Value* value) { return !isMover(value->producer); }
  bool isRead(const Value* value) { return groupOf(value)->isRead; }

  void findRanges() {
    for (const Value* value : graph_.values()) {
      if (!isReal(value)) continue;
      Group& group = groups_[movements_.firstOf(value)];
      if (isMade(value)) group.made.push_back(value);
      const auto range = options_.ranges.find(value->name);
      if (range != options_.ranges.end()) widen(group, range->second);
    }
  }

  static void widen(Group& group, const TensorRange& range) {
    group.isKnown = true;
    group.low = std::min<double>(group.low, range.min);
    group.high = std::max<double>(group.high, range.max);
  }

  // Whether there is a product of integers for it, and nothing else is asked of it.
  static bool isCandidate(const Node& node) {
    if ((node.op != &ops::Conv && node.op != &ops::MatMul) || node.epilogue) return false;
    const Value* weights = node.input(1);
    return isReal(node.input(0)) && isReal(node.output()) && weights->isConstant() &&
           !weights->isOpaque() && weights->dataType() == DataType::kF32 &&
           (!node.precision.compute || node.precision.compute == DataType::kI8) &&
           hasIntegerProduct(node) && isFinite(*weights);
  }

  void chooseProducts() {
    std::vector<std::string> unknown;
    int slower = 0;
    for (Node* node : graph_.nodeList()) {
      const bool isAsked = node->precision.compute == DataType::kI8;
      if (!isCandidate(*node)) {
        if (isAsked) refuse(*node, "there is no product of bytes for it");
        continue;
      }
      Group* group = groupOf(node->input(0));
      const auto read = options_.rangesRead.find(node->name);
      if (!group->isKnown && read != options_.rangesRead.end()) widen(*group, read->second);
      if (!group->isKnown) {
        if (isAsked) refuse(*node, str("no range is known for '", node->input(0)->name, "'"));
        unknown.push_back(node->input(0)->name);
      } else if (isAsked || isFaster(*node, *group)) {
        node->precision.compute.reset();
        products_.insert(node);
        group->isRead = true;
      } else {
        ++slower;
      }
    }
    report(unknown, slower);
  }

  bool isFaster(const Node& node, const Group& group) const {
    const auto isStored = [&](const Value* value) { return isStoredByProduct(value); };
    const bool isStoredAsBytes = group.isRead || std::ranges::all_of(group.made, isStored);
    return !options_.isFasterInBytes || options_.isFasterInBytes(node, isStoredAsBytes);
  }

  void refuse(Node& node, const std::string& reason) {
    const std::string message = str(describe(node), " is asked to compute in i8, and ", reason);
    if (options_.obeysPrecision) fail(ErrorKind::kUnsupported, message);
    options_.log.warning(message, "; the request is ignored");
    node.precision.compute.reset();
  }

  // Where kernels round what they multiply to 16 bits, a wish for these has done what it can once
  // the product is kept from bytes.
  void dropMetWishes() {
    if (options_.stores16Bit || options_.obeysPrecision) return;
    for (const auto& node : graph_.nodes())
      if (node->precision.compute == DataType::kBF16) node->precision.compute.reset();
  }

  void report(const std::vector<std::string>& unknown, int slower) const {
    if (!unknown.empty())
      options_.log.warning("layers that read ", join(unknown, ", "),
                           " stay in floating point: no range is known for these tensors; "
                           "calibrate anew or call setDynamicRange");
    options_.log.info(products_.size(), " products read 8-bit integers, ", slower,
                      " are faster in floating point");
  }

  bool isReadByProduct(const Value* value) const {
    return std::ranges::any_of(value->users, [&](const Node* user) {
      return products_.contains(user) && user->input(0) == value;
    });
  }

  // Whether it is stored as bytes: by a product, or by what rides on one.
  bool isStoredByProduct(const Value* value) const {
    const Node* node = value->producer;
    if (!node || graph_.isOutput(value)) return false;
    if (products_.contains(node)) return true;
    return node->op == &ops::Pointwise && std::ranges::any_of(node->inputs, [&](const Value* in) {
             return in->producer && products_.contains(in->producer) &&
                    soleUser(graph_, in) == node && in->shape() == value->shape();
           });
  }

  // Symmetric where it reaches to both sides, else with all 256 steps where the tensor is.
  ByteScale scaleOf(const Group& group) const {
    Interval possible{0, 0};
    for (const Value* value : group.made) {
      const Interval each = intervalOf(value);
      possible = {std::min(possible.low, each.low), std::max(possible.high, each.high)};
    }
    const double low = std::max(group.low, possible.low);
    const double high = std::min(group.high, possible.high);
    const double largest = std::max(high, -low);
    if (largest <= 0) return {};
    constexpr double kOneSided = 1.5;
    if (high - low > kOneSided * largest) return {.scale = largest / 127};
    const double scale = (high - low) / 255;
    return {.scale = scale,
            .zero = static_cast<int>(std::clamp(std::round(-low / scale), 0.0, 255.0)),
            .type = DataType::kU8};
  }

  void quantise(Value* value) {
    const bool isBytesAlone = isStoredByProduct(value);
    const std::vector<Node*> users(value->users.begin(), value->users.end());
    Value* bytes = addQdq(graph_, value, groupOf(value)->scale);
    for (Node* user : users) {
      const bool isForAll = isBytesAlone && !user->outputs.empty();  // but observers
      for (size_t i = 0; i < user->inputs.size(); ++i) {
        const bool takesBytes = (products_.contains(user) && i == 0) ||
                                (keepsScale(user) && i < movedInputs(*user).size());
        if (user->inputs[i] == value && (takesBytes || isForAll))
          graph_.setInput(user, static_cast<int>(i), bytes);
      }
    }
  }

  void quantiseWeights(Node* product) {
    const Value* weights = product->input(1);
    const ConstTensorView view = weights->view();
    const int64_t axis = weightAxis(*product), channels = view.dims[axis];
    const int64_t inner = countOf(std::span(view.dims).subspan(axis + 1));
    const auto channelOf = [&](int64_t i) { return i / inner % channels; };
    const float* values = view.as<float>();
    std::vector<float> scales(channels, 0);
    for (int64_t i = 0; i < view.count(); ++i)
      scales[channelOf(i)] = std::max(scales[channelOf(i)], std::fabs(values[i]));
    for (float& scale : scales) scale = scale > 0 ? scale / 127 : 1;
    std::vector<int8_t> bytes(view.count());
    for (int64_t i = 0; i < view.count(); ++i)
      bytes[i] = static_cast<int8_t>(
          std::clamp(std::rint(values[i] / scales[channelOf(i)]), -127.0f, 127.0f));
    Dims scaleDims(view.dims.size(), 1);
    scaleDims[axis] = channels;
    const std::string name = weights->name;
    Value* quantised =
        graph_.addConstant<int8_t>(name + "_quantised", DataType::kI8, view.dims, bytes);
    Value* scale = graph_.addConstant<float>(name + "_scale", DataType::kF32, scaleDims, scales);
    graph_.setInput(product, 1, addDequantisation(graph_, name, quantised, scale, product));
  }

  Graph& graph_;
  const PassOptions& options_;
  const Movements movements_;
  std::unordered_map<const Value*, Group> groups_;
  std::unordered_set<const Node*> products_;
};

}  // namespace

bool quantiseProducts(Graph& graph, const PassOptions& options) {
  if (options.ranges.empty() || !options.fusion.integerProducts) return false;
  return Quantisation(graph, options).run();
}

}  // namespace camshaft
