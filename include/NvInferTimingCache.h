#pragma once

// Remembered kernel timings.

#include "NvInferRuntime.h"

namespace nvinfer1 {

namespace v_1_0 {

// Names an entry of a timing cache.
struct TimingCacheKey {
  uint8_t data[16];
};

struct TimingCacheValue {
  uint64_t tacticHash;
  float timingMSec;
  static constexpr uint64_t kINVALID_TACTIC_HASH = UINT64_MAX;
};

}  // namespace v_1_0

// Remembered kernel timings, so that a later build skips measuring what this machine has measured.
// Several builds may share one cache; combine() and reset() need the cache to themselves.
class CAMSHAFT_API ITimingCache : public INoCopy {
 public:
  ~ITimingCache() noexcept override = default;

  IHostMemory* serialize() const noexcept { return mImpl->serialize(); }
  // Adds the entries of inputCache. Entries name the machine they were measured on, so caches of
  // different machines mix without harm and ignoreMismatch changes nothing.
  bool combine(const ITimingCache& inputCache, bool ignoreMismatch) noexcept {
    return mImpl->combine(inputCache, ignoreMismatch);
  }
  // Forgets everything.
  bool reset() noexcept { return mImpl->reset(); }

  // The entries one by one: how many there are, with up to `capacity` of their keys, then the value
  // of a key. Refused: -1, kINVALID_TACTIC_HASH and false.
  int64_t queryKeys(TimingCacheKey* keyBuffer, int64_t capacity) const noexcept {
    return mImpl->queryKeys(keyBuffer, capacity);
  }
  TimingCacheValue query(const TimingCacheKey& key) const noexcept { return mImpl->query(key); }
  bool update(const TimingCacheKey& key, const TimingCacheValue& value) noexcept {
    return mImpl->update(key, value);
  }

 protected:
  apiv::VTimingCache* mImpl{};
};

}  // namespace nvinfer1
