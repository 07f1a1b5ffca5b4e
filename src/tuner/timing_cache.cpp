#include "tuner/timing_cache.h"

#include "support/byte_reader.h"
#include "support/error.h"
#include "support/hash.h"

namespace camshaft {
namespace {
constexpr uint64_t kMagic = 0x3145484341434843;  // "CHCACHE1"

// Infinity is that of a kernel that refused the problem.
bool isTime(double milliseconds) { return milliseconds >= 0; }

}  // namespace

TimingCache::TimingCache(std::span<const std::byte> serialized) {
  if (serialized.empty()) return;
  ByteReader reader(serialized, "the timing cache");
  if (reader.read<uint64_t>() != kMagic)
    fail(ErrorKind::kInvalidArgument,
         "these bytes are not a Camshaft timing cache; delete the file and build again");
  const uint64_t hash = reader.read<uint64_t>();
  if (hash != hashBytes(serialized.subspan(reader.position())))
    fail(ErrorKind::kInvalidArgument,
         "the timing cache is damaged; delete the file and build again");
  for (uint64_t left = reader.read<uint64_t>(); left > 0; --left) {
    std::string key = reader.readString();
    // The file may be anybody's: what is no time is measured again.
    if (const double milliseconds = reader.read<double>(); isTime(milliseconds))
      entries_[std::move(key)] = milliseconds;
  }
  if (reader.remaining() == 0) return;  // no layer's choice was kept
  for (uint64_t left = reader.read<uint64_t>(); left > 0; --left) {
    const auto key = reader.read<ChoiceKey>();
    const auto tactic = reader.read<uint64_t>();
    if (const auto milliseconds = reader.read<float>(); isTime(milliseconds))
      choices_[key] = {tactic, milliseconds};
  }
  reader.expectEnd();
}

std::optional<double> TimingCache::find(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto it = entries_.find(key);
  return it == entries_.end() ? std::nullopt : std::optional(it->second);
}

void TimingCache::insert(const std::string& key, double milliseconds) {
  CAMSHAFT_CHECK(isTime(milliseconds), milliseconds, " milliseconds are no time");
  const std::lock_guard lock(mutex_);
  entries_[key] = milliseconds;
}

std::vector<ChoiceKey> TimingCache::choiceKeys() const {
  const std::lock_guard lock(mutex_);
  std::vector<ChoiceKey> keys;
  for (const auto& [key, choice] : choices_) keys.push_back(key);
  return keys;
}

std::optional<Choice> TimingCache::findChoice(const ChoiceKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto it = choices_.find(key);
  return it == choices_.end() ? std::nullopt : std::optional(it->second);
}

void TimingCache::setChoice(const ChoiceKey& key, const Choice& choice) {
  CAMSHAFT_CHECK(isTime(choice.milliseconds), choice.milliseconds, " milliseconds are no time");
  const std::lock_guard lock(mutex_);
  choices_[key] = choice;
}

void TimingCache::forgetChoice(const ChoiceKey& key) {
  const std::lock_guard lock(mutex_);
  choices_.erase(key);
}

void TimingCache::combine(const TimingCache& other, bool preferOther) {
  if (&other == this) return;
  const std::scoped_lock lock(mutex_, other.mutex_);
  for (const auto& [key, milliseconds] : other.entries_) {
    const auto [it, isNew] = entries_.try_emplace(key, milliseconds);
    if (!isNew && preferOther) it->second = milliseconds;
  }
  for (const auto& [key, choice] : other.choices_) {
    const auto [it, isNew] = choices_.try_emplace(key, choice);
    if (!isNew && preferOther) it->second = choice;
  }
}

void TimingCache::clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
  choices_.clear();
}

size_t TimingCache::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

std::vector<std::byte> TimingCache::serialize() const {
  const std::lock_guard lock(mutex_);
  ByteWriter body;
  body.write<uint64_t>(entries_.size());
  for (const auto& [key, milliseconds] : entries_) {
    body.writeString(key);
    body.write(milliseconds);
  }
  if (!choices_.empty()) {
    body.write<uint64_t>(choices_.size());
    for (const auto& [key, choice] : choices_) {
      body.write(key);
      body.write(choice.tactic);
      body.write(choice.milliseconds);
    }
  }
  ByteWriter whole;
  whole.write(kMagic);
  whole.write(hashBytes(body.bytes()));
  whole.writeBytes(body.bytes());
  return whole.take();
}

}  // namespace camshaft
