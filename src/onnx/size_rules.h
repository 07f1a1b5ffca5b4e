// What import functions ask of sizes that only a run may know. Each throws where it never holds,
// and is checked by every run otherwise (SizeCondition).
#pragma once

#include <string_view>

#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

// "node 'b' (BatchNormalization): it has 2 scales where it needs 4"
void requireSize(const NodeImport& node, const Dim& have, std::string_view what, const Dim& want);

// The operand, where it is there, has this shape.
void requireShape(const NodeImport& node, const Value* operand, std::string_view what,
                  const Shape& shape);

// The operand broadcasts to the shape, not the other way round.
void requireBroadcastsTo(const NodeImport& node, const Value* operand, std::string_view what,
                         const Shape& shape);

// The shape that both broadcast to.
Shape broadcastShape(const NodeImport& node, const Shape& a, const Shape& b);

}  // namespace camshaft::onnx::importer
