// The one exception type, and the check for bugs.
#pragma once

#include <exception>
#include <string>

#include "support/text.h"

namespace camshaft {

enum class ErrorKind {
  kInvalidArgument,  // the caller passed something wrong
  kInvalidModel,     // the ONNX model or network breaks a rule of its format
  kUnsupported,      // well-formed, but nothing here implements it
  kInvalidEngine,    // the engine file is damaged, foreign or hostile
  kOutOfMemory,
  kDevice,  // a driver or device failed
  kIo,
  kInternal,  // a bug in Camshaft
};

// Ends a build or a run. The message is one sentence that names the node or tensor and the fix.
class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}
  ErrorKind kind() const { return kind_; }
  const std::string& message() const { return message_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  ErrorKind kind_;
  std::string message_;
};

// fail(ErrorKind::kInvalidModel, "node '", name, "' has no inputs")
template <class... Args>
[[noreturn]] void fail(ErrorKind kind, const Args&... args) {
  throw Error(kind, str(args...));
}

[[noreturn]] void failCheck(const char* file, int line, const char* condition, std::string message);

// A broken promise between parts of Camshaft, never a user's mistake.
#define CAMSHAFT_CHECK(condition, ...)                                                     \
  do {                                                                                     \
    if (!(condition))                                                                      \
      ::camshaft::failCheck(__FILE__, __LINE__, #condition, ::camshaft::str(__VA_ARGS__)); \
  } while (false)

}  // namespace camshaft
