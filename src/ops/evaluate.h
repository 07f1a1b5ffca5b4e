// Runs nodes and graphs with the operators' own evaluate(): slow and plain, for constant folding,
// tests and as the oracle of every kernel.
#pragma once

#include <span>
#include <vector>

#include "ir/graph.h"

namespace camshaft {

// A tensor in host memory that owns its elements.
struct HostTensor {
  DataType type = DataType::kF32;
  Dims dims;
  std::vector<std::byte> bytes;

  HostTensor() = default;
  HostTensor(DataType type, Dims dims);
  explicit HostTensor(const ConstTensorView& view);

  int64_t count() const { return countOf(dims); }
  TensorView view() { return {type, dims, data()}; }
  ConstTensorView view() const { return {type, dims, const_cast<HostTensor*>(this)->data()}; }

 private:
  void* data();  // never null, so that an empty tensor counts as present
};

// What may be spent on results before run time, where a few bytes of a model can ask for any amount
// of work: a loop's iterations, a tensor filled with one number.
class EvaluationBudget {
 public:
  struct Spent {};  // thrown when something asks for more than is left

  EvaluationBudget(size_t bytes, int64_t nodes) : bytes_(bytes), nodes_(nodes) {}
  // One more node is evaluated, with a result of this type.
  void spend(DataType type, const Dims& dims);

 private:
  size_t bytes_;
  int64_t nodes_;
};

// Writes the node's outputs, epilogue applied, into memory of their sizes.
void evaluateNode(const Node& node, std::span<const ConstTensorView> inputs,
                  std::span<const TensorView> outputs, const SymbolValue& symbolValue);

// The node's outputs, epilogue applied. Inputs as node.inputs, absent ones without data. A budget,
// where one is given, pays for every node that runs, those of bodies too.
std::vector<HostTensor> evaluateNode(const Node& node, std::span<const ConstTensorView> inputs,
                                     const SymbolValue& symbolValue,
                                     EvaluationBudget* budget = nullptr);

// The graph's outputs for inputs in the order of graph.inputs. Throws Error naming the input when
// one does not fit its declared type.
std::vector<HostTensor> evaluateGraph(const Graph& graph, std::span<const ConstTensorView> inputs,
                                      EvaluationBudget* budget = nullptr);

}  // namespace camshaft
