// Runs the bodies of one If or Loop step.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/loaded_engine.h"
#include "support/aligned_buffer.h"
#include "support/function_ref.h"

namespace camshaft {

class Context;
class ThreadPool;

// What a context keeps for such a step: a context for each body, and the values that go from one
// iteration to the next. An iteration reads the last one's values where that wrote them; results of
// all iterations are written one after the other into memory that grows.
class BodyRunner {
 public:
  // Where the step's results go.
  struct Results {
    // Memory for an output, asked for when its size is known.
    FunctionRef<void*(size_t output, int64_t bytes)> memory;
    // Its shape; -1 for a dimension that no iteration has decided.
    FunctionRef<void(size_t output, std::span<const int64_t> dims)> shape;
  };

  BodyRunner(const LoadedEngine& engine, const Step& step, ThreadPool& threads);
  ~BodyRunner();

  void run(std::span<const TensorArg> inputs, const Results& results);

 private:
  // A value that an iteration hands to the next, in one of two buffers by turns.
  struct Carried {
    TensorArg value;
    AlignedBuffer buffers[2];
    int next = 0;
  };
  struct Scan {
    AlignedBuffer all;
    int64_t elementBytes = 0;
    std::vector<int64_t> elementDims;
  };
  using Place = FunctionRef<void*(size_t output, int64_t bytes)>;

  Context& contextOf(size_t body);
  void runIf(std::span<const TensorArg> inputs, const Results& results);
  void runLoop(std::span<const TensorArg> inputs, const Results& results);
  void* placeInLoop(size_t bodyOutput, int64_t bytes);
  void* placeNext(Scan& scan, int64_t bytes);
  void takeOutputs(Context& body);
  void deliver(const Results& results);

  const LoadedEngine& engine_;
  const Step& step_;
  ThreadPool& threads_;
  std::vector<std::unique_ptr<Context>> contexts_;  // by body, made when first needed
  const Place* place_ = nullptr;                    // where the running body's outputs go
  int64_t iteration_ = 0, trips_ = 0;
  bool condition_ = true, nextCondition_ = true;
  std::vector<Carried> carried_;
  std::vector<Scan> scans_;
};

}  // namespace camshaft
