// What goes from a model without knowing its operators.
#pragma once

#include <vector>

#include "onnx/wire/read_model.h"
#include "onnx/wire/tensor.h"

namespace camshaft {

// In the graph and all bodies inside it, constants become initializers, and copies and nodes that
// nothing reads go. Returns what the model's new views point to.
std::vector<onnx::TensorBytes> tidy(onnx::LoadedModel& model);

}  // namespace camshaft
