#pragma once

// Files that builds leave behind, written so that nobody ever sees half of one. Not part of
// TensorRT's interface.

#include "NvInfer.h"

#define CAMSHAFT_FILES_VERSION 2

extern "C" CAMSHAFT_API bool camshaftWriteFile_INTERNAL(const char* path, const void* data,
                                                        size_t size, void* logger,
                                                        int version) noexcept;
extern "C" CAMSHAFT_API void* camshaftCreateFileWriter_INTERNAL(const char* path, void* logger,
                                                                int version) noexcept;
extern "C" CAMSHAFT_API bool camshaftSaveTimingCache_INTERNAL(const char* path, void* cache,
                                                              void* logger, int version) noexcept;

namespace camshaft {

// A file to stream into, as IBuilder::buildSerializedNetworkToStream() does: an engine is then
// never in memory as a whole. It lies beside the path it is for until commit().
class CAMSHAFT_API IFileWriter : public nvinfer1::IStreamWriter {
 public:
  ~IFileWriter() override = default;
  // Takes the place of the old file. False, with the reason in the log, on failure.
  virtual bool commit() noexcept = 0;
  // False once a write has failed, with the reason in the log.
  virtual bool isGood() const noexcept = 0;
};

namespace {

// Null, with the reason in the log, where no file can be made there. Delete it when done; `logger`
// must outlive it.
inline IFileWriter* createFileWriter(const char* path, nvinfer1::ILogger& logger) noexcept {
  return static_cast<IFileWriter*>(
      camshaftCreateFileWriter_INTERNAL(path, &logger, CAMSHAFT_FILES_VERSION));
}

// Writes a new file beside `path` and renames it: when the disk is full, the process killed or the
// old file in use elsewhere, that is as it was. False, with the reason in the log, on failure.
inline bool writeFile(const char* path, const void* data, size_t size,
                      nvinfer1::ILogger& logger) noexcept {
  return camshaftWriteFile_INTERNAL(path, data, size, &logger, CAMSHAFT_FILES_VERSION);
}

// Writes a timing cache likewise, together with what other builds have added to the file meanwhile;
// the cache has their entries too afterwards. Builds that share a file take turns.
inline bool saveTimingCache(const char* path, nvinfer1::ITimingCache& cache,
                            nvinfer1::ILogger& logger) noexcept {
  return camshaftSaveTimingCache_INTERNAL(path, &cache, &logger, CAMSHAFT_FILES_VERSION);
}

}  // namespace
}  // namespace camshaft
