// Files, as include/CamshaftFiles.h offers them.
#include <filesystem>

#include "CamshaftFiles.h"
#include "api/report.h"
#include "api/timing_cache.h"
#include "support/mapped_file.h"
#include "support/new_file.h"

namespace camshaft::api {
namespace {

// Builds measure at the same time and end one after the other: each adds to what it finds.
void save(const std::string& path, TimingCache& cache) {
  if (std::filesystem::exists(path) && !std::filesystem::is_regular_file(path))
    return writeFileAtomically(path, cache.serialize());  // /dev/null: there is nothing to add to
  const FileLock lock(path);
  if (std::filesystem::exists(path)) cache.combine(TimingCache(readFile(path)));
  writeFileAtomically(path, cache.serialize());
}

// body(), which is true or an object, or else false or null.
template <class F>
auto attempt(const char* path, void* logger, int version, F&& body) noexcept {
  const Reporter reporter(static_cast<nvinfer1::ILogger*>(logger));
  return guarded(reporter, decltype(body()){}, [&] {
    requireVersion(version, CAMSHAFT_FILES_VERSION);
    if (!path || !*path)
      fail(ErrorKind::kInvalidArgument, "a file was to be written without a name");
    return body();
  });
}

class FileWriter final : public IFileWriter {
 public:
  FileWriter(const char* path, nvinfer1::ILogger* logger) : reporter_(logger), file_(path) {}

  int64_t write(const void* data, int64_t size) override {
    isGood_ = isGood_ && guarded(reporter_, false, [&] {
                if (size > 0)
                  file_.write({static_cast<const std::byte*>(data), static_cast<size_t>(size)});
                return true;
              });
    return isGood_ ? size : -1;
  }
  bool commit() noexcept override {
    return isGood_ && guarded(reporter_, false, [&] {
             file_.commit();
             return true;
           });
  }
  bool isGood() const noexcept override { return isGood_; }

 private:
  Reporter reporter_;
  NewFile file_;
  bool isGood_ = true;
};

}  // namespace
}  // namespace camshaft::api

extern "C" CAMSHAFT_API bool camshaftWriteFile_INTERNAL(const char* path, const void* data,
                                                        size_t size, void* logger,
                                                        int version) noexcept {
  return camshaft::api::attempt(path, logger, version, [&] {
    if (!data && size > 0)
      camshaft::fail(camshaft::ErrorKind::kInvalidArgument, "'", path, "' was given no bytes");
    camshaft::writeFileAtomically(path, {static_cast<const std::byte*>(data), size});
    return true;
  });
}

extern "C" CAMSHAFT_API void* camshaftCreateFileWriter_INTERNAL(const char* path, void* logger,
                                                                int version) noexcept {
  return camshaft::api::attempt(path, logger, version, [&]() -> camshaft::IFileWriter* {
    return new camshaft::api::FileWriter(path, static_cast<nvinfer1::ILogger*>(logger));
  });
}

extern "C" CAMSHAFT_API bool camshaftSaveTimingCache_INTERNAL(const char* path, void* cache,
                                                              void* logger, int version) noexcept {
  return camshaft::api::attempt(path, logger, version, [&] {
    if (!cache)
      camshaft::fail(camshaft::ErrorKind::kInvalidArgument, "'", path, "' was given no cache");
    auto* view = static_cast<nvinfer1::ITimingCache*>(cache);
    camshaft::api::save(path, static_cast<camshaft::api::TimingCacheView*>(view)->cache());
    return true;
  });
}
