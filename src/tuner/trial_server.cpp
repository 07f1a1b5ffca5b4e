// The side of the process that runs the kernels.
#include <new>

#include "support/byte_reader.h"
#include "support/error.h"
#include "tuner/timing_turn.h"
#include "tuner/trial_wire.h"

namespace camshaft {
namespace {

std::vector<std::byte> inWords(ErrorKind kind, std::string_view text) {
  ByteWriter writer;
  writer.write<uint32_t>(static_cast<uint32_t>(kind));
  writer.writeString(text);
  return writer.take();
}

class Server {
 public:
  explicit Server(int socket)
      : channel_(socket), runner_(makeLocalRunner(nullptr, nullptr, [this](const Device& device) {
          channel_.send(TrialMessage::kWaiting);
          auto turn = std::make_shared<TimingTurn>(device.describe());
          channel_.send(TrialMessage::kTurn);
          return turn;
        })) {}

  int serve() {
    if (!greet()) return 1;
    for (bool isUsable = true; isUsable;) {
      const std::optional<Message> message = channel_.receive(std::nullopt);
      isUsable = answer(*message);
    }
    return 2;
  }

 private:
  bool greet() const {
    try {
      const RuntimeBackend* backend = findRuntimeBackend(kGpu);
      if (!backend) fail(ErrorKind::kUnsupported, whyBackendIsMissing(kGpu));
      const std::string device = backend->describeDevice();
      backend->device()->makeCurrent();
      channel_.send(TrialMessage::kReady, std::as_bytes(std::span(device)));
      return true;
    } catch (const Error& error) {
      channel_.send(TrialMessage::kError, inWords(error.kind(), error.message()));
      return false;
    }
  }

  // False when the device can run nothing any more.
  bool answer(const Message& message) {
    try {
      handle(message);
      return true;
    } catch (const Error& error) {
      const bool isUsable = error.kind() != ErrorKind::kDevice && runner_->isUsable();
      if (message.kind != TrialMessage::kLoadAhead)
        channel_.send(TrialMessage::kError,
                      inWords(isUsable ? error.kind() : ErrorKind::kDevice, error.message()));
      return isUsable;
    } catch (const std::bad_alloc&) {
      channel_.send(TrialMessage::kError,
                    inWords(ErrorKind::kOutOfMemory, "out of memory while running it"));
      return true;
    }
  }

  void handle(const Message& message) {
    if (message.kind == TrialMessage::kOperands) {
      operands_ = message.bytes;
      runner_->setOperands(operandsIn(operands_));
    } else if (message.kind == TrialMessage::kMeasure) {
      const auto [trial, options] = trialIn(message.bytes);
      const double milliseconds = runner_->measure(trial, options);
      channel_.send(TrialMessage::kTime, std::as_bytes(std::span(&milliseconds, 1)));
    } else if (message.kind == TrialMessage::kRun) {
      channel_.send(TrialMessage::kResults, toBytes(runner_->run(trialIn(message.bytes).first)));
    } else if (message.kind == TrialMessage::kLoadAhead) {
      runner_->loadAhead(trialIn(message.bytes).first);
    }
  }

  TrialChannel channel_;
  std::vector<std::byte> operands_;  // what the runner's point into
  std::unique_ptr<TrialRunner> runner_;
};

}  // namespace

int serveTrials(int socket) {
  try {
    return Server(socket).serve();
  } catch (const Error&) {  // the build is over
    return 0;
  }
}

}  // namespace camshaft
