// Numbers on the command line.
#pragma once

#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace trtexec {

// More optimization profiles than anybody has.
constexpr int kMostProfiles = 1000;

// The number that `text` is. Throws "--streams takes a whole number from 1 to 256, not '0'".
template <class T>
T parseNumber(const std::string& flag, const std::string& text, T least, T most) {
  constexpr size_t kShown = 40;
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  bool isGood = error == std::errc() && stop == end && value >= least && value <= most;
  if constexpr (std::is_floating_point_v<T>) isGood = isGood && std::isfinite(value);
  if (isGood) return value;
  const auto written = [](T bound) {
    char digits[64];
    return std::string(digits, std::to_chars(digits, digits + sizeof digits, bound).ptr);
  };
  throw std::runtime_error(flag + " takes a " + (std::is_floating_point_v<T> ? "" : "whole ") +
                           "number from " + written(least) + " to " + written(most) + ", not '" +
                           (text.size() > kShown ? text.substr(0, kShown) + "..." : text) + "'");
}

}  // namespace trtexec
