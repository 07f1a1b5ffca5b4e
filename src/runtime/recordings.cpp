#include "runtime/recordings.h"

#include <algorithm>

namespace camshaft {
namespace {
constexpr size_t kMostEntries = 64;
}

Recordings::~Recordings() {
  clear();
  if (stream_) device_->destroyStream(stream_);
}

void Recordings::clear() { entries_.clear(); }

bool Recordings::run(size_t segment, const RecordingKey& key, void* stream,
                     const std::function<std::unique_ptr<Recording>(void* stream)>& record) {
  const auto known = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.segment == segment && entry.key == key;
  });
  if (known == entries_.end()) {
    entries_.push_front({segment, key, nullptr});
    if (entries_.size() > kMostEntries) entries_.pop_back();
    return false;
  }
  entries_.splice(entries_.begin(), entries_, known);
  if (!known->recording) {
    if (!stream_) stream_ = device_->createStream();
    known->recording = record(stream_);
  }
  known->recording->replay(stream);
  return true;
}

}  // namespace camshaft
