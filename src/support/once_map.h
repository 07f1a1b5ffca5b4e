// Values that take long to make, made once for all threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <future>
#include <map>
#include <mutex>

namespace camshaft {

// Whoever asks for a key first makes its value; who asks meanwhile waits for that one, and nobody
// waits for another key's. Of more than `most` values the oldest are forgotten.
template <class Key, class Value>
class OnceMap {
 public:
  explicit OnceMap(size_t most) : most_(most) {}

  // A make() that throws is forgotten: those who wait get its exception, the next one tries again.
  template <class Make>
  Value get(const Key& key, const Make& make) {
    std::promise<Value> promise;
    std::shared_future<Value> value;
    bool isNew = false;
    {
      const std::lock_guard lock(mutex_);
      const auto known = values_.find(key);
      isNew = known == values_.end();
      value = isNew ? insert(key, promise.get_future().share()) : known->second;
    }
    if (isNew) {
      try {
        promise.set_value(make());
      } catch (...) {
        forget(key);
        promise.set_exception(std::current_exception());
      }
    }
    return value.get();
  }

 private:
  std::shared_future<Value> insert(const Key& key, std::shared_future<Value> value) {
    if (order_.size() == most_) {
      values_.erase(order_.front());
      order_.pop_front();
    }
    order_.push_back(key);
    values_.emplace(key, value);
    return value;
  }

  void forget(const Key& key) {
    const std::lock_guard lock(mutex_);
    values_.erase(key);
    order_.erase(std::remove(order_.begin(), order_.end(), key), order_.end());
  }

  const size_t most_;
  std::mutex mutex_;
  std::map<Key, std::shared_future<Value>> values_;
  std::deque<Key> order_;
};

}  // namespace camshaft
