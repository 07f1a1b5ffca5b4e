#include "backend/target.h"

#include <algorithm>

#include "support/error.h"
#include "support/text.h"

namespace camshaft {

BuildTarget ampereAndLater(BuildTarget target) {
  constexpr int kAmpere = 80;
  // What a block has on all of them: those of 8.6, 8.9 and 12.0 have the least.
  constexpr int64_t kSharedBytes = 99 << 10;
  if (target.computeCapability < kAmpere)
    fail(ErrorKind::kUnsupported, "an engine for GPUs of compute capability 8.0 and later cannot ",
         "be built on one of ", target.computeCapability / 10, ".", target.computeCapability % 10,
         "; use HardwareCompatibilityLevel::kNONE");
  target.name = str("GPUs of sm_", kAmpere, " and later, ", target.name);
  target.computeCapability = kAmpere;
  target.sharedBytesPerBlock = std::min(target.sharedBytesPerBlock, kSharedBytes);
  target.isPortable = true;
  return target;
}

}  // namespace camshaft
