#include "api/plugins/expressions.h"

#include <gtest/gtest.h>

#include "support/error.h"

namespace camshaft::api {
namespace {

using nvinfer1::DimensionOperation;

// What the operation gives for sizes a and b that only a run knows, at these sizes.
int64_t at(DimensionOperation op, int64_t a, int64_t b) {
  Expressions builder;
  const nvinfer1::DimsExprs given = builder.of({Dim::symbol("a"), Dim::symbol("b")});
  EXPECT_FALSE(given.d[0]->isConstant());
  EXPECT_EQ(given.d[0]->getConstantValue(), std::numeric_limits<int64_t>::min());
  const nvinfer1::DimsExprs made{1, {builder.operation(op, *given.d[0], *given.d[1])}};
  return evaluate(builder.shapeOf(made, 0)[0],
                  [&](const std::string& name) { return name == "a" ? a : b; });
}

TEST(Expressions, HaveAllOperations) {
  EXPECT_EQ(at(DimensionOperation::kSUM, 7, 3), 10);
  EXPECT_EQ(at(DimensionOperation::kPROD, 7, 3), 21);
  EXPECT_EQ(at(DimensionOperation::kMAX, 7, 3), 7);
  EXPECT_EQ(at(DimensionOperation::kMIN, 7, 3), 3);
  EXPECT_EQ(at(DimensionOperation::kSUB, 7, 3), 4);
  EXPECT_EQ(at(DimensionOperation::kFLOOR_DIV, 7, 3), 2);
  EXPECT_EQ(at(DimensionOperation::kCEIL_DIV, 7, 3), 3);
  for (const auto& [a, b] : {std::pair{2, 5}, {5, 2}, {4, 4}, {0, 1}}) {
    EXPECT_EQ(at(DimensionOperation::kLESS, a, b), a < b);
    EXPECT_EQ(at(DimensionOperation::kEQUAL, a, b), a == b);
  }
}

TEST(Expressions, OfConstantsAreConstants) {
  Expressions builder;
  const nvinfer1::IDimensionExpr* six =
      builder.operation(DimensionOperation::kPROD, *builder.constant(2), *builder.constant(3));
  ASSERT_TRUE(six);
  EXPECT_TRUE(six->isConstant());
  EXPECT_EQ(six->getConstantValue(), 6);
  EXPECT_FALSE(six->isSizeTensor());
}

std::string failureOf(const Expressions& builder) {
  try {
    builder.requireSound();
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

TEST(Expressions, KeepFailuresForTheCaller) {
  Expressions division;
  EXPECT_FALSE(division.operation(DimensionOperation::kFLOOR_DIV, *division.constant(2),
                                  *division.constant(0)));
  EXPECT_EQ(failureOf(division), "a size is divided by 0");
  Expressions unknown;
  EXPECT_FALSE(unknown.operation(static_cast<DimensionOperation>(99), *unknown.constant(2),
                                 *unknown.constant(1)));
  EXPECT_EQ(failureOf(unknown), "there is no operation 99 of sizes");
  Expressions size;
  const nvinfer1::IDimensionExpr* most = size.constant(9);
  const nvinfer1::IDimensionExpr* count = size.declareSizeTensor(1, *most, *most);
  ASSERT_TRUE(count);
  EXPECT_TRUE(count->isSizeTensor());
  EXPECT_TRUE(size.operation(DimensionOperation::kPROD, *count, *most));
  EXPECT_EQ(failureOf(size), "");
  EXPECT_FALSE(size.operation(DimensionOperation::kSUB, *most, *count));
  EXPECT_NE(failureOf(size).find("upper bound is none of it"), std::string::npos);
}

}  // namespace
}  // namespace camshaft::api
