// The application's threads: executors of Python.
#include <atomic>
#include <memory>
#include <utility>

#include "callbacks.h"

namespace camshaft::python {

using namespace nvinfer1;

namespace {

// What an executor is given: it may be called, dropped without a call, or refused with an exception
// that holds on to it. But where it is refused, the task has to be run.
class OneTask {
 public:
  OneTask(IThreadPool::Task task, void* argument) : task_(task), argument_(argument) {}
  ~OneTask() { run(); }
  OneTask(const OneTask&) = delete;
  OneTask& operator=(const OneTask&) = delete;

  void run() {
    const IThreadPool::Task task = task_.exchange(nullptr);
    if (!task) return;
    const Unlocked unlocked;
    task(argument_);
  }
  bool forget() { return task_.exchange(nullptr) != nullptr; }  // false: it was run

 private:
  std::atomic<IThreadPool::Task> task_;
  void* argument_;
};

class ExecutorThreads final : public IThreadPool {
 public:
  explicit ExecutorThreads(nb::object executor) : executor(std::move(executor)) {}

  bool schedule(IThreadPool::Task task, void* argument) noexcept override {
    return fromPython(false, [&] {
      const auto once = std::make_shared<OneTask>(task, argument);
      try {
        executor.attr("submit")(nb::cpp_function([once] { once->run(); }));
      } catch (...) {
        if (once->forget()) throw;
      }
      return true;
    });
  }

  const nb::object executor;
};

nb::object threadPoolOf(const IRuntime& runtime) {
  const auto* threads = dynamic_cast<const ExecutorThreads*>(runtime.getThreadPool());
  return threads ? threads->executor : nb::none();
}

// The runtime keeps what it was ever given: engines that it loaded use it.
void setThreadPool(nb::handle self, nb::object executor) {
  auto& runtime = nb::cast<IRuntime&>(self);
  if (executor.is_none()) return runtime.setThreadPool(nullptr);
  if (!nb::hasattr(executor, "submit"))
    throw nb::type_error(
        "thread_pool takes an object with a method submit(), such as a "
        "concurrent.futures.ThreadPoolExecutor");
  auto* threads = new ExecutorThreads(std::move(executor));
  nb::keep_alive_cb(self, threads,
                    [](void* kept) noexcept { delete static_cast<ExecutorThreads*>(kept); });
  runtime.setThreadPool(threads);
}

}  // namespace

void bindThreadPool(nb::class_<IRuntime>& c) {
  c.def_prop_rw(
      "thread_pool", &threadPoolOf, &setThreadPool,
      nb::for_getter(nb::sig("def thread_pool(self) -> concurrent.futures.Executor | None")),
      nb::for_setter(
          nb::sig("def thread_pool(self, executor: concurrent.futures.Executor | None) -> None")),
      nb::for_setter(nb::arg().none()));
}

}  // namespace camshaft::python
