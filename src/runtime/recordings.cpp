#include "runtime/recordings.h"

#include <algorithm>

namespace camshaft {
namespace {
constexpr size_t kMostEntries = 64;
}

bool Recordings::run(size_t segment, const RecordingKey& key, void* stream, const Record& record,
                     const Refused& refused) {
  const auto known = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.segment == segment && entry.key == key;
  });
  if (known == entries_.end()) {
    entries_.push_front({segment, key, nullptr});
    if (entries_.size() > kMostEntries) entries_.pop_back();
    return false;
  }
  entries_.splice(entries_.begin(), entries_, known);
  if (known->isRefused) return false;
  try {
    if (!known->recording) known->recording = record();
    known->recording->replay(stream);
    return true;
  } catch (const Error& error) {
    known->recording = nullptr;
    known->isRefused = true;
    refused(error);
    return false;
  }
}

}  // namespace camshaft
