// How far a build is.
#pragma once

#include <algorithm>

#include "compiler/compile.h"
#include "support/error.h"

namespace camshaft {

// A phase shown to the progress monitor from construction to destruction. Its steps are reported in
// order, each once; where the monitor wants to stop, completing one throws Error.
class Phase {
 public:
  Phase(BuildProgress* progress, std::string name, std::string_view parent, int steps)
      : progress_(progress), name_(std::move(name)), steps_(std::max(steps, 1)) {
    if (progress_) progress_->begin(name_, parent, steps_);
  }
  Phase(const Phase&) = delete;
  ~Phase() {
    if (progress_) progress_->end(name_);
  }

  void completeStep() { completeTo(done_ + 1); }
  void completeAll() { completeTo(steps_); }
  // As many of its steps as `part` is of `whole`.
  void completePart(int part, int whole) {
    completeTo(static_cast<int>(int64_t{part} * steps_ / std::max(whole, 1)));
  }

 private:
  void completeTo(int count) {
    for (; done_ < std::min(count, steps_); ++done_)
      if (progress_ && !progress_->advance(name_, done_))
        fail(ErrorKind::kInvalidArgument, "the build was cancelled by its progress monitor");
  }

  BuildProgress* progress_;
  std::string name_;
  int steps_;
  int done_ = 0;
};

}  // namespace camshaft
