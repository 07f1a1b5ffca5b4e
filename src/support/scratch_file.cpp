#include "support/scratch_file.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstdlib>

namespace camshaft {
namespace {

FileDescriptor openIn(const std::string& folder) {
  FileDescriptor file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.get() >= 0) return file;
  // Not every file system makes files without a name.
  std::string name = folder + "/camshaft-XXXXXX";
  file = FileDescriptor(::mkostemp(name.data(), O_CLOEXEC));
  if (file.get() >= 0) ::unlink(name.c_str());
  return file;
}

}  // namespace

FileDescriptor openScratchFile() {
  // A process that may write no large files is ended where it tries.
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY)
    return FileDescriptor(-1);
  const char* const chosen = std::getenv("TMPDIR");
  for (const char* folder : {chosen, "/var/tmp", "/tmp"}) {
    if (!folder || !*folder) continue;
    if (FileDescriptor file = openIn(folder); file.get() >= 0) return file;
  }
  return FileDescriptor(-1);
}

bool writeAt(const FileDescriptor& file, std::span<const std::byte> bytes, size_t offset) {
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(written));
    offset += static_cast<size_t>(written);
  }
  return true;
}

}  // namespace camshaft
