// For tests of kernels: a node as text, random operands, what its evaluate() makes of them, and the
// node prepared for a kernel. Backends run the kernels (backends/NAME/kernel_harness.h).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backend/kernel.h"
#include "ops/evaluate.h"
#include "ops/ops.h"
#include "support/text.h"
#include "testing/random_tensor.h"

namespace camshaft {

using Sizes = std::vector<std::map<std::string, int64_t>>;

struct HarnessCase {
  // Graph text with one node, or several of which the last is the one under test:
  // "symbols n graph g(%x: f32[n, 3]) { %y = Softmax(%x) {axis = 1} return %y }"
  std::string graph;
  // Values of the symbols, one map per run. The kernel is prepared once for all runs.
  Sizes sizes = {{}};
  // Graph inputs that become constants of random data before the kernel is prepared.
  std::set<std::string> constants;
  // Bounds of random data by input: [low, high]. Otherwise floats are normal, integers small.
  std::map<std::string, std::pair<double, double>> ranges;
  // These values, again and again, instead of random data by input.
  std::map<std::string, std::vector<double>> values;
  // |got - want| <= tolerance * (1 + |want|). Negative: by the type of the output.
  double tolerance = -1;
  std::string only;                       // this kernel alone
  DataType productType = DataType::kF32;  // what the build lets products round f32 to
};

// The node under test with the data of one run.
struct Problem {
  const Node& node;
  std::map<std::string, int64_t> sizes;
  std::vector<HostTensor> inputs = {};  // parallel to node.inputs
  std::vector<HostTensor> wanted = {};

  int64_t valueOf(const Dim& dim) const { return evaluate(dim, symbolValue()); }
  Dims dimsOf(const Value& value) const {
    Dims dims;
    for (const Dim& dim : value.shape()) dims.push_back(valueOf(dim));
    return dims;
  }
  SymbolValue symbolValue() const {
    return [this](const std::string& name) {
      const auto it = sizes.find(name);
      if (it == sizes.end())
        fail(ErrorKind::kInvalidArgument, "the test gives no value for symbol ", name);
      return it->second;
    };
  }
};

class Harness {
 public:
  explicit Harness(const HarnessCase& testCase)
      : case_(testCase), graph_(parseGraph(testCase.graph, findOp)) {
    for (const std::string& name : case_.constants) makeConstant(graph_.find(name));
    verify(graph_, "parse");
  }
  const Node& node() const { return *graph_.nodes().back(); }

  // Random operands, without the results that they should have.
  Problem operands(const std::map<std::string, int64_t>& sizes) {
    Problem problem{node(), sizes};
    for (const Value* value : node().inputs) {
      if (value && !value->isConstant()) {
        problem.inputs.emplace_back(value->dataType(), problem.dimsOf(*value));
        fill(problem.inputs.back(), value->name);
      } else {
        problem.inputs.push_back(value ? HostTensor(value->view()) : HostTensor());
      }
    }
    return problem;
  }
  Problem problem(const std::map<std::string, int64_t>& sizes) {
    Problem problem = operands(sizes);
    std::vector<ConstTensorView> views;
    for (size_t i = 0; i < problem.inputs.size(); ++i)
      views.push_back(node().inputs[i] ? std::as_const(problem.inputs[i]).view()
                                       : ConstTensorView());
    problem.wanted = evaluateNode(node(), views, problem.symbolValue());
    return problem;
  }

  BuildTarget target{.isPresent = false};
  // A build for all sizes of the case, the first being opt.
  BuildContext context(int threads = 1) const {
    BuildContext context{.target = target, .threads = threads, .productType = case_.productType};
    const auto valueIn = [](const Dim& dim, const std::map<std::string, int64_t>& sizes) {
      return evaluate(dim, [&](const std::string& name) { return sizes.at(name); });
    };
    context.opt = [=, this](const Dim& dim) { return valueIn(dim, case_.sizes.front()); };
    context.min = [=, this](const Dim& dim) {
      int64_t smallest = DimRange::kUnbounded;
      for (const auto& sizes : case_.sizes) smallest = std::min(smallest, valueIn(dim, sizes));
      return smallest;
    };
    context.max = [=, this](const Dim& dim) {
      int64_t largest = 0;
      for (const auto& sizes : case_.sizes) largest = std::max(largest, valueIn(dim, sizes));
      return largest;
    };
    return context;
  }
  Verdict supports(const Kernel& kernel) const { return kernel.supports(node(), context()); }
  Prepared prepare(const Kernel& kernel, int64_t config, int threads = 1) const {
    Prepared prepared = kernel.prepare(node(), context(threads), config);
    packNow(prepared);
    return prepared;
  }
  // Those worth timing.
  std::vector<int64_t> configurations(const Kernel& kernel) const {
    return kernel.configurations ? kernel.configurations(node(), context())
                                 : std::vector<int64_t>{0};
  }

 private:
  void fill(HostTensor& tensor, const std::string& name) {
    const auto range = case_.ranges.find(name);
    const auto values = case_.values.find(name);
    if (values == case_.values.end()) {
      fillRandom(tensor, generator_, range == case_.ranges.end() ? nullptr : &range->second);
      return;
    }
    for (int64_t i = 0; i < tensor.count(); ++i)
      writeElement(tensor.type, tensor.view().data, i, values->second[i % values->second.size()]);
  }
  void makeConstant(Value* input) {
    ASSERT_NE(input, nullptr);
    HostTensor data(input->dataType(), staticDims(input->shape()));
    fill(data, input->name);
    Value* constant = graph_.addConstant(graph_.uniqueName(input->name + "_data"), input->type,
                                         ConstantData::own(data.bytes));
    graph_.replaceUses(input, constant);
    graph_.removeInput(input);
  }

  const HarnessCase& case_;
  Graph graph_;
  std::mt19937 generator_{12345};
};

// What each kernel says to the node: "cpu/x: reason; cpu/y: yes".
inline std::string verdictsOf(KernelList kernels, const Harness& harness) {
  std::string reasons;
  for (const Kernel& kernel : kernels) {
    const Verdict verdict = harness.supports(kernel);
    reasons +=
        str(reasons.empty() ? "" : "; ", kernel.name, ": ", verdict ? "yes" : verdict.reason);
  }
  return reasons;
}

}  // namespace camshaft
