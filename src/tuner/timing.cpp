#include "tuner/timing.h"

#include <algorithm>

#include "support/error.h"
#include "support/stopwatch.h"

namespace camshaft {
namespace {

constexpr double kHopeless = 4;  // times the best so far

double between(Device& device, void* stream, const std::function<void()>& enqueue) {
  const std::shared_ptr<void> begin = device.mark(stream);
  enqueue();
  const std::shared_ptr<void> end = device.mark(stream);
  device.synchronize(stream);
  return device.millisecondsBetween(begin.get(), end.get());
}

// Null: what cannot be recorded is launched in runs too, so its launches are part of its time.
std::unique_ptr<Recording> recordIfPossible(Device& device, void* stream,
                                            const std::function<void()>& enqueue) {
  try {
    return device.record(stream, enqueue);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUnsupported) throw;
    return nullptr;
  }
}

}  // namespace

double timeOnHost(const std::function<void()>& launch, const MeasureOptions& options) {
  launch();  // warm caches and threads
  std::vector<double> times;
  const Stopwatch total;
  const auto minRuns = static_cast<size_t>(options.minRuns);
  while (times.size() < minRuns ||
         (total.milliseconds() < options.minMilliseconds && times.size() < 50)) {
    const Stopwatch watch;
    launch();
    times.push_back(watch.milliseconds());
    if (times.back() > kHopeless * options.best && times.back() > options.minMilliseconds)
      return times.back();
  }
  return median(std::move(times));
}

double timeOnDevice(Device& device, void* stream, const std::function<void()>& launch,
                    const MeasureOptions& options) {
  constexpr double kLaunchCost = 0.05;  // milliseconds that one launch may cost by itself
  constexpr int kMostLaunches = 20;
  launch();  // what a first launch sets up is not its time
  const double once = between(device, stream, launch);
  if (once > kHopeless * options.best + kLaunchCost) return once;

  // Enough launches per replay to hide the cost of starting one, fewer of what takes long anyway.
  const int launches = once > 2 ? 1 : once > 0.2 ? 5 : kMostLaunches;
  const auto launchAll = [&] {
    for (int i = 0; i < launches; ++i) launch();
  };
  const std::unique_ptr<Recording> recording = recordIfPossible(device, stream, launchAll);
  const auto replay = [&] { recording ? recording->replay(stream) : launchAll(); };
  replay();
  double quickest = std::numeric_limits<double>::infinity(), total = 0;
  for (int runs = 0; runs < options.minRuns || (total < options.minMilliseconds && runs < 50);
       ++runs) {
    const double milliseconds = between(device, stream, replay);
    quickest = std::min(quickest, milliseconds / launches);
    total += milliseconds;
  }
  return quickest;
}

}  // namespace camshaft
