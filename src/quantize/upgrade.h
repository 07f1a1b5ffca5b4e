// A model in a later opset of ai.onnx, with the same meaning: quantisation by channel came with 13,
// FP8 with 19, blocks and INT4 with 21.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "quantize/model_editor.h"

namespace camshaft {

// Older ones differ in too much.
inline constexpr int64_t kOldestOpset = 11;

using RankOf = std::function<std::optional<size_t>(std::string_view tensor)>;

int64_t opsetOf(const onnx::Model& model);  // of ai.onnx; 0: it imports none

// Does nothing where the model has this opset or a later one. Throws Error that names the node of
// which there is no equal in the later one. Functions of the model keep their opsets.
void upgradeOpset(ModelEditor& editor, int64_t opset, const RankOf& rankOf);

}  // namespace camshaft
