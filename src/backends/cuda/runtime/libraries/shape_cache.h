// What a library step worked out for the shapes it met.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

namespace camshaft::cuda {

// A bounded map for any number of threads; the oldest entry leaves first. Values are shared, so
// one in use outlives its place.
template <class Key, class Value>
class ShapeCache {
 public:
  static constexpr size_t kMost = 64;

  // The value of `key`, made by make() when it is new.
  template <class Make>
  std::shared_ptr<const Value> get(const Key& key, const Make& make) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [known, value] : entries_) {
      if (known == key) return value;
    }
    std::shared_ptr<const Value> value = make();
    if (entries_.size() == kMost) entries_.pop_front();
    entries_.emplace_back(key, value);
    return value;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::deque<std::pair<Key, std::shared_ptr<const Value>>> entries_;
};

}  // namespace camshaft::cuda
