#include "onnx/input_sizes.h"

#include <algorithm>
#include <set>

namespace camshaft::onnx::importer {

void InputSizes::mayAssume(const std::string& symbol, std::optional<Dim> outside) {
  assumable_.emplace(symbol, std::move(outside));
}

bool InputSizes::isAtLeastAnyway(const Dim& a, const Dim& b) const {
  return rangeOf(a - b, graph_.symbolRange()).min >= 0;
}

bool InputSizes::isAtLeast(const Dim& a, const Dim& b) {
  if (isAtLeastAnyway(a, b)) return true;
  const auto range = [this](const std::string& symbol) { return assumed(symbol); };
  if (rangeOf(a - b, range).min < 0) return false;
  assume(a - b);
  return true;
}

DimRange InputSizes::assumed(const std::string& symbol) const {
  DimRange range = graph_.symbolRange()(symbol);
  const auto found = assumable_.find(symbol);
  if (found == assumable_.end()) return range;
  int64_t least = 1;
  if (found->second)
    least = rangeOf(*found->second, [this](const std::string& name) {
              return outer_->assumed(name);
            }).min;
  range.min = std::max(range.min, least);
  return range;
}

void InputSizes::assume(const Dim& dim) {
  std::set<std::string> symbols;
  collectSymbols(dim, symbols);
  for (const std::string& symbol : symbols) {
    const auto found = assumable_.find(symbol);
    if (found == assumable_.end()) continue;
    graph_.symbols[symbol].range.min = assumed(symbol).min;
    if (found->second) outer_->assume(*found->second);
  }
}

}  // namespace camshaft::onnx::importer
