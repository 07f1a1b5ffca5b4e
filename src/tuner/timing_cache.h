// What has been measured before, so that builds repeat and take seconds.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace camshaft {

// Milliseconds by key; a key spells out device, kernel, configuration and problem. Thread-safe.
class TimingCache {
 public:
  TimingCache() = default;
  // Throws Error when the bytes are not a timing cache of this format. Entries whose time is NaN or
  // negative are left out.
  explicit TimingCache(std::span<const std::byte> serialized);

  std::optional<double> find(const std::string& key) const;
  void insert(const std::string& key, double milliseconds);
  // Adds what `other` knows; keys in both keep this cache's time unless `preferOther`.
  void combine(const TimingCache& other, bool preferOther = false);
  void clear();
  size_t size() const;
  std::vector<std::byte> serialize() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, double> entries_;  // ordered, so that equal caches serialise equally
};

}  // namespace camshaft
