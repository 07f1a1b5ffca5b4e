// Attention on cuDNN.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "backends/cuda/runtime/libraries/attention_graph.h"
#include "backends/cuda/runtime/libraries/calling_context.h"
#include "backends/cuda/runtime/libraries/cudnn.h"
#include "backends/cuda/runtime/libraries/libraries.h"
#include "backends/cuda/runtime/libraries/shape_cache.h"
#include "backends/cuda/runtime/libraries/stored_plan.h"
#include "support/byte_reader.h"
#include "support/error.h"
#include "support/once_map.h"

namespace camshaft::cuda {
namespace {

struct AttentionPlan {
  OperationGraph graph;
  std::shared_ptr<const CudnnPlan> plan;
};

struct AttentionState {
  AttentionProblem problem;
  StoredPlan stored;
  ShapeCache<AttentionSizes, AttentionPlan> plans;
};

std::shared_ptr<const void> load(std::span<const std::byte> params) {
  ByteReader reader(params, "the parameters of an attention");
  auto state = std::make_shared<AttentionState>();
  state->problem = readAttentionProblem(reader);
  state->stored = StoredPlan::read(reader);
  return state;
}

std::vector<std::byte> paramsOf(const AttentionProblem& problem,
                                std::shared_ptr<const CudnnPlan> plan) {
  ByteWriter writer;
  write(writer, problem);
  writeStoredPlan(writer, std::move(plan));
  return writer.take();
}

AttentionSizes sizesAt(const AttentionProblem& problem, const LaunchArgs& args) {
  if (args.dims.size() != kAttentionSizeCount) return problem.sizes;
  AttentionSizes sizes;
  std::memcpy(static_cast<void*>(&sizes), args.dims.data(), sizeof sizes);
  return sizes;
}

std::shared_ptr<const AttentionPlan> planFor(const AttentionState& state,
                                             const AttentionSizes& sizes, int64_t workspaceBytes) {
  return state.plans.get(sizes, [&] {
    OperationGraph graph = attentionGraph(state.problem, sizes);
    std::shared_ptr<const CudnnPlan> plan;
    if (sizes == state.problem.sizes) plan = state.stored.get(workspaceBytes);
    if (!plan)
      plan = planAnew(
          graph, {}, workspaceBytes,
          str("an attention of ", sizes.queryLength, " queries and ", sizes.keyLength, " keys"));
    return std::make_shared<const AttentionPlan>(AttentionPlan{std::move(graph), std::move(plan)});
  });
}

void* address(const TensorArg& tensor, const AttentionOperand& operand) {
  return tensor.as<std::byte>() + operand.offset * (bitsOf(tensor.type) / 8);
}

void launch(const void* opaque, const LaunchArgs& args) {
  const AttentionState& state = *static_cast<const AttentionState*>(opaque);
  const AttentionProblem& problem = state.problem;
  const AttentionSizes sizes = sizesAt(problem, args);
  if (sizes.batch == 0 || sizes.queryLength == 0) return;
  const RelaxedCapture relaxed;
  const auto plan = planFor(state, sizes, args.workspaceBytes);
  std::vector<Binding> operands = {{kQueryId, address(args.inputs[problem.inputQ], sizes.q)},
                                   {kKeyId, address(args.inputs[problem.inputK], sizes.k)},
                                   {kValueId, address(args.inputs[problem.inputV], sizes.v)},
                                   {kAttentionOutputId, address(args.outputs[0], sizes.o)}};
  if (problem.hasBias)
    operands.push_back({kBiasId, address(args.inputs[problem.inputBias], sizes.bias)});
  runPlan(*plan->plan, plan->graph, operands, args.stream, args.workspace, args.workspaceBytes);
}

// Whether [batch, heads, length, size] lies inside the operand.
bool covers(const TensorArg& tensor, DataType type, const AttentionOperand& operand, int64_t batch,
            int64_t heads, int64_t length, int64_t size) {
  if (!tensor.data || tensor.type != type || operand.offset < 0) return false;
  __int128 end = static_cast<__int128>(operand.offset) + size;
  const std::pair<int64_t, int64_t> axes[] = {
      {batch, operand.strideBatch}, {heads, operand.strideHead}, {length, operand.strideLength}};
  for (const auto& [count, stride] : axes) {
    if (count < 1 || stride < 0) return false;
    end += static_cast<__int128>(count - 1) * stride;
  }
  return end <= tensor.count();
}

bool fits(const void* opaque, const LaunchArgs& args) {
  const AttentionProblem& p = static_cast<const AttentionState*>(opaque)->problem;
  if (!args.dims.empty() && args.dims.size() != kAttentionSizeCount) return false;
  const int last = std::max({p.inputQ, p.inputK, p.inputV, p.hasBias ? p.inputBias : 0});
  if (static_cast<int>(args.inputs.size()) <= last || args.outputs.size() != 1) return false;
  const AttentionSizes s = sizesAt(p, args);
  if (s.batch == 0 || s.queryLength == 0) return true;
  if (p.hasBias &&
      !covers(args.inputs[p.inputBias], p.biasType, s.bias, p.biasPerBatch ? s.batch : 1,
              p.biasPerHead ? p.heads : 1, p.biasPerQuery ? s.queryLength : 1, s.keyLength)) {
    return false;
  }
  return covers(args.inputs[p.inputQ], p.type, s.q, s.batch, p.heads, s.queryLength, p.headSize) &&
         covers(args.inputs[p.inputK], p.type, s.k, s.batch, p.keyHeads, s.keyLength, p.headSize) &&
         covers(args.inputs[p.inputV], p.type, s.v, s.batch, p.keyHeads, s.keyLength,
                p.valueSize) &&
         covers(args.outputs[0], p.type, s.o, s.batch, p.heads, s.queryLength, p.valueSize);
}

using Choices = std::shared_ptr<const std::vector<EngineChoice>>;

Choices knownChoices(const AttentionProblem& problem, const OperationGraph& graph) {
  using Key = std::pair<CUcontext, std::vector<std::byte>>;
  static auto& known = *new OnceMap<Key, Choices>(256);
  ByteWriter writer;
  write(writer, problem);
  return known.get({currentContext(), writer.take()}, [&] {
    constexpr size_t kMostLate = 3;
    return std::make_shared<const std::vector<EngineChoice>>(
        worthTiming(suggestEngines(graph, EngineRules{}, kMostLate), kMostLate));
  });
}

}  // namespace

const RuntimeKernel kAttentionCudnn = {
    .name = kAttentionKernel, .load = load, .launch = launch, .fits = fits};

std::optional<LibraryPlan> attentionPlan(const AttentionProblem& problem, int number) {
  const OperationGraph graph = attentionGraph(problem, problem.sizes);
  const Choices choices = knownChoices(problem, graph);
  if (number < 0 || number >= static_cast<int>(choices->size())) return std::nullopt;
  const EngineChoice& choice = (*choices)[number];
  const auto plan = tryBuild(graph, choice, problem.workspaceLimit);
  if (!plan) return std::nullopt;
  return LibraryPlan{toString(choice), paramsOf(problem, plan), plan->workspaceBytes()};
}

}  // namespace camshaft::cuda
