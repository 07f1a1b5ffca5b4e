// What the build half asks of the run half: facts about the device, compiled code, and what the
// vendor's libraries offer for a problem.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/compiled_code.h"

namespace camshaft::cuda {

struct GemmProblem;
struct ConvProblem;
struct AttentionProblem;
struct LibraryPlan;

// What kernels are built for: the device at hand, or one named for a build without it.
struct Target {
  int sm = 90;  // compute capability, 10 * major + minor
  int multiprocessors = 132;
  int64_t sharedBytesPerBlock = 227 << 10;
  bool isPresent = false;  // a device of this kind is here, so kernels can be timed
  std::string name;        // "NVIDIA H200, sm_90, driver 580.159"
};

class Services {
 public:
  virtual ~Services() = default;
  // The device at hand, or one of compute capability `sm` when useTarget() named another for the
  // builds of this thread (0: the device at hand again).
  virtual const Target& target() const = 0;
  virtual void useTarget(int sm) = 0;
  // One result per source, compiled in parallel.
  virtual std::vector<CompiledCode> compile(std::span<const std::string> sources) = 0;
  // What the libraries offer, best guess first, at most `most`; empty without device or library.
  virtual std::vector<LibraryPlan> gemmPlans(const GemmProblem& problem, int most) = 0;
  // The same one by one, from any thread: to build one may take a second.
  virtual std::optional<LibraryPlan> convPlan(const ConvProblem& problem, int number) = 0;
  virtual std::optional<LibraryPlan> attentionPlan(const AttentionProblem& problem, int number) = 0;
};

// Those of the loaded library. Throws Error naming what is missing when there is none.
Services& services();

}  // namespace camshaft::cuda
