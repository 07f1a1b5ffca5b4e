#include "backends/cpu/pointwise/epilogue_program.h"

#include <algorithm>
#include <cstring>

#include "support/error.h"

namespace camshaft::cpu::pointwise {

EpilogueProgram::EpilogueProgram(Program program) {
  if (program.inputs.empty() || program.inputs[0] != DataType::kF32 ||
      program.result != DataType::kF32)
    fail(ErrorKind::kInvalidEngine,
         "the engine holds an epilogue that does not work on f32 results");
  executor_.emplace(std::move(program));
}

BoundEpilogue::BoundEpilogue(const EpilogueProgram& program, std::span<const TensorArg> operands,
                             const TensorArg& result)
    : executor_(program.executor()),
      result_(result.type == DataType::kF32 ? result.as<const float>() : nullptr),
      broadcast_(operands, result, /*keepLast=*/true) {
  CAMSHAFT_CHECK(static_cast<int>(operands.size()) == program.operandCount(), operands.size(),
                 " operands for ", program.operandCount());
  for (size_t i = 0; i < operands.size(); ++i)
    CAMSHAFT_CHECK(operands[i].type == executor_.inputType(static_cast<int>(i) + 1), "operand ", i,
                   " is ", operands[i].type);
}

// Rows go through the program one by one when they are long, else several at a time, copied
// together into tiles.
void BoundEpilogue::post(void* context, float* block, int64_t row, int64_t column, int64_t rows,
                         int64_t columns, int64_t stride) {
  static_cast<const BoundEpilogue*>(context)->apply(block, row, column, rows, columns, stride);
}

void BoundEpilogue::apply(float* block, int64_t row, int64_t column, int64_t rows, int64_t columns,
                          int64_t stride) const {
  constexpr int64_t kShortRow = 128;
  Scratch scratch;
  executor_.begin(scratch);
  if (result_) {
    row = (block - result_) / broadcast_.rowLength();
    column = (block - result_) % broadcast_.rowLength();
  }
  const int64_t rowsAtOnce =
      columns < kShortRow ? std::max<int64_t>(1, executor_.tile() / columns) : 1;
  if (rowsAtOnce > 1 && rows > 1) {
    for (int64_t i = 0; i < rows; i += rowsAtOnce)
      applyShortRows(scratch, block + i * stride, row + i, column, std::min(rowsAtOnce, rows - i),
                     columns, stride);
  } else {
    for (int64_t i = 0; i < rows; ++i)
      applyRow(scratch, block + i * stride, row + i, column, columns);
  }
}

void BoundEpilogue::applyRow(Scratch& scratch, float* values, int64_t row, int64_t column,
                             int64_t columns) const {
  TileOperand operands[kMaxInputs];
  for (int64_t done = 0; done < columns; done += executor_.tile()) {
    const int64_t count = std::min(executor_.tile(), columns - done);
    operands[0] = {values + done, 1};
    for (int i = 0; i < broadcast_.inputCount; ++i) {
      const Broadcast::Input& input = broadcast_.inputs[i];
      const int64_t step = input.step(broadcast_.rank);
      const std::byte* data =
          input.data + (broadcast_.rowOffset(i, row) + (column + done) * step) * input.width;
      operands[i + 1] = step == 1 ? TileOperand{data, 1} : executor_.splat(scratch, i + 1, data);
    }
    executor_.run(scratch, operands, values + done, count);
  }
}

void BoundEpilogue::applyShortRows(Scratch& scratch, float* block, int64_t row, int64_t column,
                                   int64_t rows, int64_t columns, int64_t stride) const {
  TileOperand operands[kMaxInputs];
  float* values = reinterpret_cast<float*>(executor_.gathered(scratch, 0));
  const size_t rowBytes = static_cast<size_t>(columns) * sizeof(float);
  for (int64_t r = 0; r < rows; ++r)
    std::memcpy(values + r * columns, block + r * stride, rowBytes);
  operands[0] = {values, 1};
  for (int i = 0; i < broadcast_.inputCount; ++i) {
    std::byte* to = executor_.gathered(scratch, i + 1);
    broadcast_.gatherRows(i, row, rows, column, columns, to);
    operands[i + 1] = {to, 1};
  }
  executor_.run(scratch, operands, values, rows * columns);
  for (int64_t r = 0; r < rows; ++r)
    std::memcpy(block + r * stride, values + r * columns, rowBytes);
}

}  // namespace camshaft::cpu::pointwise
