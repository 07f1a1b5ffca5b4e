#pragma once

// Parameters of object detection plugins, as programs that hold them declare them.

#include "NvInferRuntimeCommon.h"

namespace nvinfer1::plugin {

// Default boxes of an SSD feature map, stepW by stepH apart; variances are those of the box
// encoding.
struct PriorBoxParameters {
  float *minSize, *maxSize, *aspectRatios;
  int32_t numMinSize, numMaxSize, numAspectRatios;
  bool flip;
  bool clip;
  float variance[4];
  int32_t imgH, imgW;
  float stepH, stepW;
  float offset;
};

// Region proposals and their pooling.
struct RPROIParams {
  int32_t poolingH, poolingW;
  int32_t featureStride;
  int32_t preNmsTop;
  int32_t nmsMaxOut;
  int32_t anchorsRatioCount, anchorsScaleCount;
  float iouThreshold;
  float minBoxSize;
  float spatialScale;
};

// Anchors of a grid of H by W cells.
struct GridAnchorParameters {
  float minSize, maxSize;
  float* aspectRatios;
  int32_t numAspectRatios, H, W;
  float variance[4];
};

enum class CodeTypeSSD : int32_t {
  CORNER = 0,
  CENTER_SIZE = 1,
  CORNER_SIZE = 2,
  TF_CENTER = 3,
};

struct DetectionOutputParameters {
  bool shareLocation, varianceEncodedInTarget;
  int32_t backgroundLabelId, numClasses, topK, keepTopK;
  float confidenceThreshold, nmsThreshold;
  CodeTypeSSD codeType;
  int32_t inputOrder[3];  // of location, confidence and prior boxes
  bool confSigmoid;
  bool isNormalized;
  bool isBatchAgnostic{true};
};

// Classes as a tree, each group of siblings with a softmax of its own.
struct softmaxTree {
  int32_t* leaf;
  int32_t n;
  int32_t* parent;
  int32_t* child;
  int32_t* group;
  char** name;
  int32_t groups;
  int32_t* groupSize;
  int32_t* groupOffset;
};

struct RegionParameters {
  int32_t num;
  int32_t coords;
  int32_t classes;
  softmaxTree* smTree;
};

struct NMSParameters {
  bool shareLocation;
  int32_t backgroundLabelId, numClasses, topK, keepTopK;
  float scoreThreshold, iouThreshold;
  bool isNormalized;
};

}  // namespace nvinfer1::plugin
