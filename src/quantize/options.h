// Options by name and as text, as the command, Python and C++ give them.
#pragma once

#include <string_view>

#include "quantize/quantize.h"

namespace camshaft {

// Throws Error that says what there is where the name or the value is none.
void setOption(QuantizeOptions& options, std::string_view name, std::string_view value);

}  // namespace camshaft
