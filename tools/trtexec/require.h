#pragma once

#include <stdexcept>

namespace trtexec {

// Throws without words: the library has logged the reason.
inline void require(bool worked) {
  if (!worked) throw std::runtime_error("");
}

}  // namespace trtexec
