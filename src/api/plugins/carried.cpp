#include "api/plugins/carried.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "support/file_descriptor.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;

void writeAll(const FileDescriptor& file, std::span<const std::byte> bytes,
              const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t written = write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) failIo("write the engine's library", name, errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

// A file with these bytes, in memory or of a name that is gone with the object.
class LibraryFile {
 public:
  LibraryFile(const PluginLibrary& library, const TemporaryFiles& files) {
    const auto allows = [&](TempfileControlFlag flag) {
      return (files.flags >> static_cast<uint32_t>(flag) & 1) != 0;
    };
    if (allows(TempfileControlFlag::kALLOW_IN_MEMORY_FILES)) {
      file_ = FileDescriptor(memfd_create(library.name.c_str(), MFD_CLOEXEC));
      path_ = "/proc/self/fd/" + std::to_string(file_.get());
    }
    if (file_.get() < 0 && allows(TempfileControlFlag::kALLOW_TEMPORARY_FILES)) {
      const std::string folder =
          files.folder.empty() ? std::filesystem::temp_directory_path().string() : files.folder;
      path_ = folder + "/camshaft-plugins-XXXXXX";
      file_ = FileDescriptor(mkstemp(path_.data()));
      isNamed_ = file_.get() >= 0;
      if (!isNamed_) failIo("make a temporary file in", folder, errno);
    }
    if (file_.get() < 0)
      fail(ErrorKind::kInvalidArgument, "the engine's library '", library.name,
           "' needs a file to be loaded from; allow one with setTempfileControlFlags");
    writeAll(file_, library.bytes, library.name);
  }
  LibraryFile(const LibraryFile&) = delete;
  ~LibraryFile() {
    if (isNamed_) unlink(path_.c_str());
  }
  const std::string& path() const { return path_; }

 private:
  FileDescriptor file_{-1};
  std::string path_;
  bool isNamed_ = false;
};

// Files stay as long as the libraries: the loader knows these by their paths.
struct EngineRegistry {
  explicit EngineRegistry(std::shared_ptr<PluginRegistry> outer)
      : parent(std::move(outer)), registry(parent.get()) {}
  std::shared_ptr<PluginRegistry> parent;
  std::vector<std::unique_ptr<LibraryFile>> files;
  PluginRegistry registry;
};

}  // namespace

std::shared_ptr<PluginRegistry> registryWith(std::span<const PluginLibrary> libraries,
                                             const std::shared_ptr<PluginRegistry>& parent,
                                             const TemporaryFiles& files) {
  if (libraries.empty()) return parent;
  const auto made = std::make_shared<EngineRegistry>(parent);
  for (const PluginLibrary& library : libraries) {
    made->files.push_back(std::make_unique<LibraryFile>(library, files));
    if (!made->registry.loadLibrary(made->files.back()->path().c_str()))
      fail(ErrorKind::kInvalidEngine, "the engine's library '", library.name,
           "' cannot be loaded here; build the engine on this kind of machine");
  }
  return {made, &made->registry};
}

}  // namespace camshaft::api
