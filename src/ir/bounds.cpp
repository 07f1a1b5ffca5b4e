#include "ir/bounds.h"

#include <algorithm>
#include <unordered_map>

namespace camshaft {
namespace {

// One question: each symbol on the way is looked at once.
class BoundedRange {
 public:
  explicit BoundedRange(const FindSymbol& find) : find_(find) {}

  DimRange rangeOf(const std::string& name, int links = 0) {
    if (const auto it = known_.find(name); it != known_.end()) return it->second;
    const SymbolInfo info = find_(name);
    if (!info.upper || links == kMostBoundLinks) return info.range;
    DimRange range = info.range;
    const auto inner = [&](const std::string& other) { return rangeOf(other, links + 1); };
    range.max = std::min(range.max, camshaft::rangeOf(*info.upper, inner).max);
    return known_[name] = range;
  }

 private:
  const FindSymbol& find_;
  std::unordered_map<std::string, DimRange> known_;
};

}  // namespace

SymbolRange boundedRanges(FindSymbol find) {
  return [find = std::move(find)](const std::string& name) {
    return BoundedRange(find).rangeOf(name);
  };
}

}  // namespace camshaft
