#include "support/error.h"

#include <cstring>

namespace camshaft {

void failCheck(const char* file, int line, const char* condition, std::string message) {
  const char* name = std::strrchr(file, '/');
  throw Error(ErrorKind::kInternal,
              str("internal error, please report it: ", condition, " does not hold at ",
                  name ? name + 1 : file, ":", line, message.empty() ? "" : ": ", message));
}

}  // namespace camshaft
