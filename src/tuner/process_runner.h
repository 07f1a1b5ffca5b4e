// Trials in a process of their own.
#pragma once

#include <chrono>

#include "support/log.h"
#include "tuner/trial.h"

namespace camshaft {

struct ProcessRunnerOptions {
  // The program to start; empty: findTrialsProgram().
  std::string program;
  // A kernel that takes longer than this hangs.
  std::chrono::milliseconds limit{30'000};
  Log log;
};

// What CAMSHAFT_TRIALS names; else beside the library or program this code is in, or where the two
// lie in an installation. Throws Error(kIo) with the reason when there is none.
std::string findTrialsProgram();

// A kernel that faults, hangs or crashes ends its process, and is an Error(kDevice) with the
// reason; the next trial starts another. Where the program cannot be started, or is given other
// libraries than this process, trials run on `local`, and the verbose log says why.
std::unique_ptr<TrialRunner> makeProcessRunner(ProcessRunnerOptions options,
                                               std::unique_ptr<TrialRunner> local);

}  // namespace camshaft
