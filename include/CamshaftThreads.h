#pragma once

// The application's own threads. Not part of TensorRT's interface.

#include "NvInferRuntimeTypes.h"

namespace nvinfer1 {

// Threads of the application that help CPU engines with their loops, for IRuntime::setThreadPool.
// The thread that runs an engine shares out its work and does what nobody else takes, so it never
// waits for a task to begin: a busy pool costs speed, and cannot cause a deadlock.
class CAMSHAFT_API IThreadPool {
 public:
  using Task = void (*)(void* argument);

  virtual ~IThreadPool() noexcept = default;
  // Lets another thread call task(argument) once, as soon as it can; later is allowed, and then the
  // task may find nothing to do. False: no thread will. Called from any thread that runs an engine,
  // for each layer and each helper that is not at hand, so it should take a microsecond or so.
  virtual bool schedule(Task task, void* argument) noexcept = 0;
};

}  // namespace nvinfer1
