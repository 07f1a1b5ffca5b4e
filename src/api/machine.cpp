// What the machine has, as include/CamshaftMachine.h offers it.
#include "CamshaftMachine.h"

#include <vector>

#include "api/convert.h"
#include "api/report.h"
#include "backend/device.h"
#include "backend/findings.h"
#include "support/code_file.h"
#include "support/cpu_info.h"
#include "support/json_text.h"
#include "support/version.h"
#include "tuner/process_runner.h"

namespace camshaft::api {
namespace {

Finding trialsProgram() {
  Finding finding{"camshaft-trials", kVersion, {}, {}};
  try {
    finding.path = findTrialsProgram();
  } catch (const Error& error) {
    finding.problem = error.message();
  }
  return finding;
}

std::string json(const std::vector<Finding>& findings) {
  std::vector<std::string> all;
  for (const Finding& finding : findings)
    all.push_back(str(
        "{\"name\": ", jsonText(finding.name), ", \"version\": ", jsonText(finding.version),
        ", \"path\": ", jsonText(finding.path), ", \"problem\": ", jsonText(finding.problem), "}"));
  return str("[", join(all, ", "), "]");
}

std::string machineJson() {
  const std::vector<Finding> own = {
      {"libcamshaft", kVersion, fileOf(camshaftDescribeMachine_INTERNAL), {}}, trialsProgram()};
  const CacheSizes caches = cacheSizes();
  return str("{\"version\": ", jsonText(kVersion),
             ", \"cpu\": {\"model\": ", jsonText(cpuModelName()), ", \"cores\": ", usableCores(),
             ", \"features\": ", jsonText(cpuFeatures()), ", \"l1\": ", caches.l1Data,
             ", \"l2\": ", caches.l2, "}, \"camshaft\": ", json(own),
             ", \"cpu_units\": ", json(findings("cpu")), ", \"cuda\": ", json(findings(kGpu)), "}");
}

}  // namespace
}  // namespace camshaft::api

extern "C" CAMSHAFT_API void* camshaftDescribeMachine_INTERNAL(void* logger, int version) noexcept {
  using namespace camshaft::api;
  return createChecked<nvinfer1::IHostMemory>(
      static_cast<nvinfer1::ILogger*>(logger), version, CAMSHAFT_MACHINE_VERSION, [] {
        const std::string text = machineJson();
        const auto* begin = reinterpret_cast<const std::byte*>(text.data());
        return makeHostMemory({begin, begin + text.size()});
      });
}
