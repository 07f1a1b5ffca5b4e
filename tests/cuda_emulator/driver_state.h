// Inside the emulated driver: its objects, and how a call is recorded.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "cuda_emulator/emulated_driver.h"
#include "cuda_emulator/emulator.h"

// The types behind the driver's handles.
struct CUctx_st {
  bool isPrimary = false;
};
struct CUgraphNode_st {
  camshaft::emulator::DriverCall call;  // as it is listed when it is done
  std::function<CUresult()> run;
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  CUcontext context = nullptr;
  std::vector<CUgraphNode> after;  // what it waits for
  std::vector<CUgraphEdgeData> edges;
  // Of a kernel: `kernel.kernelParams` points into the values.
  CUDA_KERNEL_NODE_PARAMS kernel = {};
  std::vector<std::vector<char>> values;
  std::vector<void*> valueAddresses;
  std::map<CUlaunchAttributeID, CUlaunchAttributeValue> attributes;
  CUDA_MEMCPY3D copy = {};
  CUDA_MEMSET_NODE_PARAMS filling = {};
};

namespace camshaft::emulator {
using Nodes = std::vector<std::shared_ptr<CUgraphNode_st>>;
}

struct CUstream_st {
  CUcontext context = nullptr;
  bool isCapturing = false, isInvalidated = false;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::thread::id capturer;
  camshaft::emulator::Nodes captured;
  std::vector<CUgraphNode> waitedFor;  // by what is captured next
};
struct CUevent_st {
  bool isRecorded = false;
  bool measuresTime = true;
  std::chrono::steady_clock::time_point time;
};
struct CUgraph_st {
  camshaft::emulator::Nodes nodes;
};
struct CUgraphExec_st {
  camshaft::emulator::Nodes nodes;
};
struct CUkern_st {
  camshaft::emulator::Function function;
  int maxDynamicShared = 48 * 1024;
  CUcontext onlyIn = nullptr;  // as if it were a module's function; null: any context's
};
struct CUlib_st {
  std::shared_ptr<camshaft::emulator::Module> module;
  std::map<std::string, CUkern_st> kernels;
};

namespace camshaft::emulator {

// A CUfunction is its CUkernel under another name.
inline CUkern_st* kernelOf(CUfunction function) { return reinterpret_cast<CUkern_st*>(function); }
inline CUkern_st* kernelOf(CUkernel kernel) { return kernel; }

// The objects of one kind that exist.
template <class T>
class Objects {
 public:
  T* create() {
    auto object = std::make_unique<T>();
    T* handle = object.get();
    byHandle_.emplace(handle, std::move(object));
    return handle;
  }
  bool has(const T* handle) const { return byHandle_.count(handle) > 0; }
  bool destroy(const T* handle) { return byHandle_.erase(handle) > 0; }
  size_t size() const { return byHandle_.size(); }
  template <class Visit>
  void forEach(Visit visit) {
    for (auto& [handle, object] : byHandle_) visit(*object);
  }
  template <class Predicate>
  bool any(Predicate predicate) const {
    for (const auto& [handle, object] : byHandle_) {
      if (predicate(*object)) return true;
    }
    return false;
  }

 private:
  std::map<const T*, std::unique_ptr<T>> byHandle_;
};

struct DriverState {
  mutable std::recursive_mutex mutex;
  std::vector<DriverCall> calls;
  struct Injection {
    std::string function;
    int remaining = 0;
    CUresult result = CUDA_SUCCESS;
  };
  std::vector<Injection> injections;
  std::map<CUdevice_attribute, int> attributes;
  size_t totalMemory = size_t{4} << 30;
  size_t usedMemory = 0;
  struct Allocation {
    size_t bytes;
    CUcontext context;
  };
  std::map<CUdeviceptr, Allocation> deviceMemory;
  std::map<void*, size_t> hostMemory;
  Objects<CUstream_st> streams;
  Objects<CUevent_st> events;
  Objects<CUgraph_st> graphs;
  Objects<CUgraphExec_st> graphExecs;
  Objects<CUlib_st> libraries;
  std::string lastFailure;

  // Whether a call that is unsafe during captures must be refused on this host thread.
  bool isCaptureHarmed() const;
};

// The one that exists.
inline DriverState* activeDriver = nullptr;
// Contexts outlive the driver that made them: programs keep them for good.
inline CUctx_st primaryContext{.isPrimary = true};
inline std::deque<CUctx_st> otherContexts;
inline thread_local std::vector<CUcontext> contextStack;
inline CUcontext currentContext() { return contextStack.empty() ? nullptr : contextStack.back(); }
// What cuThreadExchangeStreamCaptureMode exchanges.
inline thread_local CUstreamCaptureMode threadCaptureMode = CU_STREAM_CAPTURE_MODE_GLOBAL;

inline bool DriverState::isCaptureHarmed() const {
  if (threadCaptureMode == CU_STREAM_CAPTURE_MODE_RELAXED) return false;
  return streams.any([](const CUstream_st& stream) {
    if (!stream.isCapturing || stream.mode == CU_STREAM_CAPTURE_MODE_RELAXED) return false;
    if (stream.capturer == std::this_thread::get_id()) return true;
    return stream.mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
           threadCaptureMode == CU_STREAM_CAPTURE_MODE_GLOBAL;
  });
}

inline CUresult injectedFailure(DriverState& state, std::string_view function) {
  CUresult result = CUDA_SUCCESS;
  for (auto& injection : state.injections) {
    if (injection.function == function && --injection.remaining == 0) result = injection.result;
  }
  return result;
}

// Every emulated function: records the call, fails if it was told to, runs `body(state)`.
template <class Body>
CUresult callDriver(const char* function, std::string details, Body body) {
  if (!activeDriver) return CUDA_ERROR_DEINITIALIZED;
  DriverState& state = *activeDriver;
  std::lock_guard lock(state.mutex);
  state.calls.push_back({function, std::move(details)});
  if (const CUresult injected = injectedFailure(state, function)) return injected;
  try {
    return body(state);
  } catch (const std::exception& error) {
    state.lastFailure = error.what();
    return CUDA_ERROR_LAUNCH_FAILED;
  }
}

// The same for functions that need a current context.
template <class Body>
CUresult callInContext(const char* function, std::string details, Body body) {
  return callDriver(function, std::move(details), [&](DriverState& state) {
    return currentContext() ? body(state) : CUDA_ERROR_INVALID_CONTEXT;
  });
}

// Work for a stream: done at once, or recorded when the stream is captured, as a node that
// `describe` says more about.
inline CUresult enqueue(CUstream stream, const char* function, std::string details,
                        std::function<CUresult()> run,
                        const std::function<void(CUgraphNode_st&)>& describe = {}) {
  return callInContext(function, details, [&](DriverState& state) {
    if (!stream) return state.isCaptureHarmed() ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : run();
    if (!state.streams.has(stream)) return CUDA_ERROR_INVALID_HANDLE;
    if (stream->context != currentContext()) return CUDA_ERROR_INVALID_CONTEXT;
    if (!stream->isCapturing) return run();
    if (stream->isInvalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    auto node = std::make_shared<CUgraphNode_st>();
    node->call = {function, details};
    node->run = run;
    node->context = stream->context;
    node->after = std::move(stream->waitedFor);
    node->edges.resize(node->after.size());
    if (describe) describe(*node);
    stream->waitedFor = {node.get()};
    stream->captured.push_back(std::move(node));
    return CUDA_SUCCESS;
  });
}

}  // namespace camshaft::emulator
