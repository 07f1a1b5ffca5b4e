// For tests: an engine on the emulated GPU, and a context of it with memory.
#pragma once

#include <memory>
#include <numeric>
#include <string_view>
#include <vector>

#include "compiler/compile.h"
#include "cuda_emulator/emulated_backend.h"
#include "engine/engine_file.h"
#include "ops/ops.h"
#include "runtime/context.h"

namespace camshaft::emulator {

inline constexpr std::string_view kNetwork = R"(
graph net(%x: f32[n, 8]) {
  %s = Softmax(%x) {axis = 1}
  %y = Reduce(%s) {kind = sum, axes = [0], keep_dims = false}
  return %y
})";

inline std::shared_ptr<const LoadedEngine> build(std::string_view text) {
  CompileOptions options;
  options.device = "cuda";
  options.optimizationLevel = 0;
  options.profiles = {{.inputs = {{"x", {.min = {1, 8}, .opt = {4, 8}, .max = {16, 8}}}}}};
  return std::make_shared<LoadedEngine>(
      readEngine(writeEngine(compile(parseGraph(text, findOp), options))));
}

// A context with memory for `rows` rows of input and one of output.
struct Session {
  explicit Session(std::shared_ptr<const LoadedEngine> engine,
                   Context::ArenaOwner owner = Context::ArenaOwner::kContext)
      : device(engine->device()), input(device), output(device), context(engine, 1, owner) {
    device->makeCurrent();
    input.reserve(16 * 8 * sizeof(float));
    output.reserve(8 * sizeof(float));
    context.setInputAddress(0, input.data());
    context.setOutputAddress(0, output.data());
  }

  // The sum of the outputs, which is the number of rows.
  double run(int64_t rows, void* stream = nullptr) {
    const std::vector<float> ones(static_cast<size_t>(rows) * 8, 1.0f);
    device->copy(input.data(), ones.data(), rows * 32, stream);
    const int64_t shape[] = {rows, 8};
    context.setInputShape(0, shape);
    context.run(stream);
    std::vector<float> sums(8);
    device->copy(sums.data(), output.data(), 32, stream);
    device->synchronize(stream);
    return std::accumulate(sums.begin(), sums.end(), 0.0);
  }

  Device* device;
  DeviceBuffer input, output;
  Context context;
};

}  // namespace camshaft::emulator
