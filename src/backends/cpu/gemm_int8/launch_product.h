// Run half: what the matrix product and the convolution have in common.
#pragma once

#include <optional>

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
  pointwise::Requantize requantize;
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

const Layout& layoutFor(const ProductParams& params);

// Whether the operands are as the parameters say, but for the shapes of the first and the packed
// second; the result is rows of n.
bool fitsFinish(const ProductState& state, const LaunchArgs& args);
// The same, and the second operand is packed for a product, or for one of each group.
bool fitsProduct(const ProductState& state, const LaunchArgs& args, int64_t groups = 1);
// Whether the first operand, the result and what the epilogue reads are as the parameters say.
bool fitsEpilogue(const ProductParams& params, const ScaleState& scale, const LaunchArgs& args);

// Bytes of the workspace for what becomes of so many rows of sums, of so many matrices.
int64_t finishWorkspaceBytes(int64_t m, const ProductParams& params, int64_t matrices = 1);
// The same, and for a product on so many threads.
int64_t productWorkspaceBytes(int64_t m, const ProductParams& params, int threads);

// The first operand's own zero point as a byte of its type.
uint8_t zeroPointOf(const ProductParams& params, const LaunchArgs& args);

// What one launch does with its sums of m rows, in the first bytes of the step's workspace.
class LaunchedFinish {
 public:
  // `zero` is the zero point of the first operand as it was multiplied by packed weights.
  LaunchedFinish(const ProductState& state, const LaunchArgs& args, int64_t m, int32_t zero);
  // Of matrices whose offsets, columnElements(n) for each, and zero points the caller fills in.
  LaunchedFinish(const ProductParams& params, const ScaleState& scale, const LaunchArgs& args,
                 int64_t m, int64_t matrices);
  LaunchedFinish(const LaunchedFinish&) = delete;
  LaunchedFinish& operator=(const LaunchedFinish&) = delete;

  const Finish& get() const { return finish_; }
  int32_t* offsets() const { return offsets_; }
  int32_t* zeros() const { return zeros_; }

 private:
  Finish finish_;
  int32_t *offsets_ = nullptr, *zeros_ = nullptr;
  std::optional<LaunchedEpilogue> epilogue_;
};

// Packs rows of the first operand as PackStrip does, for the group `part`.
using PackRows = FunctionRef<void(const Layout& layout, int64_t part, int64_t row, int64_t count,
                                  uint8_t* strip, uint8_t* scratch)>;
// Each group gives n / groups columns of the result. `rows`, if not null, are the first operand's
// as they lie there, k bytes each.
void runProduct(const ProductState& state, const LaunchArgs& args, int64_t m, PackRows pack,
                int64_t groups = 1, const uint8_t* rows = nullptr);
// The same of rows that are read in place, all of them, of which tiles multiply so many.
void runInPlace(const ProductState& state, const LaunchArgs& args, int64_t m, const Rows16& rows,
                int64_t places);

}  // namespace camshaft::cpu::gemm_int8
