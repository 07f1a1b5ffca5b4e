#include "support/onnx_layer.h"

#include <gtest/gtest.h>

namespace camshaft {
namespace {

TEST(OnnxLayer, TextsHaveNamesAndProperties) {
  EXPECT_EQ(onnxLayerText("conv"), "[ONNX Layer: conv]");
  EXPECT_EQ(onnxLayerText("conv", "Local Function: f"), "[ONNX Layer: conv | Local Function: f]");
  EXPECT_EQ(onnxLayerName("[ONNX Layer: a/b[0]]"), "a/b[0]");
  EXPECT_EQ(onnxLayerName("[ONNX Layer: conv | Local Function: f]"), "conv");
  EXPECT_EQ(onnxLayerName("[ONNX Layer: ]"), "");
  EXPECT_EQ(onnxLayerName("a layer"), "a layer");
  EXPECT_EQ(withProperty("[ONNX Layer: a | b]", "c"), "[ONNX Layer: a | b | c]");
  EXPECT_EQ(withProperty("mine", "c"), "c");
}

}  // namespace
}  // namespace camshaft
