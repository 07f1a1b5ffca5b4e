#include "report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <stdexcept>

namespace trtexec {
namespace {

double percentileOf(const std::vector<double>& sorted, double percentile) {
  const auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<size_t>(std::lround(last * percentile / 100))];
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::string statistics(std::vector<double> values, const std::vector<double>& percentiles) {
  std::string text = "min = ";
  const double middle = median(values), average = mean(values);
  std::sort(values.begin(), values.end());
  text += number(values.front()) + " ms, max = " + number(values.back()) +
          " ms, mean = " + number(average) + " ms, median = " + number(middle) + " ms";
  for (double p : percentiles)
    text += ", percentile(" + number(p) + "%) = " + number(percentileOf(values, p)) + " ms";
  return text;
}

template <class F>
std::vector<double> collect(std::span<const RunTimes> runs, F&& f) {
  std::vector<double> values;
  for (const RunTimes& run : runs) values.push_back(f(run));
  return values;
}
std::vector<double> latencies(std::span<const RunTimes> runs) {
  return collect(runs, [](const RunTimes& r) { return r.latency(); });
}
std::vector<double> computeTimes(std::span<const RunTimes> runs) {
  return collect(runs, [](const RunTimes& r) { return r.compute; });
}
std::vector<double> h2dTimes(std::span<const RunTimes> runs) {
  return collect(runs, [](const RunTimes& r) { return r.h2d; });
}
std::vector<double> d2hTimes(std::span<const RunTimes> runs) {
  return collect(runs, [](const RunTimes& r) { return r.d2h; });
}
std::vector<double> enqueueTimes(std::span<const RunTimes> runs) {
  return collect(runs, [](const RunTimes& r) { return r.enqueue(); });
}

void printTrace(ConsoleLogger& log, std::span<const RunTimes> runs, int avgRuns) {
  log.info("");
  log.info("=== Trace details ===");
  log.info("Trace averages of " + std::to_string(avgRuns) + " runs:");
  const auto group = static_cast<size_t>(avgRuns);
  for (size_t begin = 0; begin + group <= runs.size(); begin += group) {
    const std::span<const RunTimes> part = runs.subspan(begin, group);
    log.info("Average on " + std::to_string(avgRuns) +
             " runs - GPU latency: " + number(mean(computeTimes(part))) +
             " ms - Host latency: " + number(mean(latencies(part))) + " ms (enqueue " +
             number(mean(enqueueTimes(part))) + " ms)");
  }
}

void warnOfDoubts(ConsoleLogger& log, std::span<const RunTimes> runs, const Options& options,
                  bool isOnDevice) {
  const std::vector<double> compute = computeTimes(runs);
  if (isOnDevice && median(enqueueTimes(runs)) > 0.8 * median(compute))
    log.warning(
        "Enqueueing a run takes the host about as long as computing it takes the GPU, so that the "
        "host limits the throughput; several streams on --threads share the work.");
  for (const auto& [direction, times] :
       {std::pair("to", h2dTimes(runs)), std::pair("from", d2hTimes(runs))})
    if (isOnDevice && median(times) >= median(compute))
      log.warning(std::string("Copies ") + direction +
                  " the GPU take as long as computing, so that they limit the throughput; "
                  "--noDataTransfers leaves them out.");
  if (options.inference.streams > 1)
    log.warning("Several streams share the device: read the throughput, not the latencies.");
  const double average = mean(compute);
  double variance = 0;
  for (double value : compute) variance += (value - average) * (value - average);
  const double spread = std::sqrt(variance / static_cast<double>(compute.size())) / average;
  if (spread > 0.025)
    log.warning("Times vary by " + number(spread * 100) +
                " % of their mean; another program may be using the machine.");
}

}  // namespace

void ConsoleLogger::log(Severity severity, const char* message) noexcept {
  if (severity == Severity::kVERBOSE && !verbose_) return;
  static constexpr char kTags[] = {'F', 'E', 'W', 'I', 'V'};
  char stamp[32];
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::strftime(stamp, sizeof stamp, "%m/%d/%Y-%H:%M:%S", &local);
  std::FILE* stream = severity <= Severity::kWARNING ? stderr : stdout;
  std::fprintf(stream, "[%s] [%c] %s\n", stamp, kTags[static_cast<int>(severity)], message);
  std::fflush(stream);
}

void printSummary(ConsoleLogger& log, const std::vector<RunTimes>& runs, double wallMs,
                  const Options& options, bool isOnDevice) {
  printTrace(log, runs, options.reporting.avgRuns);
  const std::vector<double> compute = computeTimes(runs);
  const auto line = [&](const char* name, const std::vector<double>& values) {
    log.info(std::string(name) + ": " + statistics(values, options.reporting.percentiles));
  };
  log.info("");
  log.info("=== Performance summary ===");
  log.info("Throughput: " + number(static_cast<double>(runs.size()) * 1000 / wallMs) + " qps");
  line("Latency", latencies(runs));
  line("Enqueue Time", enqueueTimes(runs));
  line("H2D Latency", h2dTimes(runs));
  line("GPU Compute Time", compute);
  line("D2H Latency", d2hTimes(runs));
  log.info("Total Host Walltime: " + number(wallMs / 1000) + " s");
  log.info("Total GPU Compute Time: " +
           number(std::accumulate(compute.begin(), compute.end(), 0.0) / 1000) + " s");
  warnOfDoubts(log, runs, options, isOnDevice);
  log.info("Explanations of the performance metrics are printed in the verbose logs.");
  log.verbose(
      "Latency is H2D + GPU compute + D2H, by marks in the stream, where runs are queued back to "
      "back; on the CPU device there are no transfers and compute is the whole run. "
      "Enqueue time is what enqueueV3 takes to return. Throughput is runs by wall time, all "
      "streams together.");
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

std::string textOf(const nlohmann::ordered_json& json) {
  // Names come from models, where they need not be UTF-8.
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string timesJson(const std::vector<RunTimes>& runs) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const RunTimes& r : runs) {
    const double startCompute = r.startH2d + r.h2d, startD2h = startCompute + r.compute;
    list.push_back({{"startEnqMs", r.startEnqueue},
                    {"endEnqMs", r.endEnqueue},
                    {"startH2dMs", r.startH2d},
                    {"endH2dMs", startCompute},
                    {"startComputeMs", startCompute},
                    {"endComputeMs", startD2h},
                    {"startD2hMs", startD2h},
                    {"endD2hMs", startD2h + r.d2h},
                    {"h2dMs", r.h2d},
                    {"computeMs", r.compute},
                    {"d2hMs", r.d2h},
                    {"latencyMs", r.latency()}});
  }
  return textOf(list);
}

void LayerProfiler::reportLayerTime(const char* layer, float ms) noexcept {
  if (next_ < layers_.size() && layers_[next_].name == layer) {
    layers_[next_].times.push_back(ms);
  } else if (!layers_.empty() && layers_.front().name == layer &&
             layers_.front().times.size() == iterations()) {
    next_ = 0;
    layers_[0].times.push_back(ms);
  } else {
    layers_.push_back({layer, {ms}});
    next_ = layers_.size() - 1;
  }
  ++next_;
}

void LayerProfiler::print(ConsoleLogger& log) const {
  double total = 0;
  for (const Layer& layer : layers_)
    total += std::accumulate(layer.times.begin(), layer.times.end(), 0.0);
  const auto row = [&](const std::string& name, double sum, double count, double middle) {
    char text[96];
    std::snprintf(text, sizeof text, "%12.4f %12.4f %12.4f %8.1f   ", sum, sum / count, middle,
                  total > 0 ? sum / total * 100 : 0);
    log.info(text + name);
  };
  log.info("");
  log.info("=== Profile (" + std::to_string(iterations()) + " iterations ) ===");
  log.info("    Time(ms)     Avg.(ms)   Median(ms)  Time(%)   Layer");
  double medians = 0;
  for (const Layer& layer : layers_) {
    const std::vector<double> times(layer.times.begin(), layer.times.end());
    medians += median(times);
    row(layer.name, std::accumulate(times.begin(), times.end(), 0.0),
        static_cast<double>(times.size()), median(times));
  }
  row("Total", total, static_cast<double>(std::max<size_t>(1, iterations())), medians);
}

std::string LayerProfiler::json() const {
  double total = 0;
  for (const Layer& layer : layers_)
    total += std::accumulate(layer.times.begin(), layer.times.end(), 0.0);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  list.push_back({{"count", iterations()}});
  for (const Layer& layer : layers_) {
    const std::vector<double> times(layer.times.begin(), layer.times.end());
    const double sum = std::accumulate(times.begin(), times.end(), 0.0);
    list.push_back({{"name", layer.name},
                    {"timeMs", sum},
                    {"averageMs", sum / static_cast<double>(times.size())},
                    {"medianMs", median(times)},
                    {"percentage", total > 0 ? sum / total * 100 : 0}});
  }
  return textOf(list);
}

}  // namespace trtexec
