#include "backends/cpu/pointwise/epilogue_program.h"

#include <gtest/gtest.h>

#include <random>

#include "backends/cpu/gemm/epilogue.h"
#include "backends/cpu/pointwise/prepare_program.h"
#include "ops/pointwise.h"

namespace camshaft::cpu::pointwise {
namespace {

std::vector<float> randomFloats(int64_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = normal(generator);
  return values;
}

TensorArg argOf(std::vector<float>& data, const Dims& dims) {
  TensorArg arg{.data = data.data(), .rank = static_cast<int32_t>(dims.size())};
  std::ranges::copy(dims, arg.dims);
  return arg;
}

// Applies the expression to [2, rows, columns] block by block and compares with evaluateExpr.
void check(int64_t rows, int64_t columns, int64_t blockRows, int64_t blockColumns) {
  SCOPED_TRACE(str(rows, " x ", columns, " in blocks of ", blockRows, " x ", blockColumns));
  const Expr expr =
      parseExpr("mul(relu(add(add(x0:f32, x1:f32), mul(x2:f32, x3:f32))), add(x4:f32, 2:f32))");
  ASSERT_EQ(whyNotEpilogue(expr), "");
  const Dims resultDims{2, rows, columns};
  std::vector<Dims> dims = {{columns}, {rows, 1}, {2, rows, columns}, {}};
  std::vector<float> result = randomFloats(2 * rows * columns, 1);
  std::vector<std::vector<float>> data;
  for (const Dims& d : dims)
    data.push_back(randomFloats(countOf(d), static_cast<uint32_t>(data.size()) + 2));

  std::vector<float> want(result.size());
  std::vector<ConstTensorView> views{{DataType::kF32, resultDims, result.data()}};
  std::vector<TensorArg> operands;
  for (size_t i = 0; i < dims.size(); ++i) {
    views.emplace_back(DataType::kF32, dims[i], data[i].data());
    operands.push_back(argOf(data[i], dims[i]));
  }
  evaluateExpr(expr, views, {DataType::kF32, resultDims, want.data()});

  ByteWriter writer;
  writeProgram(writer, compile(expr));
  ByteReader reader(writer.bytes());
  const EpilogueProgram program(readProgram(reader));
  EXPECT_EQ(program.operandCount(), 4);
  BoundEpilogue bound(program, operands, argOf(result, resultDims));
  cpu::Epilogue epilogue;
  epilogue.post = BoundEpilogue::post;
  epilogue.postContext = &bound;
  for (int64_t matrix = 0; matrix < 2; ++matrix)
    for (int64_t r = 0; r < rows; r += blockRows)
      for (int64_t c = 0; c < columns; c += blockColumns)
        epilogue.post(epilogue.postContext, result.data() + (matrix * rows + r) * columns + c, r, c,
                      std::min(blockRows, rows - r), std::min(blockColumns, columns - c), columns);
  for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(result[i], want[i], 1e-5) << "element " << i;
}

TEST(EpilogueProgram, BlocksOfEveryShape) {
  check(1, 1, 1, 1);
  check(7, 5, 3, 2);
  check(14, 100, 14, 48);
  check(33, 130, 8, 130);
  check(3, 3000, 2, 3000);
  check(50, 1, 50, 1);
}

TEST(EpilogueProgram, RefusesOperandsThatAreLeftOut) {
  const EpilogueProgram program(compile(parseExpr("add(x0:f32, x1:f32)")));
  std::vector<float> result(6);
  const TensorArg leftOut;
  EXPECT_THROW(BoundEpilogue(program, {&leftOut, 1}, argOf(result, {2, 3})), Error);
}

TEST(EpilogueProgram, RefusesOtherTypes) {
  EXPECT_NE(whyNotEpilogue(parseExpr("cast(x0:f32, f16)")), "");
}

TEST(Program, DamagedBytesAreRefused) {
  ByteWriter writer;
  writeProgram(writer, compile(parseExpr("relu(add(x0:f32, x1:f32))")));
  for (size_t length = 0; length < writer.bytes().size(); ++length) {
    ByteReader reader(writer.bytes().first(length));
    EXPECT_THROW(readProgram(reader), Error);
  }
  const auto expectRefused = [](auto&& damage) {
    Program program = compile(parseExpr("relu(add(x0:f32, x1:f32))"));
    damage(program);
    ByteWriter damaged;
    writeProgram(damaged, program);
    ByteReader reader(damaged.bytes());
    EXPECT_THROW(readProgram(reader), Error);
  };
  expectRefused([](Program& program) { program.code[0].b.index = 2; });
  // Elements of another width than the tensor's would be read, or written, beyond its end.
  expectRefused([](Program& program) { program.inputs[1] = DataType::kBool; });
  expectRefused([](Program& program) { program.result = DataType::kF16; });
  expectRefused([](Program& program) { program.code[1].op = Opcode::kWhere; });
}

TEST(Program, SlotsAreSharedByLiveness) {
  const Program program =
      compile(parseExpr("t0 = exp(x0:f32); add(mul(sigmoid(relu(neg(t0))), t0), 1:f32)"));
  EXPECT_EQ(program.slots, 2);
}

}  // namespace
}  // namespace camshaft::cpu::pointwise
