// Says where a process was when it crashed, for crashes inside libraries that a debugger is not
// there for:
//   g++ -shared -fPIC -O1 tests/gpu/crash_trace.cpp -o /tmp/crash_trace.so
//   LD_PRELOAD=/tmp/crash_trace.so CUBLASLT_LOG_LEVEL=5 CUDNN_LOGLEVEL_DBG=2
//     CUDNN_LOGDEST_DBG=stderr PROGRAM...
#include <execinfo.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <initializer_list>

namespace {

void trace(int number) {
  constexpr char kTitle[] = "crashed in:\n";
  void* frames[64];
  const int count = backtrace(frames, 64);
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kTitle, sizeof kTitle - 1);
  backtrace_symbols_fd(frames, count, STDERR_FILENO);
  signal(number, SIG_DFL);
  raise(number);
}

// backtrace() loads a library when it is called first, which a handler may not.
__attribute__((constructor)) void install() {
  void* frame;
  backtrace(&frame, 1);
  struct sigaction action = {};
  action.sa_handler = trace;
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE}) sigaction(number, &action, nullptr);
}

}  // namespace
