// The interpreter's lock, let go and taken in a process that may be ending.
#pragma once

#include <nanobind/nanobind.h>
#include <unistd.h>

#include <exception>
#include <type_traits>

namespace camshaft::python {

// Once the interpreter ends, a thread that asks for its lock is unwound as if it had been
// cancelled. That ends the process where it meets a noexcept function, and the library's all are.
// So the thread stays where it is: the process is about to be gone. Catching would do as long as
// the thread handles no exception: beside another, what unwinds a thread cannot be caught.
class StaysWhenUnwound {
 public:
  ~StaysWhenUnwound() {
    if (returned || std::uncaught_exceptions() > exceptions_) return;
    for (;;) ::pause();
  }
  bool returned = false;

 private:
  int exceptions_ = std::uncaught_exceptions();
};

// Not inlined: compilers may leave out the destructors that a noexcept function would run.
template <class F>
[[gnu::noinline]] auto untilExit(F&& takeLock) {
  StaysWhenUnwound thread;
  if constexpr (std::is_void_v<decltype(takeLock())>) {
    takeLock();
    thread.returned = true;
  } else {
    auto result = takeLock();
    thread.returned = true;
    return result;
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
