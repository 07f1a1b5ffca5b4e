#include "tuner/candidates.h"

#include <algorithm>
#include <new>

#include "support/error.h"
#include "support/hash.h"
#include "tuner/decision.h"

namespace camshaft {

std::string nameOf(const Candidate& candidate) {
  return candidate.config == 0 ? std::string(candidate.kernel->name)
                               : str(candidate.kernel->name, "#", candidate.config);
}

std::string_view runtimeKernelOf(const Candidate& candidate) {
  const std::string& named = candidate.prepared.runtimeKernel;
  return named.empty() ? candidate.kernel->name : std::string_view(named);
}

uint64_t sourceHashOf(const Prepared& prepared) {
  return prepared.source.empty() ? 0 : Hasher().add(prepared.source).digest();
}

Candidates::Candidates(const ChooseOptions& options, const SymbolValue& opt,
                       const SymbolRange& range)
    : options_(options),
      tuning_(options.tuning),
      context_{.target = options.target,
               .threads = tuning_.threads,
               .allowTf32 = tuning_.allowTf32,
               .opt = [=](const Dim& dim) { return evaluate(dim, opt); },
               .min = [=](const Dim& dim) { return rangeOf(dim, range).min; },
               .max = [=](const Dim& dim) { return rangeOf(dim, range).max; }} {}

// The first backend gets most nodes; what others take is prepared as it comes.
void Candidates::prefetch(std::span<Node* const> nodes) const {
  const BuildBackend& backend = *options_.backends.front();
  if (!backend.prefetch) return;
  std::vector<Preparation> preparations;
  for (const Node* node : nodes) {
    if (!needsKernel(*node)) continue;
    StepInfo unused;
    std::vector<Candidate> candidates = list(*node, backend, unused);
    const Candidate* known = fastestKnown(candidates);
    if (!known && !areTimed() && !candidates.empty()) known = &candidates.front();
    for (const Candidate& candidate : candidates)
      if (!known || &candidate == known)
        preparations.push_back({node, candidate.kernel, candidate.config});
  }
  backend.prefetch(preparations, context_);
}

std::vector<Candidate> Candidates::list(const Node& node, const BuildBackend& backend,
                                        StepInfo& info) const {
  std::vector<Candidate> candidates;
  const std::string problem = problemOf(node);
  for (const Kernel& kernel : backend.kernelsFor(node)) {
    Verdict verdict = kernel.supports(node, context_);
    if (!verdict) {
      info.alternatives.push_back({std::string(kernel.name), -1, std::move(verdict.reason)});
      continue;
    }
    for (const int64_t config : configurationsOf(kernel, node)) {
      candidates.push_back({&kernel, config});
      candidates.back().key = str(options_.target.name, "|", tuning_.threads, "|",
                                  nameOf(candidates.back()), "|", problem);
    }
  }
  return candidates;
}

std::vector<int64_t> Candidates::configurationsOf(const Kernel& kernel, const Node& node) const {
  constexpr int kThoroughLevel = 4;
  if (!kernel.configurations) return {0};
  std::vector<int64_t> all = kernel.configurations(node, context_);
  const size_t usual = kernel.usualConfigurations;
  if (usual > 0 && all.size() > usual && tuning_.optimizationLevel < kThoroughLevel)
    all.resize(usual);
  return all;
}

// What decides the time: operator, attributes, epilogue, and the sizes to optimise for.
std::string Candidates::problemOf(const Node& node) const {
  const auto typeAtOpt = [this](const Value* value) {
    if (!value) return std::string("_");
    TensorType type = value->type;
    for (Dim& dim : type.shape) dim = context_.opt(dim);
    return str(type, value->isConstant() ? "c" : "");
  };
  std::string text = str(node.op->name, "{", toString(*node.attrs), "}");
  for (const Value* input : node.inputs) text += str(" ", typeAtOpt(input));
  if (node.epilogue) text += str(" ", toString(node.epilogue->expr));
  return text;
}

std::vector<Candidate> Candidates::prepared(const Node& node, std::vector<Candidate> candidates,
                                            StepInfo& info) const {
  if (Candidate* known = fastestKnown(candidates); known && prepare(node, *known)) {
    for (const Candidate& candidate : candidates)
      if (&candidate != known && candidate.milliseconds != kRefused)
        info.alternatives.push_back({nameOf(candidate), candidate.milliseconds, "slower"});
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
      isDecided = !areTimed();
      return false;
    }
    if (!candidate.isForThisBuild) tuning_.timings->insert(candidate.key, kRefused);
    info.alternatives.push_back({nameOf(candidate), -1, candidate.prepared.verdict.reason});
    return true;
  });
  return candidates;
}

// What the timing cache decides, so that nothing else has to be prepared; null when it does not
// know all candidates, or nobody has looked at the results of the fastest.
Candidate* Candidates::fastestKnown(std::vector<Candidate>& candidates) const {
  if (tuning_.optimizationLevel == 0 || candidates.size() < 2) return nullptr;
  Candidate* decided = nullptr;
  if (std::all_of(candidates.begin(), candidates.end(), [this](Candidate& candidate) {
        const auto known = tuning_.timings->find(candidate.key);
        if (known) candidate.milliseconds = *known;
        return known.has_value();
      })) {
    const auto best = fastest(candidates);
    if (best->milliseconds != kRefused && wasChecked(*tuning_.timings, *best)) decided = &*best;
  }
  if (!decided)
    for (Candidate& each : candidates) each.milliseconds = -1;
  return decided;
}

// A candidate that fails is one candidate less, with its reason.
bool Candidates::prepare(const Node& node, Candidate& candidate) const {
  Prepared& prepared = candidate.prepared;
  try {
    prepared = candidate.kernel->prepare(node, context_, candidate.config);
  } catch (const Error& error) {
    prepared = Prepared::no(error.message());
    candidate.isForThisBuild = error.kind() == ErrorKind::kOutOfMemory;
  } catch (const std::bad_alloc&) {
    prepared = Prepared::no("out of memory while preparing it");
    candidate.isForThisBuild = true;
  }
  const int64_t workspace = context_.max(prepared.workspaceBytes);
  if (workspace > tuning_.workspaceLimit)
    prepared = Prepared::no(
        str("needs ", workspace, " bytes of workspace and the limit is ", tuning_.workspaceLimit));
  return bool(prepared.verdict);
}

// Kernels are prepared in configurations of theirs only, whoever asks.
bool Candidates::isConfiguration(const Kernel& kernel, const Node& node, int64_t config) const {
  if (!kernel.configurations) return config == 0;
  return std::ranges::count(kernel.configurations(node, context_), config) > 0;
}

Candidates::Decided Candidates::decided(const Node& node, const KernelDecision& decision) const {
  for (const BuildBackend* backend : options_.backends)
    for (const Kernel& kernel : backend->kernelsFor(node)) {
      if (kernel.name != decision.kernel) continue;
      Candidate candidate{&kernel, decision.config, {}, {}, {}};
      Verdict verdict = kernel.supports(node, context_);
      if (verdict && !isConfiguration(kernel, node, decision.config))
        verdict = Verdict::no("it has no such configuration");
      if (verdict && !prepare(node, candidate)) verdict = candidate.prepared.verdict;
      if (!verdict)
        fail(candidate.isForThisBuild ? ErrorKind::kOutOfMemory : ErrorKind::kUnsupported,
             describe(node), " is not taken by kernel '", kernel.name,
             "' any more: ", verdict.reason);
      if (sourceHashOf(candidate.prepared) != decision.sourceHash)
        fail(ErrorKind::kUnsupported, describe(node), " needs other device code");
      return {std::move(candidate), backend};
    }
  fail(ErrorKind::kUnsupported, describe(node), " is not taken by kernel '", decision.kernel,
       "' any more");
}

void Candidates::compile(std::span<const Uncompiled> all) {
  std::map<const BuildBackend*, std::vector<std::string>> sources;
  for (const auto& [backend, candidates] : all)
    for (const Candidate& candidate : *candidates) {
      const std::string& source = candidate.prepared.source;
      if (!source.empty() && compiled_.try_emplace({backend, source}).second)
        sources[backend].push_back(source);
    }
  for (const auto& [backend, list] : sources) {
    const std::vector<CompiledCode> codes = backend->compile(list, options_.target);
    for (size_t i = 0; i < list.size(); ++i)
      compiled_[{backend, list[i]}] = {
          std::make_shared<const std::vector<std::byte>>(codes[i].binary), codes[i].error};
  }
  for (const auto& [backend, candidates] : all)
    for (Candidate& candidate : *candidates) {
      if (candidate.prepared.source.empty()) continue;
      const Compiled& compiled = compiled_.at({backend, candidate.prepared.source});
      candidate.binary = compiled.binary;
      candidate.failure = compiled.error;
    }
}

}  // namespace camshaft
