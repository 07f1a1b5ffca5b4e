#include "backends/cpu/gemm_int8/launch_product.h"

#include <algorithm>

#include "backends/cpu/gemm/partition.h"
#include "backends/cpu/gemm/workspace.h"
#include "backends/cpu/operands.h"
#include "support/error.h"

namespace camshaft::cpu::gemm_int8 {

const Layout& layoutFor(const ProductParams& params) {
  return *layoutOf(static_cast<Layout::Kind>(params.layout));
}

namespace {

int64_t roundedUp(int64_t bytes) { return ceilDiv(bytes, 64) * 64; }

// What is computed for a launch, one part after the other.
struct Workspace {
  int32_t* offsets;
  int32_t* zeros;
  float* scales;
  float* bias;
  float* floats;
  int64_t bytes;

  Workspace(std::byte* base, int64_t m, const ProductParams& params, int64_t matrices) {
    int64_t used = 0;
    const auto take = [&](int64_t size) {
      std::byte* at = base ? base + used : nullptr;
      used += roundedUp(size);
      return at;
    };
    const int64_t columnBytes = columnElements(params.n) * 4;
    offsets = reinterpret_cast<int32_t*>(take(matrices * columnBytes));
    zeros = reinterpret_cast<int32_t*>(take(columnBytes));
    scales = reinterpret_cast<float*>(take(columnBytes));
    bias = reinterpret_cast<float*>(take(columnBytes));
    floats = params.keepsFloats ? reinterpret_cast<float*>(take(m * params.n * 4)) : nullptr;
    bytes = used;
  }
};

const TensorArg* inputAt(const LaunchArgs& args, int32_t input) {
  if (input < 0) return nullptr;
  return static_cast<size_t>(input) < args.inputs.size() ? &args.inputs[input] : nullptr;
}

bool isPackedColumns(const TensorArg& tensor, DataType type, int64_t count) {
  return isThere(tensor) && tensor.type == type && tensor.count() == count;
}

// What the zero points add to every row: -za * sum b + k * za * zb, modulo 2^32.
void fillOffsets(const ProductParams& params, const LaunchArgs& args, int32_t zeroPoint,
                 int32_t* to) {
  const auto zero = static_cast<uint32_t>(zeroPoint);
  const int32_t* sums = args.inputs[2].as<const int32_t>();
  const TensorArg* zeros = inputAt(args, params.zerosInput);
  const auto depth = static_cast<uint32_t>(params.k);
  for (int64_t j = 0; j < columnElements(params.n); ++j) {
    uint32_t offset = 0u - zero * static_cast<uint32_t>(sums[j]);
    if (zeros) offset += depth * zero * static_cast<uint32_t>(zeros->as<const int32_t>()[j]);
    to[j] = static_cast<int32_t>(offset);
  }
}

void fillScales(int64_t n, const ScaleState& scale, const LaunchArgs& args, float* to) {
  std::fill(to, to + columnElements(n), 0.0f);
  std::fill(to, to + n, scale.factor);
  for (int32_t i = 0; i < scale.scaleCount; ++i) {
    const TensorArg& operand = args.inputs[scale.firstScale + i];
    const float* values = operand.as<const float>();
    const int64_t step = operand.count() == 1 ? 0 : 1;
    for (int64_t j = 0; j < n; ++j) to[j] *= values[j * step];
  }
}

// Zeros where there is no bias, and beyond its end.
void fillBias(int64_t n, const float* bias, float* to) {
  std::fill(to, to + columnElements(n), 0.0f);
  if (bias) std::copy(bias, bias + n, to);
}

ByteFinish byteFinish(int64_t n, const ByteForm& form, const LaunchArgs& args,
                      const Workspace& workspace, const Epilogue& epilogue) {
  ByteFinish finish;
  if (!form.isUsed) return finish;
  finish.isUsed = true;
  fillBias(n, epilogue.bias, workspace.bias);
  finish.scales = workspace.scales;
  finish.bias = workspace.bias;
  finish.hasStage = form.hasStage != 0;
  finish.stageLow = form.stageLow;
  finish.stageHigh = form.stageHigh;
  finish.stageScale = form.stageScale;
  finish.first = form.first;
  finish.last = form.last;
  if (const TensorArg* other = inputAt(args, form.residualInput)) {
    finish.residualKind = ByteFinish::Residual::kBytes;
    finish.residual = other->data;
    finish.dequantize = form.residual;
  } else if (epilogue.residual) {
    finish.residualKind = ByteFinish::Residual::kFloats;
    finish.residual = epilogue.residual;
  }
  finish.bounds = form.bounds;
  if (const TensorArg* table = inputAt(args, form.tableInput))
    finish.table = table->as<const uint8_t>();
  return finish;
}

bool isByte(DataType type) { return type == DataType::kU8 || type == DataType::kI8; }

}  // namespace

ScaleState::ScaleState(ByteReader& reader) {
  const int32_t stored = reader.read<int32_t>();
  for (DataType known : {DataType::kI32, DataType::kF32, DataType::kU8, DataType::kI8})
    if (stored == static_cast<int32_t>(known)) type = known;
  if (stored != static_cast<int32_t>(type))
    fail(ErrorKind::kInvalidEngine, "the engine stores a product of integers as an unknown type");
  factor = reader.read<float>();
  requantize = reader.read<pointwise::Requantize>();
  bytes = reader.read<ByteForm>();
  firstScale = reader.read<int32_t>();
  scaleCount = reader.read<int32_t>();
  epilogue = EpilogueState(reader);
}

ProductState::ProductState(ByteReader& reader)
    : params(reader.read<ProductParams>()), scale(reader) {
  constexpr int64_t kMost = int64_t{1} << 31;
  constexpr int32_t kMostInputs = 1 << 16;
  const bool needsFloats =
      isByte(scale.type) && !scale.bytes.isUsed && !scale.epilogue.program.empty();
  if (params.k < 0 || params.n < 0 || params.k > kMost || params.n > kMost ||
      scale.firstScale > kMostInputs || scale.scaleCount > kMostInputs ||
      (params.keepsFloats != 0) != needsFloats ||
      (scale.bytes.isUsed && !isByte(scale.type) && scale.type != DataType::kF32))
    fail(ErrorKind::kInvalidEngine, "the engine holds damaged parameters of a kernel");
  if (!layoutOf(static_cast<Layout::Kind>(params.layout)))
    fail(ErrorKind::kInvalidEngine,
         "the engine was built for a CPU that multiplies matrices of bytes in another way than "
         "this one; build it again on this machine");
}

bool fitsEpilogue(const ProductParams& params, const ScaleState& scale, const LaunchArgs& args) {
  if (!hasOperands(args, 2)) return false;
  const TensorArg& out = args.outputs[0];
  const DataType wanted = params.isSigned ? DataType::kI8 : DataType::kU8;
  if (args.inputs[0].type != wanted || out.type != scale.type || out.rank < 1 ||
      out.dims[out.rank - 1] != params.n)
    return false;
  const TensorArg* zero = inputAt(args, params.zeroInput);
  if (params.zeroInput >= 0 && (!zero || !isPackedColumns(*zero, wanted, 1))) return false;
  for (int32_t i = 0; i < scale.scaleCount; ++i) {
    const TensorArg* operand = inputAt(args, scale.firstScale + i);
    if (!operand || !isF32(*operand) || (operand->count() != 1 && operand->count() != params.n))
      return false;
  }
  const TensorArg* residual = inputAt(args, scale.bytes.residualInput);
  const TensorArg* table = inputAt(args, scale.bytes.tableInput);
  return (scale.bytes.residualInput < 0 ||
          (residual && isByte(residual->type) && residual->count() == out.count())) &&
         (scale.bytes.tableInput < 0 || (table && isPackedColumns(*table, DataType::kU8, 256)));
}

bool fitsFinish(const ProductState& state, const LaunchArgs& args) {
  const ProductParams& params = state.params;
  if (!hasOperands(args, 3) || !fitsEpilogue(params, state.scale, args)) return false;
  const int64_t columns = columnElements(params.n);
  const TensorArg* zeros = inputAt(args, params.zerosInput);
  return args.inputs[1].type == DataType::kU8 && isThere(args.inputs[1]) &&
         isPackedColumns(args.inputs[2], DataType::kI32, columns) &&
         (params.zerosInput < 0 || (zeros && isPackedColumns(*zeros, DataType::kI32, columns)));
}

bool fitsProduct(const ProductState& state, const LaunchArgs& args, int64_t groups) {
  const ProductParams& params = state.params;
  return fitsFinish(state, args) &&
         args.inputs[1].count() ==
             groups * packedColumnsBytes(layoutFor(params), params.k, params.n / groups);
}

int64_t finishWorkspaceBytes(int64_t m, const ProductParams& params, int64_t matrices) {
  return Workspace(nullptr, m, params, matrices).bytes;
}

int64_t productWorkspaceBytes(int64_t m, const ProductParams& params, int threads) {
  return finishWorkspaceBytes(m, params) +
         multiplyWorkspaceBytes(layoutFor(params), m, params.k, threads);
}

uint8_t zeroPointOf(const ProductParams& params, const LaunchArgs& args) {
  const TensorArg* zero = inputAt(args, params.zeroInput);
  return zero ? *zero->as<const uint8_t>() : 0;
}

LaunchedFinish::LaunchedFinish(const ProductState& state, const LaunchArgs& args, int64_t m,
                               int32_t zero)
    : LaunchedFinish(state.params, state.scale, args, m, 1) {
  fillOffsets(state.params, args, zero, offsets_);
  const TensorArg* zeros = inputAt(args, state.params.zerosInput);
  finish_.columnZeros = zeros ? zeros->as<const int32_t>() : nullptr;
}

LaunchedFinish::LaunchedFinish(const ProductParams& params, const ScaleState& scale,
                               const LaunchArgs& args, int64_t m, int64_t matrices) {
  const Workspace workspace(args.workspace, m, params, matrices);
  if (workspace.bytes > args.workspaceBytes)
    fail(ErrorKind::kInvalidEngine, "a product of integers has too little workspace");
  offsets_ = workspace.offsets;
  zeros_ = workspace.zeros;
  finish_.columnOffsets = offsets_;
  finish_.type = scale.type;
  finish_.out = args.outputs[0].data;
  finish_.stride = params.n;
  if (finish_.type == DataType::kI32) return;
  fillScales(params.n, scale, args, workspace.scales);
  finish_.scales = workspace.scales;
  finish_.requantize = scale.requantize;
  finish_.floats = workspace.floats;
  TensorArg result = args.outputs[0];
  result.type = DataType::kF32;
  if (finish_.floats) result.data = finish_.floats;
  LaunchArgs floatArgs = args;
  floatArgs.outputs = {&result, 1};
  epilogue_.emplace(scale.epilogue, floatArgs);
  finish_.epilogue = epilogue_->get();
  finish_.bytes = byteFinish(params.n, scale.bytes, args, workspace, finish_.epilogue);
}

namespace {

// The zero point of the first operand as it is multiplied.
int32_t multipliedZero(const ProductState& state, const LaunchArgs& args) {
  const Layout& layout = layoutFor(state.params);
  const uint8_t flip = rowFlip(layout, state.params.isSigned != 0);
  return rowValue(layout, zeroPointOf(state.params, args) ^ flip);
}

}  // namespace

void runProduct(const ProductState& state, const LaunchArgs& args, int64_t m, PackRows pack,
                int64_t groups, const uint8_t* rows) {
  const ProductParams& params = state.params;
  if (m == 0 || params.n == 0) return;
  const WorkersWithin workers(args, [&](int threads) {
    return productWorkspaceBytes(m, params, threads) / static_cast<int64_t>(sizeof(float));
  });
  const Layout& layout = layoutFor(params);
  const LaunchedFinish finish(state, args, m, multipliedZero(state, args));
  const int64_t columns = params.n / groups;
  Product product{.layout = &layout,
                  .m = m,
                  .n = columns,
                  .k = params.k,
                  .packedColumns = args.inputs[1].as<const uint8_t>(),
                  .sumsRows = params.zerosInput >= 0,
                  .parts = groups,
                  .upcoming = args.upcoming};
  if (rows && groups == 1 && params.k > 0 && params.k % 2 == 0 &&
      rowFlip(layout, params.isSigned != 0) == 0)
    product.rows = {.data = reinterpret_cast<const uint16_t*>(rows), .stride = params.k / 2};
  multiply(
      product,
      [&](int64_t part, int64_t row, int64_t count, uint8_t* strip, uint8_t* scratch) {
        pack(layout, part, row, count, strip, scratch);
      },
      *args.threads, args.workspace + finishWorkspaceBytes(m, params),
      [&](Sums sums) {
        sums.column += sums.part * columns;
        finishSums(finish.get(), sums);
      });
}

void runInPlace(const ProductState& state, const LaunchArgs& args, int64_t m, const Rows16& rows,
                int64_t places) {
  const LaunchedFinish finish(state, args, m, multipliedZero(state, args));
  multiply(
      {.layout = &layoutFor(state.params),
       .m = m,
       .n = state.params.n,
       .k = state.params.k,
       .packedColumns = args.inputs[1].as<const uint8_t>(),
       .rows = rows,
       .places = places,
       .upcoming = args.upcoming},
      [](int64_t, int64_t, int64_t, uint8_t*, uint8_t*) {}, *args.threads, nullptr,
      [&](const Sums& sums) { finishSums(finish.get(), sums); });
}

}  // namespace camshaft::cpu::gemm_int8
