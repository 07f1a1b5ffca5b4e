#include "tuner/process_runner.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "support/byte_reader.h"
#include "support/code_file.h"
#include "support/error.h"
#include "tuner/child_process.h"

namespace camshaft {
namespace {

constexpr std::chrono::milliseconds kStartLimit{60'000}, kLoadLimit{120'000};

std::string textIn(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

[[noreturn]] void throwAnswer(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, "the answer to a trial");
  const auto kind = static_cast<ErrorKind>(reader.read<uint32_t>());
  fail(kind, reader.readString());
}

class ProcessRunner : public TrialRunner {
 public:
  ProcessRunner(ProcessRunnerOptions options, std::unique_ptr<TrialRunner> local)
      : options_(std::move(options)), local_(std::move(local)) {}

  void setOperands(TrialOperands operands) override {
    operands_ = std::move(operands);
    areSent_ = false;
  }

  double measure(const Trial& trial, const MeasureOptions& options) override {
    if (!isReady()) return local_->measure(trial, options);
    const Message answer = ask(TrialMessage::kMeasure, toBytes(trial, options));
    double milliseconds = 0;
    CAMSHAFT_CHECK(answer.bytes.size() == sizeof milliseconds, "a time has ", answer.bytes.size(),
                   " bytes");
    std::memcpy(&milliseconds, answer.bytes.data(), sizeof milliseconds);
    return milliseconds;
  }

  TrialResults run(const Trial& trial) override {
    if (!isReady()) return local_->run(trial);
    return resultsIn(ask(TrialMessage::kRun, toBytes(trial)).bytes);
  }

  bool isUsable() override { return !isLocal_ || local_->isUsable(); }

  void start() override {
    if (isLocal_ || child_) return;
    try {
      const std::string program = options_.program.empty() ? findTrialsProgram() : options_.program;
      const RuntimeBackend* backend = findRuntimeBackend(kGpu);
      CAMSHAFT_CHECK(backend, "kernels of a device are tried without one");
      child_ = std::make_unique<ChildProcess>(
          program, std::vector{fileOf(reinterpret_cast<const void*>(backend->find))});
      hasGreeted_ = areSent_ = false;
    } catch (const Error& error) {
      stayLocal(error.message());
    }
  }

  void loadAhead(const Trial& trial) override {
    start();
    if (isLocal_ || !child_) return;
    try {
      hasLoadedAhead_ = true;
      child_->channel().send(TrialMessage::kLoadAhead, toBytes(trial));
    } catch (const Error&) {  // whoever asks first hears of it
    }
  }

 private:
  // Whether a program is there that has the operands. The local runner has them otherwise.
  bool isReady() {
    start();
    if (child_ && !hasGreeted_) greet();
    if (!areSent_ && !isLocal_) sendOperands();
    if (!areSent_) local_->setOperands(operands_);
    areSent_ = true;
    return !isLocal_;
  }

  void sendOperands() {
    try {
      child_->channel().send(TrialMessage::kOperands, toBytes(operands_));
      areSent_ = true;
    } catch (const Error& error) {
      const bool mayBegin = std::exchange(hasLoadedAhead_, false);
      child_.reset();
      if (!mayBegin) return stayLocal(error.message());
      isReady();
    }
  }

  // Kernels are tried on the device and with the libraries that will run them, or not apart at all.
  void greet() {
    try {
      const std::optional<Message> message = child_->channel().receive(kStartLimit);
      if (!message) fail(ErrorKind::kIo, "it did not find its device in time");
      if (message->kind == TrialMessage::kError) throwAnswer(message->bytes);
      const std::string theirs = textIn(message->bytes),
                        ours = findRuntimeBackend(kGpu)->describeDevice();
      if (theirs != ours) fail(ErrorKind::kIo, "it has ", theirs, ", and this process ", ours);
      hasGreeted_ = true;
    } catch (const Error& error) {
      stayLocal(error.message());
    }
  }

  void stayLocal(std::string_view reason) {
    options_.log.verbose(
        "Kernels are tried in this process, where one that faults ends the build, "
        "and not apart from it: ",
        reason);
    isLocal_ = true;
    areSent_ = false;
    child_.reset();
  }

  Message ask(TrialMessage what, const std::vector<std::byte>& bytes) {
    std::optional<Message> answer;
    try {
      child_->channel().send(what, bytes);
      answer = receiveAnswer();
    } catch (const Error&) {
      const std::string how = child_->end();
      child_.reset();
      // It may have been what was loaded for others: without that, once more.
      if (std::exchange(hasLoadedAhead_, false) && isReady()) return ask(what, bytes);
      fail(ErrorKind::kDevice, "the process that ran it ended ", how);
    }
    if (!answer) {
      child_.reset();
      fail(ErrorKind::kDevice, "it did not end within ",
           static_cast<double>(options_.limit.count()) / 1000, " s");
    }
    if (answer->kind != TrialMessage::kError) return *std::move(answer);
    try {
      throwAnswer(answer->bytes);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kDevice) child_.reset();  // it can run nothing any more
      throw;
    }
  }

  // Nothing when the kernel takes too long. Loading it may take longer, since libraries compile
  // then; waiting for other builds does not count.
  std::optional<Message> receiveAnswer() const {
    std::optional<std::chrono::milliseconds> limit = std::max(options_.limit, kLoadLimit);
    for (;;) {
      std::optional<Message> answer = child_->channel().receive(limit);
      if (answer && answer->kind == TrialMessage::kWaiting)
        limit.reset();
      else if (answer && answer->kind == TrialMessage::kTurn)
        limit = options_.limit;
      else
        return answer;
    }
  }

  ProcessRunnerOptions options_;
  std::unique_ptr<TrialRunner> local_;
  bool isLocal_ = false;
  std::unique_ptr<ChildProcess> child_;
  bool hasGreeted_ = false;
  bool hasLoadedAhead_ = false;
  TrialOperands operands_;
  bool areSent_ = false;
};

}  // namespace

std::string findTrialsProgram() {
  if (const char* chosen = std::getenv("CAMSHAFT_TRIALS"); chosen && *chosen) {
    if (std::string_view(chosen) == "none") fail(ErrorKind::kIo, "CAMSHAFT_TRIALS says so");
    return chosen;
  }
  const std::string own = fileOf(&makeProcessRunner);
  for (const char* place : {"camshaft-trials", "../bin/camshaft-trials"})
    if (const std::string path = folderOf(own) + place; access(path.c_str(), X_OK) == 0)
      return path;
  fail(ErrorKind::kIo, "camshaft-trials was not found beside ", own);
}

std::unique_ptr<TrialRunner> makeProcessRunner(ProcessRunnerOptions options,
                                               std::unique_ptr<TrialRunner> local) {
  return std::make_unique<ProcessRunner>(std::move(options), std::move(local));
}

}  // namespace camshaft
