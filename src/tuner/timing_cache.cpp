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

void TimingCache::combine(const TimingCache& other, bool preferOther) {
  if (&other == this) return;
  const std::scoped_lock lock(mutex_, other.mutex_);
  for (const auto& [key, milliseconds] : other.entries_) {
    const auto [it, isNew] = entries_.try_emplace(key, milliseconds);
    if (!isNew && preferOther) it->second = milliseconds;
  }
}

void TimingCache::clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
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
  ByteWriter whole;
  whole.write(kMagic);
  whole.write(hashBytes(body.bytes()));
  whole.writeBytes(body.bytes());
  return whole.take();
}

}  // namespace camshaft
