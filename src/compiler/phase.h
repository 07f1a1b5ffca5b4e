// How far a build is.
#pragma once

#include "compiler/compile.h"
#include "support/error.h"

namespace camshaft {

// A phase shown to the progress monitor from construction to destruction.
class Phase {
 public:
  Phase(BuildProgress* progress, std::string name, std::string_view parent, int steps)
      : progress_(progress), name_(std::move(name)) {
    if (progress_) progress_->begin(name_, parent, steps);
  }
  ~Phase() {
    if (progress_) progress_->end(name_);
  }
  bool advance(int step) const { return !progress_ || progress_->advance(name_, step); }
  void finishStep(int step) const {
    if (!advance(step))
      fail(ErrorKind::kInvalidArgument, "the build was cancelled by its progress monitor");
  }

 private:
  BuildProgress* progress_;
  std::string name_;
};

}  // namespace camshaft
