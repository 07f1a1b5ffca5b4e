// What sizes everything has: from the shapes of the inputs, and from what steps find in the data.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/launch.h"
#include "plan/plan.h"

namespace camshaft {

// The operands of a step at the sizes of now. Sizes says all but where they lie, which whoever
// launches the step fills in, and notes that its kernel takes them.
struct ResolvedStep {
  std::vector<TensorArg> inputs, outputs;
  std::vector<int64_t> dims;
  int64_t workspaceBytes = 0;
  bool isSettled = false;  // the sizes it has bound are those that later steps have
  bool isChecked = false;  // by its launcher, since the sizes last changed
};

// The first thing a run needs: input shapes of a profile go in, the plan's dimension program and
// what bind steps read fill the slots, and every step's operands come out. Whatever a shape or a
// damaged engine leads to is refused here, before there is an address. Knows no memory.
class Sizes {
 public:
  // Inputs of fixed shape have it from the beginning; resolve() before anything of a step is asked.
  Sizes(const Plan& plan, int profile);

  int profile() const { return profile_; }
  const ProfilePlan& plan() const { return plan_->profiles[profile_]; }

  // Throws Error naming the input when the shape is outside the profile; then all is as before.
  void setInputShape(int input, std::span<const int64_t> dims);
  bool allInputsSet() const;
  // The elements of an input with value slots, likewise.
  void setInputValues(int input, std::span<const int64_t> values);
  bool hasInputValues(int input) const { return inputValues_[input].has_value(); }
  // -1 for a dimension that is not known yet: its input shape is not set, or only a run decides it.
  std::vector<int64_t> inputShape(int input) const;
  std::vector<int64_t> outputShape(int output) const;
  int64_t sizeOf(const DimRef& dim) const;

  // Bytes that tensors of the network have; -1: not known, or more than fit anywhere.
  int64_t inputBytes(int input) const;
  int64_t outputBytes(int output) const;
  // Those of an output where no run has a say in it; -1 elsewhere.
  int64_t outputBytesAhead(int output) const { return bindsSizes_ ? -1 : bytesAhead_[output]; }
  // The most that a step may write to an output: callers have made room for what its shape says
  // beforehand, or for the most it can be. -1: there is no bound.
  int64_t outputRoom(int output, const Step& writer) const;

  void resolve();  // every step's sizes, where shapes have changed
  // Another one after each such change: what follows from the inputs' shapes may be another too.
  int64_t revision() const { return revision_; }
  void checkInputs();  // all are set, and suit one another and what the network asks of them
  // Values for the slots of a step that has just run; the sizes that follow from them are resolved.
  void bind(const Step& step, std::span<const int64_t> values);
  void forgetBound();  // what runs have bound is unknown again

  ResolvedStep& step(size_t index) { return steps_[index]; }
  void requireKnown(size_t step) const;                      // its sizes, none of them negative
  std::span<const int64_t> slots() const { return slots_; }  // what all sizes follow from

 private:
  void setOrKeep(std::optional<std::vector<int64_t>>& known, std::span<const int64_t> now);
  int64_t valueOf(const DimRef& dim) const;
  void runProgram(int32_t begin, int32_t end);
  void checkSizes() const;
  void resolveOperand(const Step& step, const Operand& operand, TensorArg& arg) const;
  void resolveStep(size_t index);
  void settleAfter(size_t index);
  void requireSizes(const Step& step, const Operand& operand, const TensorArg& arg) const;

  const Plan* plan_;
  int profile_;
  bool bindsSizes_ = false;  // some step of the profile does
  std::vector<std::optional<std::vector<int64_t>>> inputShapes_, inputValues_;
  std::vector<int64_t> slots_;
  std::vector<int64_t> bytesAhead_;  // of outputs whose sizes follow from the inputs' alone; or -1
  std::vector<ResolvedStep> steps_;
  bool areCurrent_ = false;
  int64_t revision_ = 0;
  bool areChecked_ = false;  // those that are known satisfy what the network asks of them
};

// "output 0 ('y')": where an operand stands in its step, and what callers call it.
std::string nameOf(const Plan& plan, const Step& step, const Operand& operand);

}  // namespace camshaft
