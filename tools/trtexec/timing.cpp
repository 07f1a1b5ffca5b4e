#include "timing.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <mutex>
#include <span>
#include <thread>

namespace trtexec {
namespace {

using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// A device records a shape when it sees it for the second time and replays it from the third on.
constexpr int kRunsUntilReplayed = 4;
// Runs are queued on a device for this long before the host waits, so that none of them waits for
// the host.
constexpr double kQueuedMs = 20;
constexpr int kMostQueued = 64;

// Runs every stream for the time asked for and returns how many runs to queue at once.
int warmUp(std::vector<std::unique_ptr<Stream>>& streams, const Options& options,
           ConsoleLogger& log) {
  const bool isOnDevice = streams.front()->isOnDevice();
  const int least = isOnDevice ? kRunsUntilReplayed : 1;
  const auto start = Clock::now();
  int rounds = 0;
  double roundMs = 0;
  do {
    const auto roundStart = Clock::now();
    for (auto& stream : streams) stream->run();
    roundMs = millisecondsSince(roundStart);
  } while (++rounds < least || millisecondsSince(start) < options.inference.warmUpMs);
  log.info("Warmup completed " + std::to_string(rounds * static_cast<int>(streams.size())) +
           " queries over " + std::to_string(static_cast<int>(options.inference.warmUpMs)) + " ms");
  const double runMs = std::max(roundMs / static_cast<double>(streams.size()), 1e-3);
  // Runs that are kept apart are queued one by one.
  if (options.inference.exposeDMA || options.inference.idleMs > 0) return 1;
  return isOnDevice ? std::clamp(static_cast<int>(kQueuedMs / runMs), 1, kMostQueued) : 1;
}

// --duration=-1 runs until somebody interrupts the process, which then reports.
class Interruption {
 public:
  explicit Interruption(bool isAwaited) {
    if (isAwaited) std::signal(SIGINT, [](int) { isHere_ = true; });
  }
  ~Interruption() { std::signal(SIGINT, SIG_DFL); }
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  static bool isHere() { return isHere_; }

 private:
  static inline std::atomic<bool> isHere_ = false;
};

// Nobody looks at all runs of a day.
constexpr size_t kMostKept = 2'000'000;

void forgetOldest(std::vector<RunTimes>& runs) {
  if (runs.size() < kMostKept) return;
  runs.erase(runs.begin(), runs.begin() + kMostKept / 2);
}

// What one host thread does: it queues runs on its streams in turn and waits when enough are.
std::vector<RunTimes> drive(std::span<const std::unique_ptr<Stream>> streams, int queueDepth,
                            Clock::time_point start, const InferenceOptions& inference) {
  const bool isEndless = inference.durationS < 0;
  const std::chrono::duration<double, std::milli> idle(inference.idleMs);
  std::vector<RunTimes> runs;
  std::this_thread::sleep_until(start);
  for (int64_t done = 0;;) {
    const int64_t missing = std::max(inference.iterations, 1) - done;
    const bool isTimeOver =
        isEndless ? Interruption::isHere() : millisecondsSince(start) >= inference.durationS * 1000;
    if (isTimeOver && missing <= 0) return runs;
    const int64_t batch = isTimeOver ? std::min<int64_t>(queueDepth, missing) : queueDepth;
    for (int64_t i = 0; i < batch; ++i)
      for (const auto& stream : streams) {
        stream->enqueue();
        if (inference.exposeDMA) stream->finish(runs);
      }
    for (const auto& stream : streams) stream->finish(runs);
    done += batch;
    if (isEndless) forgetOldest(runs);
    if (inference.idleMs > 0) std::this_thread::sleep_for(idle);
  }
}

}  // namespace

TimedRuns timeStreams(std::vector<std::unique_ptr<Stream>>& streams, const Options& options,
                      ConsoleLogger& log) {
  const int queueDepth = warmUp(streams, options, log);
  TimedRuns timed;
  std::mutex mutex;
  std::exception_ptr failure;
  for (auto& stream : streams) stream->startClock();
  const Interruption interruption(options.inference.durationS < 0);
  const auto start =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double, std::milli>(options.inference.sleepMs));
  const auto share = [&](std::span<const std::unique_ptr<Stream>> own) {
    try {
      const std::vector<RunTimes> runs = drive(own, queueDepth, start, options.inference);
      const std::lock_guard lock(mutex);
      timed.runs.insert(timed.runs.end(), runs.begin(), runs.end());
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
  };
  // Streams of a CPU only overlap on threads of their own.
  if (streams.size() > 1 && (options.inference.threads || !streams.front()->isOnDevice())) {
    std::vector<std::thread> threads;
    for (size_t i = 0; i < streams.size(); ++i)
      threads.emplace_back([&, i] { share(std::span(streams).subspan(i, 1)); });
    for (std::thread& thread : threads) thread.join();
  } else {
    share(streams);
  }
  if (failure) std::rethrow_exception(failure);
  timed.wallMs = millisecondsSince(start);
  std::sort(timed.runs.begin(), timed.runs.end(),
            [](const RunTimes& a, const RunTimes& b) { return a.startEnqueue < b.startEnqueue; });
  log.info("Timing trace has " + std::to_string(timed.runs.size()) + " queries over " +
           std::to_string(timed.wallMs / 1000) + " s");
  return timed;
}

}  // namespace trtexec
