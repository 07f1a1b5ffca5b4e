#pragma once

#include "onnx/node_import.h"
#include "ops/sample.h"

namespace camshaft::onnx::importer {

// What of a Resize is known at run time only. One entry per axis that is resized.
struct RunTimeResize {
  std::vector<int64_t> axes;
  std::vector<Dim> sizes;   // of the output
  Value* scales = nullptr;  // f32 vector; null: output over input
  Value* region = nullptr;  // f32 vector, starts then ends; where coordinates crop
};

// floor(size * scale) along the axes, computed while running.
std::vector<Dim> scaledSizes(const NodeImport& node, const Value* x,
                             const std::vector<int64_t>& axes, Value* scales, Value* region);
// One scale for all axes, so that the result fits into (or, `larger`, covers) the asked sizes.
RunTimeResize keepAspectRatio(const NodeImport& node, const Value* x,
                              const std::vector<int64_t>& axes, const std::vector<Dim>& sizes,
                              bool larger);

// The resized tensor, axis by axis: neighbours are gathered at positions computed while running,
// and weighted. Mode, coordinates and the like are those of `attrs`.
Value* resizeAtRunTime(const NodeImport& node, Value* x, const RunTimeResize& resize,
                       const ResizeAttrs& attrs);

}  // namespace camshaft::onnx::importer
