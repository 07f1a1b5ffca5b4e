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
  Verifier(const Graph& graph, std::string_view stage)
      : graph_(graph), stage_(stage), values_(graph.values()) {}

  void run() {
    facts_.reserve(values_.size());
    for (const Value* value : values_) facts_.emplace(value, Facts{});
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
      for (const Value* output : node->outputs) facts_.at(output).isComputed = true;
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
    const auto facts = facts_.find(value);
    return facts != facts_.end() && (facts->second.isComputed || value->isConstant());
  }

  void checkValues() const {
    const std::unordered_set<const Value*> inputs(graph_.inputs.begin(), graph_.inputs.end());
    for (const Value* value : values_) {
      if (graph_.find(value->name) != value)
        stop("value '", value->name, "' is filed under another name");
      if (inputs.contains(value) + value->isConstant() + (value->producer != nullptr) != 1)
        stop("value '", value->name, "' must be one of: input, constant, output of a node");
    }
    std::set<std::string_view> names;
    for (const auto& output : graph_.outputs)
      if (!names.insert(output.name).second) stop("two outputs are named '", output.name, "'");
  }

  void bindInputs() {
    for (const Value* input : graph_.inputs) {
      const auto facts = facts_.find(input);
      if (facts == facts_.end()) stop("an input of the graph is a value that was dropped");
      facts->second.isComputed = true;
      for (const Dim& dim : input->shape()) collectSymbols(dim, bound_);
    }
    for (const std::string& name : bound_) checkDeclared(name, "an input");
  }

  // Bounds of symbols lead from one to the next, and must end. Each is followed once: a symbol is
  // open while those that its bound leads to are.
  void checkBounds() const {
    std::unordered_set<std::string> open, done;
    for (const auto& [first, info] : graph_.symbols) {
      for (std::vector<std::string> path{first}; !path.empty();) {
        const std::string name = path.back();
        if (open.contains(name) || done.contains(name)) {
          path.pop_back();
          open.erase(name);
          done.insert(name);
          continue;
        }
        open.insert(name);
        std::set<std::string> next;
        const auto it = graph_.symbols.find(name);
        if (it != graph_.symbols.end() && it->second.upper) collectSymbols(*it->second.upper, next);
        for (const std::string& one : next) {
          if (open.contains(one)) stop("the bound of dimension '", one, "' depends on itself");
          if (!done.contains(one)) path.push_back(one);
        }
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
      const auto facts = facts_.find(input);
      if (facts == facts_.end()) stop(describe(node), " reads a value that was dropped");
      if (!facts->second.isComputed && !input->isConstant())
        stop(describe(node), " reads '", input->name, "' before it is computed");
      facts->second.readers.add(&node);
    }
  }

  void checkOutputs(const Node& node) const {
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const Value* output = node.outputs[i];
      if (!facts_.contains(output)) stop(describe(node), " has an output that was dropped");
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

  void checkUsers() const {
    for (const Value* value : values_) {
      const Facts& facts = facts_.at(value);
      Readers listed;
      for (const Node* user : value->users) listed.add(user);
      if (listed != facts.readers) stop("the list of users of '", value->name, "' is wrong");
      if (value->producer && !facts.isComputed)
        stop("'", value->name, "' is the output of a node that is not in the graph");
    }
  }

  // A list of nodes in any order, by its length and a sum of what they hash to: there may be as
  // many as nodes.
  struct Readers {
    size_t count = 0, sum = 0;
    void add(const Node* node) {
      const size_t mixed = reinterpret_cast<uintptr_t>(node) * 0x9e3779b97f4a7c15;
      ++count;
      sum += (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9;
    }
    friend bool operator==(const Readers&, const Readers&) = default;
  };
  struct Facts {
    bool isComputed = false;
    Readers readers;
  };

  const Graph& graph_;
  const std::string_view stage_;
  const std::vector<Value*> values_;
  std::unordered_map<const Value*, Facts> facts_;
  std::set<std::string> bound_;
};

}  // namespace

void verify(const Graph& graph, std::string_view stage) { Verifier(graph, stage).run(); }

}  // namespace camshaft
