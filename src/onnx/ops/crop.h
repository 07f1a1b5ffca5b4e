// Boxes of pictures sampled to one size, with corners aligned. Places are [N, rows, columns, 2], x
// before y, in fractions of a picture.
#pragma once

#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

// Where the samples of boxes [R, 4], [y1, x1, y2, x2], lie: [R, height, width, 2].
Value* cropPlaces(const NodeImport& node, Value* boxes, const Dim& height, const Dim& width);

struct Sampling {
  bool nearest = false;
  double outside = 0;  // the value outside of a picture
};

// Pictures [N, C, H, W] at these places, [N, C, rows, columns].
Value* samplePlaces(const NodeImport& node, Value* pictures, Value* places,
                    const Sampling& sampling);

}  // namespace camshaft::onnx::importer
