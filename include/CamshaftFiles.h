#pragma once

// Files that builds leave behind, written so that nobody ever sees half of one. Not part of
// TensorRT's interface.

#include "NvInfer.h"

#define CAMSHAFT_FILES_VERSION 1

extern "C" CAMSHAFT_API bool camshaftWriteFile_INTERNAL(const char* path, const void* data,
                                                        size_t size, void* logger,
                                                        int version) noexcept;
extern "C" CAMSHAFT_API bool camshaftSaveTimingCache_INTERNAL(const char* path, void* cache,
                                                              void* logger, int version) noexcept;

namespace camshaft {
namespace {

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
