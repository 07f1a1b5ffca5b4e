// What users set of the provider: camshaft.config's ProviderConfig.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "settings/build_settings.h"

namespace camshaft::ort {

using settings::ShapeRange;

struct Options {
  settings::BuildSettings build;
  std::optional<bool> onGpu;  // unset: as the chosen hardware device says
  int threads = 0;            // 0: the cores this process may use
  int minNodes = 1;
  std::string engineCache;  // folders and files; empty: none
  std::string timingCache;
  std::string dumpSubgraphs;
  settings::Profile shapes;  // of inputs of any subgraph

  bool hasProfile(const std::string& input) const { return shapes.count(input) > 0; }
  // What a build depends on, for the names of cached engines.
  std::string buildKey() const;
};

// Throws Error on names that are none, with the nearest that is one, and on values that make no
// sense. ONNX Runtime's own options of a provider (arena.*) are not among `given`.
Options parseOptions(const std::map<std::string, std::string>& given);

}  // namespace camshaft::ort
