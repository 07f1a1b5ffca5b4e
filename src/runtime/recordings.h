// Recorded work of a context, by what it was recorded for.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "backend/device.h"

namespace camshaft {

// Everything that recorded launches depend on: sizes and addresses.
using RecordingKey = std::vector<int64_t>;

// A few recordings, the least recently used making room. What is asked for once is not recorded:
// a network whose shapes change with every run would pay for recordings it never replays.
class Recordings {
 public:
  explicit Recordings(Device* device) : device_(device) {}
  ~Recordings();
  Recordings(const Recordings&) = delete;
  Recordings& operator=(const Recordings&) = delete;

  // Replays the recording of a segment for this key on `stream`, having it made by `record` when it
  // was asked for before; false: it is the caller's turn to launch.
  bool run(size_t segment, const RecordingKey& key, void* stream,
           const std::function<std::unique_ptr<Recording>(void* stream)>& record);
  void clear();

 private:
  struct Entry {
    size_t segment;
    RecordingKey key;
    std::unique_ptr<Recording> recording;  // null: asked for once
  };

  Device* device_;
  void* stream_ =
      nullptr;  // work is recorded on a stream of its own: the caller's may not allow it
  std::list<Entry> entries_;  // most recently used first
};

}  // namespace camshaft
