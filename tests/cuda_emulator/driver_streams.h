// Emulated driver functions about streams, graphs and events.
#pragma once

#include <algorithm>
#include <utility>

#include "cuda_emulator/driver_state.h"

namespace camshaft::emulator {

struct StreamFunctions {
  static CUresult cuStreamCreate(CUstream* stream, unsigned) {
    return callInContext("cuStreamCreate", "", [&](DriverState& state) {
      *stream = state.streams.create();
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuStreamDestroy(CUstream stream) {
    return callInContext("cuStreamDestroy", "", [&](DriverState& state) {
      return state.streams.destroy(stream) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    });
  }
  static CUresult cuStreamSynchronize(CUstream stream) {
    return callInContext("cuStreamSynchronize", "", [&](DriverState& state) {
      if (stream && !state.streams.has(stream)) return CUDA_ERROR_INVALID_HANDLE;
      const bool isCaptured = stream ? stream->isCapturing : state.isCaptureHarmed();
      return isCaptured ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
    });
  }
  // All work of streams is done already, so there is nothing to wait for.
  static CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
    return callInContext("cuStreamWaitEvent", "", [&](DriverState& state) {
      const bool known = (!stream || state.streams.has(stream)) && state.events.has(event);
      return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    });
  }

  static CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
    return callInContext("cuStreamIsCapturing", "", [&](DriverState& state) {
      if (stream && !state.streams.has(stream)) return CUDA_ERROR_INVALID_HANDLE;
      const bool isCapturing = stream && stream->isCapturing;
      *status = isCapturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
    return callInContext("cuStreamBeginCapture", "", [&](DriverState& state) {
      if (!stream) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
      if (!state.streams.has(stream)) return CUDA_ERROR_INVALID_HANDLE;
      if (stream->isCapturing) return CUDA_ERROR_ILLEGAL_STATE;
      stream->isCapturing = true;
      stream->mode = mode;
      stream->capturer = std::this_thread::get_id();
      stream->captured.clear();
      stream->waitedFor.clear();
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status,
                                         cuuint64_t*, CUgraph*, const CUgraphNode** nodes,
                                         const CUgraphEdgeData** edges, size_t* count) {
    return callInContext("cuStreamGetCaptureInfo", "", [&](DriverState& state) {
      if (!state.streams.has(stream)) return CUDA_ERROR_INVALID_HANDLE;
      *status = stream->isCapturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                    : CU_STREAM_CAPTURE_STATUS_NONE;
      *nodes = stream->waitedFor.data();
      *edges = nullptr;
      *count = stream->waitedFor.size();
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* nodes,
                                                    const CUgraphEdgeData*, size_t count,
                                                    unsigned flags) {
    return callInContext("cuStreamUpdateCaptureDependencies", "", [&](DriverState& state) {
      if (!state.streams.has(stream)) return CUDA_ERROR_INVALID_HANDLE;
      if (!stream->isCapturing) return CUDA_ERROR_ILLEGAL_STATE;
      if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) stream->waitedFor.clear();
      stream->waitedFor.insert(stream->waitedFor.end(), nodes, nodes + count);
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
    return callDriver("cuThreadExchangeStreamCaptureMode", "", [&](DriverState&) {
      std::swap(*mode, threadCaptureMode);
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
    return callInContext("cuStreamEndCapture", "", [&](DriverState& state) {
      if (!state.streams.has(stream)) return CUDA_ERROR_INVALID_HANDLE;
      if (!stream->isCapturing) return CUDA_ERROR_ILLEGAL_STATE;
      if (stream->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
          stream->capturer != std::this_thread::get_id()) {
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
      }
      stream->isCapturing = false;
      *graph = state.graphs.create();
      (*graph)->work = std::move(stream->captured);
      return CUDA_SUCCESS;
    });
  }
};

// The pieces of a graph in the order that respects what each waits for and is otherwise as far from
// the order of capture as can be: what was forgotten to be waited for shows.
inline std::vector<size_t> latestFirst(const std::vector<StreamWork>& work) {
  std::vector<size_t> order;
  std::vector<bool> done(work.size());
  const auto isReady = [&](size_t piece) {
    return !done[piece] && std::all_of(work[piece].after.begin(), work[piece].after.end(),
                                       [&](CUgraphNode node) { return done[indexOf(node)]; });
  };
  while (order.size() < work.size()) {
    size_t piece = work.size() - 1;
    while (!isReady(piece)) --piece;
    done[piece] = true;
    order.push_back(piece);
  }
  return order;
}

struct GraphFunctions {
  static CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph,
                                              unsigned long long) {
    return callInContext("cuGraphInstantiateWithFlags", "", [&](DriverState& state) {
      if (!state.graphs.has(graph)) return CUDA_ERROR_INVALID_HANDLE;
      *exec = state.graphExecs.create();
      (*exec)->work = graph->work;
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    if (!activeDriver) return CUDA_ERROR_DEINITIALIZED;
    std::lock_guard lock(activeDriver->mutex);
    if (!activeDriver->graphExecs.has(exec)) return CUDA_ERROR_INVALID_HANDLE;
    const std::string details = std::to_string(exec->work.size()) + " nodes";
    return enqueue(stream, "cuGraphLaunch", details, [work = exec->work] {
      for (size_t index : latestFirst(work)) {
        const StreamWork& piece = work[index];
        activeDriver->calls.push_back({"graph: " + piece.call.function, piece.call.details});
        if (const CUresult result = piece.run()) return result;
      }
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuGraphDestroy(CUgraph graph) {
    return callDriver("cuGraphDestroy", "", [&](DriverState& state) {
      return state.graphs.destroy(graph) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    });
  }
  static CUresult cuGraphExecDestroy(CUgraphExec exec) {
    return callDriver("cuGraphExecDestroy", "", [&](DriverState& state) {
      return state.graphExecs.destroy(exec) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    });
  }
};

struct EventFunctions {
  static CUresult cuEventCreate(CUevent* event, unsigned flags) {
    return callInContext("cuEventCreate", "", [&](DriverState& state) {
      *event = state.events.create();
      (*event)->measuresTime = !(flags & CU_EVENT_DISABLE_TIMING);
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuEventDestroy(CUevent event) {
    return callDriver("cuEventDestroy", "", [&](DriverState& state) {
      return state.events.destroy(event) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    });
  }
  static CUresult cuEventRecord(CUevent event, CUstream stream) {
    return enqueue(stream, "cuEventRecord", "", [event] {
      if (!activeDriver->events.has(event)) return CUDA_ERROR_INVALID_HANDLE;
      event->isRecorded = true;
      event->time = std::chrono::steady_clock::now();
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuEventSynchronize(CUevent event) { return cuEventQuery(event); }
  static CUresult cuEventQuery(CUevent event) {
    return callDriver("cuEventQuery", "", [&](DriverState& state) {
      return state.events.has(event) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    });
  }
  static CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
    return callDriver("cuEventElapsedTime", "", [&](DriverState& state) {
      for (CUevent event : {start, end}) {
        const bool usable = state.events.has(event) && event->isRecorded && event->measuresTime;
        if (!usable) return CUDA_ERROR_INVALID_HANDLE;
      }
      *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
      return CUDA_SUCCESS;
    });
  }
};

}  // namespace camshaft::emulator
