#include <algorithm>
#include <string_view>

#include "settings/read.h"

namespace camshaft::settings {
namespace {

struct Block {
  size_t a = 0, b = 0, size = 0;
};

// The longest text that both have; the first of several.
Block longestMatch(std::string_view a, std::string_view b) {
  Block best;
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < b.size(); ++j) {
      size_t size = 0;
      while (i + size < a.size() && j + size < b.size() && a[i + size] == b[j + size]) ++size;
      if (size > best.size) best = {i, j, size};
    }
  return best;
}

// Letters that match, to the left and to the right of the longest match as well.
size_t matching(std::string_view a, std::string_view b) {
  const Block block = longestMatch(a, b);
  if (block.size == 0) return 0;
  return block.size + matching(a.substr(0, block.a), b.substr(0, block.b)) +
         matching(a.substr(block.a + block.size), b.substr(block.b + block.size));
}

}  // namespace

std::string closest(const std::string& word, const std::vector<std::string>& words) {
  constexpr double kLeast = 0.5;
  std::pair<double, std::string> best{kLeast, ""};
  for (const std::string& each : words) {
    const double likeness = 2.0 * static_cast<double>(matching(each, word)) /
                            static_cast<double>(each.size() + word.size());
    best = std::max(best, {likeness, each});
  }
  return best.second;
}

}  // namespace camshaft::settings
