// ITimingCache over a TimingCache.
#pragma once

#include <memory>

#include "api/implements.h"
#include "api/link.h"
#include "api/report.h"
#include "NvInfer.h"
#include "tuner/timing_cache.h"

namespace camshaft::api {

class TimingCacheView final : public Implements<nvinfer1::ITimingCache> {
 public:
  TimingCacheView(std::span<const std::byte> serialized, const Reporter& reporter)
      : cache_(std::make_shared<TimingCache>(serialized)), reporter_(reporter) {}
  TimingCache& cache() const { return *cache_; }
  const std::shared_ptr<TimingCache>& share() const { return cache_; }
  Link<TimingCacheView> link() const { return anchor_.link(); }

  nvinfer1::IHostMemory* serialize() const noexcept override;
  bool combine(const nvinfer1::ITimingCache& other, bool ignoreMismatch) noexcept override;
  bool reset() noexcept override;

  // What layers were given in builds with kEDITABLE_TIMING_CACHE.
  int64_t queryKeys(nvinfer1::TimingCacheKey* keys, int64_t capacity) const noexcept override;
  nvinfer1::TimingCacheValue query(const nvinfer1::TimingCacheKey& key) const noexcept override;
  bool update(const nvinfer1::TimingCacheKey& key,
              const nvinfer1::TimingCacheValue& value) noexcept override;

 private:
  std::shared_ptr<TimingCache> cache_;  // configs that use it keep it
  Reporter reporter_;
  Anchor<TimingCacheView> anchor_{this};
};

}  // namespace camshaft::api
