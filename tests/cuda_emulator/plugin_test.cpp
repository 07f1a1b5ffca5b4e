// Plugins in CUDA engines: they work in the device's memory, on the stream of the context, and see
// every run, also between what is recorded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "cuda_emulator/emulated_session.h"
#include "ops/plugin.h"
#include "support/error.h"

namespace camshaft {
namespace {

using emulator::EmulatedBackend;
using emulator::Session;

// y = x; the emulated device's memory is the host's.
class Copy final : public PluginOp {
 public:
  const std::string& label() const override { return label_; }
  PluginResults infer(std::span<const TensorType> inputs, std::span<const Shape>) const override {
    return {.outputs = {inputs[0]}, .sizes = {}};
  }
  std::string whyNot(const PluginTensors&) const override { return {}; }
  std::vector<int32_t> tactics(const PluginTensors&) const override { return {3, 4}; }
  PluginConfiguration configure(const PluginTensors& tensors, int32_t tactic) const override {
    EXPECT_EQ(tensors.inputs[0].max, (Dims{16, 8}));
    return {.params = {std::byte{7}, static_cast<std::byte>(tactic)}, .workspaceBytes = 512};
  }

 private:
  std::string label_ = "copy 1";
};

struct Runs {
  int loaded = 0, attached = 0, launched = 0;
  std::vector<void*> streams;
  Device* device = nullptr;
};

class Attached final : public AttachedPlugin {
 public:
  explicit Attached(Runs& runs) : runs_(runs) { ++runs_.attached; }
  void launch(const LaunchArgs& args) override {
    ++runs_.launched;
    runs_.streams.push_back(args.stream);
    EXPECT_GE(args.workspaceBytes, 512);
    EXPECT_TRUE(!runs_.device || runs_.device->canReach(args.workspace));
    const auto bytes = bytesOf(args.inputs[0].type, args.inputs[0].count());
    std::memcpy(args.outputs[0].data, args.inputs[0].data, bytes);
  }

 private:
  Runs& runs_;
};

class Loaded final : public Plugin {
 public:
  explicit Loaded(Runs& runs) : runs_(runs) { ++runs_.loaded; }
  std::unique_ptr<AttachedPlugin> attach() const override {
    return std::make_unique<Attached>(runs_);
  }

 private:
  Runs& runs_;
};

PluginLoader loaderTo(Runs& runs) {
  return [&runs](std::span<const std::byte> params) {
    EXPECT_EQ(params.size(), 2U);
    EXPECT_EQ(params[0], std::byte{7});
    return std::make_shared<Loaded>(runs);
  };
}

// Softmax, plugin, sum over the rows.
Graph network() {
  Graph graph = parseGraph(
      "graph net(%x: f32[n, 8]) { %s = Softmax(%x) {axis = 1} %y = Reduce(%s) {kind = sum, "
      "axes = [0], keep_dims = false} return %y }",
      findOp);
  Node* reduce = graph.nodes().back().get();
  graph.setInput(reduce, 0,
                 addPlugin(graph, "copy", {reduce->input(0)},
                           PluginAttrs(std::make_shared<const Copy>()), reduce)
                     .front());
  return graph;
}

CompileOptions options(Runs& runs) {
  CompileOptions options;
  options.device = "cuda";
  options.optimizationLevel = 0;
  options.profiles = {{.inputs = {{"x", {.min = {1, 8}, .opt = {4, 8}, .max = {16, 8}}}}}};
  options.loadPlugin = loaderTo(runs);
  return options;
}

TEST(EmulatedPlugin, RunsBetweenRecordings) {
  EmulatedBackend backend;
  Runs runs;
  const Plan plan = compile(network(), options(runs));
  ASSERT_EQ(plan.profiles[0].steps.size(), 3U);
  EXPECT_EQ(plan.profiles[0].steps[1].kernel, "cuda/plugin");
  EXPECT_EQ(runs.loaded, 0);
  Session session(
      std::make_shared<LoadedEngine>(readEngine(writeEngine(plan)), nullptr, loaderTo(runs)));
  runs.device = session.device;
  void* stream = session.device->createStream();
  for (int i = 0; i < 4; ++i) EXPECT_DOUBLE_EQ(session.run(3, stream), 3);
  EXPECT_EQ(runs.loaded, 1);
  EXPECT_EQ(runs.attached, 1);
  EXPECT_EQ(runs.launched, 4);
  EXPECT_THAT(runs.streams, testing::Each(stream));
  session.device->destroyStream(stream);
}

TEST(EmulatedPlugin, IsTimedInTheProcessThatHasIt) {
  EmulatedBackend backend;
  Runs runs;
  CompileOptions timed = options(runs);
  timed.optimizationLevel = 1;
  const Plan plan = compile(network(), timed);
  EXPECT_EQ(runs.loaded, 2);  // one for each tactic
  EXPECT_GT(runs.launched, 3);
  EXPECT_THAT(plan.profiles[0].steps[1].info.why, testing::HasSubstr("fastest of 2 measured"));
}

TEST(EmulatedPlugin, NeedsALoader) {
  EmulatedBackend backend;
  Runs runs;
  const std::vector<std::byte> file = writeEngine(compile(network(), options(runs)));
  try {
    const LoadedEngine engine(readEngine(file));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "layer 'copy' is a plugin, and this program does not load plugins");
  }
}

}  // namespace
}  // namespace camshaft
