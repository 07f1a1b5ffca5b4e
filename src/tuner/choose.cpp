#include "tuner/choose.h"

#include <algorithm>
#include <cmath>

#include "ops/pointwise.h"
#include "support/error.h"
#include "tuner/measure.h"

namespace camshaft {
namespace {

class Chooser {
 public:
  Chooser(Graph& graph, const ResolvedProfile& profile, const ChooseOptions& options)
      : graph_(graph),
        options_(options),
        opt_(profile.optValue(graph)),
        range_(profile.rangeOfSymbol(graph)),
        threads_(options.threads) {}

  std::vector<ChosenKernel> chooseAll() {
    const std::vector<Node*> nodes = graph_.nodeList();
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (options_.progress &&
          !options_.progress(static_cast<int>(i), static_cast<int>(nodes.size())))
        fail(ErrorKind::kInvalidArgument, "the build was cancelled by its progress monitor");
      if (needsKernel(*nodes[i])) chooseOrSplit(nodes[i]);
    }
    return std::move(chosen_);
  }

 private:
  struct Candidate {
    const Kernel* kernel;
    int64_t config;
    Prepared prepared;
    double milliseconds = -1;
    std::string failure;  // why it could not be timed
  };

  PrepareOptions prepareOptions(int64_t config) const {
    return {.config = config,
            .threads = options_.threads,
            .allowTf32 = options_.allowTf32,
            .opt = [this](const Dim& dim) { return evaluate(dim, opt_); },
            .max = [this](const Dim& dim) { return rangeOf(dim, range_).max; }};
  }

  void chooseOrSplit(Node* node) {
    StepInfo info{.layerType = std::string(node->op->name), .origins = node->origins};
    for (size_t b = 0; b < options_.backends.size(); ++b) {
      std::vector<Candidate> candidates = candidatesOf(*node, *options_.backends[b], info);
      if (!candidates.empty()) {
        if (b > 0) reportFallback(*node, info);
        chosen_.push_back(choose(*node, std::move(candidates), std::move(info)));
        return;
      }
      if (node->epilogue) {
        Node* pointwise = splitEpilogue(node);
        chooseOrSplit(node);
        chooseOrSplit(pointwise);
        return;
      }
    }
    fail(ErrorKind::kUnsupported, describe(*node), " has no kernel: ", reasons(info));
  }

  std::vector<Candidate> candidatesOf(const Node& node, const BuildBackend& backend,
                                      StepInfo& info) const {
    std::vector<Candidate> candidates;
    for (const Kernel& kernel : backend.kernelsFor(node)) {
      Verdict verdict = kernel.supports(node);
      if (!verdict) {
        info.alternatives.push_back({std::string(kernel.name), -1, std::move(verdict.reason)});
        continue;
      }
      for (int64_t config :
           kernel.configurations ? kernel.configurations(node) : std::vector<int64_t>{0}) {
        Prepared prepared = prepare(kernel, node, config);
        if (!prepared.refusal.empty())
          info.alternatives.push_back({std::string(kernel.name), -1, std::move(prepared.refusal)});
        else
          candidates.push_back({&kernel, config, std::move(prepared)});
      }
    }
    return candidates;
  }

  // A candidate that fails is one candidate less, with its reason.
  Prepared prepare(const Kernel& kernel, const Node& node, int64_t config) const {
    Prepared prepared;
    try {
      prepared = kernel.prepare(node, prepareOptions(config));
    } catch (const Error& error) {
      prepared.refusal = error.message();
    }
    const int64_t workspace = rangeOf(prepared.workspaceBytes, range_).max;
    if (workspace > options_.workspaceLimit)
      prepared.refusal = str("needs ", workspace, " bytes of workspace and the limit is ",
                             options_.workspaceLimit);
    return prepared;
  }

  ChosenKernel choose(const Node& node, std::vector<Candidate> candidates, StepInfo info) {
    const bool timed =
        options_.optimizationLevel > 0 && (candidates.size() > 1 || options_.timeSingleCandidates);
    if (timed) timeAll(node, candidates);
    const auto best = fastest(candidates);
    if (!best->failure.empty())
      fail(ErrorKind::kUnsupported, describe(node), " has no kernel that runs: ", best->failure);
    info.milliseconds = best->milliseconds;
    info.why = candidates.size() == 1 ? "the only kernel that takes this layer"
               : timed                ? str("fastest of ", candidates.size(), " measured")
                       : "first in the list; nothing is timed at optimisation level 0";
    for (const Candidate& candidate : candidates) {
      if (&candidate == &*best) continue;
      const std::string note = !candidate.failure.empty() ? candidate.failure
                               : timed                    ? "slower"
                                                          : "not timed";
      info.alternatives.push_back({nameOf(candidate), candidate.milliseconds, note});
    }
    return {&node, best->kernel, std::move(best->prepared), std::move(info)};
  }

  // The first of the list that is within the noise of the fastest: so builds repeat, and kernels
  // that trade precision, which stand after those that do not, must really be faster.
  static std::vector<Candidate>::iterator fastest(std::vector<Candidate>& candidates) {
    constexpr double kNoise = 1.05;
    const auto isBetter = [](const Candidate& a, const Candidate& b) {
      return a.failure.empty() != b.failure.empty() ? a.failure.empty()
                                                    : a.milliseconds < b.milliseconds;
    };
    const auto best = std::min_element(candidates.begin(), candidates.end(), isBetter);
    const double limit = best->milliseconds < 0 ? best->milliseconds : best->milliseconds * kNoise;
    return std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
      return candidate.failure == best->failure && candidate.milliseconds <= limit;
    });
  }

  // Two rounds over all candidates, the better of each one's times: a disturbance of the machine
  // meets several candidates instead of deciding against one.
  void timeAll(const Node& node, std::vector<Candidate>& candidates) {
    const int rounds = candidates.size() > 1 ? 2 : 1;
    std::vector<std::string> keys;
    for (Candidate& candidate : candidates) {
      keys.push_back(str(options_.deviceKey, "|", options_.threads, "|", nameOf(candidate), "|",
                         problemOf(node)));
      if (const auto known = options_.timings->find(keys.back())) candidate.milliseconds = *known;
    }
    const auto isKnown = [](const Candidate& candidate) { return candidate.milliseconds >= 0; };
    if (std::all_of(candidates.begin(), candidates.end(), isKnown)) return;
    for (Candidate& candidate : candidates) candidate.milliseconds = -1;
    for (int round = 0; round < rounds; ++round)
      for (Candidate& candidate : candidates) timeOnce(node, candidate);
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (!candidates[i].failure.empty()) continue;
      options_.timings->insert(keys[i], candidates[i].milliseconds);
      options_.log.verbose(describe(node), ": ", nameOf(candidates[i]), " takes ",
                           candidates[i].milliseconds, " ms");
    }
  }

  void timeOnce(const Node& node, Candidate& candidate) {
    if (!candidate.failure.empty()) return;
    // Each level doubles the time spent on a candidate.
    const double budget = std::ldexp(0.5, options_.optimizationLevel) / 2;
    const Prepared& prepared = candidate.prepared;
    const std::string_view name = prepared.runtimeKernel.empty()
                                      ? candidate.kernel->name
                                      : std::string_view(prepared.runtimeKernel);
    try {
      const double milliseconds = measure(node, name, prepared,
                                          {.opt = opt_,
                                           .minMilliseconds = budget,
                                           .minRuns = std::max(2, options_.timingRuns),
                                           .threads = &threads_});
      candidate.milliseconds = candidate.milliseconds < 0
                                   ? milliseconds
                                   : std::min(candidate.milliseconds, milliseconds);
    } catch (const Error& error) {
      candidate.failure = error.message();
    }
  }

  static std::string nameOf(const Candidate& candidate) {
    return candidate.config == 0 ? std::string(candidate.kernel->name)
                                 : str(candidate.kernel->name, "#", candidate.config);
  }

  // What decides the time: operator, attributes, epilogue, and the sizes to optimise for.
  std::string problemOf(const Node& node) const {
    const auto typeAtOpt = [this](const Value* value) {
      if (!value) return std::string("_");
      TensorType type = value->type;
      for (Dim& dim : type.shape) dim = evaluate(dim, opt_);
      return str(type, value->isConstant() ? "c" : "");
    };
    std::string text = str(node.op->name, "{", toString(*node.attrs), "}");
    for (const Value* input : node.inputs) text += str(" ", typeAtOpt(input));
    if (node.epilogue) text += str(" ", toString(node.epilogue->expr));
    return text;
  }

  Node* splitEpilogue(Node* node) {
    Epilogue epilogue = std::move(*node->epilogue);
    std::vector<Value*> extra(node->inputs.begin() + epilogue.firstInput, node->inputs.end());
    std::vector<Value*> own(node->inputs.begin(), node->inputs.begin() + epilogue.firstInput);
    node->epilogue.reset();
    graph_.setInputs(node, own);
    graph_.inferTypes(node);
    extra.insert(extra.begin(), node->output());
    PointwiseAttrs attrs;
    attrs.expr = std::move(epilogue.expr);
    // Readers move over first: the pointwise node itself reads the anchor's output.
    std::vector<Node*> readers = node->output()->users;
    Node* pointwise = graph_.add(&ops::Pointwise, str(node->name, ".epilogue"), {extra},
                                 std::move(attrs), graph_.next(node));
    pointwise->origins = node->origins;
    for (Node* reader : readers)
      for (size_t i = 0; i < reader->inputs.size(); ++i)
        if (reader->inputs[i] == node->output())
          graph_.setInput(reader, static_cast<int>(i), pointwise->output());
    for (auto& output : graph_.outputs)
      if (output.value == node->output()) output.value = pointwise->output();
    return pointwise;
  }

  static std::string reasons(const StepInfo& info) {
    std::string text;
    for (const auto& alternative : info.alternatives)
      text += str(text.empty() ? "" : "; ", alternative.kernel, ": ", alternative.note);
    return text.empty() ? "no family lists this operator" : text;
  }

  void reportFallback(const Node& node, const StepInfo& info) const {
    options_.log.info(describe(node), " has no fast kernel and runs on the reference one (",
                      reasons(info), ")");
  }

  Graph& graph_;
  const ChooseOptions& options_;
  SymbolValue opt_;
  SymbolRange range_;
  ThreadPool threads_;
  std::vector<ChosenKernel> chosen_;
};

}  // namespace

std::vector<ChosenKernel> chooseKernels(Graph& graph, const ResolvedProfile& profile,
                                        const ChooseOptions& options) {
  return Chooser(graph, profile, options).chooseAll();
}

}  // namespace camshaft
