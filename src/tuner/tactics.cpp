#include "tuner/tactics.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "support/hash.h"

namespace camshaft {
namespace {

TensorFacts factsOf(const Value& value, const BuildContext& context) {
  TensorFacts facts{.type = value.dataType()};
  for (const Dim& dim : value.shape()) {
    facts.min.push_back(context.min(dim));
    facts.opt.push_back(context.opt(dim));
    const int64_t max = context.max(dim);
    facts.max.push_back(max == DimRange::kUnbounded ? -1 : max);
  }
  return facts;
}

std::string hex(uint64_t hash) {
  std::ostringstream text;
  text << "0x" << std::hex << hash;
  return text.str();
}

std::string hex(const ChoiceKey& key) {
  std::ostringstream text;
  text << "0x" << std::hex << std::setfill('0');
  for (const uint8_t byte : key) text << std::setw(2) << int{byte};
  return text.str();
}

// A line of the table has its parts between commas.
std::string withoutCommas(std::string text) {
  std::replace(text.begin(), text.end(), ',', ';');
  return text;
}

}  // namespace

LayerFacts factsOf(const Node& node, std::string name, const BuildContext& context) {
  LayerFacts facts{.name = std::move(name)};
  for (const Value* input : node.inputs)
    if (input) facts.inputs.push_back(factsOf(*input, context));
  for (const Value* output : node.outputs) facts.outputs.push_back(factsOf(*output, context));
  return facts;
}

Tactic tacticOf(const Candidate& candidate, const BuildContext& context) {
  const int64_t workspace = context.max(candidate.prepared.workspaceBytes);
  return {.kernel = Hasher().add(candidate.kernel->name).digest(),
          .config = candidate.config,
          .milliseconds = candidate.milliseconds,
          .workspaceBytes = workspace == DimRange::kUnbounded ? 0 : workspace};
}

uint64_t tacticHashOf(const Candidate& candidate) {
  // Without the highest bit: all ones mean that there is none.
  return Hasher().add(nameOf(candidate)).digest() >> 1;
}

void logTactics(const Log& log, const std::string& layer, const ChoiceKey& key,
                std::span<const Candidate> candidates, const Candidate& taken) {
  if (!log.enabled(Severity::kVerbose)) return;
  std::vector<const Candidate*> timed;
  for (const Candidate& candidate : candidates)
    if (candidate.failure.empty() && candidate.milliseconds >= 0) timed.push_back(&candidate);
  std::ranges::stable_sort(timed, {}, [](const Candidate* each) { return each->milliseconds; });
  log.verbose("Autotuning op ", layer, "(key: ", hex(key), "):");
  log.verbose(
      "tactic_id, cost(in ms), cost/fastest_cost, prediction_correlation, kernel_name, "
      "tactic_hash, tunable_parameter");
  const double fastest = timed.empty() ? 0 : timed.front()->milliseconds;
  for (size_t i = 0; i < timed.size(); ++i) {
    const double ratio = fastest > 0 ? timed[i]->milliseconds / fastest : 1;
    log.verbose(i, ", ", timed[i]->milliseconds, ", ", ratio, ", 1, ", runtimeKernelOf(*timed[i]),
                ", ", hex(tacticHashOf(*timed[i])), ", ",
                withoutCommas(timed[i]->prepared.variant));
  }
  log.verbose("The selected tactic is (tactic hash, cost(in ms)):", hex(tacticHashOf(taken)), ", ",
              taken.milliseconds);
}

}  // namespace camshaft
