// Small text helpers: str(...) joins anything printable into one string.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace camshaft {

namespace detail {
void appendDouble(std::string& out, double value);

template <class T>
void append(std::string& out, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    out += value ? "true" : "false";
  } else if constexpr (std::is_same_v<T, char>) {
    out += value;
  } else if constexpr (std::is_floating_point_v<T>) {
    appendDouble(out, value);
  } else if constexpr (std::is_integral_v<T>) {
    out += std::to_string(value);
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    out += std::string_view(value);
  } else {
    out += toString(value);  // found by argument-dependent lookup
  }
}
}  // namespace detail

// str("dim ", 3, " of '", name, "'"): numbers print shortest round-trip, types with a
// toString(const T&) beside them print through it.
template <class... Args>
std::string str(const Args&... args) {
  std::string out;
  (detail::append(out, args), ...);
  return out;
}

// join({1, 2, 3}, "x") == "1x2x3"
template <class Range>
std::string join(const Range& range, std::string_view separator) {
  std::string out;
  bool isFirst = true;
  for (const auto& item : range) {
    if (!isFirst) out += separator;
    isFirst = false;
    detail::append(out, item);
  }
  return out;
}

// The candidate closest to `name` by edit distance, or "" when none is near enough to suggest.
std::string nearest(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace camshaft
