// What users set of the provider, as names and values of text.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace camshaft::ort {

using ShapesByInput = std::map<std::string, std::vector<int64_t>>;

enum class Precision { kF32, kTf32, kBf16, kFp16, kBest };

struct Options {
  std::optional<bool> onGpu;  // unset: as the chosen hardware device says
  Precision precision = Precision::kF32;
  int threads = 0;  // 0: the cores this process may use
  int optimizationLevel = 3;
  int minSubgraphNodes = 5;
  std::string engineCache;  // folders and files; empty: none
  std::string timingCache;
  std::string dumpSubgraphs;
  ShapesByInput minShapes, optShapes, maxShapes;

  bool hasProfile(std::string_view input) const { return minShapes.count(std::string(input)) > 0; }
  // What a build depends on, for the names of cached engines.
  std::string buildKey() const;
};

// Throws Error on names that are none, with the nearest that is one, and on values that make no
// sense. ONNX Runtime's own options of a provider (arena.*) are not among `given`.
Options parseOptions(const std::map<std::string, std::string>& given);

}  // namespace camshaft::ort
