#include "support/utf8.h"

#include <cstddef>
#include <cstdint>

namespace camshaft {
namespace {

// Bytes of the character that begins here; 0 where none does.
size_t characterLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xC2 && first <= 0xDF ? 2 : first >> 4 == 0xE ? 3 : 4;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if (byte(i) >> 6 != 2) return 0;
  // Spelled with more bytes than needed, half of a pair, or beyond the last character.
  const uint8_t second = byte(1);
  const bool isOverlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool isBeyond = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
  return isOverlong || isBeyond ? 0 : length;
}

}  // namespace

std::string shown(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const size_t length = characterLength(text);
    if (length > 0) {
      result += text.substr(0, length);
    } else {
      const auto byte = static_cast<uint8_t>(text[0]);
      result += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
    text.remove_prefix(length > 0 ? length : 1);
  }
  return result;
}

}  // namespace camshaft
