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

// Writes the node's outputs, epilogue applied, into memory of their sizes.
void evaluateNode(const Node& node, std::span<const ConstTensorView> inputs,
                  std::span<const TensorView> outputs, const SymbolValue& symbolValue);

// The node's outputs, epilogue applied. Inputs as node.inputs, absent ones without data.
std::vector<HostTensor> evaluateNode(const Node& node, std::span<const ConstTensorView> inputs,
                                     const SymbolValue& symbolValue);

// The graph's outputs for inputs in the order of graph.inputs. Throws Error naming the input when
// one does not fit its declared type.
std::vector<HostTensor> evaluateGraph(const Graph& graph, std::span<const ConstTensorView> inputs);

}  // namespace camshaft
