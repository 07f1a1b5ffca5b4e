// Text in JSON.
#pragma once

#include <string>
#include <string_view>

namespace camshaft {

std::string jsonText(std::string_view text);  // with its quotes

}  // namespace camshaft
