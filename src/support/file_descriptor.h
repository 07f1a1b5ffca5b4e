// An open file of the system's, and how its failures are told.
#pragma once

#include <unistd.h>

#include <string>
#include <system_error>
#include <utility>

#include "support/error.h"

namespace camshaft {

[[noreturn]] inline void failIo(const char* action, const std::string& path, int error) {
  fail(ErrorKind::kIo, "could not ", action, " '", path,
       "': ", std::generic_category().message(error));
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~FileDescriptor() { close(); }

  int get() const { return descriptor_; }
  bool close() { return descriptor_ < 0 || ::close(std::exchange(descriptor_, -1)) == 0; }

 private:
  int descriptor_;
};

}  // namespace camshaft
