#include "support/log.h"

#include <array>

namespace camshaft {

std::string_view toString(Severity severity) {
  constexpr std::array<std::string_view, 5> kNames{"internal error", "error", "warning", "info",
                                                   "verbose"};
  return kNames[static_cast<size_t>(severity)];
}

}  // namespace camshaft
