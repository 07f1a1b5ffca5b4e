// What trtexec prints and exports.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "NvInfer.h"
#include "options/options.h"

namespace trtexec {

// Lines as "[11/15/2026-03:51:00] [I] message" on stdout, warnings and errors on stderr.
class ConsoleLogger : public nvinfer1::ILogger {
 public:
  explicit ConsoleLogger(bool verbose) : verbose_(verbose) {}
  void log(Severity severity, const char* message) noexcept override;
  void info(const std::string& message) { log(Severity::kINFO, message.c_str()); }
  void warning(const std::string& message) { log(Severity::kWARNING, message.c_str()); }
  void error(const std::string& message) { log(Severity::kERROR, message.c_str()); }
  void verbose(const std::string& message) { log(Severity::kVERBOSE, message.c_str()); }

 private:
  bool verbose_;
};

// One run, in milliseconds since timing began: the host's part, then the device's, whose phases
// follow each other. On a CPU there are no transfers.
struct RunTimes {
  double startEnqueue = 0, endEnqueue = 0;
  double startH2d = 0;
  double h2d = 0, compute = 0, d2h = 0;  // how long each took
  double enqueue() const { return endEnqueue - startEnqueue; }
  double latency() const { return h2d + compute + d2h; }
};

void printSummary(ConsoleLogger& log, const std::vector<RunTimes>& runs, double wallMs,
                  const Options& options, bool isOnDevice);
std::string timesJson(const std::vector<RunTimes>& runs);
std::string textOf(const nlohmann::ordered_json& json);
std::string number(double value);  // with six digits at most

// Collects the times of layers over all runs.
class LayerProfiler : public nvinfer1::IProfiler {
 public:
  void reportLayerTime(const char* layer, float ms) noexcept override;
  void print(ConsoleLogger& log) const;
  std::string json() const;

 private:
  struct Layer {
    std::string name;
    std::vector<float> times;
  };
  size_t iterations() const { return layers_.empty() ? 0 : layers_.front().times.size(); }
  std::vector<Layer> layers_;  // in order of first appearance
  size_t next_ = 0;            // layers report in the same order each run
};

}  // namespace trtexec
