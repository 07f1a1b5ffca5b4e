// What the build half asks of the run half: facts about the device at hand, compiled code, and what
// the vendor's libraries offer for a problem.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/compiled_code.h"
#include "backend/target.h"

namespace camshaft::cuda {

struct GemmProblem;
struct ConvProblem;
struct AttentionProblem;
struct LibraryPlan;

class Services {
 public:
  virtual ~Services() = default;
  virtual BuildTarget currentTarget() = 0;  // the calling thread's device
  // One result per source, compiled in parallel: machine code, or PTX for a portable target.
  virtual std::vector<CompiledCode> compile(std::span<const std::string> sources,
                                            const BuildTarget& target) = 0;
  // What the libraries offer for that device, best guess first, at most `most`.
  virtual std::vector<LibraryPlan> gemmPlans(const GemmProblem& problem, int most) = 0;
  // The same one by one, from any thread: to build one may take a second.
  virtual std::optional<LibraryPlan> convPlan(const ConvProblem& problem, int number) = 0;
  virtual std::optional<LibraryPlan> attentionPlan(const AttentionProblem& problem, int number) = 0;
};

// Those of the loaded library. Throws Error naming what is missing when there is none.
Services& services();

}  // namespace camshaft::cuda
