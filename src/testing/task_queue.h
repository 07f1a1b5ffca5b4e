// A thread pool as applications have them, for tests that hand theirs to the library.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace camshaft {

class TaskQueue {
 public:
  using Task = void (*)(void* argument);

  explicit TaskQueue(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }
  ~TaskQueue() {
    {
      const std::lock_guard lock(mutex_);
      isEnding_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  void add(Task task, void* argument) {
    {
      const std::lock_guard lock(mutex_);
      tasks_.emplace_back(task, argument);
    }
    changed_.notify_one();
  }
  auto scheduler() {
    return [this](Task task, void* argument) { return add(task, argument), true; };
  }

 private:
  void work() {
    for (std::unique_lock lock(mutex_);;) {
      changed_.wait(lock, [&] { return isEnding_ || !tasks_.empty(); });
      if (tasks_.empty()) return;  // those that wait are done first
      const auto [task, argument] = tasks_.front();
      tasks_.pop_front();
      lock.unlock();
      task(argument);
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<Task, void*>> tasks_;
  bool isEnding_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace camshaft
