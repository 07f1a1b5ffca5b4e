// The boxes of each image that non-maximum suppression leaves, as a fixed number of results.
#pragma once

#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

struct Candidates {
  Value* boxes;    // f32, two opposite corners: [N, B, 4], or for each class [N, B, C, 4]
  Value* overlap;  // of what the overlap is computed, like the boxes; null: of them
  Value* scores;   // f32 [N, B, C]
};

struct Suppression {
  float iouThreshold = 0.5F;  // boxes that overlap a better one by more are dropped
  float scoreThreshold = 0;   // only scores above it count
  int64_t candidates = 0;     // per image and class, the best ones; 0: all
  Dim results;                // per image; fewer are filled up
  Dim perClass;               // per image and class at most
  Dim background = -1;        // a class that does not count
  bool agnostic = false;      // boxes of any class are compared
  double noClass = 0;         // the class where there is no result; its score and box are 0
};

struct Detections {
  Value* counts;   // i32 [N, 1]
  Value* boxes;    // [N, results, 4]
  Value* scores;   // [N, results], best first
  Value* classes;  // i64 [N, results]
  Value* isFound;  // bool [N, results]
};

Detections detect(const NodeImport& node, const Candidates& candidates,
                  const Suppression& suppression);

// The best `before` boxes of each image, [N, B, 4] by scores [N, B], and of these what suppression
// leaves: [N, after, 4], best first, zeros behind. No score is too low.
Value* propose(const NodeImport& node, Value* boxes, Value* scores, const Dim& before,
               int64_t after, double iouThreshold);

// What is above the largest number below the threshold is at least the threshold.
float atLeastThreshold(double threshold);

}  // namespace camshaft::onnx::importer
