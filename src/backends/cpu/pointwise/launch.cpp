#include <algorithm>

#include "backend/launch.h"
#include "backends/cpu/families.h"
#include "backends/cpu/operands.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/pointwise/broadcast.h"
#include "backends/cpu/pointwise/executor.h"
#include "backends/cpu/pointwise/launch_bytes.h"
#include "backends/cpu/pointwise/params.h"
#include "support/error.h"

namespace camshaft::cpu::pointwise {

namespace {

std::shared_ptr<const void> load(std::span<const std::byte> params) {
  ByteReader reader(params, "a pointwise step");
  auto executor = std::make_shared<Executor>(readProgram(reader));
  reader.expectEnd();
  return executor;
}

// One launch. The output is cut into units: pieces of rows that inputs are read along in place, or,
// when rows are short, pieces of the flat output for which inputs laid out otherwise are gathered.
// Those are whole rows, so that what is the same in every row is gathered once.
class Run {
 public:
  Run(const Executor& executor, const LaunchArgs& args)
      : executor_(executor),
        broadcast_(args.inputs, args.outputs[0]),
        out_(static_cast<std::byte*>(args.outputs[0].data)),
        outWidth_(static_cast<int64_t>(bytesOf(args.outputs[0].type, 1))),
        count_(args.outputs[0].count()) {
    constexpr int64_t kShortRow = 64;
    const int64_t enough =
        kShortRow * std::min<int64_t>(4, static_cast<int64_t>(executor.cost()) + 1);
    gathers_ = broadcast_.rank > 1 && broadcast_.rowLength() < enough;
    length_ = gathers_ ? count_ : broadcast_.rowLength();
    const int64_t row = broadcast_.rowLength(), tile = executor.tile();
    unit_ = gathers_ && row <= tile ? tile / row * row : tile;
    unitsPerRow_ = (length_ + unit_ - 1) / unit_;
  }

  int64_t units() const { return gathers_ ? unitsPerRow_ : unitsPerRow_ * broadcast_.rows(); }

  void work(int64_t begin, int64_t end) const {
    Scratch scratch;
    executor_.begin(scratch);
    TileOperand operands[kMaxInputs];
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t row = unit / unitsPerRow_, first = unit % unitsPerRow_ * unit_;
      const int64_t count = std::min(unit_, length_ - first);
      for (int i = 0; i < broadcast_.inputCount; ++i)
        if (unit == begin || !isGatheredOnce(i))
          operands[i] = operand(scratch, i, row, first, count);
      executor_.run(scratch, operands, out_ + (row * length_ + first) * outWidth_, count);
    }
  }

 private:
  // What is gathered of the first unit is as long as any other's.
  bool isGatheredOnce(int i) const {
    const Broadcast::Input& input = broadcast_.inputs[i];
    const bool isEveryRow = std::all_of(input.strides, input.strides + broadcast_.rank - 1,
                                        [](int64_t stride) { return stride == 0; });
    return gathers_ && !input.isFlat && isEveryRow && unit_ % broadcast_.rowLength() == 0;
  }

  TileOperand operand(Scratch& scratch, int i, int64_t row, int64_t first, int64_t count) const {
    const Broadcast::Input& input = broadcast_.inputs[i];
    if (input.isFlat) return {input.data + (row * length_ + first) * input.width, 1};
    if (gathers_) {
      std::byte* to = executor_.gathered(scratch, i);
      broadcast_.gather(i, first, count, to);
      return {to, 1};
    }
    const int64_t step = input.step(broadcast_.rank);
    const std::byte* data =
        input.data + (broadcast_.rowOffset(i, row) + first * step) * input.width;
    return step == 1 ? TileOperand{data, 1} : executor_.splat(scratch, i, data);
  }

  const Executor& executor_;
  const Broadcast broadcast_;
  std::byte* const out_;
  const int64_t outWidth_, count_;
  bool gathers_;
  int64_t length_, unit_, unitsPerRow_;
};

// Whether sizes broadcast is found out, in better words, by the launch.
bool fits(const void* state, const LaunchArgs& args) {
  const Executor& executor = *static_cast<const Executor*>(state);
  if (static_cast<int>(args.inputs.size()) != executor.inputCount()) return false;
  if (!hasOperands(args, args.inputs.size()) || args.outputs[0].type != executor.resultType())
    return false;
  for (size_t i = 0; i < args.inputs.size(); ++i)
    if (args.inputs[i].type != executor.inputType(static_cast<int>(i))) return false;
  return true;
}

void launch(const void* state, const LaunchArgs& args) {
  const Executor& executor = *static_cast<const Executor*>(state);
  const TensorArg& output = args.outputs[0];
  if (output.count() == 0) return;

  const Run run(executor, args);
  const int64_t units = run.units();
  const double work = static_cast<double>(output.count()) * (executor.cost() + 1);
  parallelItems(args.threads, units, work / static_cast<double>(units),
                [&](int64_t begin, int64_t end) { run.work(begin, end); });
}

constexpr RuntimeKernel kLaunchers[] = {
    {"cpu/pointwise", load, launch, fits},
    {kTable, loadParams<TableParams>, launchTable, fitsTable},
    {kBytes, loadParams<BytesParams>, launchBytes, fitsBytes},
    {kDequantize, loadParams<DequantizeParams>, launchDequantize, fitsDequantize},
};

}  // namespace

std::span<const RuntimeKernel> launchers() { return kLaunchers; }

}  // namespace camshaft::cpu::pointwise
