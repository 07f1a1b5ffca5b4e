#include "slim/slim.h"

#include <algorithm>
#include <set>
#include <span>

#include "onnx/import.h"
#include "onnx/wire/tensor.h"
#include "onnx/wire/write_model.h"
#include "onnx/write/write_graph.h"
#include "ops/ops.h"
#include "passes/passes.h"
#include "slim/bodies.h"
#include "slim/foreign.h"
#include "slim/keep.h"
#include "slim/merge_constants.h"
#include "slim/merge_moves.h"
#include "slim/report.h"
#include "slim/tidy.h"
#include "slim/working_copy.h"
#include "support/text.h"

namespace camshaft {

using onnx::TracedNode;
using onnx::writer::KeptNode;

// Before this one, all initializers are inputs too.
constexpr int64_t kFirstIrWithFreeInitializers = 4;

struct SlimModel::State {
  onnx::LoadedModel source;
  std::vector<onnx::TensorBytes> tidied;  // owns some of its data
  SlimmedBodies bodies;
  onnx::ImportTrace trace;  // nodes of the result may be copies of these
  onnx::writer::WrittenGraph written;
  onnx::Model model;
  SlimReport report;

  std::unordered_set<std::string> outside;  // names of graphs around the model's

  void write(const Graph& imported, std::set<size_t> kept);
  void slimAround(const ForeignNodes& foreign);
  bool keepRefused(std::set<size_t>& kept);
  void leaveUnchanged(std::string reason) {
    model = source.model;
    model.irVersion = std::max(model.irVersion, kFirstIrWithFreeInitializers);
    report.kept = {str("the whole model: ", reason)};
  }
};

namespace {

// In the order of the build's pipeline, which says what each does. Left out is what fuses, and what
// spells one operator as others: a Gather that becomes a Slice and a Reshape is no slimmer.
constexpr Pass kPasses[] = {
    {"remove_dead", removeDead},
    {"fold_constants", foldConstants},
    {"remove_identities", removeIdentities},
    {"merge_common", mergeCommon},
    {"unflatten_matmuls", unflattenMatMuls},
    {"recognise_norm", recogniseNorm},
    {"fold_constants", foldConstants},
    {"hoist_rows", hoistRows},
    {"merge_constants", mergeConstants},
    {"fold_batch_norm", foldBatchNorm},
    {"remove_identities", removeIdentities},
    {"merge_common", mergeCommon},
    {"merge_moves", mergeMoves},
    {"remove_dead", removeDead},
};
// After these, on a second copy: transposes that meet their inverse cancel, and others may become
// more.
constexpr Pass kSinkingPasses[] = {
    {"sink_transposes", sinkTransposes},
    {"remove_identities", removeIdentities},
    {"merge_common", mergeCommon},
    {"remove_dead", removeDead},
};
constexpr int64_t kFirstOpsetWithLayerNorm = 17;

void runPasses(Graph& graph, std::span<const Pass> passes, int64_t opset) {
  const PassOptions options;
  for (const Pass& pass : passes) {
    if (pass.run == recogniseNorm && opset < kFirstOpsetWithLayerNorm) continue;
    pass.run(graph, options);
    verify(graph, pass.name);
  }
}

bool hasTransposes(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(),
                     [](const auto& node) { return node->op == &ops::Transpose; });
}

int64_t opsetOf(const onnx::Model& model) {
  for (const auto& import : model.opsetImports)
    if (import.domain.empty() || import.domain == "ai.onnx") return import.version;
  return 1;
}

// The ONNX nodes that a node of the graph came from.
std::vector<size_t> tracedOf(const Node& node) {
  std::vector<size_t> traced;
  for (const ImportedPart& origin : node.origins.parts())
    traced.push_back(static_cast<size_t>(origin.node));
  return traced;
}

bool hasBody(const onnx::Node& node) {
  return std::any_of(node.attributes.begin(), node.attributes.end(),
                     [](const onnx::Attribute& attribute) { return !attribute.graphs.empty(); });
}

onnx::writer::WrittenGraph smallerOf(const onnx::writer::WriteTask& task) {
  auto first = writeGraph(task, false);
  auto second = writeGraph(task, true);
  if (first.refusals.empty() != second.refusals.empty())
    return first.refusals.empty() ? std::move(first) : std::move(second);
  return first.graph.nodes.size() <= second.graph.nodes.size() ? std::move(first)
                                                               : std::move(second);
}

int64_t bytesOf(const onnx::LoadedModel& model) {
  size_t bytes = model.files->model().bytes.size();
  for (const onnx::Tensor& tensor : model.model.graph.initializers)
    if (tensor.external) bytes += onnx::tensorData(tensor, *model.files).bytes.size();
  return static_cast<int64_t>(bytes);
}

[[noreturn]] void refuse(const std::vector<onnx::ImportProblem>& problems) {
  std::string message;
  for (const auto& problem : problems) message += (message.empty() ? "" : "\n") + problem.message;
  throw Error(problems.front().kind, std::move(message));
}

Graph import(const onnx::LoadedModel& model, onnx::ImportOptions options) {
  Graph graph;
  *options.trace = {};
  const auto problems = onnx::importModel(model, graph, options);
  if (!problems.empty()) refuse(problems);
  return graph;
}

// Everything that has to be left out until the rest can be imported. Throws Error when that is no
// matter of nodes: names or opsets are wrong.
ForeignNodes foreignNodesOf(const onnx::LoadedModel& model) {
  ForeignNodes foreign(model.model);
  while (!foreign.areAll()) {
    const onnx::LoadedModel rest{foreign.empty() ? model.model : foreign.rest(), model.files};
    Graph graph;
    onnx::ImportTrace trace;
    const auto problems = onnx::importModel(rest, graph, {.trace = &trace});
    if (foreign.addMakersOfItems(trace)) continue;
    if (problems.empty()) break;
    std::vector<std::pair<size_t, const onnx::ImportProblem*>> found;
    for (const auto& problem : problems)
      if (problem.nodeIndex >= 0)
        found.emplace_back(foreign.indexInModel(static_cast<size_t>(problem.nodeIndex)), &problem);
    if (found.empty()) refuse(problems);
    for (const auto& [node, problem] : found) foreign.add(node, problem->reason);
  }
  return foreign;
}

// One that has to be kept and cannot be.
const TracedNode* findOpaqueInOtherOpset(const onnx::ImportTrace& trace, const onnx::Model& model) {
  for (const TracedNode& traced : trace.nodes)
    if (traced.openBroadcast && !canKeep(traced, model)) return &traced;
  return nullptr;
}

}  // namespace

// What the writer refused is left as it was; false when that is no way out.
bool SlimModel::State::keepRefused(std::set<size_t>& kept) {
  const size_t before = kept.size();
  for (const auto& refusal : written.refusals)
    for (const size_t index : tracedOf(*refusal.node))
      if (canKeep(trace.nodes[index], source.model) && kept.insert(index).second)
        report.kept.push_back(str(trace.nodes[index].name, ": ", refusal.reason));
  return kept.size() > before;
}

// `kept` are nodes that are left as they were; they become more until all others can be written.
void SlimModel::State::write(const Graph& imported, std::set<size_t> kept) {
  for (size_t i = 0; i < trace.nodes.size(); ++i)
    if (trace.nodes[i].opaque) {
      kept.insert(i);
      report.kept.push_back(str(trace.nodes[i].name, ": ",
                                trace.nodes[i].openBroadcast
                                    ? "it broadcasts sizes of which either may be 1"
                                    : "its operator is not known"));
    }
  kept.merge(growing(trace, source.model));
  while (true) {
    WorkingCopy copy(imported);
    for (const size_t index : kept) copy.keep(trace.nodes[index]);
    copy.cut();
    runPasses(copy.graph(), kPasses, opsetOf(source.model));
    const std::vector<KeptNode> keptNodes = copy.keptNodes();
    written = smallerOf({source, trace, copy.graph(), keptNodes, outside});
    if (written.refusals.empty()) {
      if (!hasTransposes(copy.graph())) break;
      runPasses(copy.graph(), kSinkingPasses, opsetOf(source.model));
      auto sunk = smallerOf({source, trace, copy.graph(), copy.keptNodes(), outside});
      if (sunk.refusals.empty() && sunk.graph.nodes.size() < written.graph.nodes.size())
        written = std::move(sunk);
      break;
    }
    if (keepRefused(kept)) continue;
    const auto& refusal = written.refusals.front();
    return leaveUnchanged(
        str(describe(*refusal.node), " cannot be written as ONNX: ", refusal.reason));
  }
  model = source.model;
  model.irVersion = std::max(model.irVersion, kFirstIrWithFreeInitializers);
  model.graph = written.graph;
  // Functions were expanded, but for calls in the bodies of branches and loops.
  if (std::none_of(kept.begin(), kept.end(),
                   [&](size_t i) { return hasBody(trace.nodes[i].node); }))
    model.functions.clear();
  const int64_t before = nodesIn(source.model.graph), after = nodesIn(model.graph);
  if (source.model.functions.empty() && after > before)
    leaveUnchanged(str("it would have ", after, " nodes, and has ", before));
}

// The rest as a model of its own, and the nodes that nobody knows in it again.
void SlimModel::State::slimAround(const ForeignNodes& foreign) {
  if (foreign.areAll()) return leaveUnchanged(foreign.reasons().front());
  std::unordered_set<std::string> names = foreign.names();
  names.insert(outside.begin(), outside.end());
  SlimModel rest = slim({foreign.rest(), source.files}, names);
  auto joined = foreign.joinedWith(rest.model());
  if (!joined) return leaveUnchanged(foreign.reasons().front());
  onnx::LoadedModel whole{std::move(*joined), source.files};
  for (auto& bytes : tidy(whole)) tidied.push_back(std::move(bytes));
  model = std::move(whole.model);
  report.kept = rest.report().kept;
  for (std::string& reason : foreign.reasons()) report.kept.push_back(std::move(reason));
  bodies.models.push_back(std::move(rest));
  if (nodesIn(model.graph) > nodesIn(source.model.graph)) leaveUnchanged(foreign.reasons().front());
}

SlimModel slim(onnx::LoadedModel model, const std::unordered_set<std::string>& outside) {
  auto state = std::make_unique<SlimModel::State>();
  const onnx::Model original = model.model;
  state->report.bytes.before = bytesOf(model);
  state->source = std::move(model);
  state->outside = outside;
  state->tidied = tidy(state->source);
  onnx::ImportOptions options;
  options.trace = &state->trace;
  options.emptyInputs = !outside.empty();
  if (const ForeignNodes foreign = foreignNodesOf(state->source); !foreign.empty()) {
    state->slimAround(foreign);
    countInto(state->report, original, state->model);
    return SlimModel(std::move(state));
  }
  Graph imported = import(state->source, options);
  state->bodies = slimBodies(state->source, state->trace, outside);
  if (!state->bodies.models.empty()) imported = import(state->source, options);
  options.openBroadcasts = findUseOfOpenBroadcast(state->trace) != nullptr;
  if (options.openBroadcasts) imported = import(state->source, options);
  const auto squeezes = squeezesOfChosenBranches(imported, state->trace, state->source.model);
  if (!squeezes)
    state->leaveUnchanged("it branches on what only a run can tell");
  else if (const TracedNode* node = findOpaqueInOtherOpset(state->trace, state->source.model))
    state->leaveUnchanged(str("'", node->name, "' broadcasts sizes of which either may be 1"));
  else
    state->write(imported, *squeezes);
  countInto(state->report, original, state->model);
  return SlimModel(std::move(state));
}

SlimModel::SlimModel(std::unique_ptr<State> state) : state_(std::move(state)) {}
SlimModel::SlimModel(SlimModel&&) noexcept = default;
SlimModel::~SlimModel() = default;
const onnx::Model& SlimModel::model() const { return state_->model; }
const SlimReport& SlimModel::report() const { return state_->report; }

std::string SlimModel::encode() {
  std::string bytes = onnx::encodeModel(state_->model, *state_->source.files);
  state_->report.bytes.after = static_cast<int64_t>(bytes.size());
  return bytes;
}

void SlimModel::writeFile(const std::filesystem::path& path) {
  state_->report.bytes.after =
      static_cast<int64_t>(onnx::writeModelFile(state_->model, *state_->source.files, path));
}

}  // namespace camshaft
