// Trials between two processes: messages over a socket.
#pragma once

#include <chrono>
#include <optional>

#include "tuner/trial.h"

namespace camshaft {

enum class TrialMessage : uint32_t {
  // what is asked
  kOperands,  // no answer
  kMeasure,
  kRun,
  kLoadAhead,  // no answer
  kCompile,
  // what is answered
  kReady,    // once, when the program has its device, in words, or can compile
  kWaiting,  // for its turn at the device, which may take any time
  kTurn,
  kTime,
  kResults,
  kCompiled,
  kError,  // the kernel's
};

struct Message {
  TrialMessage kind;
  std::vector<std::byte> bytes;
};

// One end of a stream socket, which it closes. Throws Error(kIo) when the other end is gone or does
// not read.
class TrialChannel {
 public:
  explicit TrialChannel(int socket) : socket_(socket) {}
  ~TrialChannel();
  TrialChannel(const TrialChannel&) = delete;
  TrialChannel& operator=(const TrialChannel&) = delete;

  void send(TrialMessage kind, std::span<const std::byte> bytes = {}) const;
  // Nothing when none has come in time.
  std::optional<Message> receive(std::optional<std::chrono::milliseconds> limit) const;

 private:
  int socket_;
};

std::vector<std::byte> toBytes(const TrialOperands& operands);
std::vector<std::byte> toBytes(const Trial& trial, const MeasureOptions& options = {});
std::vector<std::byte> toBytes(const TrialResults& results);

// The spans of what is read point into `bytes`. Both sides are of one build: what cannot be read is
// a bug.
TrialOperands operandsIn(std::span<const std::byte> bytes);
std::pair<Trial, MeasureOptions> trialIn(std::span<const std::byte> bytes);
TrialResults resultsIn(std::span<const std::byte> bytes);

// Answers what comes over the socket until it is closed, or a kernel has ruined the device; the
// exit status of its process.
int serveTrials(int socket);

}  // namespace camshaft
