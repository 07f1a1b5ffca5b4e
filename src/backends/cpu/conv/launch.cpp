#include "backends/cpu/conv/state.h"
#include "backends/cpu/families.h"
#include "backends/cpu/gemm/gemm16.h"
#include "backends/cpu/gemm/packed_weights.h"
#include "backends/cpu/gemm/workspace.h"
#include "backends/cpu/operands.h"

namespace camshaft::cpu::conv {
namespace {

bool isSound(const ConvShape& shape) {
  constexpr int64_t kMost = int64_t{1} << 24;  // far from overflowing any product of two
  const auto isSize = [](int64_t size) { return size > 0 && size <= kMost; };
  for (int axis : {0, 1})
    if (!isSize(shape.kernel[axis]) || !isSize(shape.stride[axis]) ||
        !isSize(shape.dilation[axis]) || shape.padBegin[axis] < 0 || shape.padEnd[axis] < 0 ||
        shape.padBegin[axis] > kMost || shape.padEnd[axis] > kMost)
      return false;
  constexpr int64_t kMostWeights = int64_t{1} << 46;
  const int64_t weights =
      volumeOf({shape.kernel[0], shape.kernel[1], shape.inChannels, shape.outChannels});
  return isSize(shape.groups) && isSize(shape.inChannels) && isSize(shape.outChannels) &&
         weights >= 0 && weights <= kMostWeights && shape.inChannels % shape.groups == 0 &&
         shape.outChannels % shape.groups == 0;
}

}  // namespace

std::shared_ptr<const void> load(std::span<const std::byte> params) {
  ByteReader reader(params, "the parameters of a convolution");
  requireIsa(reader);
  auto state = std::make_shared<State>();
  state->shape = reader.read<ConvShape>();
  if (!isSound(state->shape))
    fail(ErrorKind::kInvalidEngine, "the engine holds a damaged convolution");
  state->epilogue = EpilogueState(reader);
  reader.expectEnd();
  return state;
}

ConvExtent extentOf(const TensorArg& image) {
  const bool isPlane = image.rank == 4;
  return {.batch = image.dims[0],
          .height = isPlane ? image.dims[1] : 1,
          .width = image.dims[image.rank - 2],
          .inPixelStride = image.dims[image.rank - 1],
          .isBf16 = isBf16(image)};
}

bool areImages(const LaunchArgs& args, bool mayBeBf16) {
  if (args.inputs.size() < 2 || !hasOperands(args, args.inputs.size())) return false;
  const TensorArg &x = args.inputs[0], &y = args.outputs[0];
  // Only what is computed from bf16 is stored in it.
  const bool areTaken = (mayBeBf16 && isBf16(x)) ? isF32(y) || isBf16(y) : isF32(x) && isF32(y);
  return areTaken && isF32(args.inputs[1]) && (x.rank == 3 || x.rank == 4) && y.rank == x.rank &&
         x.dims[0] == y.dims[0];
}

namespace {

template <ConvAlgorithm kAlgorithm>
bool fits(const void* opaque, const LaunchArgs& args) {
  const ConvShape& shape = static_cast<const State*>(opaque)->shape;
  if (!areImages(args, convTakesBf16(kAlgorithm)) || !convSupports(kAlgorithm, shape)) return false;
  if (args.outputs[0].count() == 0) return true;
  const ConvExtent in = extentOf(args.inputs[0]), out = extentOf(args.outputs[0]);
  return shape.outSize(0, in.height) == out.height && shape.outSize(1, in.width) == out.width;
}

template <ConvAlgorithm kAlgorithm>
void launch(const void* opaque, const LaunchArgs& args) {
  const auto& state = *static_cast<const State*>(opaque);
  const ConvShape& shape = state.shape;
  const TensorArg &x = args.inputs[0], &weights = args.inputs[1], &y = args.outputs[0];
  if (y.count() == 0) return;
  ConvExtent extent = extentOf(x);
  extent.outPixelStride = y.dims[y.rank - 1];
  if (extent.inPixelStride != shape.inChannels || extent.outPixelStride != shape.outChannels ||
      weights.count() != packedConvFloats(kAlgorithm, shape))
    fail(ErrorKind::kInvalidEngine, "a convolution of the engine does not fit its operands");
  if (!convSupports(kAlgorithm, shape))
    fail(ErrorKind::kInvalidEngine,
         "a convolution of the engine cannot run on this CPU; build it again here");
  const WorkersWithin limit(
      args, [&](int threads) { return convWorkspaceFloats(kAlgorithm, shape, extent, threads); });
  const LaunchedEpilogue epilogue(state.epilogue, args, isBf16(x));
  convolve(kAlgorithm, shape, extent,
           {.input = isBf16(x) ? nullptr : x.as<const float>(),
            .output = isBf16(y) ? nullptr : y.as<float>(),
            .bf16Input = isBf16(x) ? x.as<const BFloat16>() : nullptr,
            .bf16Output = isBf16(y) ? y.as<BFloat16>() : nullptr,
            .upcoming = args.upcoming},
           weights.as<const float>(), epilogue.get(), *args.threads, workspaceFloats(args));
}

template <Type16 kType>
std::shared_ptr<const void> load16(std::span<const std::byte> params) {
  requireGemm16(kType);
  return load(params);
}

template <ConvAlgorithm kAlgorithm>
constexpr auto loaderOf() {
  if (kAlgorithm == ConvAlgorithm::kBf16) return load16<Type16::kBf16>;
  if (kAlgorithm == ConvAlgorithm::kF16) return load16<Type16::kF16>;
  return load;
}

template <ConvAlgorithm kAlgorithm>
constexpr RuntimeKernel entry() {
  return {kNames[static_cast<int>(kAlgorithm)], loaderOf<kAlgorithm>(), launch<kAlgorithm>,
          fits<kAlgorithm>};
}

constexpr RuntimeKernel kLaunchers[] = {
    entry<ConvAlgorithm::kDepthwise>(),
    entry<ConvAlgorithm::kGrouped>(),
    entry<ConvAlgorithm::kBf16>(),
    entry<ConvAlgorithm::kF16>(),
    entry<ConvAlgorithm::kSplit>(),
    entry<ConvAlgorithm::kWinograd>(),
    entry<ConvAlgorithm::kGemm>(),
    {kTransposeName, load, launchTranspose,
     [](const void*, const LaunchArgs& args) { return areImages(args, false); }},
    {kTranspose16Name, load16<Type16::kBf16>, launchTranspose16,
     [](const void*, const LaunchArgs& args) { return areImages(args, true); }},
};

}  // namespace

std::span<const RuntimeKernel> launchers() { return kLaunchers; }

}  // namespace camshaft::cpu::conv
