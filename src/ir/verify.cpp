// The invariants every pass must keep.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/attrs_text.h"
#include "ir/graph.h"
#include "support/error.h"

namespace camshaft {
namespace {

class Verifier {
 public:
  Verifier(const Graph& graph, std::string_view stage) : graph_(graph), stage_(stage) {}

  void run() {
    for (const Value* value : graph_.values()) known_.insert(value);
    checkValues();
    checkBounds();
    bindInputs();
    for (const auto& node : graph_.nodes()) {
      checkInputs(*node);
      checkOutputs(*node);
      checkTypes(*node);
      checkEpilogue(*node);
      checkSymbols(*node);
      checkBodies(*node);
      for (const Value* output : node->outputs) computed_.insert(output);
    }
    checkUsers();
    for (const auto& output : graph_.outputs)
      if (!isComputed(output.value))
        stop("output '", output.name, "' is a value that is no longer computed");
  }

 private:
  template <class... Args>
  [[noreturn]] void stop(const Args&... args) const {
    fail(ErrorKind::kInternal, "after ", stage_, ": ", args...);
  }

  // Pointers are only followed once they are known to belong to the graph.
  bool isComputed(const Value* value) const {
    return known_.contains(value) && (value->isConstant() || computed_.contains(value));
  }

  void checkValues() const {
    for (const Value* value : graph_.values()) {
      if (graph_.find(value->name) != value)
        stop("value '", value->name, "' is filed under another name");
      const bool isInput =
          std::find(graph_.inputs.begin(), graph_.inputs.end(), value) != graph_.inputs.end();
      if (isInput + value->isConstant() + (value->producer != nullptr) != 1)
        stop("value '", value->name, "' must be one of: input, constant, output of a node");
    }
    std::set<std::string_view> names;
    for (const auto& output : graph_.outputs)
      if (!names.insert(output.name).second) stop("two outputs are named '", output.name, "'");
  }

  void bindInputs() {
    for (const Value* input : graph_.inputs) {
      if (!known_.contains(input)) stop("an input of the graph is a value that was dropped");
      computed_.insert(input);
      for (const Dim& dim : input->shape()) collectSymbols(dim, bound_);
    }
    for (const std::string& name : bound_) checkDeclared(name, "an input");
  }

  // Bounds of symbols lead from one to the next, and must end.
  void checkBounds() const {
    for (const auto& [name, info] : graph_.symbols) {
      std::set<std::string> reached;
      for (std::vector<std::string> open{name}; !open.empty();) {
        const auto it = graph_.symbols.find(open.back());
        open.pop_back();
        std::set<std::string> next;
        if (it != graph_.symbols.end() && it->second.upper)
          collectSymbols(*it->second.upper, next);
        if (next.contains(name)) stop("the bound of dimension '", name, "' depends on itself");
        for (const std::string& one : next)
          if (reached.insert(one).second) open.push_back(one);
      }
    }
  }

  void checkDeclared(const std::string& name, const std::string& who) const {
    if (!graph_.symbols.contains(name))
      stop(who, " uses the dimension '", name, "', which is not declared");
  }

  void checkInputs(const Node& node) {
    for (const Value* input : node.inputs) {
      if (!input) continue;
      if (!known_.contains(input)) stop(describe(node), " reads a value that was dropped");
      if (!isComputed(input))
        stop(describe(node), " reads '", input->name, "' before it is computed");
      ++uses_[input][&node];
    }
  }

  void checkOutputs(const Node& node) const {
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const Value* output = node.outputs[i];
      if (!known_.contains(output)) stop(describe(node), " has an output that was dropped");
      if (output->producer != &node || output->index != static_cast<int>(i))
        stop("'", output->name, "' does not know that ", describe(node), " computes it");
    }
  }

  void checkTypes(const Node& node) const {
    std::vector<TensorType> types;
    try {
      types = node.op->infer(node);
    } catch (const Error& error) {
      stop(error.message());
    }
    if (types.size() != node.outputs.size())
      stop(describe(node), " has the wrong number of outputs");
    if (node.epilogue && !types.empty()) {
      if (types[0].type != node.epilogue->expr.inputType(0))
        stop("the epilogue of ", describe(node), " reads ", node.epilogue->expr.inputType(0),
             " where the result is ", types[0]);
      types[0].type = node.epilogue->expr.resultType();
    }
    for (size_t i = 0; i < types.size(); ++i)
      if (types[i] != node.outputs[i]->type)
        stop("output '", node.outputs[i]->name, "' of ", describe(node), " is recorded as ",
             node.outputs[i]->type, " and infers to ", types[i]);
  }

  void checkEpilogue(const Node& node) const {
    if (!node.epilogue) return;
    const Expr& expr = node.epilogue->expr;
    const int extra = static_cast<int>(node.inputs.size()) - node.epilogue->firstInput;
    if (node.outputs.empty() || extra < 0 || expr.inputCount() != extra + 1)
      stop("the epilogue of ", describe(node), " reads ", expr.inputCount(), " inputs and has ",
           extra + 1);
    for (int i = 0; i < extra; ++i) {
      const Value* input = node.inputs[node.epilogue->firstInput + i];
      if (!input) stop("an input of the epilogue of ", describe(node), " is missing");
      if (input->dataType() != expr.inputType(i + 1))
        stop("the epilogue of ", describe(node), " reads '", input->name, "' as ",
             expr.inputType(i + 1));
      if (!broadcastsTo(input->shape(), node.outputs[0]->shape()))
        stop("'", input->name, "' of shape ", input->shape(),
             " does not broadcast to the result of ", describe(node), ", ",
             node.outputs[0]->shape());
    }
  }

  // Two different symbols may be equal at run time, a number other than 1 and another one cannot.
  static bool broadcastsTo(const Shape& from, const Shape& to) {
    if (from.size() > to.size()) return false;
    for (size_t i = 0; i < from.size(); ++i) {
      const Dim& a = from[from.size() - 1 - i];
      const Dim& b = to[to.size() - 1 - i];
      if (a.isConstant() && b.isConstant() && !a.isConstant(1) && a != b) return false;
    }
    return true;
  }

  // Symbols have values when a node that uses them runs, unless it defines them.
  void checkSymbols(const Node& node) {
    std::set<std::string> names;
    collectSymbols(*node.attrs, names);
    for (const Value* output : node.outputs)
      for (const Dim& dim : output->shape()) collectSymbols(dim, names);
    const std::set<std::string> defined = symbolsDefined(node);
    for (const std::string& name : defined) {
      checkDeclared(name, describe(node));
      if (!bound_.insert(name).second)
        stop(describe(node), " defines the dimension '", name, "', which has a value already");
    }
    for (const std::string& name : names) {
      checkDeclared(name, describe(node));
      if (!bound_.contains(name))
        stop(describe(node), " uses the dimension '", name, "' before it has a value");
    }
  }

  void checkBodies(const Node& node) const {
    for (const Graph* body : bodiesOf(node)) {
      if (!body) stop(describe(node), " lacks a body");
      verify(*body, str(stage_, ", in ", describe(node)));
    }
  }

  void checkUsers() {
    for (const Value* value : graph_.values()) {
      std::unordered_map<const Node*, int> listed;
      for (const Node* user : value->users) ++listed[user];
      if (listed != uses_[value]) stop("the list of users of '", value->name, "' is wrong");
      if (value->producer && !computed_.contains(value))
        stop("'", value->name, "' is the output of a node that is not in the graph");
    }
  }

  const Graph& graph_;
  const std::string_view stage_;
  std::unordered_set<const Value*> known_, computed_;
  std::unordered_map<const Value*, std::unordered_map<const Node*, int>> uses_;
  std::set<std::string> bound_;
};

}  // namespace

void verify(const Graph& graph, std::string_view stage) { Verifier(graph, stage).run(); }

}  // namespace camshaft
