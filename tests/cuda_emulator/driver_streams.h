// Emulated driver functions about streams and events.
#pragma once

#include <utility>

#include "cuda_emulator/driver_state.h"

namespace camshaft::emulator {

struct StreamFunctions {
  static CUresult cuStreamCreate(CUstream* stream, unsigned) {
    return callInContext("cuStreamCreate", "", [&](DriverState& state) {
      *stream = state.streams.create();
      (*stream)->context = currentContext();
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
    const char* where = currentContext() == &primaryContext ? "primary context" : "own context";
    return callInContext("cuStreamBeginCapture", where, [&](DriverState& state) {
      if (!stream) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
      if (!state.streams.has(stream)) return CUDA_ERROR_INVALID_HANDLE;
      if (stream->isCapturing) return CUDA_ERROR_ILLEGAL_STATE;
      stream->isCapturing = true;
      stream->isInvalidated = false;
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
      *status =
          stream->isCapturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
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
      *graph = nullptr;
      if (stream->isInvalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
      *graph = state.graphs.create();
      (*graph)->nodes = std::move(stream->captured);
      return CUDA_SUCCESS;
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
    const auto record = [event] {
      if (!activeDriver->events.has(event)) return CUDA_ERROR_INVALID_HANDLE;
      event->isRecorded = true;
      event->time = std::chrono::steady_clock::now();
      return CUDA_SUCCESS;
    };
    return enqueue(stream, "cuEventRecord", "", record,
                   [](CUgraphNode_st& node) { node.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD; });
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
