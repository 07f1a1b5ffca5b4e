// Run half: the epilogue of a matrix kernel, as read from its parameters and as bound to a launch.
#pragma once

#include <cstdint>
#include <optional>

#include "backend/launch.h"
#include "backends/cpu/gemm/epilogue.h"
#include "backends/cpu/pointwise/epilogue_program.h"
#include "support/byte_reader.h"

namespace camshaft::cpu {

// What writeEpilogue wrote (prepare_epilogue.h).
struct EpilogueState {
  Epilogue fixed;  // scales, activation and bounds
  // Inputs of the step; -1: none.
  int32_t biasInput = -1, residualInput = -1, firstOperand = 0;
  pointwise::EpilogueProgram program;

  EpilogueState() = default;
  explicit EpilogueState(ByteReader& reader);
};

// The epilogue of one launch; its result is output 0, rows of the last dimension.
class LaunchedEpilogue {
 public:
  // Only kernels that read bf16 take a residual of that type.
  LaunchedEpilogue(const EpilogueState& state, const LaunchArgs& args, bool readsBf16 = false);
  LaunchedEpilogue(const LaunchedEpilogue&) = delete;
  LaunchedEpilogue& operator=(const LaunchedEpilogue&) = delete;

  const Epilogue& get() const { return epilogue_; }

 private:
  Epilogue epilogue_;
  std::optional<pointwise::BoundEpilogue> program_;
};

}  // namespace camshaft::cpu
