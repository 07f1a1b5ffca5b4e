// The interpreter's lock, let go and taken in a process that may be ending.
#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

namespace camshaft::python {

// Once the interpreter ends, a thread that asks for its lock is unwound as if it had been
// cancelled. That ends the process where it meets a noexcept function, and the library's all are.
// So the thread stays where it is: the process is about to be gone.
template <class F>
auto untilExit(F&& takeLock) {
  try {
    return takeLock();
  } catch (abi::__forced_unwind&) {
    for (;;) ::pause();
  }
}

// As nb::gil_scoped_release: for what the library does on its own.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  ~Unlocked() {
    untilExit([&] { PyEval_RestoreThread(state_); });
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

// As nb::gil_scoped_acquire: for callbacks, from any thread.
class Locked {
 public:
  Locked() : state_(untilExit([] { return PyGILState_Ensure(); })) {}
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace camshaft::python
