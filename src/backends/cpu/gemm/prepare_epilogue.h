// Build half: what of a node's bias and epilogue the matrix kernels do in registers, and what is
// left for a scalar program on finished blocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/kernel.h"
#include "backends/cpu/gemm/epilogue.h"
#include "support/byte_reader.h"
#include "support/function_ref.h"

namespace camshaft::cpu {

// program(activation(scale * result + bias + residual) * outScale + outShift), columns being the
// last dimension.
//
//   relu(add(x0, x1))                  -> all of it in registers, whether x1 is bias or residual
//   add(mul(silu(x0), 2), 1)            -> all of it in registers
//   add(x1, silu(x0))                   -> silu in registers, then add(x0, x1) on the block
//   where(less(x0, 0), mul(x0, x1), x0) -> all of it on the block
struct FusedEpilogue {
  float scale = 1;
  Activation activation = Activation::kNone;
  float low = 0, high = 0;
  float outScale = 1, outShift = -0.0f;
  std::vector<float> bias;  // known when building, one value per column; empty: none
  // Inputs of the node; -1: none.
  int biasInput = -1;
  int residualInput = -1;
  Expr program;                    // input 0 is the block; empty: none
  std::vector<int> programInputs;  // the node inputs that are the program's inputs 1, 2, ...
  std::string refusal;             // why the epilogue must be split off; empty: it need not
};

// Whether what is added to an activation's result and multiplied with it may be rounded once for
// all of it.
enum class Rounding { kOnce, kAsWritten };

// `ownBias` is the input of the operator that holds a bias per column, or -1.
FusedEpilogue fuseEpilogue(const Node& node, int ownBias = -1, Rounding rounding = Rounding::kOnce);

// Adds what the epilogue reads to the step's inputs, and writes what EpilogueState reads back.
void writeEpilogue(const FusedEpilogue& fused, Prepared& prepared, ByteWriter& writer);

// Whether the result may overwrite this input: only a residual is read just before it is replaced,
// and that only where the program does not read it again.
bool overwritesResidual(const Node& node, int input, int ownBias = -1);

// Floats of a step's own, which `pack` writes where zeros are. They may be as many as the model
// has, so nobody copies them on their way to the engine's weights.
StepInput packedInput(int64_t floats, FunctionRef<void(float*)> pack);

}  // namespace camshaft::cpu
