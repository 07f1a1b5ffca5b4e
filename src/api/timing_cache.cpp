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

namespace {

constexpr char kNoEntries[] =
    "the entries of a timing cache cannot be read or changed one by one yet; serialize, combine "
    "and "
    "reset work on all of them";

}  // namespace

int64_t TimingCacheView::queryKeys(nvinfer1::TimingCacheKey*, int64_t) const noexcept {
  return refused(reporter_, kNoEntries, int64_t{-1});
}

nvinfer1::TimingCacheValue TimingCacheView::query(const nvinfer1::TimingCacheKey&) const noexcept {
  using Value = nvinfer1::TimingCacheValue;
  return refused(reporter_, kNoEntries, Value{Value::kINVALID_TACTIC_HASH, 0});
}

bool TimingCacheView::update(const nvinfer1::TimingCacheKey&,
                             const nvinfer1::TimingCacheValue&) noexcept {
  return refused(reporter_, kNoEntries, false);
}

}  // namespace camshaft::api
