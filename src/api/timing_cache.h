// ITimingCache over a TimingCache.
#pragma once

#include "api/report.h"
#include "NvInfer.h"
#include "tuner/timing_cache.h"

namespace camshaft::api {

class TimingCacheView : public nvinfer1::ITimingCache {
 public:
  TimingCacheView(std::span<const std::byte> serialized, const Reporter& reporter)
      : cache_(serialized), reporter_(reporter) {}
  TimingCache& cache() { return cache_; }

  nvinfer1::IHostMemory* serialize() const noexcept override;
  bool combine(const nvinfer1::ITimingCache& other, bool ignoreMismatch) noexcept override;
  bool reset() noexcept override;

 private:
  TimingCache cache_;
  Reporter reporter_;
};

}  // namespace camshaft::api
