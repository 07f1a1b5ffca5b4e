// A user's own operator: an object of theirs says what its results are and how it runs.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ir/graph.h"
#include "ops/ops.h"

namespace camshaft {

// A size that only a run decides: the plugin writes it to one of its outputs, an integer scalar.
// The shapes that depend on it name it by `symbol`, which stands for nothing outside of them.
struct PluginSize {
  int output = 0;
  Dim symbol;
  Dim upper;  // what memory is planned for
};

struct PluginResults {
  std::vector<TensorType> outputs;  // over the symbols of the inputs and of `sizes`
  std::vector<PluginSize> sizes;
};

// A tensor of a plugin with the bounds that a profile gives it.
struct PluginTensor {
  TensorType type;
  Dims min, opt, max;
};

struct PluginTensors {
  std::vector<PluginTensor> inputs, outputs;
};

// How a plugin runs under a profile.
struct PluginConfiguration {
  std::vector<std::byte> params;  // what an engine keeps, for its PluginLoader (backend/launch.h)
  int64_t workspaceBytes = 0;
};

// What a build asks of a user's object. It is shared by the copies of its node and may be asked
// from several threads; each question is answered as if it were the first. Throws Error naming the
// plugin where the object fails.
class PluginOp {
 public:
  virtual ~PluginOp() = default;
  // Creator and version, "scale 1", and what tells this object from others, also in later builds.
  virtual const std::string& label() const = 0;
  // Where it stands for operators that there are: adds them and returns its outputs. None, where it
  // is an operator of its own, as users' are.
  virtual std::vector<Value*> addOperators(Graph& /*graph*/, const std::string& /*name*/,
                                           const std::vector<Value*>& /*inputs*/,
                                           Node* /*before*/) const {
    return {};
  }
  // `sizes` are the values of its shape inputs, which are no operands.
  virtual PluginResults infer(std::span<const TensorType> inputs,
                              std::span<const Shape> sizes) const = 0;
  // Why it does not run on tensors of these types; empty: it does.
  virtual std::string whyNot(const PluginTensors& tensors) const = 0;
  // Ways to run that are worth timing; 0 alone where there is one.
  virtual std::vector<int32_t> tactics(const PluginTensors& tensors) const = 0;
  virtual PluginConfiguration configure(const PluginTensors& tensors, int32_t tactic) const = 0;
};

// An attribute of a model's node that names a plugin.
struct PluginAttribute {
  std::string name;
  std::variant<std::vector<int64_t>, std::vector<double>, std::string> value;
};

// Plugin(x0, x1, ...): what the object computes. Sizes that only a run decides are at their upper
// bound in the node's outputs; their elements lie at the beginning, one after the other. No pass
// looks inside, and there is no evaluate(): where its memory lies is the device's business.
struct PluginAttrs : AttrsOf<PluginAttrs> {
  // Null after text was parsed without it: it stands beside.
  std::shared_ptr<const PluginOp> plugin;
  std::string label;
  std::vector<Dim> sizes;       // values of the shape inputs, one after the other
  std::vector<int64_t> counts;  // how many of them each has

  PluginAttrs() = default;
  explicit PluginAttrs(std::shared_ptr<const PluginOp> object)
      : plugin(std::move(object)), label(plugin->label()) {}
  void addSizes(const std::vector<Dim>& values);
  std::vector<Shape> sizesByInput() const;

  void fields(AttrVisitor& visit) override {
    visit("plugin", label);
    visit("sizes", sizes);
    visit("counts", counts);
    ObjectPtr object = plugin;
    visit("object", object);
    plugin = std::static_pointer_cast<const PluginOp>(object);
  }
};

// Adds the node, and behind it what cuts results of run-time sizes out of their upper bounds; or
// the operators that the plugin stands for.
// Returns the plugin's outputs.
std::vector<Value*> addPlugin(Graph& graph, const std::string& name, std::vector<Value*> inputs,
                              PluginAttrs attrs, Node* before = nullptr);

}  // namespace camshaft
