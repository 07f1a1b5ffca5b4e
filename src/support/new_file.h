// Files that are replaced as a whole. Every failure is Error(kIo) and names the path and the
// reason.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "support/file_descriptor.h"

namespace camshaft {

// Written beside `path`, whose place it takes at commit(): until then, and where anything fails,
// the old file is as it was, also for those who have it mapped. A link stays and what it leads to
// is replaced; a pipe or a device, which nothing can take the place of, is written to as it is.
class NewFile {
 public:
  explicit NewFile(const std::string& path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void commit();

 private:
  std::string path_, target_, temporary_;  // as given, without links, and beside that
  FileDescriptor file_{-1};
};

void writeFileAtomically(const std::string& path, std::span<const std::byte> bytes);

// Held by one process at a time, and let go when it ends, however it does: a file beside `path`
// that is there while somebody holds it.
class FileLock {
 public:
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  std::string name_;
  FileDescriptor file_{-1};
};

}  // namespace camshaft
