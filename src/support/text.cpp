#include "support/text.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace camshaft {

void detail::appendDouble(std::string& out, double value) {
  char buffer[32];
  // A float that was widened prints as the float was written: 0.1f gives 0.1.
  const float narrow = static_cast<float>(value);
  const auto end = static_cast<double>(narrow) == value
                       ? std::to_chars(buffer, buffer + sizeof buffer, narrow).ptr
                       : std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  out.append(buffer, end);
}

namespace {
size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}
}  // namespace

std::string nearest(std::string_view name, std::span<const std::string_view> candidates) {
  std::string_view best;
  size_t bestDistance = std::max<size_t>(2, name.size() / 3) + 1;
  for (std::string_view candidate : candidates) {
    const size_t distance = editDistance(name, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return std::string(best);
}

}  // namespace camshaft
