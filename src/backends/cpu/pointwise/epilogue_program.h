// An expression that rides on the result of a matrix product or convolution: gemm/epilogue.h's
// post() hook over a pointwise program.
//
//   build half   program = compile(node.epilogue->expr); writeProgram(writer, program);   //
//   compile.h load()       state->epilogue = EpilogueProgram(readProgram(reader)); launch()
//   BoundEpilogue bound(state->epilogue, args.inputs.subspan(firstInput), args.outputs[0]);
//                epilogue.post = BoundEpilogue::post; epilogue.postContext = &bound;
#pragma once

#include <optional>
#include <span>
#include <string>

#include "backend/launch.h"
#include "backends/cpu/pointwise/broadcast.h"
#include "backends/cpu/pointwise/executor.h"

namespace camshaft::cpu::pointwise {

// Input 0 of the program is the result itself and must be f32, as must be what comes out; inputs
// 1.. are the operands (compile.h's whyNotEpilogue says whether that is so).
class EpilogueProgram {
 public:
  EpilogueProgram() = default;  // nothing rides along
  explicit EpilogueProgram(Program program);

  bool empty() const { return !executor_; }
  int operandCount() const { return executor_ ? executor_->inputCount() - 1 : 0; }
  const Executor& executor() const { return *executor_; }

 private:
  std::optional<Executor> executor_;
};

// One launch of it. `result` is the whole contiguous output as the post hook's blocks address it
// (rows of its last dimension); operands broadcast to its shape. Throws Error when they do not.
// Blocks of a result that is not f32 are computed elsewhere and stored by the kernel. Lives on the
// launching thread's stack and is shared by the workers.
class BoundEpilogue {
 public:
  BoundEpilogue(const EpilogueProgram& program, std::span<const TensorArg> operands,
                const TensorArg& result);

  // For Epilogue::post, with a BoundEpilogue as context. Where the block of an f32 result lies is
  // told from its address, so batches of matrices work too.
  static void post(void* context, float* block, int64_t row, int64_t column, int64_t rows,
                   int64_t columns, int64_t stride);

 private:
  void apply(float* block, int64_t row, int64_t column, int64_t rows, int64_t columns,
             int64_t stride) const;
  void applyRow(Scratch& scratch, float* values, int64_t row, int64_t column,
                int64_t columns) const;
  void applyShortRows(Scratch& scratch, float* block, int64_t row, int64_t column, int64_t rows,
                      int64_t columns, int64_t stride) const;

  const Executor& executor_;
  const float* result_;  // null: not f32
  Broadcast broadcast_;
};

}  // namespace camshaft::cpu::pointwise
