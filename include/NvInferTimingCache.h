#pragma once

// Remembered kernel timings.

#include "NvInferRuntime.h"

namespace nvinfer1 {

namespace v_1_0 {

// Names an entry of a timing cache. The log writes it as 0x and its bytes, two digits each.
struct TimingCacheKey {
  uint8_t data[16];
};

// The kernel that a layer was given, by a hash of its name and configuration, and its time.
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

  // What layers were given, in builds with BuilderFlag::kEDITABLE_TIMING_CACHE: each layer has an
  // entry, which the next such build follows. The verbose log of a build has the key of each layer
  // and the tactics it could have. queryKeys() tells how many entries there are, with up to
  // `capacity` of their keys, or -1; query() gives kINVALID_TACTIC_HASH where there is none.
  int64_t queryKeys(TimingCacheKey* keyBuffer, int64_t capacity) const noexcept {
    return mImpl->queryKeys(keyBuffer, capacity);
  }
  TimingCacheValue query(const TimingCacheKey& key) const noexcept { return mImpl->query(key); }
  // Of an entry that is there: another tactic for its layer, or with a time that is NaN, no entry
  // any more. A build whose layer cannot have the tactic fails.
  bool update(const TimingCacheKey& key, const TimingCacheValue& value) noexcept {
    return mImpl->update(key, value);
  }

 protected:
  apiv::VTimingCache* mImpl{};
};

}  // namespace nvinfer1
