// Run half: what the matrix product and the convolution have in common.
#pragma once

#include "backend/launch.h"
#include "backends/cpu/gemm/epilogue_state.h"
#include "backends/cpu/gemm_int8/finish.h"
#include "backends/cpu/gemm_int8/params.h"
#include "backends/cpu/gemm_int8/product.h"
#include "support/byte_reader.h"
#include "support/function_ref.h"

namespace camshaft::cpu::gemm_int8 {

// What writeScaledEpilogue wrote.
struct ScaleState {
  DataType type = DataType::kI32;
  float factor = 1;
  Requantize requantize;
  ByteForm bytes;
  int32_t firstScale = 0, scaleCount = 0;  // inputs of the step
  EpilogueState epilogue;

  ScaleState() = default;
  explicit ScaleState(ByteReader& reader);
};

struct ProductState {
  ProductParams params;
  ScaleState scale;

  ProductState() = default;
  explicit ProductState(ByteReader& reader);
};

// Whether the operands but the first are as the parameters say; the result is rows of n.
bool fitsProduct(const ProductState& state, const LaunchArgs& args);

// Bytes of the workspace for a product of so many rows on so many threads.
int64_t productWorkspaceBytes(int64_t m, const ProductParams& params, int threads);

// The first operand's own zero point as a byte of its type.
uint8_t zeroPointOf(const ProductState& state, const LaunchArgs& args);

// Packs rows of the first operand as PackStrip does.
using PackRows = FunctionRef<void(const Layout& layout, int64_t row, int64_t count, uint8_t* strip,
                                  uint8_t* scratch)>;
void runProduct(const ProductState& state, const LaunchArgs& args, int64_t m, PackRows pack);

}  // namespace camshaft::cpu::gemm_int8
