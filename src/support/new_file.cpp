#include "support/new_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>
#include <optional>

namespace camshaft {
namespace {

std::optional<struct stat> statusOf(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) == 0) return status;
  return std::nullopt;
}

// Where a chain of links ends; the path itself where there is nothing yet.
std::string withoutLinks(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? real.get() : path;
}

// "folder/name" as the beginning of names beside it: short enough for a suffix.
std::string stem(const std::string& path) {
  constexpr size_t kRoomForSuffix = 40;
  const size_t name = path.rfind('/') + 1;  // 0 where there is none
  return path.substr(0, name) + path.substr(name, NAME_MAX - kRoomForSuffix);
}

// A new file beside `path`, whose name nobody else has; `name` receives it.
FileDescriptor createBeside(const std::string& path, std::string& name) {
  for (int attempt = 0;; ++attempt) {
    name = str(stem(path), ".", ::getpid(), "-", attempt, ".tmp");
    FileDescriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file.get() >= 0) return file;
    if (errno != EEXIST) failIo("create", path, errno);
  }
}

}  // namespace

NewFile::NewFile(const std::string& path) : path_(path), target_(withoutLinks(path)) {
  const std::optional<struct stat> old = statusOf(target_);
  if (old && S_ISDIR(old->st_mode)) failIo("replace", path_, EISDIR);
  if (old && !S_ISREG(old->st_mode)) {
    file_ = FileDescriptor(::open(target_.c_str(), O_WRONLY | O_CLOEXEC));
    if (file_.get() < 0) failIo("open", path_, errno);
    return;
  }
  file_ = createBeside(target_, temporary_);
  if (old) (void)::fchmod(file_.get(), old->st_mode & 07777);  // a wish: not every file system can
}

NewFile::~NewFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void NewFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) failIo("write", path_, errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

void NewFile::commit() {
  if (temporary_.empty()) {
    if (!file_.close()) failIo("write", path_, errno);
    return;
  }
  // Some file systems find room only now.
  if (::fsync(file_.get()) != 0 && errno != EINVAL) failIo("write", path_, errno);
  if (!file_.close()) failIo("write", path_, errno);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) failIo("replace", path_, errno);
  temporary_.clear();
}

void writeFileAtomically(const std::string& path, std::span<const std::byte> bytes) {
  NewFile file(path);
  file.write(bytes);
  file.commit();
}

FileLock::FileLock(const std::string& path) : name_(stem(withoutLinks(path)) + ".lock") {
  for (;;) {
    file_ = FileDescriptor(::open(name_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (file_.get() < 0) failIo("create", name_, errno);
    while (::flock(file_.get(), LOCK_EX) != 0)
      if (errno != EINTR) failIo("lock", name_, errno);
    // Whoever held it before has removed the name perhaps: then the lock is of a file that the next
    // one does not find.
    struct stat held;
    const std::optional<struct stat> named = statusOf(name_);
    if (::fstat(file_.get(), &held) == 0 && named && named->st_ino == held.st_ino &&
        named->st_dev == held.st_dev)
      return;
  }
}

FileLock::~FileLock() { ::unlink(name_.c_str()); }

}  // namespace camshaft
