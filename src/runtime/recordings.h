// Recorded work of a context, by what it was recorded for.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "backend/device.h"
#include "support/error.h"

namespace camshaft {

// Everything that recorded launches depend on: sizes and addresses.
using RecordingKey = std::vector<int64_t>;

// A few recordings, the least recently used making room. What is asked for once is not recorded:
// a network whose shapes change with every run would pay for recordings it never replays.
class Recordings {
 public:
  using Record = std::function<std::unique_ptr<Recording>()>;
  using Refused = std::function<void(const Error& reason)>;

  // Replays the recording of a segment for this key on `stream`, having it made by `record` when it
  // was asked for before; false: it is the caller's turn to launch. So it is when something cannot
  // be recorded or replayed, which `refused` is told once: a recording saves time, and no run fails
  // for want of one.
  bool run(size_t segment, const RecordingKey& key, void* stream, const Record& record,
           const Refused& refused);
  void clear() { entries_.clear(); }

 private:
  struct Entry {
    size_t segment;
    RecordingKey key;
    std::unique_ptr<Recording> recording;  // null: asked for once
    bool isRefused = false;
  };

  std::list<Entry> entries_;  // most recently used first
};

}  // namespace camshaft
