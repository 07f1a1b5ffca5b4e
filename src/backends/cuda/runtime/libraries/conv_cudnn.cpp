// Convolutions with fused epilogues on cuDNN.
#include <memory>
#include <optional>
#include <string>

#include "backends/cuda/runtime/libraries/calling_context.h"
#include "backends/cuda/runtime/libraries/conv_graph.h"
#include "backends/cuda/runtime/libraries/cudnn.h"
#include "backends/cuda/runtime/libraries/libraries.h"
#include "backends/cuda/runtime/libraries/shape_cache.h"
#include "backends/cuda/runtime/libraries/stored_plan.h"
#include "support/byte_reader.h"
#include "support/error.h"
#include "support/once_map.h"
#include "support/volume.h"

namespace camshaft::cuda {
namespace {

struct ConvPlan {
  OperationGraph graph;
  std::shared_ptr<const CudnnPlan> plan;
};

struct ConvState {
  ConvProblem problem;
  StoredPlan stored;
  ShapeCache<std::vector<int64_t>, ConvPlan> plans;  // by batch and image
};

std::shared_ptr<const void> load(std::span<const std::byte> params) {
  ByteReader reader(params, "the parameters of a convolution");
  auto state = std::make_shared<ConvState>();
  state->problem = readConvProblem(reader);
  state->stored = StoredPlan::read(reader);
  return state;
}

std::vector<std::byte> paramsOf(const ConvProblem& problem, std::shared_ptr<const CudnnPlan> plan) {
  ByteWriter writer;
  write(writer, problem);
  writeStoredPlan(writer, std::move(plan));
  return writer.take();
}

// The problem with the batch and image of the step's input.
ConvProblem problemAt(const ConvProblem& problem, const TensorArg& x) {
  ConvProblem actual = problem;
  actual.batch = x.dims[0];
  for (size_t i = 0; i < actual.image.size(); ++i)
    actual.image[i] = x.dims[i + (problem.channelsLast ? 1 : 2)];
  return actual;
}

std::vector<int64_t> keyOf(const ConvProblem& problem) {
  std::vector<int64_t> key = problem.image;
  key.push_back(problem.batch);
  return key;
}

std::shared_ptr<const ConvPlan> planFor(const ConvState& state, const ConvProblem& actual,
                                        int64_t workspaceBytes) {
  return state.plans.get(keyOf(actual), [&] {
    OperationGraph graph = convGraph(actual);
    std::shared_ptr<const CudnnPlan> plan;
    if (keyOf(actual) == keyOf(state.problem)) plan = state.stored.get(workspaceBytes);
    if (!plan)
      plan = planAnew(graph, convRules(actual), workspaceBytes,
                      str("a convolution of ", join(actual.image, "x"), " pixels"));
    return std::make_shared<const ConvPlan>(ConvPlan{std::move(graph), std::move(plan)});
  });
}

void launch(const void* opaque, const LaunchArgs& args) {
  const ConvState& state = *static_cast<const ConvState*>(opaque);
  if (args.outputs[0].count() == 0) return;
  const RelaxedCapture relaxed;
  const auto plan = planFor(state, problemAt(state.problem, args.inputs[0]), args.workspaceBytes);
  std::vector<Binding> operands = {{kInputId, args.inputs[0].data},
                                   {kWeightsId, args.inputs[1].data},
                                   {kOutputId, args.outputs[0].data}};
  for (size_t i = 2; i < args.inputs.size(); ++i) {
    operands.push_back({kEpilogueId + static_cast<int64_t>(i) - 2, args.inputs[i].data});
  }
  runPlan(*plan->plan, plan->graph, operands, args.stream, args.workspace, args.workspaceBytes);
}

bool holds(const TensorArg& tensor, DataType type, int64_t count) {
  return tensor.data && tensor.type == type && tensor.count() == count;
}

bool fits(const void* opaque, const LaunchArgs& args) {
  const ConvProblem& p = static_cast<const ConvState*>(opaque)->problem;
  const ConvEpilogue& epilogue = p.epilogue;
  if (args.inputs.size() != 2 + epilogue.tensors.size() || args.outputs.size() != 1) return false;
  const TensorArg& x = args.inputs[0];
  const int rank = static_cast<int>(p.image.size()) + 2;
  if (!x.data || x.type != p.inputType || x.rank != rank) return false;
  if (x.dims[p.channelsLast ? rank - 1 : 1] != p.inChannels) return false;
  const ConvProblem actual = problemAt(p, x);
  const std::vector<int64_t> sizes = outputImage(actual);
  for (const int64_t size : sizes) {
    if (size < 0) return false;
  }
  const int64_t pixels = volumeOf(sizes);
  if (!holds(args.inputs[1], p.inputType,
             volumeOf({p.outChannels, p.inChannels / p.groups, volumeOf(p.kernel)})))
    return false;
  for (size_t i = 0; i < epilogue.tensors.size(); ++i) {
    const EpilogueTensor& tensor = epilogue.tensors[i];
    const int64_t count =
        volumeOf({tensor.hasBatch ? actual.batch : 1, tensor.hasChannels ? p.outChannels : 1,
                  tensor.hasSpatial ? pixels : 1});
    if (!holds(args.inputs[2 + i], tensor.type, count)) return false;
  }
  return holds(args.outputs[0], p.outputType, volumeOf({actual.batch, p.outChannels, pixels}));
}

// cuDNN has engines of its own for residual + bias + activation in this order, and general ones for
// any other: (x + a) + b as (x + b) + a, when the epilogue starts with such.
std::optional<ConvProblem> withFirstSumsExchanged(const ConvProblem& problem) {
  ConvProblem other = problem;
  std::vector<EpilogueNode>& nodes = other.epilogue.nodes;
  using Kind = EpilogueOperand::Kind;
  if (nodes.size() < 2 || nodes[0].op != EpilogueOp::kAdd || nodes[1].op != EpilogueOp::kAdd)
    return std::nullopt;
  const bool isChain = nodes[0].a.kind == Kind::kAccumulator && nodes[0].b.kind == Kind::kTensor &&
                       nodes[1].a == EpilogueOperand{Kind::kNode, 0} &&
                       nodes[1].b.kind == Kind::kTensor;
  if (!isChain) return std::nullopt;
  for (size_t i = 2; i < nodes.size(); ++i) {
    for (const EpilogueOperand& operand : {nodes[i].a, nodes[i].b}) {
      if (operand == EpilogueOperand{Kind::kNode, 0})
        return std::nullopt;  // the first sum has another reader
    }
  }
  std::swap(nodes[0].b, nodes[1].b);
  return other;
}

// What cuDNN suggests for a problem, and in which order its first sums are.
struct Suggestions {
  ConvProblem problem;
  std::vector<EngineChoice> choices;
  bool needsCompiler() const { return choices.empty() || choices[0].isCompiledLate; }
};

Suggestions ask(const ConvProblem& problem) {
  constexpr size_t kMostLate = 3, kMostLateOfPixels = 2;  // our own products take pixels too
  return {problem, worthTiming(suggestEngines(convGraph(problem), convRules(problem), kMostLate),
                               isPixelwise(problem) ? kMostLateOfPixels : kMostLate)};
}

// In the order of sums that needs no compiler, where there is one; cuDNN's own order is asked
// first, since looking for engines of the other takes much longer.
Suggestions suggestionsFor(const ConvProblem& problem) {
  const auto exchanged = withFirstSumsExchanged(problem);
  if (!exchanged) return ask(problem);
  Suggestions other = ask(*exchanged);
  if (!other.needsCompiler()) return other;
  Suggestions own = ask(problem);
  return own.choices.empty() ? other : own;
}

std::shared_ptr<const Suggestions> knownSuggestions(const ConvProblem& problem) {
  using Key = std::pair<CUcontext, std::vector<std::byte>>;
  static auto& known = *new OnceMap<Key, std::shared_ptr<const Suggestions>>(1024);
  ByteWriter writer;
  write(writer, problem);
  return known.get({currentContext(), writer.take()},
                   [&] { return std::make_shared<const Suggestions>(suggestionsFor(problem)); });
}

}  // namespace

const RuntimeKernel kConvCudnn = {
    .name = kConvKernel, .load = load, .launch = launch, .fits = fits};

std::optional<LibraryPlan> convPlan(const ConvProblem& problem, int number) {
  const auto suggestions = knownSuggestions(problem);
  if (number < 0 || number >= static_cast<int>(suggestions->choices.size())) return std::nullopt;
  const ConvProblem& ordered = suggestions->problem;
  const EngineChoice& choice = suggestions->choices[number];
  const auto plan = tryBuild(convGraph(ordered), choice, problem.workspaceLimit);
  if (!plan) return std::nullopt;
  return LibraryPlan{str(toString(choice), ordered == problem ? "" : ", sums exchanged"),
                     paramsOf(ordered, plan), plan->workspaceBytes()};
}

}  // namespace camshaft::cuda
