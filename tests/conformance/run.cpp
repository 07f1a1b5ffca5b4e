#include "conformance/run.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compiler/compile.h"
#include "engine/engine_file.h"
#include "support/error.h"

namespace camshaft::conformance {

std::shared_ptr<const LoadedEngine> build(const Graph& graph, const std::string& device, int level,
                                          std::vector<ShapeProfile> profiles,
                                          int64_t workspaceLimit) {
  CompileOptions options;
  options.device = device;
  options.optimizationLevel = level;
  options.threads = 2;
  options.allowTf32 = device == "cpu";  // whose products under it keep the suite's tolerances
  options.profiles = std::move(profiles);
  options.workspaceLimit = workspaceLimit;
  // The tuner compares results too, and must find none of these kernels wrong.
  options.log = Log(
      [](Severity, std::string_view text) {
        if (text.find("is not used: ") != std::string_view::npos) fail(ErrorKind::kInternal, text);
      },
      Severity::kWarning);
  return std::make_shared<LoadedEngine>(readEngine(writeEngine(compile(graph.clone(), options))));
}

namespace {

bool isClose(const HostTensor& got, const HostTensor& want, int64_t i, double tolerance) {
  const double a = readElement(got.type, got.view().data, i),
               b = readElement(want.type, want.view().data, i);
  if (!isFloat(want.type)) return a == b;
  if (std::isnan(b)) return std::isnan(a);
  return a == b || std::fabs(a - b) <= tolerance * (1 + std::fabs(b));
}

// What differs between the two, or "".
std::string difference(const HostTensor& got, const HostTensor& want, double tolerance) {
  for (int64_t i = 0; i < want.count(); ++i)
    if (!isClose(got, want, i, tolerance))
      return str("element ", i, " of ", want.count(), " is ",
                 readElement(got.type, got.view().data, i), " and should be ",
                 readElement(want.type, want.view().data, i));
  return "";
}

}  // namespace

Problem::Problem(const Graph& graph, std::vector<HostTensor> tensors, int profile)
    : inputs(std::move(tensors)), profile(profile) {
  std::vector<ConstTensorView> views;
  for (const HostTensor& input : inputs) views.push_back(input.view());
  wanted = evaluateGraph(graph, views);
}

namespace {

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

}  // namespace

std::string runOn(Context& context, const Problem& problem, double tolerance) {
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
      return str("output ", i, " has the shape [",
                 join(context.outputShape(static_cast<int>(i)), ", "), "] instead of [",
                 join(problem.wanted[i].dims, ", "), "]");
    const std::string wrong = difference(got[i], problem.wanted[i], tolerance);
    if (!wrong.empty()) return str("output ", i, ": ", wrong);
  }
  return "";
}

}  // namespace camshaft::conformance
