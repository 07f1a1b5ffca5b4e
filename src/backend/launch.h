// The run-time half of the backend boundary: kernels by name, no IR.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "support/data_type.h"

namespace camshaft {

class ThreadPool;

inline constexpr int kMaxRank = 8;

// A tensor as a kernel sees it: contiguous, row-major, sizes resolved.
struct TensorArg {
  void* data = nullptr;  // null: an optional operand left out
  DataType type = DataType::kF32;
  int32_t rank = 0;
  int64_t dims[kMaxRank] = {};

  std::span<const int64_t> shape() const { return {dims, static_cast<size_t>(rank)}; }
  int64_t count() const {
    int64_t product = 1;
    for (int i = 0; i < rank; ++i) product *= dims[i];
    return product;
  }
  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

struct LaunchArgs {
  std::span<const TensorArg> inputs;
  std::span<const TensorArg> outputs;
  std::span<const int64_t> dims;  // what the kernel asked for in Prepared::dimArgs
  std::byte* workspace = nullptr;
  int64_t workspaceBytes = 0;
  ThreadPool* threads = nullptr;  // host kernels
  // Weights that the host reads next in this run, for kernels that have time to fetch them.
  std::span<const std::byte> upcoming;
  void* stream = nullptr;  // device kernels
};

// A user's object that runs as a kernel, as a context has it: with a state of its own.
class AttachedPlugin {
 public:
  virtual ~AttachedPlugin() = default;
  // For each output the input that it changes in place, or -1: launchPlugin() copies it there, and
  // the object finds it there.
  virtual std::span<const int32_t> aliases() const { return {}; }
  virtual void launch(const LaunchArgs& args) = 0;  // throws Error where the object fails
};
// The same as an engine has it.
class Plugin {
 public:
  virtual ~Plugin() = default;
  virtual std::unique_ptr<AttachedPlugin> attach() const = 0;  // from any thread
};
// Makes the object from a step's parameters, which it does not trust. Throws Error saying what is
// missing.
using PluginLoader =
    std::function<std::shared_ptr<const Plugin>(std::span<const std::byte> params)>;

// A kernel at run time. load() turns the parameter bytes, which it does not trust, into a state
// once per engine (null: it has no parameters and no state); launch() neither allocates nor looks
// anything up. States are immutable and shared between contexts. On devices launch() queues work on
// args.stream, or adds it to what is being recorded there.
struct RuntimeKernel {
  std::string_view name;  // "cpu/gemm_f32"
  std::shared_ptr<const void> (*load)(std::span<const std::byte> params) = nullptr;
  void (*launch)(const void* state, const LaunchArgs& args) = nullptr;
  // Whether number, types and sizes of the operands are such that launch() stays inside them, asked
  // before the first launch at new sizes: engine files are not trusted. Null: any will do.
  bool (*fits)(const void* state, const LaunchArgs& args) = nullptr;
  // Instead of load(), for kernels whose device code the engine holds; `kernel` is the step's name.
  std::shared_ptr<const void> (*loadCode)(std::string_view kernel,
                                          std::span<const std::byte> params,
                                          std::span<const std::byte> binary) = nullptr;
  // A Plugin does it all, and the members above are null. It is never recorded: what a user's code
  // calls is not known, and it may want to see every run.
  bool isPlugin = false;
};

}  // namespace camshaft
