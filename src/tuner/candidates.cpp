#include "tuner/candidates.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "support/error.h"
#include "support/hash.h"
#include "tuner/compile_processes.h"
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
               .productType = tuning_.productType,
               .allowCublasLt = tuning_.allowCublasLt,
               .allowCudnn = tuning_.allowCudnn,
               .workspaceLimit = tuning_.workspaceLimit,
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

// What decides the time: operator, attributes, the kind of epilogue, and the sizes to optimise for.
std::string Candidates::problemOf(const Node& node) const {
  const auto typeAtOpt = [this](const Value* value) {
    if (!value) return std::string("_");
    TensorType type = value->type;
    for (Dim& dim : type.shape) dim = context_.opt(dim);
    return str(type, value->isConstant() ? "c" : "");
  };
  std::string text = str(node.op->name, "{", toString(*node.attrs), "}");
  for (const Value* input : node.inputs) text += str(" ", typeAtOpt(input));
  if (node.epilogue) text += str(" ", kindOf(node.epilogue->expr));
  if (tuning_.timesLayersAlike) text += str(" ", node.name);
  return text;
}

ChoiceKey Candidates::choiceKeyOf(const Node& node) const {
  ChoiceKey key;
  for (size_t half = 0; half < 2; ++half) {
    const uint64_t digest = Hasher()
                                .add(half)
                                .add(options_.target.name)
                                .add(tuning_.threads)
                                .add(node.name)
                                .add(problemOf(node))
                                .digest();
    std::memcpy(key.data() + half * sizeof digest, &digest, sizeof digest);
  }
  return key;
}

std::optional<Choice> Candidates::choiceFor(const Node& node) const {
  if (!tuning_.keepsChoices) return std::nullopt;
  return tuning_.timings->findChoice(choiceKeyOf(node));
}

std::vector<Candidate> Candidates::prepared(const Node& node, std::vector<Candidate> candidates,
                                            StepInfo& info) const {
  Candidate* known = fastestKnown(candidates);
  if (known && prepare(node, *known) && !known->isNarrowed) {
    for (const Candidate& candidate : candidates)
      if (&candidate != known && candidate.milliseconds != kRefused)
        info.alternatives.push_back({nameOf(candidate), candidate.milliseconds, "slower"});
    std::vector<Candidate> decided;
    decided.push_back(std::move(*known));
    return decided;
  }
  const size_t most = mostPrepared();
  size_t count = 0;
  std::vector<Candidate> hungry;  // those that want more workspace than there may be
  std::erase_if(candidates, [&](Candidate& candidate) {
    if (count == most) {
      info.alternatives.push_back({nameOf(candidate), -1, "not timed"});
      return true;
    }
    if (prepare(node, candidate)) {
      ++count;
      return false;
    }
    if (!candidate.isForThisBuild) tuning_.timings->insert(candidate.key, kRefused);
    info.alternatives.push_back({nameOf(candidate), -1, candidate.prepared.verdict.reason});
    if (candidate.excessBytes > 0 && count == 0) hungry.push_back(std::move(candidate));
    return true;
  });
  if (hungry.empty()) return candidates;
  if (!candidates.empty()) {
    if (candidates.front().kernel != hungry.front().kernel)
      reportExcess(node, hungry.front(), false);
    return candidates;
  }
  // The alternative would be one of the next backend, which takes everything and is slow.
  const auto least = std::ranges::min_element(hungry, {}, &Candidate::excessBytes);
  reportExcess(node, *least, true);
  least->prepared.verdict = Verdict::yes();
  least->isForThisBuild = false;
  std::erase_if(info.alternatives, [&](const auto& each) { return each.kernel == nameOf(*least); });
  candidates.push_back(std::move(*least));
  return candidates;
}

void Candidates::reportExcess(const Node& node, const Candidate& hungry, bool isTaken) const {
  tuning_.log.warning(describe(node), ": kernel ", nameOf(hungry), " wants ", hungry.excessBytes,
                      " bytes of workspace and the limit is ", tuning_.workspaceLimit,
                      isTaken ? "; it gets them, since no other kernel does with less"
                              : ", so a slower one is used; raise the limit of the workspace pool");
}

// Where nothing is timed, the first that takes the node is the one.
size_t Candidates::mostPrepared() const {
  if (tuning_.selector) return std::numeric_limits<size_t>::max();
  if (!areTimed()) return 1;
  return tuning_.mostTactics > 0 ? tuning_.mostTactics : std::numeric_limits<size_t>::max();
}

// What the timing cache decides, so that nothing else has to be prepared; null when it does not
// know all candidates, when nobody has looked at the results of the fastest, and where somebody
// wants to see them all.
Candidate* Candidates::fastestKnown(std::vector<Candidate>& candidates) const {
  if (tuning_.selector || tuning_.keepsChoices) return nullptr;
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
    if (prepared.verdict) fitWorkspace(node, candidate);
  } catch (const Error& error) {
    prepared = Prepared::no(error.message());
    candidate.isForThisBuild = error.kind() == ErrorKind::kOutOfMemory;
  } catch (const std::bad_alloc&) {
    prepared = Prepared::no("out of memory while preparing it");
    candidate.isForThisBuild = true;
  }
  return bool(prepared.verdict);
}

// What is beyond the limit is refused, in its smallest form: kernels of the host have workspace for
// each thread, and run on as many as there is room for.
void Candidates::fitWorkspace(const Node& node, Candidate& candidate) const {
  Prepared& prepared = candidate.prepared;
  const int64_t limit = tuning_.workspaceLimit;
  const int64_t wanted = context_.max(prepared.workspaceBytes);
  if (wanted <= limit) return;
  const auto preparedFor = [&](int64_t threads) {
    BuildContext context = context_;
    context.threads = static_cast<int>(threads);
    return candidate.kernel->prepare(node, context, candidate.config);
  };
  int64_t least = wanted;
  if (context_.threads > 1 && wanted != DimRange::kUnbounded) {
    prepared = preparedFor(1);
    least = context_.max(prepared.workspaceBytes);
    const int64_t perThread = (wanted - least) / (context_.threads - 1);
    const int64_t threads = perThread > 0 && least < limit ? 1 + (limit - least) / perThread : 1;
    if (!std::exchange(candidate.isNarrowed, true)) candidate.key += str("|within ", limit);
    if (threads > 1) {
      Prepared wider = preparedFor(std::min<int64_t>(threads, context_.threads));
      if (context_.max(wider.workspaceBytes) <= limit) prepared = std::move(wider);
    }
    if (least <= limit) return;
  }
  candidate.excessBytes = least;
  candidate.isForThisBuild = true;
  prepared.verdict =
      Verdict::no(str("needs ", least, " bytes of workspace and the limit is ", limit));
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
      // What wants more workspace than the limit was taken knowingly.
      if (verdict && !prepare(node, candidate) && candidate.excessBytes == 0)
        verdict = candidate.prepared.verdict;
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
    const std::vector<CompiledCode> codes =
        compileApart(*backend, list, options_.target, tuning_.log);
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
