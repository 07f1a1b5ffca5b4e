#include "api/timing_cache.h"

#include "api/convert.h"

namespace camshaft::api {

nvinfer1::IHostMemory* TimingCacheView::serialize() const noexcept {
  return guarded<nvinfer1::IHostMemory*>(reporter_, nullptr,
                                         [&] { return makeHostMemory(cache_->serialize()); });
}

bool TimingCacheView::combine(const nvinfer1::ITimingCache& other, bool) noexcept {
  return guarded(reporter_, false, [&] {
    cache_->combine(static_cast<const TimingCacheView&>(other).cache());
    return true;
  });
}

bool TimingCacheView::reset() noexcept {
  cache_->clear();
  return true;
}

}  // namespace camshaft::api
