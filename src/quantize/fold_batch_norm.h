// Batch norms behind convolutions become part of their weights, so that what is quantised is what
// remains when the model runs.
#pragma once

#include "quantize/model_editor.h"

namespace camshaft {

// How many went. The convolution then gives the tensor that the batch norm gave.
int foldBatchNorms(ModelEditor& editor);

}  // namespace camshaft
