#include "engine/layer_work.h"

#include <gtest/gtest.h>

namespace camshaft {
namespace {

Operand tensor(std::vector<int64_t> dims, DataType type = DataType::kF32,
               Place place = Place::kArena) {
  Operand operand{.place = place, .tensor = {.type = type}};
  for (const int64_t dim : dims) operand.tensor.dims.push_back({.constant = dim});
  return operand;
}

Step layer(const char* type, std::vector<Operand> inputs, std::vector<Operand> outputs,
           std::vector<std::pair<std::string, std::string>> attributes = {}) {
  Step step{.inputs = std::move(inputs), .outputs = std::move(outputs)};
  step.info.layerType = type;
  step.info.attributes = std::move(attributes);
  return step;
}

TEST(LayerWork, ConvolutionsHaveTheirPatches) {
  const Step conv = layer(
      "Conv", {tensor({1, 8, 8, 3})}, {tensor({1, 4, 4, 16})},
      {{"constant_shapes", "[null,[16,3,5,5],[16]]"}, {"epilogue", "relu(add(x0:f32, x1:f32))"}});
  EXPECT_EQ(operationsOf(conv), 4 * 4 * 16 * (2 * 3 * 5 * 5 + 2));
  const Step transposed = layer("ConvTranspose", {tensor({1, 8, 8, 3})}, {tensor({1, 16, 16, 4})},
                                {{"constant_shapes", "[null,[3,4,2,2]]"}});
  EXPECT_EQ(operationsOf(transposed), 2 * 8 * 8 * 3 * 4 * 2 * 2);
  EXPECT_EQ(operationsOf(layer("Conv", conv.inputs, conv.outputs)), -1);
}

TEST(LayerWork, ProductsHaveTheLengthOfTheirSums) {
  const std::vector<Operand> result{tensor({6, 5})};
  EXPECT_EQ(operationsOf(layer("MatMul", {tensor({6, 7}), tensor({7, 5})}, result)), 2 * 6 * 5 * 7);
  EXPECT_EQ(operationsOf(layer("MatMul", {tensor({7, 6}), tensor({7, 5})}, result,
                               {{"transpose_a", "true"}})),
            2 * 6 * 5 * 7);
  EXPECT_EQ(operationsOf(layer("MatMul", {tensor({6, 7})}, result,
                               {{"transpose_b", "true"}, {"constant_shapes", "[null,[5,7]]"}})),
            2 * 6 * 5 * 7);
  const Step attention =
      layer("Attention", {tensor({1, 2, 9, 4}), tensor({1, 2, 11, 4}), tensor({1, 2, 11, 4})},
            {tensor({1, 2, 9, 4})});
  EXPECT_EQ(operationsOf(attention), 4 * 2 * 9 * 11 * 4);
  const std::vector<Operand> pixels(3, tensor({2, 24, 8}));
  EXPECT_EQ(operationsOf(layer("Attention", pixels, {pixels[0]}, {{"windows", "[4,6,2,3,1,0]"}})),
            4 * 2 * 24 * 8 * 6);
  EXPECT_EQ(operationsOf(layer("NormMatMul", {tensor({6, 7}), tensor({7, 5})}, result)),
            2 * 6 * 5 * 7);
}

TEST(LayerWork, MovesAreNoOperationsAndOthersAreCountedByElement) {
  const std::vector<Operand> a{tensor({3, 4})};
  EXPECT_EQ(operationsOf(layer("Transpose", a, {tensor({4, 3})})), 0);
  EXPECT_EQ(operationsOf(layer("Pointwise", a, a, {{"expr", "mul(sigmoid(x0:f32), x0:f32)"}})), 24);
  EXPECT_EQ(operationsOf(layer("Softmax", a, a)), 5 * 12);
  EXPECT_EQ(operationsOf(layer("Pool", a, {tensor({2})}, {{"kernel", "[3, 3]"}})), 18);
  EXPECT_EQ(operationsOf(layer("Dft", a, a)), -1) << "nobody counted it";
}

TEST(LayerWork, BytesAreThoseOfAllOperands) {
  const Operand weights = tensor({5}, DataType::kI8, Place::kWeights);
  EXPECT_EQ(bytesMoved(layer("Conv", {tensor({2, 3}), weights, {}}, {tensor({4})})), 24 + 5 + 16);
  EXPECT_EQ(bytesMoved(layer("Gather", {tensor({1000, 4}), tensor({2}, DataType::kI64)},
                             {tensor({2, 4})})),
            32 + 16 + 32)
      << "of the table what is looked up";
  Step dynamic = layer("Softmax", {tensor({2, 3})}, {tensor({2, 3})});
  dynamic.outputs[0].tensor.dims[0] = {.slot = 0};
  EXPECT_EQ(bytesMoved(dynamic), -1);
  EXPECT_EQ(operationsOf(dynamic), -1);
}

TEST(LayerWork, WhatFilesSayMayBeAnything) {
  for (const char* shapes :
       {"[null,[]]", "[null,[0,3]]", "[null,[-1,3]]", "[null,\"x\"]", "{", "7"})
    EXPECT_LT(
        operationsOf(layer("Conv", {tensor({2, 3})}, {tensor({4})}, {{"constant_shapes", shapes}})),
        0)
        << shapes;
  const int64_t huge = int64_t{1} << 40;
  EXPECT_EQ(bytesMoved(layer("Softmax", {tensor({huge, huge})}, {tensor({huge})})), -1);
}

}  // namespace
}  // namespace camshaft
