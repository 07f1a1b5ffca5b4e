// What g++ can't be told by macros, done on the preprocessed text of a source.
#pragma once

#include <string>
#include <vector>

namespace camshaft::emulator {

struct RewrittenSource {
  std::string macros;  // to stand before the text
  std::string text;
  std::vector<std::string> kernels;
};

// extern __shared__ T name[];  →  T* const name = (T*)(dynamic shared memory);
// or, outside of functions, a macro `name`; and the names of the kernels. Takes text without
// comments.
RewrittenSource rewriteSource(const std::string& preprocessed);

}  // namespace camshaft::emulator
