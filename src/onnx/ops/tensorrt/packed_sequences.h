// Sequences one after the other, without filling. A vector says where each begins, and in its last
// element where the last one ends.
#pragma once

#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

// Where the sequence of each word begins, i64 [words].
Value* beginOfSequences(const NodeImport& node, Value* begins, const Dim& words);
// The place of each word in its sequence, i64 [words].
Value* placesInSequences(const NodeImport& node, Value* begins, const Dim& words);

}  // namespace camshaft::onnx::importer
