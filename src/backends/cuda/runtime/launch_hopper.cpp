// Loads and launches the Hopper matrix product.
#include <algorithm>
#include <bit>
#include <memory>
#include <optional>

#include "backends/cuda/gemm/hopper/geometry.h"
#include "backends/cuda/gemm/hopper/params.h"
#include "backends/cuda/runtime/code_library.h"
#include "backends/cuda/runtime/driver.h"
#include "backends/cuda/runtime/launch_hopper.h"
#include "backends/cuda/runtime/queue.h"
#include "support/byte_reader.h"
#include "support/error.h"
#include "support/volume.h"

namespace camshaft::cuda {
namespace {

struct Loaded {
  HopperParams params;
  float numbers[std::size(HopperArguments{}.numbers)] = {};
  std::optional<HopperWindows> windows;  // of images, which A's rows are
  HopperConfig config;
  std::shared_ptr<const CodeLibrary> library;
  CUkernel kernel = nullptr;
  int activeClusters = 0;
};

// The two attributes of a launch, which the configuration points to.
struct Launch {
  CUlaunchAttribute attributes[2] = {};
  CUlaunchConfig config = {};

  Launch(const HopperConfig& shape, int64_t blocks, CUstream stream) {
    attributes[0].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attributes[0].value.programmaticStreamSerializationAllowed = 1;
    attributes[1].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[1].value.clusterDim = {static_cast<unsigned>(clusterSize(shape)), 1, 1};
    config = {.gridDimX = static_cast<unsigned>(blocks),
              .gridDimY = 1,
              .gridDimZ = 1,
              .blockDimX = static_cast<unsigned>(threadsOf(shape)),
              .blockDimY = 1,
              .blockDimZ = 1,
              .sharedMemBytes = static_cast<unsigned>(sharedBytesOf(shape)),
              .hStream = stream,
              .attrs = attributes,
              .numAttrs = 2};
  }
  Launch(const Launch&) = delete;
};

std::shared_ptr<const void> load(std::string_view, std::span<const std::byte> params,
                                 std::span<const std::byte> binary) {
  auto state = std::make_shared<Loaded>();
  ByteReader reader(params, "the parameters of a matrix product");
  state->params = reader.read<HopperParams>();
  if (state->params.numbers > std::size(state->numbers))
    fail(ErrorKind::kInvalidEngine, "the engine holds a matrix product with too many numbers");
  for (int i = 0; i < state->params.numbers; ++i) state->numbers[i] = reader.read<float>();
  if (reader.remaining() > 0) state->windows = reader.read<HopperWindows>();
  reader.expectEnd();
  if (binary.empty())
    fail(ErrorKind::kInvalidEngine, "the engine lacks the device code of a matrix product");
  const HopperConfig& shape = state->config = unpackHopper(state->params.config);
  if (!isValid(shape, state->params.transposedA, state->params.transposedB) ||
      (state->windows &&
       (whyNot(*state->windows) || state->params.transposedA || shape.normalises)) ||
      (state->params.keepsMoments && (state->windows || shape.normalises)))
    fail(ErrorKind::kInvalidEngine, "the engine holds a matrix product of impossible shape");
  state->library = CodeLibrary::of(binary);
  const std::string entry = state->windows ? entryOf(shape, *state->windows) : kHopperGemmEntry;
  state->kernel = state->library->find(entry, static_cast<unsigned>(sharedBytesOf(shape)),
                                       static_cast<unsigned>(clusterSize(shape)));
  const Launch one(shape, clusterSize(shape), nullptr);
  check(driver().cuOccupancyMaxActiveClusters(
            &state->activeClusters, reinterpret_cast<CUfunction>(state->kernel), &one.config),
        "ask how many blocks of a matrix product fit on the GPU");
  if (state->activeClusters < 1)
    fail(ErrorKind::kUnsupported, "a matrix product of the engine does not fit on this GPU");
  return state;
}

constexpr size_t kProductDims = 4, kImageDims = 8;
// Outputs: the product, and moments of its rows, or means and factors of those of A.
constexpr size_t kWithMoments = 2, kWithFactors = 3;
constexpr int64_t kMomentColumns = 32;

HopperProblem problemOf(const Loaded& state, const LaunchArgs& args) {
  const HopperParams& params = state.params;
  HopperImages images;
  if (state.windows)
    images = {.count = args.dims[4],
              .height = args.dims[5],
              .breadth = args.dims[6],
              .channels = args.dims[7],
              .windows = *state.windows};
  return {.m = args.dims[0],
          .n = args.dims[1],
          .k = args.dims[2],
          .batch = args.dims[3],
          .batchA = params.batchA != 0,
          .batchB = params.batchB != 0,
          .typeA = params.typeA,
          .typeB = params.typeB,
          .transposedA = params.transposedA != 0,
          .transposedB = params.transposedB != 0,
          .images = images,
          .normalises = state.config.normalises,
          .keepsMoments = params.keepsMoments != 0};
}

// Whether rows and columns of A are those of its images.
bool matches(const HopperProblem& p) {
  const HopperImages& i = p.images;
  return p.batch == 1 && p.k == depthOf(i.windows, i.channels, p.typeA) &&
         p.m == volumeOf({i.count, outHeight(i), outBreadth(i)});
}

// Whether moments are there as far as there are any, and as large as they are read and written.
bool hasMoments(const HopperProblem& p, const LaunchArgs& args) {
  const auto isOf = [](const TensorArg& arg, int64_t count) {
    return arg.type == DataType::kF32 && arg.count() == count;
  };
  if (p.normalises &&
      (args.inputs.size() < 3 || !isOf(args.inputs[2], p.m * p.k / kMomentColumns * 2)))
    return false;
  const std::span<const TensorArg> behind = args.outputs.subspan(1);
  if (p.keepsMoments)
    return args.outputs.size() == kWithMoments && p.batch == 1 &&
           isOf(behind[0], p.m * p.n / kMomentColumns * 2);
  return std::ranges::all_of(behind, [&](const TensorArg& arg) { return isOf(arg, p.m); });
}

bool isEmpty(const LaunchArgs& args) { return args.outputs[0].count() == 0; }

bool fits(const void* opaque, const LaunchArgs& args) {
  const auto& state = *static_cast<const Loaded*>(opaque);
  constexpr size_t kMostInputs = 2 + std::size(HopperArguments{}.extra);
  const bool keepsFactors = state.config.normalises && args.outputs.size() == kWithFactors;
  if (args.dims.size() != (state.windows ? kImageDims : kProductDims) ||
      (args.outputs.size() != 1 && !keepsFactors && !state.params.keepsMoments) ||
      args.inputs.size() < 2 || args.inputs.size() > kMostInputs)
    return false;
  const HopperProblem p = problemOf(state, args);
  const TensorArg &a = args.inputs[0], &b = args.inputs[1];
  if (a.type != p.typeA || b.type != p.typeB) return false;
  if (isEmpty(args)) return true;
  if (whyNot(state.config, p)) return false;
  if (!hasMoments(p, args)) return false;
  const HopperImages& images = p.images;
  if (state.windows && (images.count < 1 || !matches(p))) return false;
  const int64_t countA =
      state.windows ? volumeOf({images.count, images.height, images.breadth, images.channels})
                    : volumeOf({p.m, p.k, p.batchA ? p.batch : 1});
  const size_t residual = state.params.residual;
  if (state.config.residualTiles > 0 &&
      (residual < 2 || residual >= args.inputs.size() ||
       args.inputs[residual].count() != args.outputs[0].count() ||
       bitsOf(args.inputs[residual].type) != state.config.residualBytes * 8 ||
       bitsOf(args.outputs[0].type) != state.config.residualBytes * 8))
    return false;
  return a.count() == countA && b.count() == volumeOf({p.n, p.k, p.batchB ? p.batch : 1}) &&
         args.outputs[0].count() == volumeOf({p.m, p.n, p.batch});
}

CUtensorMapDataType elementOf(DataType type) {
  return type == DataType::kF16    ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
         : type == DataType::kBF16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
         : type == DataType::kF32  ? CU_TENSOR_MAP_DATA_TYPE_TFLOAT32
                                   : CU_TENSOR_MAP_DATA_TYPE_UINT8;
}

CUtensorMapSwizzle swizzleOf(int bytes) {
  return bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
         : bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                       : CU_TENSOR_MAP_SWIZZLE_32B;
}

CUtensorMap encode(const BoxedTensor& tensor, DataType type, void* data, int swizzleBytes = 128) {
  constexpr cuuint32_t kOneByOne[3] = {1, 1, 1};
  cuuint64_t dims[3], strides[2];
  std::copy(std::begin(tensor.dims), std::end(tensor.dims), dims);
  std::copy(std::begin(tensor.strides), std::end(tensor.strides), strides);
  CUtensorMap map;
  check(driver().cuTensorMapEncodeTiled(&map, elementOf(type), 3, data, dims, strides, tensor.box,
                                        kOneByOne, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                        swizzleOf(swizzleBytes), CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                                        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
        "describe an operand of a matrix product");
  return map;
}

// Of what drivers up to CUDA 13.1 encode for images of less than 128 KiB, NVIDIA's own CUTLASS
// takes a bit out again, and so do we: no document says what it does.
void correctSmallImages(CUtensorMap& map, uint64_t bytes) {
  constexpr int kLastWrong = 13010;
  constexpr uint64_t kSmall = 128 << 10, kWrongBit = uint64_t{1} << 21;
  static const int version = [] {
    int number = 0;
    check(driver().cuDriverGetVersion(&number), "ask for the driver's version");
    return number;
  }();
  if (version <= kLastWrong && bytes < kSmall) map.opaque[1] &= ~kWrongBit;
}

CUtensorMap encode(const BoxedImages& images, DataType type, void* data) {
  cuuint64_t dims[4], strides[3];
  std::copy(std::begin(images.dims), std::end(images.dims), dims);
  std::copy(std::begin(images.strides), std::end(images.strides), strides);
  CUtensorMap map;
  check(driver().cuTensorMapEncodeIm2col(
            &map, elementOf(type), 4, data, dims, strides, images.lower, images.upper,
            images.channels, images.pixels, images.steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
            swizzleOf(images.swizzleBytes), CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
            CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
        "describe the images of a convolution");
  correctSmallImages(map, strides[2] * dims[3]);
  return map;
}

CUtensorMap encodeA(const HopperConfig& config, const HopperProblem& problem, void* data) {
  return problem.images.count > 0
             ? encode(boxed(config, problem.images, problem.typeA), problem.typeA, data)
             : encode(boxedA(config, problem), problem.typeA, data);
}

void launch(const void* opaque, const LaunchArgs& args) {
  const auto& state = *static_cast<const Loaded*>(opaque);
  if (isEmpty(args)) return;
  const HopperProblem problem = problemOf(state, args);
  CUtensorMap a = encodeA(state.config, problem, args.inputs[0].data);
  CUtensorMap b = encode(boxedB(state.config, problem), problem.typeB, args.inputs[1].data);
  TiledArguments tiled = {
      .arguments = argumentsOf(state.config, problem), .residual = {}, .out = {}};
  HopperArguments& arguments = tiled.arguments;
  std::ranges::copy(state.numbers, arguments.numbers);
  arguments.out = args.outputs[0].data;
  if (state.params.keepsMoments) {
    arguments.moments = args.outputs[1].as<float>();
  } else if (args.outputs.size() == kWithFactors) {
    arguments.means = args.outputs[1].as<float>();
    arguments.factors = args.outputs[2].as<float>();
  }
  for (size_t i = 2; i < args.inputs.size(); ++i) arguments.extra[i - 2] = args.inputs[i].data;
  if (state.config.residualTiles > 0) {
    const int line = residualLine(state.config);
    const auto map = [line](const BoxedTensor& tensor, void* data) {
      return std::bit_cast<TiledArguments::Map>(encode(tensor, DataType::kU8, data, line));
    };
    tiled.residual =
        map(boxedResidual(state.config, problem), args.inputs[state.params.residual].data);
    tiled.out = map(boxedResult(state.config, problem), args.outputs[0].data);
  }
  void* pointers[] = {&a, &b, &tiled};
  const Launch one(state.config, gridOf(state.config, arguments, state.activeClusters),
                   static_cast<CUstream>(args.stream));
  queueKernel(one.config, state.kernel, pointers, "launch a matrix product");
}

}  // namespace

const RuntimeKernel& hopperLauncher() {
  static constexpr RuntimeKernel kKernel{
      .name = kHopperGemmKernel, .launch = launch, .fits = fits, .loadCode = load};
  return kKernel;
}

}  // namespace camshaft::cuda
