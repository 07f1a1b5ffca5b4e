#include "flag.h"

namespace trtexec {

std::vector<Flag> reportingFlags(Options& options) {
  ReportingOptions& reporting = options.reporting;
  return {
      {{"verbose"}, "", "Log everything", turnsOn(reporting.verbose)},
      {{"avgRuns"},
       "N",
       "Runs per line of the trace (default 10)",
       storesNumber<int>(reporting.avgRuns, 1, 1'000'000'000)},
      {{"percentile"},
       "LIST",
       "Percentiles to report (default 90,95,99)",
       [&reporting](const std::string& flag, const std::string& value) {
         reporting.percentiles.clear();
         for (const std::string& p : split(value, ','))
           reporting.percentiles.push_back(parseNumber<double>(flag, p, 0, 100));
       }},
      {{"dumpRefit"}, "", "Print the weights that can be refitted", turnsOn(reporting.dumpRefit)},
      {{"dumpOutput"}, "", "Print the outputs of the last run", turnsOn(reporting.dumpOutput)},
      {{"dumpRawBindingsToFile"},
       "",
       "Write inputs and outputs of the last run as raw values, each to a file of its name, shape "
       "and type",
       turnsOn(reporting.dumpRawBindings)},
      {{"dumpProfile"}, "", "Print the time of every layer", turnsOn(reporting.dumpProfile)},
      {{"dumpLayerInfo"},
       "",
       "Print every layer: kernel, origin, why",
       turnsOn(reporting.dumpLayerInfo)},
      {{"dumpOptimizationProfile"},
       "",
       "Print the shapes of every profile",
       turnsOn(reporting.dumpOptimizationProfile)},
      {{"exportTimes"},
       "FILE",
       "Write every run's times to this JSON file",
       stores(reporting.exportTimes)},
      {{"exportOutput"},
       "FILE",
       "Write the outputs of the last run to this JSON file",
       stores(reporting.exportOutput)},
      {{"exportProfile"},
       "FILE",
       "Write the layers' times to this JSON file",
       stores(reporting.exportProfile)},
      {{"exportLayerInfo"},
       "FILE",
       "Write the layers to this JSON file",
       stores(reporting.exportLayerInfo)},
  };
}

}  // namespace trtexec
