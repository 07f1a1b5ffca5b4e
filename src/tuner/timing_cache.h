// What has been measured before, so that builds repeat and take seconds.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace camshaft {

// Names the choice of a layer: a digest of device, threads, the layer's name and problem.
using ChoiceKey = std::array<uint8_t, 16>;
// The kernel that a layer was given, and its time.
struct Choice {
  uint64_t tactic = 0;  // tacticOf() the kernel and its configuration
  float milliseconds = 0;
  friend bool operator==(const Choice&, const Choice&) = default;
};

// Milliseconds by key; a key spells out device, kernel, configuration and problem. Of builds that
// want to be repeated or edited layer by layer (TuneOptions::keepsChoices) also what each layer was
// given. Thread-safe.
class TimingCache {
 public:
  TimingCache() = default;
  // Throws Error when the bytes are not a timing cache of this format. Entries whose time is NaN or
  // negative are left out.
  explicit TimingCache(std::span<const std::byte> serialized);

  std::optional<double> find(const std::string& key) const;
  void insert(const std::string& key, double milliseconds);

  std::vector<ChoiceKey> choiceKeys() const;
  std::optional<Choice> findChoice(const ChoiceKey& key) const;
  void setChoice(const ChoiceKey& key, const Choice& choice);
  void forgetChoice(const ChoiceKey& key);

  // Adds what `other` knows; keys in both keep this cache's time unless `preferOther`.
  void combine(const TimingCache& other, bool preferOther = false);
  void clear();
  size_t size() const;  // how many times it has
  std::vector<std::byte> serialize() const;

 private:
  mutable std::mutex mutex_;
  // Ordered, so that equal caches serialise equally.
  std::map<std::string, double> entries_;
  std::map<ChoiceKey, Choice> choices_;
};

}  // namespace camshaft
