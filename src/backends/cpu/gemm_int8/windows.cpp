#include "backends/cpu/gemm_int8/windows.h"

#include "support/error.h"

namespace camshaft::cpu::gemm_int8 {

std::shared_ptr<const void> loadConv(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, "the parameters of a convolution of integers");
  auto state = std::make_shared<ConvState>();
  state->params = reader.read<ConvParams>();
  state->product = ProductState(reader);
  reader.expectEnd();
  const ConvParams& p = state->params;
  constexpr int64_t kMost = int64_t{1} << 31;
  bool valid = p.channels >= 0 && p.channels < kMost && p.groups > 0 &&
               p.channels % p.groups == 0 && state->product.params.n % p.groups == 0;
  for (int i = 0; i < 2; ++i)
    for (int64_t size : {p.kernel[i], p.strides[i], p.dilations[i]})
      valid = valid && size > 0 && size < kMost;
  for (int64_t pad : p.padsBegin) valid = valid && pad > -kMost && pad < kMost;
  const int64_t k = state->product.params.k;
  valid = valid && p.kernel[0] <= std::max<int64_t>(k, 1) && p.kernel[1] <= std::max<int64_t>(k, 1);
  if (!valid || p.kernel[0] * p.kernel[1] > kMost)
    fail(ErrorKind::kInvalidEngine, "the engine holds damaged parameters of a kernel");
  return state;
}

bool canFillLines(const ConvParams& params) {
  return params.groups == 1 && params.channels > 0 && params.dilations[1] == 1 &&
         params.kernel[0] * params.kernel[1] > 1 && params.strides[1] * params.channels % 2 == 0;
}

bool fitsWindows(const ConvParams& params, const LaunchArgs& args) {
  const TensorArg &x = args.inputs[0], &y = args.outputs[0];
  return x.rank == y.rank && (x.rank == 3 || x.rank == 4) && x.dims[0] == y.dims[0] &&
         x.dims[x.rank - 1] == params.channels;
}

}  // namespace camshaft::cpu::gemm_int8
