#include "api/timing_cache.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

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

ChoiceKey keyOf(const nvinfer1::TimingCacheKey& key) { return std::to_array(key.data); }

}  // namespace

int64_t TimingCacheView::queryKeys(nvinfer1::TimingCacheKey* keys,
                                   int64_t capacity) const noexcept {
  return guarded(reporter_, int64_t{-1}, [&] {
    const std::vector<ChoiceKey> all = cache_->choiceKeys();
    const auto count = static_cast<int64_t>(all.size());
    if (keys && capacity < 0)
      fail(ErrorKind::kInvalidArgument, "a buffer cannot have room for ", capacity, " keys");
    for (int64_t i = 0; keys && i < std::min(count, capacity); ++i)
      std::ranges::copy(all[i], keys[i].data);
    return count;
  });
}

nvinfer1::TimingCacheValue TimingCacheView::query(
    const nvinfer1::TimingCacheKey& key) const noexcept {
  using Value = nvinfer1::TimingCacheValue;
  const std::optional<Choice> choice = cache_->findChoice(keyOf(key));
  return choice ? Value{choice->tactic, choice->milliseconds}
                : Value{Value::kINVALID_TACTIC_HASH, std::numeric_limits<float>::quiet_NaN()};
}

bool TimingCacheView::update(const nvinfer1::TimingCacheKey& key,
                             const nvinfer1::TimingCacheValue& value) noexcept {
  return guarded(reporter_, false, [&] {
    if (!cache_->findChoice(keyOf(key)))
      fail(ErrorKind::kInvalidArgument,
           "the timing cache has no entry of this key; those of queryKeys() can be updated");
    if (std::isnan(value.timingMSec)) {
      cache_->forgetChoice(keyOf(key));
      return true;
    }
    if (value.tacticHash == nvinfer1::TimingCacheValue::kINVALID_TACTIC_HASH)
      fail(ErrorKind::kInvalidArgument,
           "kINVALID_TACTIC_HASH is no tactic; a time that is NaN deletes an entry");
    if (value.timingMSec < 0)
      fail(ErrorKind::kInvalidArgument, "a tactic cannot take ", value.timingMSec, " ms");
    cache_->setChoice(keyOf(key), {value.tacticHash, value.timingMSec});
    return true;
  });
}

}  // namespace camshaft::api
