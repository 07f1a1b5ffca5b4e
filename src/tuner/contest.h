// Times the candidates for a node, and looks at the winner's results.
#pragma once

#include "tuner/agreement.h"
#include "tuner/bench.h"
#include "tuner/candidates.h"

namespace camshaft {

class Contest {
 public:
  // `opt`: sizes to time; `otherSizes`: such that may be met too.
  Contest(const Node& node, std::vector<Candidate>& candidates, const ChooseOptions& options,
          SymbolValue opt, std::vector<SymbolValue> otherSizes, TrialRunner& host,
          TrialRunner& device)
      : node_(node),
        candidates_(candidates),
        options_(options),
        opt_(opt),
        otherSizes_(std::move(otherSizes)),
        host_(host),
        device_(device),
        bench_(node, std::move(opt), host, device) {}

  // Two rounds over all candidates, the better of each one's times: a disturbance of the machine
  // meets several candidates instead of deciding against one. One that fails has its reason then.
  void timeAll();
  // The fastest whose results agree with another's; those found wrong are dropped, with a warning.
  // The end of the list when none is left. `how` says what it was compared with.
  std::vector<Candidate>::iterator winner(std::string& how);

 private:
  double bestSoFar() const;
  void timeOnce(Candidate& candidate);
  // Runs what may fail; a failure becomes the candidate's.
  template <class F>
  void attempt(Candidate& candidate, const F& work);
  void drop(Candidate& candidate);
  // How the results differ from others, in words. Empty: they agree, or cannot be compared.
  std::string check(Candidate& candidate, std::string& how);
  std::string compare(Candidate& candidate, Bench& bench, const SymbolValue& sizes,
                      std::string& how);
  // What the results should be, from whom `how` says; nothing when there is nobody to ask.
  std::optional<TrialResults> wantedOf(const Candidate& candidate, Bench& bench,
                                       const SymbolValue& sizes, std::string& how);
  ProductPrecision productPrecision() const;
  Candidate* plainerThan(const Candidate& candidate);
  std::vector<Candidate*> runningOnes();

  const Node& node_;
  std::vector<Candidate>& candidates_;
  const ChooseOptions& options_;
  SymbolValue opt_;
  std::vector<SymbolValue> otherSizes_;
  TrialRunner &host_, &device_;
  Bench bench_;
};

}  // namespace camshaft
