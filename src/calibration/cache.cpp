#include "calibration/cache.h"

#include <bit>
#include <charconv>
#include <cmath>

#include "support/text.h"

namespace camshaft {
namespace {

constexpr std::string_view kPrefix = "TRT-", kHistograms = "camshaft-histograms-1";

// Takes the first line off; without its end, which Windows has of two characters.
std::string_view takeLine(std::string_view& text) {
  const size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// A name and what stands behind its last colon.
bool splitLine(std::string_view line, std::string_view& name, std::string_view& value) {
  const size_t colon = line.rfind(": ");
  if (colon == std::string_view::npos || colon == 0) return false;
  name = line.substr(0, colon);
  value = line.substr(colon + 2);
  return true;
}

template <class T>
bool takeNumber(std::string_view& text, T& number) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

std::string bitsOf(float value) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto bits = std::bit_cast<uint32_t>(value);
  std::string text;
  for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[bits >> shift & 15];
  return text;
}

std::optional<float> scaleOf(std::string_view text) {
  uint32_t bits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits, 16);
  const float scale = std::bit_cast<float>(bits);
  if (error != std::errc() || end != text.data() + text.size() || text.size() > 8 ||
      !std::isfinite(scale) || scale < 0)
    return std::nullopt;
  return scale;
}

std::optional<Histogram> histogramOf(std::string_view text) {
  double binWidth = 0, largest = 0;
  int64_t zeros = 0, count = 0;
  if (!takeNumber(text, binWidth) || !takeNumber(text, largest) || !takeNumber(text, zeros))
    return std::nullopt;
  std::vector<int64_t> counts;
  while (counts.size() < Histogram::kBins && takeNumber(text, count))
    if (count < 0)
      return std::nullopt;
    else
      counts.push_back(count);
  const bool isWhole = text.empty() && zeros >= 0 && std::isfinite(largest) && largest >= 0 &&
                       std::isfinite(binWidth) && (counts.empty() || binWidth > 0);
  if (!isWhole) return std::nullopt;
  return Histogram::of(binWidth, largest, zeros, std::move(counts));
}

std::string shortest(double number) {
  char digits[32];
  const auto [end, error] = std::to_chars(std::begin(digits), std::end(digits), number);
  return {digits, end};
}

}  // namespace

std::string writeScales(int version, std::string_view algorithm, const TensorScales& scales) {
  std::string text = str(kPrefix, version, "-", algorithm, "\n");
  for (const auto& [name, scale] : scales) text += str(name, ": ", bitsOf(scale), "\n");
  return text;
}

std::optional<CalibrationCache> readScales(std::string_view text) {
  const std::string_view header = takeLine(text);
  const size_t dash = header.find('-', kPrefix.size());
  if (!header.starts_with(kPrefix) || dash == std::string_view::npos) return std::nullopt;
  CalibrationCache cache{.algorithm = std::string(header.substr(dash + 1)), .scales = {}};
  while (!text.empty()) {
    std::string_view name, value;
    if (!splitLine(takeLine(text), name, value)) continue;
    if (const auto scale = scaleOf(value)) cache.scales.insert_or_assign(std::string(name), *scale);
  }
  return cache;
}

std::string writeHistograms(const TensorHistograms& histograms) {
  std::string text = str(kHistograms, "\n");
  for (const auto& [name, histogram] : histograms)
    text += str(name, ": ", shortest(histogram.binWidth()), " ", shortest(histogram.largest()), " ",
                histogram.zeros(), histogram.counts().empty() ? "" : " ",
                join(histogram.counts(), " "), "\n");
  return text;
}

std::optional<TensorHistograms> readHistograms(std::string_view text) {
  if (takeLine(text) != kHistograms) return std::nullopt;
  TensorHistograms histograms;
  while (!text.empty()) {
    std::string_view name, numbers;
    if (!splitLine(takeLine(text), name, numbers)) return std::nullopt;
    auto histogram = histogramOf(numbers);
    if (!histogram) return std::nullopt;
    histograms.insert_or_assign(std::string(name), std::move(*histogram));
  }
  return histograms;
}

}  // namespace camshaft
