// The program that tries and compiles kernels, while it runs.
#pragma once

#include <string>

#include "tuner/trial_wire.h"

namespace camshaft {

class ChildProcess {
 public:
  // Throws Error(kIo) with the reason when it cannot be started.
  ChildProcess(const std::string& program, std::vector<std::string> arguments);
  ~ChildProcess();  // ends it
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  const TrialChannel& channel() const { return *channel_; }
  // Waits a moment for its end; how it ended, in words: "by signal 11 (Segmentation fault)".
  std::string end();

 private:
  int process_ = -1;
  std::unique_ptr<TrialChannel> channel_;
};

}  // namespace camshaft
