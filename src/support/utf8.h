// Text of unknown origin, made fit to be shown.
#pragma once

#include <string>
#include <string_view>

namespace camshaft {

// The text with every byte that is no part of UTF-8 written as \xNN: names in models are any bytes.
std::string shown(std::string_view text);

}  // namespace camshaft
