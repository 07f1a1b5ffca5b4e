#include "backends/cpu/conv/state.h"
#include "backends/cpu/families.h"
#include "backends/cpu/gemm/packed_weights.h"
#include "backends/cpu/gemm/workspace.h"

namespace camshaft::cpu::conv {
namespace {

bool isSound(const ConvShape& shape) {
  for (int axis : {0, 1})
    if (shape.kernel[axis] < 1 || shape.stride[axis] < 1 || shape.dilation[axis] < 1 ||
        shape.padBegin[axis] < 0 || shape.padEnd[axis] < 0)
      return false;
  return shape.groups > 0 && shape.inChannels > 0 && shape.outChannels > 0 &&
         shape.inChannels % shape.groups == 0 && shape.outChannels % shape.groups == 0;
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
  return state;
}

ConvExtent extentOf(const TensorArg& image) {
  const bool isPlane = image.rank == 4;
  return {.batch = image.dims[0],
          .height = isPlane ? image.dims[1] : 1,
          .width = image.dims[image.rank - 2],
          .inPixelStride = image.dims[image.rank - 1]};
}

namespace {

template <ConvAlgorithm kAlgorithm>
void launch(const void* opaque, const LaunchArgs& args) {
  const auto& [shape, epilogueState] = *static_cast<const State*>(opaque);
  const TensorArg &x = args.inputs[0], &weights = args.inputs[1], &y = args.outputs[0];
  if (y.count() == 0) return;
  ConvExtent extent = extentOf(x);
  extent.outPixelStride = y.dims[y.rank - 1];
  if (extent.inPixelStride != shape.inChannels || extent.outPixelStride != shape.outChannels ||
      weights.count() != packedConvFloats(kAlgorithm, shape))
    fail(ErrorKind::kInvalidEngine, "a convolution of the engine does not fit its operands");
  const WorkersWithin limit(
      args, [&](int threads) { return convWorkspaceFloats(kAlgorithm, shape, extent, threads); });
  const LaunchedEpilogue epilogue(epilogueState, args);
  convolve(kAlgorithm, shape, extent, x.as<const float>(), weights.as<const float>(), y.as<float>(),
           epilogue.get(), *args.threads, workspaceFloats(args));
}

template <ConvAlgorithm kAlgorithm>
constexpr RuntimeKernel entry() {
  return {kNames[static_cast<int>(kAlgorithm)], load, launch<kAlgorithm>};
}

constexpr RuntimeKernel kLaunchers[] = {
    entry<ConvAlgorithm::kDepthwise>(),
    entry<ConvAlgorithm::kWinograd>(),
    entry<ConvAlgorithm::kGemm>(),
    {kTransposeName, load, launchTranspose},
};

}  // namespace

std::span<const RuntimeKernel> launchers() { return kLaunchers; }

}  // namespace camshaft::cpu::conv
