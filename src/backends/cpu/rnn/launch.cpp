// LSTM, GRU and plain recurrent layers: parts of the batch and directions side by side, or one
// after the other where each step is worth all threads.
#include <cmath>
#include <memory>

#include "backend/launch.h"
#include "backends/cpu/families.h"
#include "backends/cpu/gemm/packed_weights.h"
#include "backends/cpu/gemm/workspace.h"
#include "backends/cpu/operands.h"
#include "backends/cpu/rnn/params.h"
#include "backends/cpu/rnn/partition.h"
#include "backends/cpu/rnn/sequences.h"
#include "backends/cpu/rnn/weights.h"

namespace camshaft::cpu::rnn {
namespace {

// Recurrent weights, in floats, that fill a good part of a core's cache, so that reading them takes
// several cores less time even with a fork and join for every step.
constexpr int64_t kSharedWeights = 128 * 1024;
// Multiplications, some twenty microseconds of them, that are worth waking the threads at all.
constexpr int64_t kSharedWork = 512 * 1024;

bool isValid(const Params& p) {
  constexpr int64_t kMost = int64_t{1} << 24;
  const auto isFunction = [](const Function& f) {
    return f.kind >= FunctionKind::kSigmoid && f.kind < FunctionKind::kCount;
  };
  for (const auto& functions : p.functions)
    if (!std::all_of(std::begin(functions), std::end(functions), isFunction)) return false;
  return p.inputs >= 0 && p.inputs <= kMost && p.hidden >= 1 && p.hidden <= kMost &&
         (p.directions == 1 || p.directions == 2) && p.kind >= CellKind::kLstm &&
         p.kind <= CellKind::kRnn && p.clip >= 0 && p.operands.x >= 0 &&
         (p.operands.packed >= 0 || (p.operands.w >= 0 && p.operands.r >= 0));
}

std::shared_ptr<const void> load(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, "the parameters of a recurrent layer");
  requireIsa(reader);
  auto params = std::make_shared<Params>(reader.read<Params>());
  reader.expectEnd();
  if (!isValid(*params))
    fail(ErrorKind::kInvalidEngine, "the engine holds a damaged recurrent layer");
  return params;
}

bool fits(const void* state, const LaunchArgs& args) {
  const Params& p = *static_cast<const Params*>(state);
  const Operands& at = p.operands;
  const auto exists = [&](int32_t input) {
    return static_cast<size_t>(input) < args.inputs.size();
  };
  if (!exists(at.x) || args.inputs[at.x].rank != 3 || args.outputs.empty()) return false;
  const int64_t steps = stepsOf(p, args), batch = batchOf(p, args);
  const int64_t width = p.directions * p.width(),
                states = volumeOf({p.directions, batch, p.hidden});
  const auto holds = [&](int32_t input, int64_t count) {
    return input < 0 ||
           (exists(input) && isF32(args.inputs[input]) && args.inputs[input].count() == count);
  };
  for (size_t i = 0; i < args.outputs.size(); ++i)
    if (args.outputs[i].data &&
        (args.outputs[i].type != DataType::kF32 ||
         args.outputs[i].count() != (i == 0 ? volumeOf({steps, states}) : states)))
      return false;
  return holds(at.x, volumeOf({steps, batch, p.inputs})) &&
         holds(at.packed, p.directions * PackedLayout(p).floats) && holds(at.w, width * p.inputs) &&
         holds(at.r, width * p.hidden) && holds(at.bias, 2 * width) &&
         holds(at.peepholes, 3 * p.directions * p.hidden) && holds(at.initialH, states) &&
         holds(at.initialC, states) &&
         (at.lengths < 0 || (exists(at.lengths) && isIndex(args.inputs[at.lengths]) &&
                             args.inputs[at.lengths].count() == batch));
}

// The packed weights of all directions; those the engine does not hold are packed at `workspace`,
// which moves behind them.
const float* packedWeights(const Params& p, const LaunchArgs& args, float*& workspace) {
  const auto floats = [&](int32_t input) {
    return input < 0 ? nullptr : args.inputs[input].as<const float>();
  };
  if (p.operands.packed >= 0) return floats(p.operands.packed);
  const float* const packed = workspace;
  for (int64_t d = 0; d < p.directions; ++d, workspace += PackedLayout(p).floats)
    packDirection(p,
                  {floats(p.operands.w), floats(p.operands.r), floats(p.operands.bias),
                   floats(p.operands.peepholes)},
                  d, workspace);
  return packed;
}

void launch(const void* state, const LaunchArgs& args) {
  const Params& p = *static_cast<const Params*>(state);
  const int64_t steps = stepsOf(p, args), batch = batchOf(p, args);
  const WorkersWithin limit(args,
                            [&](int threads) { return workspaceFloatsFor(p, batch, threads); });
  float* workspace = workspaceFloats(args);
  const float* const packed = packedWeights(p, args, workspace);
  const int64_t perDirection = PackedLayout(p).floats;

  const int64_t threads = args.threads->threads();
  const Division division = divide(p, batch, static_cast<int>(threads));
  const int64_t parts = p.directions * division.slices;
  if (parts < threads && p.hidden * p.width() >= kSharedWeights) {
    for (int64_t d = 0; d < p.directions; ++d)
      walkSequences(p, args, {d, 0, batch, true}, packed + d * perDirection, workspace);
    return;
  }
  const auto walk = [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t d = i % p.directions, first = i / p.directions * division.rows;
      walkSequences(p, args, {d, std::min(first, batch), std::min(first + division.rows, batch)},
                    packed + d * perDirection, workspace + i * partFloats(p, division.rows));
    }
  };
  const bool isSmall =
      steps * batch * p.directions * p.width() * (p.inputs + p.hidden) < kSharedWork;
  if (isSmall || parts == 1) return walk(0, parts, 0);
  args.threads->parallelFor(parts, 1, walk);
}

constexpr RuntimeKernel kLaunchers[] = {{kName, load, launch, fits}};

}  // namespace

std::span<const RuntimeKernel> launchers() { return kLaunchers; }

}  // namespace camshaft::cpu::rnn
