// The one place where exceptions end: into the logger and the error recorder.
#pragma once

#include <exception>
#include <mutex>
#include <new>
#include <utility>

#include "NvInferRuntime.h"
#include "support/error.h"
#include "support/log.h"

namespace camshaft::api {

// Counted use of a user's recorder, from construction to destruction.
class RecorderUse {
 public:
  explicit RecorderUse(nvinfer1::IErrorRecorder* recorder = nullptr) : recorder_(recorder) {
    if (recorder_) recorder_->incRefCount();
  }
  RecorderUse(const RecorderUse& other) : RecorderUse(other.recorder_) {}
  RecorderUse& operator=(RecorderUse other) {
    std::swap(recorder_, other.recorder_);
    return *this;
  }
  ~RecorderUse() {
    if (recorder_) recorder_->decRefCount();
  }
  nvinfer1::IErrorRecorder* get() const { return recorder_; }

 private:
  nvinfer1::IErrorRecorder* recorder_;
};

// Where an object reports. Each object has its own recorder, inherited from its maker.
class Reporter {
 public:
  explicit Reporter(nvinfer1::ILogger* logger) : logger_(logger) {}

  nvinfer1::ILogger* logger() const { return logger_; }
  nvinfer1::IErrorRecorder* recorder() const { return recorder_.get(); }
  void setRecorder(nvinfer1::IErrorRecorder* recorder) { recorder_ = RecorderUse(recorder); }

  void error(nvinfer1::ErrorCode code, const std::string& message) const noexcept;
  // The same, for text of our own: it needs no memory.
  void report(nvinfer1::ErrorCode code, const char* message) const noexcept;
  void internalError(const char* what) const noexcept;
  void warning(const std::string& message) const noexcept;
  Log log() const;  // everything, down to verbose; the user's logger filters

 private:
  nvinfer1::ILogger* logger_;
  RecorderUse recorder_;
};

nvinfer1::ErrorCode errorCodeOf(ErrorKind kind);

// What a call reports when there is no memory, which leaves none to say it with: a whole sentence.
struct OutOfMemory {
  const char* sentence;
};

// body(), or `failure` when it throws; the reason goes to the reporter.
template <class T, class F>
T guarded(const Reporter& reporter, T failure, F&& body,
          OutOfMemory outOfMemory = {"out of memory while handling a call"}) noexcept {
  try {
    return std::forward<F>(body)();
  } catch (const Error& error) {
    reporter.error(errorCodeOf(error.kind()), error.message());
  } catch (const std::bad_alloc&) {
    reporter.report(nvinfer1::ErrorCode::kFAILED_ALLOCATION, outOfMemory.sentence);
  } catch (const std::exception& error) {
    reporter.internalError(error.what());
  } catch (...) {
    reporter.report(nvinfer1::ErrorCode::kINTERNAL_ERROR,
                    "internal error, please report it: an unknown exception");
  }
  return failure;
}

// The answer of a call that has no behaviour yet: `failure`, and the sentence that says so.
template <class T>
T refused(const Reporter& reporter, const char* sentence, T failure) noexcept {
  reporter.report(nvinfer1::ErrorCode::kUNSUPPORTED_STATE, sentence);
  return failure;
}

// Throws where a value of an enumeration is none of its own: callers cast integers.
template <class Enum>
void requireKnown(Enum value, const char* what) {
  if (static_cast<int32_t>(value) < 0 || static_cast<int32_t>(value) >= nvinfer1::EnumMax<Enum>())
    fail(ErrorKind::kInvalidArgument, "there is no ", what, " ", static_cast<int32_t>(value));
}

// What every extern "C" function of Camshaft's own does: refuse a caller compiled for another
// version of the headers.
void requireVersion(int32_t version, int32_t expected);
// The same for TensorRT's headers, which later versions only add to: older ones of the same major
// version are as good.
void requireTensorRtVersion(int32_t version);

template <class Interface, class F>
Interface* createChecked(nvinfer1::ILogger* logger, int32_t version, int32_t expected,
                         F&& make) noexcept {
  const Reporter reporter(logger);
  return guarded<Interface*>(reporter, nullptr, [&]() -> Interface* {
    requireVersion(version, expected);
    return make();
  });
}

// getLogger() tells this one from now on.
void rememberLogger(nvinfer1::ILogger* logger) noexcept;

// createChecked() for the objects that programs built for TensorRT begin with.
template <class Interface, class F>
Interface* createForTensorRt(nvinfer1::ILogger* logger, int32_t version, F&& make) noexcept {
  const Reporter reporter(logger);
  return guarded<Interface*>(reporter, nullptr, [&]() -> Interface* {
    requireTensorRtVersion(version);
    rememberLogger(logger);
    return make();
  });
}

}  // namespace camshaft::api
