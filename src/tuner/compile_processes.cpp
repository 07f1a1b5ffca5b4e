#include "tuner/compile_processes.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "backend/device.h"
#include "support/byte_reader.h"
#include "support/code_file.h"
#include "support/cpu_info.h"
#include "support/error.h"
#include "tuner/child_process.h"
#include "tuner/process_runner.h"

namespace camshaft {
namespace {

// Fewer are compiled before processes have started; to start one takes as long as a source.
constexpr size_t kWorthProcesses = 6, kLeastEach = 2;

struct Request {
  BuildTarget target;
  std::string source;
};

std::vector<std::byte> toBytes(const std::string& source, const BuildTarget& target) {
  ByteWriter writer;
  writer.write<int32_t>(target.computeCapability);
  writer.write(target.isPortable);
  writer.writeString(source);
  return writer.take();
}

Request requestIn(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, "a request to compile");
  Request request;
  request.target.computeCapability = reader.read<int32_t>();
  request.target.isPortable = reader.read<bool>();
  request.source = reader.readString();
  return request;
}

std::vector<std::byte> toBytes(const CompiledCode& code) {
  ByteWriter writer;
  writer.writeString(code.error);
  writer.writeVector(code.binary);
  return writer.take();
}

CompiledCode codeIn(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, "compiled code");
  CompiledCode code;
  code.error = reader.readString();
  code.binary = reader.readVector<std::byte>();
  return code;
}

// Threads with a process each, which share the sources.
class Crew {
 public:
  Crew(std::span<const std::string> sources, const BuildTarget& target, std::string program,
       std::string library)
      : sources_(sources),
        target_(target),
        program_(std::move(program)),
        library_(std::move(library)),
        codes_(sources.size()) {}

  // Nothing for those that none has compiled.
  std::vector<std::optional<CompiledCode>> compileAll() {
    std::vector<std::jthread> threads;
    const size_t count = std::min(sources_.size() / kLeastEach, static_cast<size_t>(usableCores()));
    for (size_t i = 0; i < count; ++i) threads.emplace_back([this] { work(); });
    threads.clear();
    return std::move(codes_);
  }

  const std::string& failure() const { return failure_; }

 private:
  void work() {
    try {
      auto child = start();
      for (size_t i; (i = next_.fetch_add(1)) < sources_.size();) {
        try {
          codes_[i] = compile(*child, sources_[i]);
        } catch (const Error&) {
          codes_[i] = {.binary = {},
                       .error = str("the process that compiled it ended ", child->end())};
          child = start();
        }
        if (!codes_[i]) return;
      }
    } catch (const std::exception& error) {
      const std::lock_guard lock(mutex_);
      failure_ = error.what();
    }
  }

  // One that has said it is there: how it ends from then on is what it compiles that does it.
  std::unique_ptr<ChildProcess> start() const {
    constexpr std::chrono::milliseconds kLimit{60'000};
    auto child =
        std::make_unique<ChildProcess>(program_, std::vector{library_, std::string("compile")});
    const std::optional<Message> greeting = child->channel().receive(kLimit);
    if (!greeting || greeting->kind != TrialMessage::kReady)
      fail(ErrorKind::kIo, program_, " does not compile for this device");
    return child;
  }

  std::optional<CompiledCode> compile(const ChildProcess& child, const std::string& source) const {
    child.channel().send(TrialMessage::kCompile, toBytes(source, target_));
    const std::optional<Message> answer = child.channel().receive(std::nullopt);
    if (answer->kind == TrialMessage::kError) return std::nullopt;
    return codeIn(answer->bytes);
  }

  std::span<const std::string> sources_;
  const BuildTarget& target_;
  std::string program_, library_;
  std::atomic<size_t> next_ = 0;
  std::vector<std::optional<CompiledCode>> codes_;
  std::mutex mutex_;
  std::string failure_;  // why a process could not be started
};

}  // namespace

std::vector<CompiledCode> compileApart(const BuildBackend& backend,
                                       std::span<const std::string> sources,
                                       const BuildTarget& target, const Log& log) {
  const RuntimeBackend* here = findRuntimeBackend(backend.name);
  if (sources.size() < kWorthProcesses || !here || !here->compileAlone)
    return backend.compile(sources, target);
  // One here first: a compiler that is missing or does not know the target is found out, and the
  // processes take the same one.
  std::vector<CompiledCode> compiled = backend.compile(sources.first(1), target);
  std::vector<std::optional<CompiledCode>> codes(sources.size() - 1);
  std::string failure;
  try {
    Crew crew(sources.subspan(1), target, findTrialsProgram(),
              fileOf(reinterpret_cast<const void*>(here->find)));
    codes = crew.compileAll();
    failure = crew.failure();
  } catch (const Error& error) {
    failure = error.message();
  }
  if (!failure.empty()) log.verbose("Device code is compiled in this process: ", failure);
  std::vector<std::string> left;
  for (size_t i = 0; i < codes.size(); ++i)
    if (!codes[i]) left.push_back(sources[i + 1]);
  std::vector<CompiledCode> own;
  if (!left.empty()) own = backend.compile(left, target);
  size_t next = 0;
  for (std::optional<CompiledCode>& code : codes)
    compiled.push_back(code ? *std::move(code) : std::move(own[next++]));
  return compiled;
}

int serveCompilations(int socket) {
  try {
    const TrialChannel channel(socket);
    const RuntimeBackend* backend = findRuntimeBackend(kGpu);
    if (!backend || !backend->compileAlone) return 1;
    channel.send(TrialMessage::kReady);
    for (;;) {
      const Request request = requestIn(channel.receive(std::nullopt)->bytes);
      try {
        channel.send(TrialMessage::kCompiled,
                     toBytes(backend->compileAlone(request.source, request.target)));
      } catch (const Error&) {  // the build hears the reason when it tries itself
        channel.send(TrialMessage::kError);
      }
    }
  } catch (const Error&) {  // the build is over
    return 0;
  }
}

}  // namespace camshaft
