#include "tuner/choose.h"

#include <algorithm>
#include <set>
#include <utility>

#include "ops/control_flow.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "plan/storage.h"
#include "support/error.h"
#include "support/freed_memory.h"
#include "support/mapped_pages.h"
#include "support/stopwatch.h"
#include "tuner/candidates.h"
#include "tuner/contest.h"
#include "tuner/process_runner.h"
#include "tuner/tactics.h"

namespace camshaft {
namespace {

// Moments of a product's result as a node of its own, where the product no longer has that result.
Node* splitMoments(Graph& graph, Node* product, Value* result, Node* before) {
  Node* moments =
      graph.add(&ops::RowMoments, str(product->name, ".moments"), {result}, NoAttrs(), before);
  moments->origins = product->origins;
  graph.replaceUses(product->outputs[1], moments->output());
  return moments;
}

// The epilogue as a node of its own, behind the one it rode on, and what is made of that result.
std::vector<Node*> splitEpilogue(Graph& graph, Node* node) {
  Epilogue epilogue = std::move(*node->epilogue);
  std::vector<Value*> extra(node->inputs.begin() + epilogue.firstInput, node->inputs.end());
  std::vector<Value*> own(node->inputs.begin(), node->inputs.begin() + epilogue.firstInput);
  node->epilogue.reset();
  graph.setInputs(node, own);
  graph.inferTypes(node);
  extra.insert(extra.begin(), node->output());
  PointwiseAttrs attrs;
  attrs.expr = std::move(epilogue.expr);
  Node* pointwise = graph.add(&ops::Pointwise, str(node->name, ".epilogue"), {extra},
                              std::move(attrs), graph.next(node));
  pointwise->origins = node->origins;
  graph.replaceUses(node->output(), pointwise->output());
  graph.setInput(pointwise, 0, node->output());
  if (node->op != &ops::MomentMatMul) return {pointwise};
  return {pointwise, splitMoments(graph, node, pointwise->output(), graph.next(pointwise))};
}

std::string reasons(const StepInfo& info) {
  std::string text;
  for (const auto& alternative : info.alternatives)
    text += str(text.empty() ? "" : "; ", alternative.kernel, ": ", alternative.note);
  return text.empty() ? "no family lists this operator" : text;
}

// Nodes of one likeness are taken by the same kernels, in the same times.
std::string likenessOf(const Node& node, const std::vector<Candidate>& candidates) {
  std::string text;
  for (const Candidate& candidate : candidates) text += candidate.key + "\n";
  for (const Value* input : node.inputs) text += input ? str(input->type, " ") : "_ ";
  return text;
}

// The smallest and the largest sizes of a profile, as far as they are bounded; none is 0, at which
// nothing would run.
std::vector<SymbolValue> extremesOf(const SymbolRange& range) {
  return {[range](const std::string& name) { return std::max<int64_t>(range(name).min, 1); },
          [range](const std::string& name) {
            const DimRange sizes = range(name);
            return std::max<int64_t>(sizes.max == DimRange::kUnbounded ? sizes.min : sizes.max, 1);
          }};
}

bool readsOnHost(const Node& user, const Value* value) {
  if (user.op == &ops::BindDims) return true;
  if (!hasBodies(user)) return false;
  const std::ptrdiff_t first = user.op == &ops::Loop ? 2 : 1;  // that does not decide its course
  return std::find(user.inputs.begin() + first, user.inputs.end(), value) == user.inputs.end();
}

// Sizes that lead the host only, as tensors: made on a device they would have to come back.
bool isForHost(const Graph& graph, const Node& node) {
  return node.op == &ops::DimsTensor && !graph.isOutput(node.output()) &&
         std::ranges::all_of(node.output()->users,
                             [&](const Node* user) { return readsOnHost(*user, node.output()); });
}

class Chooser {
 public:
  Chooser(Graph& graph, const ResolvedProfile& profile, const ChooseOptions& options,
          WeightsBuilder& weights)
      : graph_(graph),
        options_(options),
        weights_(weights),
        opt_(profile.optValue(graph)),
        extremes_(extremesOf(profile.rangeOfSymbol(graph))),
        candidates_(options, opt_, profile.rangeOfSymbol(graph)),
        threads_(options.tuning.threads),
        host_(makeLocalRunner(&threads_, nullptr, nullptr, options.tuning.loadPlugin)),
        device_(options.deviceTrials ? options.deviceTrials : makeDeviceTrials(options)) {}

  std::vector<ChosenKernel> chooseAll() {
    const std::vector<Node*> nodes = graph_.nodeList();
    if (options_.tuning.isReplay()) {
      takeDecisions(nodes);
      return std::move(chosen_);
    }
    candidates_.prefetch(nodes);
    const Stopwatch watch;
    // Every candidate has packed weights of its own, so nodes are decided one by one, but for those
    // of a device, whose code is compiled at once.
    const bool isCompiled = options_.hasDeviceMemory();
    for (size_t i = 0; i < nodes.size(); ++i) {
      report(i, (isCompiled ? 2 : 1) * nodes.size());
      if (needsKernel(*nodes[i])) gather(nodes[i]);
      if (!isCompiled) decide();
    }
    if (isCompiled) {
      const double gathered = watch.milliseconds();
      compile();
      const double compiled = watch.milliseconds();
      decide();
      options_.tuning.log.verbose("Kernels of ", nodes.size(), " nodes: listed in ",
                                  gathered / 1000, " s, ", candidates_.compiledCount(),
                                  " texts compiled in ", (compiled - gathered) / 1000,
                                  " s, chosen in ", (watch.milliseconds() - compiled) / 1000, " s");
    }
    if (options_.tuning.selector) options_.tuning.selector->report(selected_);
    return std::move(chosen_);
  }

 private:
  // A node with the kernels that take it.
  struct Pending {
    Node* node;
    size_t backend;  // of options_.backends
    std::vector<Candidate> candidates;
    StepInfo info;
    bool isRepeated = false;  // candidates are prepared when those of its like have been timed
    size_t decision = 0;      // on the tape, where there is one
    std::optional<Choice> choice = {};  // the timing cache's, which left one candidate
    std::string name = {};              // by which the selector knows it, where there is one
  };

  // What an earlier build decided, node by node.
  void takeDecisions(const std::vector<Node*>& nodes) {
    for (Node* node : nodes)
      if (needsKernel(*node)) take(node);
  }

  void take(Node* node) {
    DecisionTape& tape = *options_.tuning.tape;
    const bool isNext =
        tape.next < tape.decisions.size() && tape.decisions[tape.next].node == node->name;
    if (!isNext) fail(ErrorKind::kUnsupported, describe(*node), " was not there");
    const KernelDecision& decision = tape.decisions[tape.next++];
    if (decision.kernel.empty()) {
      if (!node->epilogue) fail(ErrorKind::kUnsupported, describe(*node), " has no epilogue");
      const std::vector<Node*> behind = splitEpilogue(graph_, node);
      take(node);
      for (Node* each : behind) take(each);
      return;
    }
    auto [candidate, backend] = candidates_.decided(*node, decision);
    keep({.node = node,
          .kernel = candidate.kernel,
          .prepared = std::move(candidate.prepared),
          .info = {},
          .onHost = options_.hasDeviceMemory() && !backend->compile,
          .binary = nullptr,
          .packedAt = {}});
  }

  void keep(ChosenKernel chosen) {
    storePacked(chosen, weights_);
    for (const Value* input : chosen.node->inputs)
      if (input && input->isConstant()) letGoOfMapped(input->constant->bytes);
    chosen_.push_back(std::move(chosen));
  }

  // Device code of all that is pending.
  void compile() {
    std::vector<Candidates::Uncompiled> uncompiled;
    for (Pending& pending : pending_)
      uncompiled.push_back({options_.backends[pending.backend], &pending.candidates});
    if (candidates_.areTimed() && hasTrials()) device_->start();
    candidates_.compile(uncompiled);
    loadAhead();
  }

  // Gathering candidates was the first half of the work where code is compiled in between.
  void decide() {
    for (size_t i = 0; i < pending_.size(); ++i) {
      if (options_.hasDeviceMemory()) report(pending_.size() + i, 2 * pending_.size());
      const int64_t bytes = bytesOf(pending_[i]);
      keep(choose(pending_[i]));
      pending_[i].candidates.clear();
      freed_.add(bytes);
    }
    pending_.clear();
  }

  // What its candidates have packed and what they are timed on, as far as its size is known.
  int64_t bytesOf(const Pending& pending) const {
    int64_t bytes = 0;
    for (const Candidate& candidate : pending.candidates)
      for (const StepInput& input : candidate.prepared.inputs) bytes += std::ssize(input.packed);
    for (const auto* values : {&pending.node->inputs, &pending.node->outputs})
      for (const Value* value : *values) {
        const Dim size = value ? byteSize(value->type) : Dim(0);
        if (size.isConstant()) bytes += size.value();
      }
    return bytes;
  }

  bool isOnDevice(const Pending& pending) const {
    return options_.backends[pending.backend]->compile != nullptr;
  }

  // Whether anything is still to be timed or checked on the device.
  bool hasTrials() const {
    return std::any_of(pending_.begin(), pending_.end(), [this](const Pending& pending) {
      return isOnDevice(pending) && !pending.isRepeated &&
             (pending.candidates.size() > 1 || pending.candidates[0].milliseconds < 0);
    });
  }

  // Plans of the vendor's libraries take long to load; those of a network load side by side.
  void loadAhead() {
    if (!candidates_.areTimed() || !hasTrials()) return;
    for (const Pending& pending : pending_) {
      if (!isOnDevice(pending) || pending.isRepeated || pending.candidates.size() < 2) continue;
      if (pending.node->op == &ops::Plugin) continue;  // its creator is in this process
      for (const Candidate& candidate : pending.candidates)
        if (candidate.prepared.source.empty())
          device_->loadAhead({.kernel = std::string(runtimeKernelOf(candidate)),
                              .params = candidate.prepared.params});
    }
  }

  void report(size_t done, size_t all) const {
    if (options_.progress) options_.progress(static_cast<int>(done), static_cast<int>(all));
  }

  // The candidates of the first backend that has any. A node that a backend takes only without its
  // epilogue is split. A choice of the timing cache leaves the one that it names.
  void gather(Node* node) {
    StepInfo info{.layerType = std::string(node->op->name), .origins = node->origins.list()};
    const bool isHostsOwn = options_.hasDeviceMemory() && isForHost(graph_, *node);
    const std::optional<Choice> choice = candidates_.choiceFor(*node);
    for (size_t b = 0; b < options_.backends.size(); ++b) {
      if (isHostsOwn && options_.backends[b]->compile) continue;
      std::vector<Candidate> candidates = candidates_.list(*node, *options_.backends[b], info);
      if (choice)
        std::erase_if(candidates,
                      [&](const Candidate& each) { return tacticHashOf(each) != choice->tactic; });
      const std::string problem = candidates_.areTimed() ? likenessOf(*node, candidates) : "";
      const bool isRepeated = !problem.empty() && gathered_.contains(problem);
      if (!isRepeated) candidates = candidates_.prepared(*node, std::move(candidates), info);
      if (!candidates.empty()) {
        gathered_.insert(problem);
        if (b > 0 && !isHostsOwn) reportFallback(*node, b, info);
        pending_.push_back(
            {node, b, std::move(candidates), std::move(info), isRepeated, noteOf(*node), choice});
        if (options_.tuning.selector)
          pending_.back().name = options_.tuning.selector->uniqueName(node->name);
        return;
      }
      if (node->epilogue && !choice) {
        noteOf(*node);
        const std::vector<Node*> behind = splitEpilogue(graph_, node);
        gather(node);
        for (Node* each : behind) gather(each);
        return;
      }
    }
    if (choice) failOnChoice(*node, info);
    fail(ErrorKind::kUnsupported, describe(*node), " has no kernel: ", reasons(info));
  }

  [[noreturn]] static void failOnChoice(const Node& node, const StepInfo& info) {
    fail(ErrorKind::kUnsupported, describe(node),
         " cannot have the kernel that the timing cache chooses for it; update its entry to a "
         "tactic of the verbose log, or delete it",
         info.alternatives.empty() ? "" : str(" (", reasons(info), ")"));
  }

  // A decision that is still to come, of a node that is not split after all.
  size_t noteOf(const Node& node) const {
    if (!options_.tuning.tape) return 0;
    std::vector<KernelDecision>& decisions = options_.tuning.tape->decisions;
    decisions.push_back({.node = node.name, .kernel = {}});
    return decisions.size() - 1;
  }

  ChosenKernel choose(Pending& pending) {
    std::vector<Candidate>& candidates = pending.candidates;
    if (pending.isRepeated) prepareNow(pending);
    if (options_.tuning.selector) select(pending);
    if (candidates.empty()) return retreat(pending);
    const bool wasTimed = candidates.size() == 1 && candidates[0].milliseconds >= 0;
    const size_t count = candidates.size();
    // Sizes that only a run decides are guessed, and need not fit each other: kernels are not run
    // on those.
    const bool isTried = candidates_.areTimed() && !wasTimed && sizesFit(*pending.node, opt_);
    std::string how;
    auto best = candidates.begin();
    if (isTried)
      best = tried(pending, how);
    else
      best = std::find_if(best, candidates.end(),
                          [](const Candidate& each) { return each.failure.empty(); });
    // Without memory to try any, they are as good as without a device to try them on.
    const bool lacksMemory = best == candidates.end();
    if (lacksMemory)
      best = std::find_if(candidates.begin(), candidates.end(),
                          [](const Candidate& each) { return each.isForThisBuild; });
    if (best == candidates.end()) return retreat(pending);
    if (lacksMemory) how = str("untried: ", std::exchange(best->failure, {}));
    if (pending.choice) best->milliseconds = pending.choice->milliseconds;
    noteTaken(pending, *best);
    StepInfo& info = pending.info;
    info.milliseconds = best->milliseconds;
    info.why = pending.choice            ? "chosen for this layer in the timing cache"
               : wasTimed                ? "fastest in the timing cache"
               : !candidates_.areTimed() ? "first in the list; nothing was timed"
               : count == 1              ? "the only kernel that takes this layer"
               : !isTried ? "first in the list; sizes that a run decides cannot be timed"
                          : str("fastest of ", count, " measured");
    if (!best->prepared.variant.empty()) info.why += str(" (", best->prepared.variant, ")");
    if (!how.empty()) info.why += str(", ", how);
    for (const Candidate& candidate : candidates)
      if (&candidate != &*best) noteAlternative(candidate, info);
    if (options_.tuning.tape)
      options_.tuning.tape->decisions[pending.decision] = {
          .node = pending.node->name,
          .kernel = std::string(best->kernel->name),
          .config = best->config,
          .sourceHash = sourceHashOf(best->prepared)};
    return {.node = pending.node,
            .kernel = best->kernel,
            .prepared = std::move(best->prepared),
            .info = std::move(info),
            .onHost = options_.hasDeviceMemory() && !options_.backends[pending.backend]->compile,
            .binary = std::move(best->binary),
            .packedAt = {}};
  }

  // Leaves the candidates that the selector wants, of those that compiled.
  void select(Pending& pending) {
    std::vector<Candidate>& candidates = pending.candidates;
    std::erase_if(candidates, [&](const Candidate& each) {
      if (each.failure.empty()) return false;
      noteAlternative(each, pending.info);
      return true;
    });
    if (candidates.empty()) return;
    std::vector<Tactic> tactics;
    for (Candidate& candidate : candidates) {
      if (const auto known = options_.tuning.timings->find(candidate.key))
        candidate.milliseconds = *known;
      tactics.push_back(tacticOf(candidate, candidates_.context()));
      candidate.milliseconds = -1;
    }
    const std::vector<size_t> wanted = options_.tuning.selector->select(factsOf(pending), tactics);
    if (wanted.empty()) return;
    for (const size_t index : wanted)
      if (index >= candidates.size())
        fail(ErrorKind::kInvalidArgument, describe(*pending.node), " has ", candidates.size(),
             " algorithms, and the selector chose number ", index);
    std::vector<Candidate> kept;
    for (size_t i = 0; i < candidates.size(); ++i)
      if (std::find(wanted.begin(), wanted.end(), i) != wanted.end())
        kept.push_back(std::move(candidates[i]));
      else
        pending.info.alternatives.push_back({nameOf(candidates[i]), -1, "not selected"});
    candidates = std::move(kept);
  }

  LayerFacts factsOf(const Pending& pending) const {
    return camshaft::factsOf(*pending.node, pending.name, candidates_.context());
  }

  void noteTaken(const Pending& pending, const Candidate& taken) {
    const TuneOptions& tuning = options_.tuning;
    if (tuning.selector)
      selected_.push_back({factsOf(pending), tacticOf(taken, candidates_.context())});
    if (!tuning.keepsChoices || pending.choice || taken.milliseconds < 0) return;
    const ChoiceKey key = candidates_.choiceKeyOf(*pending.node);
    logTactics(tuning.log, pending.node->name, key, pending.candidates, taken);
    tuning.timings->setChoice(key, {tacticHashOf(taken), static_cast<float>(taken.milliseconds)});
  }

  std::vector<Candidate>::iterator tried(Pending& pending, std::string& how) {
    std::vector<Candidate>& candidates = pending.candidates;
    Contest contest(*pending.node, candidates, options_, opt_, extremes_, *host_, *device_);
    const bool isOnlyChoice = candidates.size() == 1 && candidates[0].failure.empty();
    const bool wantsTime = options_.tuning.timeLayers || options_.tuning.keepsChoices;
    if (candidates.size() > 1 || (wantsTime && !pending.choice)) contest.timeAll();
    // Who has no rivals needs no time.
    if (isOnlyChoice && !candidates[0].isFaulty) candidates[0].failure.clear();
    return contest.winner(how);
  }

  // Every kernel of the backend failed or was wrong: the next one's.
  ChosenKernel retreat(Pending& pending) {
    for (const Candidate& candidate : pending.candidates) noteAlternative(candidate, pending.info);
    if (pending.choice) failOnChoice(*pending.node, pending.info);
    for (size_t b = pending.backend + 1; b < options_.backends.size(); ++b) {
      pending.backend = b;
      pending.candidates = candidates_.list(*pending.node, *options_.backends[b], pending.info);
      if (pending.candidates.empty()) continue;
      reportFallback(*pending.node, b, pending.info);
      pending.isRepeated = true;  // they are still to be prepared
      return choose(pending);
    }
    fail(ErrorKind::kUnsupported, describe(*pending.node),
         " has no kernel that runs: ", reasons(pending.info));
  }

  void prepareNow(Pending& pending) {
    pending.candidates =
        candidates_.prepared(*pending.node, std::move(pending.candidates), pending.info);
    const Candidates::Uncompiled uncompiled{options_.backends[pending.backend],
                                            &pending.candidates};
    candidates_.compile({&uncompiled, 1});
  }

  static void noteAlternative(const Candidate& candidate, StepInfo& info) {
    info.alternatives.push_back({nameOf(candidate), candidate.milliseconds,
                                 candidate.failure.empty() ? "slower" : candidate.failure});
  }

  void reportFallback(const Node& node, size_t backend, const StepInfo& info) const {
    options_.tuning.log.info(describe(node), " has no kernel for this device and runs on the ",
                             options_.backends[backend]->name, " one",
                             options_.hasDeviceMemory() ? ", with copies" : "", " (", reasons(info),
                             ")");
  }

  Graph& graph_;
  const ChooseOptions& options_;
  WeightsBuilder& weights_;
  FreedMemory freed_;
  SymbolValue opt_;
  std::vector<SymbolValue> extremes_;
  Candidates candidates_;
  ThreadPool threads_;
  std::unique_ptr<TrialRunner> host_;
  std::shared_ptr<TrialRunner> device_;
  std::vector<Pending> pending_;
  std::vector<ChosenKernel> chosen_;
  std::set<std::string> gathered_;  // likenesses of what is or was pending
  std::vector<KernelSelector::Selected> selected_;
};

}  // namespace

std::shared_ptr<TrialRunner> makeDeviceTrials(const ChooseOptions& options) {
  std::unique_ptr<TrialRunner> local = makeLocalRunner(nullptr, options.tuning.wrapDevice);
  if (!options.hasDeviceMemory() || options.tuning.wrapDevice) return local;
  return makeProcessRunner({.limit = options.tuning.trialLimit, .log = options.tuning.log},
                           std::move(local));
}

std::vector<ChosenKernel> chooseKernels(Graph& graph, const ResolvedProfile& profile,
                                        const ChooseOptions& options, WeightsBuilder& weights) {
  return Chooser(graph, profile, options, weights).chooseAll();
}

}  // namespace camshaft
