#include "timing.h"

#include <algorithm>
#include <chrono>
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
  } while (++rounds < least || millisecondsSince(start) < options.warmUpMs);
  log.info("Warmup completed " + std::to_string(rounds * static_cast<int>(streams.size())) +
           " queries over " + std::to_string(static_cast<int>(options.warmUpMs)) + " ms");
  const double runMs = std::max(roundMs / static_cast<double>(streams.size()), 1e-3);
  return isOnDevice ? std::clamp(static_cast<int>(kQueuedMs / runMs), 1, kMostQueued) : 1;
}

// What one host thread does: it queues runs on its streams in turn and waits when enough are.
std::vector<RunTimes> drive(std::span<const std::unique_ptr<Stream>> streams, int queueDepth,
                            Clock::time_point start, const Options& options) {
  std::vector<RunTimes> runs;
  for (int done = 0;;) {
    const int missing = std::max(options.iterations, 1) - done;
    const bool isTimeOver = millisecondsSince(start) >= options.durationS * 1000;
    if (isTimeOver && missing <= 0) return runs;
    const int batch = isTimeOver ? std::min(queueDepth, missing) : queueDepth;
    for (int i = 0; i < batch; ++i)
      for (const auto& stream : streams) stream->enqueue();
    for (const auto& stream : streams) stream->finish(runs);
    done += batch;
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
  const auto start = Clock::now();
  const auto share = [&](std::span<const std::unique_ptr<Stream>> own) {
    try {
      const std::vector<RunTimes> runs = drive(own, queueDepth, start, options);
      const std::lock_guard lock(mutex);
      timed.runs.insert(timed.runs.end(), runs.begin(), runs.end());
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
  };
  // Streams of a CPU only overlap on threads of their own.
  if (streams.size() > 1 && (options.threads || !streams.front()->isOnDevice())) {
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
