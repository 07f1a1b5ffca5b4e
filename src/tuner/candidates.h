// The kernels that may take a node, in each configuration.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "tuner/choose.h"

namespace camshaft {

using Binary = std::shared_ptr<const std::vector<std::byte>>;

struct Candidate {
  const Kernel* kernel;
  int64_t config;
  std::string key;  // of the timing cache
  Prepared prepared;
  Binary binary;
  double milliseconds = -1;
  std::string failure;          // why it could not be compiled, timed or trusted
  bool isFaulty = false;        // it harmed its device or was wrong, and must not be taken
  bool isForThisBuild = false;  // the failure, which is not remembered then: there was no memory
  bool isNarrowed = false;      // it has workspace for fewer threads than there are
  int64_t excessBytes = 0;      // of workspace that it wants, where these are beyond the limit
};

std::string nameOf(const Candidate& candidate);  // with the configuration
std::string_view runtimeKernelOf(const Candidate& candidate);
uint64_t sourceHashOf(const Prepared& prepared);  // 0: it has no device code

class Candidates {
 public:
  Candidates(const ChooseOptions& options, const SymbolValue& opt, const SymbolRange& range);

  // Kernels of the backend that support the node, not prepared; `info` gets the others' reasons.
  std::vector<Candidate> list(const Node& node, const BuildBackend& backend, StepInfo& info) const;
  // Those of them that take the node, prepared; what the timing cache decides, or where nothing is
  // timed the first, alone.
  std::vector<Candidate> prepared(const Node& node, std::vector<Candidate> candidates,
                                  StepInfo& info) const;
  // What an earlier build decided, prepared. Throws Error naming the node where it cannot be had.
  struct Decided {
    Candidate candidate;
    const BuildBackend* backend;
  };
  Decided decided(const Node& node, const KernelDecision& decision) const;
  // Device code of all at once: backends compile in parallel, equal sources once.
  struct Uncompiled {
    const BuildBackend* backend;
    std::vector<Candidate>* candidates;
  };
  void compile(std::span<const Uncompiled> all);
  size_t compiledCount() const { return compiled_.size(); }

  // What the backend should know before anything is prepared.
  void prefetch(std::span<Node* const> nodes) const;
  // What a timing cache that keeps choices has for this layer, and under which key.
  ChoiceKey choiceKeyOf(const Node& node) const;
  std::optional<Choice> choiceFor(const Node& node) const;
  const BuildContext& context() const { return context_; }
  bool areTimed() const { return tuning_.optimizationLevel > 0 && options_.target.isPresent; }

 private:
  std::vector<int64_t> configurationsOf(const Kernel& kernel, const Node& node) const;
  bool prepare(const Node& node, Candidate& candidate) const;
  void fitWorkspace(const Node& node, Candidate& candidate) const;
  void reportExcess(const Node& node, const Candidate& hungry, bool isTaken) const;
  size_t mostPrepared() const;
  bool isConfiguration(const Kernel& kernel, const Node& node, int64_t config) const;
  Candidate* fastestKnown(std::vector<Candidate>& candidates) const;
  std::string problemOf(const Node& node) const;

  struct Compiled {
    Binary binary;
    std::string error;
  };

  const ChooseOptions& options_;
  const TuneOptions& tuning_;
  const BuildContext context_;
  std::map<std::pair<const BuildBackend*, std::string>, Compiled> compiled_;  // by source
};

}  // namespace camshaft
