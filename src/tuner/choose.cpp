#include "tuner/choose.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

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
    prefetch(nodes);
    for (size_t i = 0; i < nodes.size(); ++i) {
      report(i, 2 * nodes.size());
      if (needsKernel(*nodes[i])) gather(nodes[i]);
    }
    compileSources(pending_);
    std::vector<ChosenKernel> chosen;
    for (size_t i = 0; i < pending_.size(); ++i) {
      report(pending_.size() + i, 2 * pending_.size());
      chosen.push_back(choose(pending_[i]));
    }
    return chosen;
  }

 private:
  using Binary = std::shared_ptr<const std::vector<std::byte>>;

  struct Candidate {
    const Kernel* kernel;
    int64_t config;
    std::string key;  // of the timing cache
    Prepared prepared;
    Binary binary;
    double milliseconds = -1;
    std::string failure;  // why it could not be compiled or timed
  };

  // A node with the kernels that take it.
  struct Pending {
    Node* node;
    const BuildBackend* backend;
    std::vector<Candidate> candidates;
    StepInfo info;
    bool isRepeated = false;  // candidates are prepared when those of its like have been timed
  };

  struct Compiled {
    Binary binary;
    std::string error;
  };

  // In the timing cache, for a kernel that refused the problem.
  static constexpr double kRefused = std::numeric_limits<double>::infinity();

  // Both walks over the nodes are one phase to the progress monitor.
  void report(size_t done, size_t all) const {
    const auto nodes = static_cast<int>(graph_.nodeCount());
    const auto step =
        static_cast<int>(done * static_cast<size_t>(nodes) / std::max<size_t>(all, 1));
    if (options_.progress && !options_.progress(step, nodes))
      fail(ErrorKind::kInvalidArgument, "the build was cancelled by its progress monitor");
  }

  bool timesCandidates() const { return options_.optimizationLevel > 0 && options_.canMeasure; }

  PrepareOptions prepareOptions(int64_t config) const {
    return {.config = config,
            .threads = options_.threads,
            .allowTf32 = options_.allowTf32,
            .opt = [this](const Dim& dim) { return evaluate(dim, opt_); },
            .min = [this](const Dim& dim) { return rangeOf(dim, range_).min; },
            .max = [this](const Dim& dim) { return rangeOf(dim, range_).max; }};
  }

  // The first backend gets most nodes; what others take is prepared as it comes.
  void prefetch(std::span<Node* const> nodes) const {
    const BuildBackend& backend = *options_.backends.front();
    if (!backend.prefetch) return;
    std::vector<Preparation> preparations;
    for (const Node* node : nodes) {
      if (!needsKernel(*node)) continue;
      StepInfo unused;
      std::vector<Candidate> candidates = listCandidates(*node, backend, unused);
      const Candidate* known = fastestKnown(candidates);
      if (!known && !timesCandidates() && !candidates.empty()) known = &candidates.front();
      for (const Candidate& candidate : candidates)
        if (!known || &candidate == known)
          preparations.push_back({node, candidate.kernel, candidate.config});
    }
    backend.prefetch(preparations, prepareOptions(0));
  }

  // The candidates of the first backend that has any. A node that a backend takes only without its
  // epilogue is split.
  void gather(Node* node) {
    StepInfo info{.layerType = std::string(node->op->name), .origins = node->origins.list()};
    for (size_t b = 0; b < options_.backends.size(); ++b) {
      std::vector<Candidate> candidates = listCandidates(*node, *options_.backends[b], info);
      const std::string problem = timesCandidates() ? likenessOf(*node, candidates) : "";
      if (!problem.empty() && gathered_.contains(problem)) {
        if (b > 0) reportFallback(*node, *options_.backends[b], info);
        pending_.push_back(
            {node, options_.backends[b], std::move(candidates), std::move(info), true});
        return;
      }
      candidates = prepared(*node, std::move(candidates), info);
      if (!candidates.empty()) {
        gathered_.insert(problem);
        if (b > 0) reportFallback(*node, *options_.backends[b], info);
        pending_.push_back({node, options_.backends[b], std::move(candidates), std::move(info)});
        return;
      }
      if (node->epilogue) {
        Node* pointwise = splitEpilogue(node);
        gather(node);
        gather(pointwise);
        return;
      }
    }
    fail(ErrorKind::kUnsupported, describe(*node), " has no kernel: ", reasons(info));
  }

  // Kernels that support the node, with their configurations.
  std::vector<Candidate> listCandidates(const Node& node, const BuildBackend& backend,
                                        StepInfo& info) const {
    std::vector<Candidate> candidates;
    for (const Kernel& kernel : backend.kernelsFor(node)) {
      Verdict verdict = kernel.supports(node);
      if (!verdict) {
        info.alternatives.push_back({std::string(kernel.name), -1, std::move(verdict.reason)});
        continue;
      }
      for (const int64_t config : configurationsOf(kernel, node)) {
        candidates.push_back({&kernel, config});
        candidates.back().key = str(options_.deviceKey, "|", options_.threads, "|",
                                    nameOf(candidates.back()), "|", problemOf(node));
      }
    }
    return candidates;
  }

  std::vector<int64_t> configurationsOf(const Kernel& kernel, const Node& node) const {
    constexpr int kThoroughLevel = 4;
    if (!kernel.configurations) return {0};
    std::vector<int64_t> all = kernel.configurations(node);
    const size_t usual = kernel.usualConfigurations;
    if (usual > 0 && all.size() > usual && options_.optimizationLevel < kThoroughLevel)
      all.resize(usual);
    return all;
  }

  // Nodes of one likeness are taken by the same kernels, in the same times.
  static std::string likenessOf(const Node& node, const std::vector<Candidate>& candidates) {
    std::string text;
    for (const Candidate& candidate : candidates) text += candidate.key + "\n";
    for (const Value* input : node.inputs) text += input ? str(input->type, " ") : "_ ";
    return text;
  }

  // Those of the candidates that take the node, ready to be compiled.
  std::vector<Candidate> prepared(const Node& node, std::vector<Candidate> candidates,
                                  StepInfo& info) const {
    if (Candidate* known = fastestKnown(candidates); known && prepare(node, *known)) {
      noteTimes(candidates, known, info);
      std::vector<Candidate> decided;
      decided.push_back(std::move(*known));
      return decided;
    }
    bool isDecided = false;  // where nothing is timed, by the first that takes the node
    std::erase_if(candidates, [&](Candidate& candidate) {
      if (isDecided) {
        info.alternatives.push_back({nameOf(candidate), -1, "not timed"});
        return true;
      }
      if (prepare(node, candidate)) {
        isDecided = !timesCandidates();
        return false;
      }
      options_.timings->insert(candidate.key, kRefused);
      info.alternatives.push_back({nameOf(candidate), -1, candidate.prepared.refusal});
      return true;
    });
    return candidates;
  }

  // What the timing cache decides, so that nothing else has to be prepared; null when it does not
  // know all candidates.
  Candidate* fastestKnown(std::vector<Candidate>& candidates) const {
    if (options_.optimizationLevel == 0 || candidates.size() < 2) return nullptr;
    for (Candidate& candidate : candidates) {
      const auto known = options_.timings->find(candidate.key);
      if (!known) {
        for (Candidate& each : candidates) each.milliseconds = -1;
        return nullptr;
      }
      candidate.milliseconds = *known;
    }
    const auto best = fastest(candidates);
    return best->milliseconds == kRefused ? nullptr : &*best;
  }

  static void noteTimes(const std::vector<Candidate>& candidates, const Candidate* chosen,
                        StepInfo& info) {
    for (const Candidate& candidate : candidates)
      if (&candidate != chosen && candidate.milliseconds != kRefused)
        info.alternatives.push_back({nameOf(candidate), candidate.milliseconds, "slower"});
  }

  // A candidate that fails is one candidate less, with its reason.
  bool prepare(const Node& node, Candidate& candidate) const {
    Prepared& prepared = candidate.prepared;
    try {
      prepared = candidate.kernel->prepare(node, prepareOptions(candidate.config));
    } catch (const Error& error) {
      prepared.refusal = error.message();
    }
    const int64_t workspace = rangeOf(prepared.workspaceBytes, range_).max;
    if (workspace > options_.workspaceLimit)
      prepared.refusal = str("needs ", workspace, " bytes of workspace and the limit is ",
                             options_.workspaceLimit);
    return prepared.refusal.empty();
  }

  // Device code of all candidates at once: backends compile in parallel, equal sources once.
  void compileSources(std::span<Pending> all) {
    std::map<const BuildBackend*, std::vector<std::string>> sources;
    for (const Pending& pending : all)
      for (const Candidate& candidate : pending.candidates) {
        const std::string& source = candidate.prepared.source;
        if (!source.empty() && compiled_.try_emplace({pending.backend, source}).second)
          sources[pending.backend].push_back(source);
      }
    for (const auto& [backend, list] : sources) {
      const std::vector<CompiledCode> codes = backend->compile(list);
      for (size_t i = 0; i < list.size(); ++i)
        compiled_[{backend, list[i]}] = {
            std::make_shared<const std::vector<std::byte>>(codes[i].binary), codes[i].error};
    }
    for (Pending& pending : all)
      for (Candidate& candidate : pending.candidates) {
        if (candidate.prepared.source.empty()) continue;
        const Compiled& compiled = compiled_.at({pending.backend, candidate.prepared.source});
        candidate.binary = compiled.binary;
        candidate.failure = compiled.error;
      }
  }

  ChosenKernel choose(Pending& pending) {
    std::vector<Candidate>& candidates = pending.candidates;
    StepInfo& info = pending.info;
    if (pending.isRepeated) {
      candidates = prepared(*pending.node, std::move(candidates), info);
      CAMSHAFT_CHECK(!candidates.empty(), describe(*pending.node), " is not taken like its like");
      compileSources({&pending, 1});
    }
    const bool wasTimed = candidates.size() == 1 && candidates[0].milliseconds >= 0;
    const bool timed =
        timesCandidates() && !wasTimed && (candidates.size() > 1 || options_.timeSingleCandidates);
    const bool isOnlyChoice = candidates.size() == 1 && candidates[0].failure.empty();
    if (timed) timeAll(*pending.node, candidates);
    // Sizes that only a run decides are guessed for timing, and need not fit each other. Who has no
    // rivals needs no time.
    if (isOnlyChoice) candidates[0].failure.clear();
    const auto best = fastest(candidates);
    if (!best->failure.empty())
      fail(ErrorKind::kUnsupported, describe(*pending.node),
           " has no kernel that runs: ", best->failure);
    info.milliseconds = best->milliseconds;
    info.why = wasTimed                 ? "fastest in the timing cache"
               : !timesCandidates()     ? "first in the list; nothing was timed"
               : candidates.size() == 1 ? "the only kernel that takes this layer"
                                        : str("fastest of ", candidates.size(), " measured");
    if (!best->prepared.variant.empty()) info.why += str(" (", best->prepared.variant, ")");
    for (const Candidate& candidate : candidates) {
      if (&candidate == &*best) continue;
      const std::string note = candidate.failure.empty() ? "slower" : candidate.failure;
      info.alternatives.push_back({nameOf(candidate), candidate.milliseconds, note});
    }
    return {.node = pending.node,
            .kernel = best->kernel,
            .prepared = std::move(best->prepared),
            .info = std::move(info),
            .onHost = options_.hasDeviceMemory && !pending.backend->compile,
            .binary = std::move(best->binary)};
  }

  // The first kernel of the list that is within the noise of the fastest: so builds repeat, and
  // kernels that trade precision, which stand after those that do not, must really be faster. Of
  // its configurations, which differ in nothing but speed, the fastest or nearly so.
  static std::vector<Candidate>::iterator fastest(std::vector<Candidate>& candidates) {
    constexpr double kNoiseOfKernels = 1.05, kNoiseOfConfigurations = 1.01;
    const auto isBetter = [](const Candidate& a, const Candidate& b) {
      return a.failure.empty() != b.failure.empty() ? a.failure.empty()
                                                    : a.milliseconds < b.milliseconds;
    };
    const auto firstNear = [&](auto begin, auto end, double noise) {
      const auto best = std::min_element(begin, end, isBetter);
      const double limit = best->milliseconds < 0 ? best->milliseconds : best->milliseconds * noise;
      return std::find_if(begin, end, [&](const Candidate& candidate) {
        return candidate.failure == best->failure && candidate.milliseconds <= limit;
      });
    };
    const auto first = firstNear(candidates.begin(), candidates.end(), kNoiseOfKernels);
    const auto end = std::find_if(first, candidates.end(), [&](const Candidate& candidate) {
      return candidate.kernel != first->kernel;
    });
    return firstNear(first, end, kNoiseOfConfigurations);
  }

  // Two rounds over all candidates, the better of each one's times: a disturbance of the machine
  // meets several candidates instead of deciding against one.
  void timeAll(const Node& node, std::vector<Candidate>& candidates) {
    const auto isKnown = [this](Candidate& candidate) {
      const auto known = options_.timings->find(candidate.key);
      if (known) candidate.milliseconds = *known;
      return known.has_value() || !candidate.failure.empty();
    };
    if (std::all_of(candidates.begin(), candidates.end(), isKnown)) return;
    for (Candidate& candidate : candidates) candidate.milliseconds = -1;
    Bench bench(node, opt_, options_.wrapDevice);
    const int rounds = candidates.size() > 1 ? 2 : 1;
    for (int round = 0; round < rounds; ++round)
      for (Candidate& candidate : candidates) timeOnce(bench, candidate, bestOf(candidates));
    for (const Candidate& candidate : candidates) {
      options_.timings->insert(candidate.key,
                               candidate.failure.empty() ? candidate.milliseconds : kRefused);
      options_.log.verbose(describe(node), ": ", nameOf(candidate), " ", candidate.prepared.variant,
                           " takes ", candidate.milliseconds, " ms ", candidate.failure);
    }
  }

  static double bestOf(const std::vector<Candidate>& candidates) {
    double best = std::numeric_limits<double>::infinity();
    for (const Candidate& candidate : candidates)
      if (candidate.milliseconds >= 0) best = std::min(best, candidate.milliseconds);
    return best;
  }

  void timeOnce(Bench& bench, Candidate& candidate, double best) {
    constexpr double kBeaten = 1.5;  // a second look would not change that
    if (!candidate.failure.empty() || candidate.milliseconds > kBeaten * best) return;
    // Each level doubles the time spent on a candidate.
    const double budget = std::ldexp(0.5, options_.optimizationLevel) / 2;
    const Prepared& prepared = candidate.prepared;
    const std::string_view name = prepared.runtimeKernel.empty()
                                      ? candidate.kernel->name
                                      : std::string_view(prepared.runtimeKernel);
    try {
      const double milliseconds = bench.measure(name, prepared, candidate.binary.get(),
                                                {.minMilliseconds = budget,
                                                 .minRuns = std::max(2, options_.timingRuns),
                                                 .best = best,
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
    Node* pointwise = graph_.add(&ops::Pointwise, str(node->name, ".epilogue"), {extra},
                                 std::move(attrs), graph_.next(node));
    pointwise->origins = node->origins;
    graph_.replaceUses(node->output(), pointwise->output());
    graph_.setInput(pointwise, 0, node->output());
    return pointwise;
  }

  static std::string reasons(const StepInfo& info) {
    std::string text;
    for (const auto& alternative : info.alternatives)
      text += str(text.empty() ? "" : "; ", alternative.kernel, ": ", alternative.note);
    return text.empty() ? "no family lists this operator" : text;
  }

  void reportFallback(const Node& node, const BuildBackend& backend, const StepInfo& info) const {
    options_.log.info(describe(node), " has no kernel for this device and runs on the ",
                      backend.name, " one", options_.hasDeviceMemory ? ", with copies" : "", " (",
                      reasons(info), ")");
  }

  Graph& graph_;
  const ChooseOptions& options_;
  SymbolValue opt_;
  SymbolRange range_;
  ThreadPool threads_;
  std::vector<Pending> pending_;
  std::set<std::string> gathered_;  // likenesses of what is pending
  std::map<std::pair<const BuildBackend*, std::string>, Compiled> compiled_;  // by source
};

}  // namespace

std::vector<ChosenKernel> chooseKernels(Graph& graph, const ResolvedProfile& profile,
                                        const ChooseOptions& options) {
  return Chooser(graph, profile, options).chooseAll();
}

}  // namespace camshaft
