#include "tuner/timing_turn.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <span>
#include <string>

#include "support/hash.h"
#include "support/text.h"

namespace camshaft {
namespace {

std::string lockPath(std::string_view device) {
  std::error_code failure;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(failure);
  if (failure) return {};
  const uint64_t hash = hashBytes(std::as_bytes(std::span(device)));
  return folder / str("camshaft-timing-", getuid(), "-", hash);
}

}  // namespace

TimingTurn::TimingTurn(std::string_view device)
    : file_(open(lockPath(device).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
  while (file_ >= 0 && flock(file_, LOCK_EX) != 0 && errno == EINTR) {
  }
}

TimingTurn::~TimingTurn() {
  if (file_ >= 0) close(file_);
}

}  // namespace camshaft
