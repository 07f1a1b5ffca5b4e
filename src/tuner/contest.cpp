#include "tuner/contest.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

#include "ops/symbols.h"
#include "support/error.h"
#include "tuner/agreement.h"
#include "tuner/decision.h"

namespace camshaft {

void Contest::timeAll() {
  const auto isKnown = [this](Candidate& candidate) {
    const auto known = options_.tuning.timings->find(candidate.key);
    if (known) candidate.milliseconds = *known;
    return known.has_value() || !candidate.failure.empty();
  };
  const auto unknown = std::find_if_not(candidates_.begin(), candidates_.end(), isKnown);
  if (unknown == candidates_.end()) return;
  if (options_.tuning.failsOnUnknownTimes)
    fail(ErrorKind::kInvalidArgument, describe(node_), ": the timing cache has no time of kernel ",
         nameOf(*unknown),
         ", and the build must not measure it; build once without "
         "kERROR_ON_TIMING_CACHE_MISS to add it");
  for (Candidate& candidate : candidates_) candidate.milliseconds = -1;
  const int rounds = candidates_.size() > 1 ? 2 : 1;
  for (int round = 0; round < rounds; ++round)
    for (Candidate& candidate : candidates_) timeOnce(candidate);
  for (const Candidate& candidate : candidates_) {
    if (candidate.failure.empty())
      options_.tuning.timings->insert(candidate.key, candidate.milliseconds);
    else if (!candidate.isForThisBuild)
      options_.tuning.timings->insert(candidate.key, kRefused);
    options_.tuning.log.verbose(describe(node_), ": ", nameOf(candidate), " ",
                                candidate.prepared.variant, " takes ", candidate.milliseconds,
                                " ms ", candidate.failure);
  }
}

double Contest::bestSoFar() const {
  double best = std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : candidates_)
    if (candidate.milliseconds >= 0) best = std::min(best, candidate.milliseconds);
  return best;
}

void Contest::timeOnce(Candidate& candidate) {
  constexpr double kBeaten = 1.25;  // a second look would not change that
  const double best = bestSoFar();
  if (!candidate.failure.empty() || candidate.milliseconds > kBeaten * best) return;
  // Each level doubles the time spent on a candidate.
  const double budget = std::ldexp(0.5, options_.tuning.optimizationLevel) / 2;
  attempt(candidate, [&] {
    const double milliseconds =
        bench_.measure(runtimeKernelOf(candidate), candidate.prepared, candidate.binary.get(),
                       {.minMilliseconds = budget,
                        .minRuns = std::max(2, options_.tuning.timingRuns),
                        .best = best});
    candidate.milliseconds =
        candidate.milliseconds < 0 ? milliseconds : std::min(candidate.milliseconds, milliseconds);
  });
}

template <class F>
void Contest::attempt(Candidate& candidate, const F& work) {
  try {
    work();
    return;
  } catch (const Error& error) {
    candidate.failure = error.message();
    candidate.isForThisBuild = error.kind() == ErrorKind::kOutOfMemory;
    candidate.isFaulty = error.kind() == ErrorKind::kDevice;
  } catch (const std::bad_alloc&) {
    candidate.failure = "out of memory while running it";
    candidate.isForThisBuild = true;
  }
  if (candidate.isFaulty) drop(candidate);
  if (!bench_.isUsable(runtimeKernelOf(candidate)))
    fail(ErrorKind::kDevice, describe(node_), ": kernel ", nameOf(candidate), " ",
         candidate.prepared.variant, " left the device in a state in which nothing runs any more (",
         candidate.failure,
         "); build again in a new process, which leaves this kernel out when it "
         "is given the timing cache");
}

// The reason is the candidate's failure. It is remembered, for later builds too.
void Contest::drop(Candidate& candidate) {
  options_.tuning.timings->insert(candidate.key, kRefused);
  noteChecked(*options_.tuning.timings, candidate);
  const std::string& variant = candidate.prepared.variant;
  options_.tuning.log.warning(describe(node_), ": kernel ", nameOf(candidate),
                              variant.empty() ? "" : " ", variant,
                              " is not used: ", candidate.failure);
}

std::vector<Candidate>::iterator Contest::winner(std::string& how) {
  for (;;) {
    const auto best = fastest(candidates_);
    if (!best->failure.empty()) return candidates_.end();
    const bool isChecked = wasChecked(*options_.tuning.timings, *best);
    if (isChecked && options_.tuning.timings->find(best->key) == kRefused) {
      best->failure = "failed or was wrong in an earlier build";
      continue;
    }
    if (isChecked) return best;
    const std::string difference = check(*best, how);
    if (!difference.empty()) {
      best->failure = str("its results are wrong, ", how, ": ", difference);
      best->isFaulty = true;
      drop(*best);
    } else if (best->failure.empty()) {
      noteChecked(*options_.tuning.timings, *best);
      return best;
    } else if (candidates_.size() == 1 && !best->isFaulty) {
      how = str("unchecked: ", std::exchange(best->failure, {}));
      return best;
    }
  }
}

std::string Contest::check(Candidate& candidate, std::string& how) {
  std::string difference = compare(candidate, bench_, opt_, how);
  // A library plans anew for other sizes than the ones to time, and is looked at there too.
  const bool isLibrary = candidate.prepared.source.empty() &&
                         bench_.isOnDevice(runtimeKernelOf(candidate)) && !symbolsOf(node_).empty();
  for (const SymbolValue& sizes : isLibrary ? otherSizes_ : std::vector<SymbolValue>()) {
    if (!difference.empty() || !candidate.failure.empty()) break;
    if (!sizesFit(node_, sizes)) continue;
    Bench bench(node_, sizes, host_, device_);
    std::string there;
    const std::vector<Candidate*> sound = runningOnes();
    difference = compare(candidate, bench, sizes, there);
    for (Candidate* each : sound)  // larger sizes may be too large for what memory is left here
      if (std::exchange(each->isForThisBuild, false)) each->failure.clear();
    bench_.forgetOperands();
  }
  return difference;
}

std::vector<Candidate*> Contest::runningOnes() {
  std::vector<Candidate*> running;
  for (Candidate& candidate : candidates_)
    if (candidate.failure.empty()) running.push_back(&candidate);
  return running;
}

std::string Contest::compare(Candidate& candidate, Bench& bench, const SymbolValue& sizes,
                             std::string& how) {
  const std::optional<TrialResults> wanted = wantedOf(candidate, bench, sizes, how);
  if (!wanted) return {};
  TrialResults got;
  attempt(candidate, [&] {
    got = bench.run(runtimeKernelOf(candidate), candidate.prepared, candidate.binary.get());
  });
  if (!candidate.failure.empty()) return {};
  return differenceBetween(node_, sizes, got, *wanted, toleranceFor(node_, productPrecision()));
}

ProductPrecision Contest::productPrecision() const {
  const TuneOptions& tuning = options_.tuning;
  if (tuning.productType == DataType::kBF16) return ProductPrecision::kBf16;
  if (tuning.productType == DataType::kF16) return ProductPrecision::kF16;
  const bool isTf32 = options_.hasDeviceMemory() && tuning.allowTf32;
  return isTf32 ? ProductPrecision::kTf32 : ProductPrecision::kF32;
}

std::optional<TrialResults> Contest::wantedOf(const Candidate& candidate, Bench& bench,
                                              const SymbolValue& sizes, std::string& how) {
  constexpr double kMostWork = 1 << 21;  // of an evaluation: some tens of milliseconds
  if (const std::string reason = whyIncomparable(node_); !reason.empty()) {
    how = str("unchecked: ", reason);
    return std::nullopt;
  }
  if (node_.op->evaluate && evaluationWork(node_, sizes) <= kMostWork) {
    try {
      how = "compared with the operator's definition";
      return bench.evaluate();
    } catch (const Error&) {  // it refuses these operands; a kernel need not
    } catch (const std::bad_alloc&) {
    }
  }
  while (Candidate* plain = plainerThan(candidate)) {
    how = str("compared with ", nameOf(*plain));
    TrialResults results;
    attempt(*plain, [&] {
      results = bench.run(runtimeKernelOf(*plain), plain->prepared, plain->binary.get());
    });
    if (plain->failure.empty()) return results;
  }
  how = "unchecked: it is the plainest, and its definition would take too long";
  return std::nullopt;
}

// The last kernel of the list that runs: lists go from the cleverest to the plainest.
Candidate* Contest::plainerThan(const Candidate& candidate) {
  for (size_t i = candidates_.size(); i-- > 0;) {
    if (candidates_[i].kernel == candidate.kernel) return nullptr;
    if (candidates_[i].failure.empty()) return &candidates_[i];
  }
  return nullptr;
}

}  // namespace camshaft
