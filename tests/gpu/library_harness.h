// Runs steps of the vendor's libraries on the GPU and compares them with the host.
#pragma once

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "backend/device.h"
#include "backends/cuda/runtime/cuda_device.h"
#include "backends/cuda/runtime/libraries/libraries.h"
#include "support/error.h"
#include "support/half.h"
#include "support/stopwatch.h"

namespace camshaft::cuda::library_check {

template <class T>
void convertTo(const std::vector<double>& from, std::vector<std::byte>& bytes) {
  bytes.resize(from.size() * sizeof(T));
  T* to = reinterpret_cast<T*>(bytes.data());
  for (size_t i = 0; i < from.size(); ++i) {
    if constexpr (std::is_arithmetic_v<T>)
      to[i] = static_cast<T>(from[i]);
    else
      to[i] = T(static_cast<float>(from[i]));
  }
}

template <class T>
void convertFrom(const std::vector<std::byte>& bytes, std::vector<double>& to) {
  const T* from = reinterpret_cast<const T*>(bytes.data());
  for (size_t i = 0; i < to.size(); ++i) {
    if constexpr (std::is_arithmetic_v<T>)
      to[i] = static_cast<double>(from[i]);
    else
      to[i] = static_cast<float>(from[i]);
  }
}

// A function per element type.
template <class F>
void dispatch(DataType type, F&& f) {
  switch (type) {
    case DataType::kF16:
      return f.template operator()<Half>();
    case DataType::kBF16:
      return f.template operator()<BFloat16>();
    case DataType::kF32:
      return f.template operator()<float>();
    case DataType::kF64:
      return f.template operator()<double>();
    case DataType::kI8:
      return f.template operator()<int8_t>();
    case DataType::kI32:
      return f.template operator()<int32_t>();
    case DataType::kF8E4M3:
      return f.template operator()<Float8E4M3>();
    case DataType::kF8E5M2:
      return f.template operator()<Float8E5M2>();
    default:
      std::abort();
  }
}

// A tensor on the GPU with the values it has there, as doubles here.
class Tensor {
 public:
  Tensor(DataType type, std::vector<int64_t> dims, std::vector<double> wanted)
      : values(std::move(wanted)) {
    arg_.type = type;
    arg_.rank = static_cast<int32_t>(dims.size());
    std::copy(dims.begin(), dims.end(), arg_.dims);
    std::vector<std::byte> bytes;
    dispatch(type, [&]<class T>() {
      convertTo<T>(values, bytes);
      convertFrom<T>(bytes, values);
    });
    buffer_.reserve(static_cast<int64_t>(bytes.size()) + 256);
    arg_.data = buffer_.data();
    currentDevice().copy(buffer_.data(), bytes.data(), static_cast<int64_t>(bytes.size()), nullptr);
    currentDevice().synchronize(nullptr);
  }

  const TensorArg& arg() const { return arg_; }
  std::vector<double> download() const {
    std::vector<std::byte> bytes(bytesOf(arg_.type, arg_.count()));
    currentDevice().copy(bytes.data(), buffer_.data(), static_cast<int64_t>(bytes.size()), nullptr);
    currentDevice().synchronize(nullptr);
    std::vector<double> result(arg_.count());
    dispatch(arg_.type, [&]<class T>() { convertFrom<T>(bytes, result); });
    return result;
  }

  std::vector<double> values;

 private:
  TensorArg arg_;
  DeviceBuffer buffer_{&currentDevice()};
};

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  Tensor tensor(DataType type, std::vector<int64_t> dims) {
    int64_t count = 1;
    for (const int64_t dim : dims) count *= dim;
    std::vector<double> values(count);
    for (double& value : values)
      value = isInteger(type) ? static_cast<double>(whole_(engine_)) : real_(engine_);
    return Tensor(type, std::move(dims), std::move(values));
  }

 private:
  std::mt19937 engine_;
  std::uniform_real_distribution<double> real_{-1, 1};
  std::uniform_int_distribution<int> whole_{-8, 8};
};

inline Tensor zeros(DataType type, std::vector<int64_t> dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  return Tensor(type, std::move(dims), std::vector<double>(count, 0));
}

// How a step is run.
enum class Mode { kEager, kRecorded };

class Step {
 public:
  Step(const RuntimeKernel& kernel, std::vector<std::byte> params, int64_t workspaceBytes)
      : kernel_(kernel), workspaceBytes_(workspaceBytes), state_(kernel.load(params)) {}

  // False when the kernel says that the operands do not fit.
  bool run(std::vector<TensorArg> inputs, TensorArg output, std::vector<int64_t> dims, Mode mode,
           int64_t extraWorkspace = 0) const {
    Device& device = currentDevice();
    DeviceBuffer workspace(&device);
    workspace.reserve(workspaceBytes_ + extraWorkspace + 256);
    void* stream = device.createStream();
    const LaunchArgs args{.inputs = inputs,
                          .outputs = {&output, 1},
                          .dims = dims,
                          .workspace = workspace.data(),
                          .workspaceBytes = workspaceBytes_ + extraWorkspace,
                          .stream = stream};
    if (!kernel_.fits(state_.get(), args)) return false;
    const auto recording = mode == Mode::kRecorded ? record(args) : nullptr;
    for (int i = 0; recording && i < 2; ++i) recording->replay(stream);
    if (!recording) kernel_.launch(state_.get(), args);
    device.synchronize(stream);
    device.destroyStream(stream);
    return true;
  }

  // How many could be recorded, and how many could not: engines launch these by themselves.
  inline static std::atomic<int> recorded = 0, unrecordable = 0;

 private:
  std::unique_ptr<Recording> record(const LaunchArgs& args) const {
    try {
      auto recording =
          currentDevice().record(args.stream, [&] { kernel_.launch(state_.get(), args); });
      ++recorded;
      return recording;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kUnsupported) throw;
      ++unrecordable;
      std::printf("not recorded: %s: %s\n", std::string(kernel_.name).c_str(), error.what());
      return nullptr;
    }
  }

  const RuntimeKernel& kernel_;
  int64_t workspaceBytes_;
  std::shared_ptr<const void> state_;
};

// Largest difference, against the largest value.
inline double difference(const std::vector<double>& got, const std::vector<double>& wanted) {
  double worst = 0, largest = 1e-6;
  for (size_t i = 0; i < wanted.size(); ++i) {
    largest = std::max(largest, std::abs(wanted[i]));
    const double apart = std::abs(got[i] - wanted[i]);
    worst = std::max(worst, std::isfinite(got[i]) ? apart : INFINITY);
  }
  return worst / largest;
}

// How far a sum of that many random products is off when factors keep 10 mantissa bits.
inline double tf32Error(double products) { return std::ldexp(std::sqrt(products), -11); }

inline double toleranceOf(DataType input, DataType output, bool isTf32) {
  if (output == DataType::kF16) return 2e-3;
  if (output == DataType::kBF16) return 1e-2;
  if (output == DataType::kI32) return 0;
  if (output == DataType::kF64) return 1e-12;
  return input == DataType::kF32 ? (isTf32 ? 3e-3 : 1e-5) : 1e-3;
}

// What is to be checked, and how thoroughly.
struct Selection {
  std::string part;            // of a check's name; empty: all
  int plans = 4;               // per problem
  double secondsPerPart = 20;  // checks that would start later are skipped
};

// Counts what was seen.
struct Report {
  Selection selection;
  Stopwatch sinceStart;
  int passed = 0, failed = 0, refused = 0, skipped = 0;
  double slowestFirstRun = 0;  // milliseconds, loading the plan included
  void add(const std::string& what, double apart, double tolerance) {
    const bool isGood = apart <= tolerance;
    ++(isGood ? passed : failed);
    if (!isGood)
      std::printf("FAILED %s: off by %.3g, %.3g allowed\n", what.c_str(), apart, tolerance);
  }
  // A check that throws fails alone.
  template <class F>
  void guard(const std::string& what, F&& check) {
    if (what.find(selection.part) == std::string::npos) return;
    if (sinceStart.milliseconds() > selection.secondsPerPart * 1000) {
      ++skipped;
      return;
    }
    try {
      check();
    } catch (const Error& error) {
      fail(what, error.message());
    }
  }
  template <class F>
  auto timed(F&& firstRun) {
    const Stopwatch watch;
    const auto result = firstRun();
    slowestFirstRun = std::max(slowestFirstRun, watch.milliseconds());
    return result;
  }
  void fail(const std::string& what, const std::string& why) {
    ++failed;
    std::printf("FAILED %s: %s\n", what.c_str(), why.c_str());
  }
  void refuse(const std::string& what) {
    ++refused;
    std::printf("no plan for %s\n", what.c_str());
  }
};

}  // namespace camshaft::cuda::library_check
