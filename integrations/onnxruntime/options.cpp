#include "onnxruntime/options.h"

#include "support/error.h"

namespace camshaft::ort {

namespace {

settings::BuildSettings read(const std::map<std::string, std::string>& given) {
  try {
    constexpr auto kReader = settings::Reader::kOnnxRuntime;
    return {kReader, settings::BuildSettings::valuesOf(kReader, given)};
  } catch (const settings::SettingsError& error) {
    fail(ErrorKind::kInvalidArgument, error.what());
  }
}

}  // namespace

std::string Options::buildKey() const {
  std::string key = str(onGpu.value_or(false), " ", build.forBuild());
  for (const auto& [input, range] : shapes)
    key += str(" ", input, ":", join(range.min, "x"), "..", join(range.opt, "x"), "..",
               join(range.max, "x"));
  return key;
}

Options parseOptions(const std::map<std::string, std::string>& given) {
  Options options{.build = read(given)};
  const settings::BuildSettings& build = options.build;
  if (const std::string device = build.text("device"); device != "auto")
    options.onGpu = device == "gpu";
  options.threads = static_cast<int>(build.number("threads"));
  options.minNodes = static_cast<int>(build.number("min_nodes"));
  options.engineCache = build.text("engine_cache");
  options.timingCache = build.text("timing_cache");
  options.dumpSubgraphs = build.text("dump_subgraphs");
  if (!build.profiles().empty()) options.shapes = build.profiles().front();
  return options;
}

}  // namespace camshaft::ort
