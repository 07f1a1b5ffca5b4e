// Every case on every device, through compiler, engine file and runtime, against the operators'
// own evaluation. A new backend passes this suite: a line in devices.list turns it on.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>
#include <thread>

#include "compiler/compile.h"
#include "conformance/case.h"
#include "engine/engine_file.h"
#include "ops/ops.h"
#include "runtime/context.h"
#include "support/error.h"

namespace camshaft::conformance {
namespace {

std::shared_ptr<const LoadedEngine> build(const Case& c, const Graph& graph, const std::string& device, int level) {
  CompileOptions options;
  options.device = device;
  options.optimizationLevel = level;
  options.threads = 2;
  options.allowTf32 = device == "cpu";  // whose products under it keep the suite's tolerances
  options.profiles = c.profiles(graph);
  return std::make_shared<LoadedEngine>(readEngine(writeEngine(compile(graph.clone(), options))));
}

bool isClose(const HostTensor& got, const HostTensor& want, int64_t i, double tolerance) {
  const double a = readElement(got.type, got.view().data, i), b = readElement(want.type, want.view().data, i);
  if (!isFloat(want.type)) return a == b;
  if (std::isnan(b)) return std::isnan(a);
  return a == b || std::fabs(a - b) <= tolerance * (1 + std::fabs(b));
}

// What differs between the two, or "".
std::string difference(const HostTensor& got, const HostTensor& want, double tolerance) {
  for (int64_t i = 0; i < want.count(); ++i)
    if (!isClose(got, want, i, tolerance))
      return str("element ", i, " of ", want.count(), " is ", readElement(got.type, got.view().data, i),
                 " and should be ", readElement(want.type, want.view().data, i));
  return "";
}

// The inputs of one run with what the graph should make of them.
struct Problem {
  std::vector<HostTensor> inputs;
  std::vector<HostTensor> wanted;
  int profile;

  Problem(const Case& c, const Graph& graph, size_t run)
      : inputs(c.inputs(graph, c.runs[run])), profile(c.profileOf(run)) {
    std::vector<ConstTensorView> views;
    for (const HostTensor& input : inputs) views.push_back(input.view());
    wanted = evaluateGraph(graph, views);
  }
};

// A tensor where the engine wants it: on its device, or here.
class Placed {
 public:
  Placed(camshaft::Device* device, const HostTensor& tensor)
      : device_(device), bytes_(static_cast<int64_t>(tensor.bytes.size())), buffer_(device) {
    buffer_.reserve(std::max<int64_t>(bytes_, 1));
    move(buffer_.data(), tensor.bytes.data());
  }
  void* data() const { return buffer_.data(); }
  void read(HostTensor& tensor) const { move(tensor.bytes.data(), buffer_.data()); }

 private:
  void move(void* to, const void* from) const {
    if (bytes_ == 0) return;
    if (!device_) {
      std::memcpy(to, from, static_cast<size_t>(bytes_));
      return;
    }
    device_->copy(to, from, bytes_, nullptr);
    device_->synchronize(nullptr);
  }

  camshaft::Device* device_;
  int64_t bytes_;
  DeviceBuffer buffer_;
};

// Runs it on memory that starts poisoned and says what went wrong, or "".
std::string runOn(Context& context, Problem& problem, double tolerance) {
  if (context.profile() != problem.profile) context.setProfile(problem.profile);
  camshaft::Device* device = context.engine().device();
  if (device) device->makeCurrent();
  std::vector<HostTensor> got;
  std::vector<Placed> inputs, outputs;
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    const bool onHost = context.engine().plan().inputs[i].isOnHost;
    inputs.emplace_back(onHost ? nullptr : device, problem.inputs[i]);
    context.setInputShape(static_cast<int>(i), problem.inputs[i].dims);
    context.setInputAddress(static_cast<int>(i), inputs[i].data());
  }
  for (const HostTensor& wanted : problem.wanted) {
    got.emplace_back(wanted.type, wanted.dims);
    std::fill(got.back().bytes.begin(), got.back().bytes.end(), std::byte{0xfe});
    outputs.emplace_back(device, got.back());
    context.setOutputAddress(static_cast<int>(outputs.size()) - 1, outputs.back().data());
  }
  context.run();
  for (size_t i = 0; i < got.size(); ++i) {
    outputs[i].read(got[i]);
    if (context.outputShape(static_cast<int>(i)) != problem.wanted[i].dims)
      return str("output ", i, " has the shape [", join(context.outputShape(static_cast<int>(i)), ", "),
                 "] instead of [", join(problem.wanted[i].dims, ", "), "]");
    const std::string wrong = difference(got[i], problem.wanted[i], tolerance);
    if (!wrong.empty()) return str("output ", i, ": ", wrong);
  }
  return "";
}

// All runs one after the other, forwards and back, on one context.
std::string runAll(const std::shared_ptr<const LoadedEngine>& engine, std::vector<Problem> problems, int threads,
                   double tolerance) {
  try {
    Context context(engine, threads);
    for (size_t i = 0; i < 2 * problems.size(); ++i) {
      const size_t run = i < problems.size() ? i : 2 * problems.size() - 1 - i;
      const std::string wrong = runOn(context, problems[run], tolerance);
      if (!wrong.empty()) return str("run ", run, " with ", threads, " threads: ", wrong);
    }
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

struct Cell {
  Device device;
  const Case* problem;
};

std::vector<Cell> allCells() {
  std::vector<Cell> cells;
  for (const Device& device : allDevices())
    for (const Case& c : allCases()) cells.push_back({device, &c});
  return cells;
}

class Conformance : public ::testing::TestWithParam<Cell> {};

TEST_P(Conformance, Agrees) {
  const auto& [device, c] = GetParam();
  if (const auto skip = device.skips.find(c->name); skip != device.skips.end()) GTEST_SKIP() << skip->second;
  const Graph graph = c->graph();
  std::vector<Problem> problems;
  for (size_t i = 0; i < c->runs.size(); ++i) problems.emplace_back(*c, graph, i);

  for (int level : allLevels()) {
    SCOPED_TRACE(str("optimisation level ", level));
    const auto engine = build(*c, graph, device.name, level);
    EXPECT_EQ(runAll(engine, problems, 1, c->tolerance), "");
    std::string other;
    std::thread second([&] { other = runAll(engine, problems, 2, c->tolerance); });
    EXPECT_EQ(runAll(engine, problems, 2, c->tolerance), "") << "beside another context";
    second.join();
    EXPECT_EQ(other, "") << "beside another context";
  }
}

INSTANTIATE_TEST_SUITE_P(All, Conformance, ::testing::ValuesIn(allCells()), [](const auto& info) {
  return str(info.param.device.name, "_", info.param.problem->name);
});

TEST(ConformanceCases, UseEveryOperator) {
  std::set<std::string> missing;
  for (Op op : allOps()) missing.emplace(op->name);
  for (const Case& c : allCases()) {
    const Graph graph = c.graph();
    for (const auto& node : graph.nodes()) missing.erase(std::string(node->op->name));
  }
  EXPECT_TRUE(missing.empty()) << "no case has " << join(missing, ", ");
}

TEST(ConformanceCases, HaveNamesOfTheirOwnAndSkipsThatExist) {
  std::set<std::string> names;
  for (const Case& c : allCases()) EXPECT_TRUE(names.insert(c.name).second) << c.name << " in " << c.file;
  for (const Device& device : allDevices())
    for (const auto& [name, reason] : device.skips) EXPECT_TRUE(names.contains(name)) << name;
}

}  // namespace
}  // namespace camshaft::conformance
