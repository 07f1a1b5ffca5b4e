// How things fail: inside the backend by an exception, towards Triton by its error objects.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

#include "triton_api.h"

namespace triton_backend {

class Failure : public std::runtime_error {
 public:
  Failure(TRITONSERVER_Error_Code code, const std::string& message)
      : std::runtime_error(message), code_(code) {}
  TRITONSERVER_Error_Code code() const { return code_; }

 private:
  TRITONSERVER_Error_Code code_;
};

// The words of a message, one after the other.
template <class... Words>
[[noreturn]] void fail(TRITONSERVER_Error_Code code, const Words&... words) {
  std::ostringstream text;
  (text << ... << words);
  throw Failure(code, text.str());
}

// What was thrown, whatever it was.
Failure asFailure(const std::exception& error);

// An error of Triton's is thrown as a Failure.
void check(TRITONSERVER_Error* error);

// An error that nobody can be told of any more goes to the log.
void report(TRITONSERVER_Error* error);

// What a call of Camshaft's returned: where it is null or false, the sentence that the library has
// logged meanwhile is thrown. `code` says whose fault that is.
void requireCamshaft(bool worked, TRITONSERVER_Error_Code code);

// Runs an entry point: what it throws is what Triton gets.
template <class Function>
TRITONSERVER_Error* guarded(Function&& function) noexcept {
  try {
    function();
    return nullptr;
  } catch (const std::exception& error) {
    const Failure failure = asFailure(error);
    return TRITONSERVER_ErrorNew(failure.code(), failure.what());
  }
}

}  // namespace triton_backend
