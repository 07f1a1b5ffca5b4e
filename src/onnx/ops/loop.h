// Loops as the IR has them, from the body and what goes in.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "onnx/body_import.h"
#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

struct LoopInputs {
  Value* trips = nullptr;      // an i64 scalar; null: no limit
  Value* condition = nullptr;  // a bool scalar; null: true
  std::vector<Value*> carried;
};

// The trip count and the condition of a Loop node, and the inputs of its body for them.
LoopInputs limitsOf(const NodeImport& node);
void addLimits(BodyImport& body);
// Refuses a body that does not take and give this many carried values.
void checkCarried(const NodeImport& node, const wire::Graph& body, size_t count);

// Whether a tensor of this shape has one element, whatever its rank. Exporters mix up scalars and
// vectors of one in bodies.
bool isSingle(const Shape& shape);

// Makes a body: adds inputs of these types for iteration, condition and carried values in this
// order, and imports. The outputs are condition, carried values and scans; none: it has problems.
using BodyMaker =
    std::function<std::vector<Value*>(BodyImport& body, const std::vector<TensorType>& carried)>;

// x[..., index, ...] of a value of the body.
Value* elementAt(Graph& graph, const std::string& name, Value* x, Value* index, int64_t axis);
// The outputs of a body whose loop only ends by its trip count.
std::vector<Value*> goingOn(Graph& graph, std::vector<Value*> outputs);

// Adds the loop and returns its outputs: the last carried values, then the scans stacked.
std::vector<Value*> addLoop(NodeImport& node, const LoopInputs& inputs,
                            const std::function<std::unique_ptr<BodyImport>()>& newBody,
                            const BodyMaker& make);

}  // namespace camshaft::onnx::importer
