// What an operator is: a name, attributes, inference and a naive evaluation.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/attrs.h"
#include "ir/dim.h"
#include "ir/tensor.h"

namespace camshaft {

struct Node;

struct TensorType {
  DataType type = DataType::kF32;
  Shape shape;
  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  friend bool operator==(const TensorType&, const TensorType&) = default;
};
std::string toString(const TensorType& type);  // "f32[n, 3, 224, 224]"

// Evaluation of one node on host tensors of concrete shape. Absent optional inputs have no data.
// Outputs are allocated by the caller with the inferred shape.
struct Evaluation {
  const Node& node;
  std::span<const ConstTensorView> inputs;
  std::span<const TensorView> outputs;
  SymbolValue symbolValue;  // for symbolic attributes

  int64_t resolve(const Dim& dim) const { return camshaft::evaluate(dim, symbolValue); }
};

struct OpInfo {
  std::string_view name;
  int minInputs;
  int maxInputs;  // -1: any number
  int outputs;    // -1: the attributes or the importer decide
  std::unique_ptr<Attrs> (*makeAttrs)();
  // Types of all outputs from the node's inputs and attributes. Throws Error naming the node when
  // the node breaks the operator's rules.
  std::vector<TensorType> (*infer)(const Node& node);
  // The plainest correct implementation: the oracle for every kernel, and constant folding. Null:
  // the operator is a user's, and its kernels alone can run it.
  void (*evaluate)(const Evaluation& evaluation);
  // Element values of output 0 as dimensions, when the inputs' are known (shape arithmetic).
  std::optional<std::vector<Dim>> (*contents)(const Node& node) = nullptr;
  // Symbols that get their values when the node runs: it reads them from a tensor, or its results
  // have these sizes. Null: none.
  std::vector<Dim> (*defines)(const Attrs& attrs) = nullptr;
  // Computes the further outputs from output 0 as it is stored, behind the node's epilogue. Null:
  // evaluate() computes all of them.
  void (*finish)(const ConstTensorView& result, std::span<const TensorView> others) = nullptr;
};

using Op = const OpInfo*;  // operators are compared by address: node.op == &ops::Conv

template <class A>
std::unique_ptr<Attrs> makeAttrsOf() {
  return std::make_unique<A>();
}

}  // namespace camshaft
