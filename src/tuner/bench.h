// A node's operands and the kernels that compete for it, at the sizes to time.
#pragma once

#include <optional>

#include "backend/kernel.h"
#include "tuner/trial.h"

namespace camshaft {

// A tensor of this type at these sizes, without data.
TensorArg argAt(const TensorType& type, const SymbolValue& opt);

// Inputs that are constants are as they are; others are filled such that results mean something:
// small random numbers, indices that exist.
TrialOperands operandsOf(const Node& node, const SymbolValue& opt);

// Whether the operator's rules hold at these sizes: those that only a run decides are guessed, and
// need not fit each other.
bool sizesFit(const Node& node, const SymbolValue& opt);

class Bench {
 public:
  // `opt`: sizes to time. Kernels of the host and plugins, which no other process has, run on
  // `host`, those of a device on `device`; both must outlive this, and the node too.
  Bench(const Node& node, SymbolValue opt, TrialRunner& host, TrialRunner& device)
      : node_(node), opt_(std::move(opt)), host_(host), device_(device) {}

  double measure(std::string_view kernel, const Prepared& prepared,
                 const std::vector<std::byte>* binary, const MeasureOptions& options);
  TrialResults run(std::string_view kernel, Prepared& prepared,
                   const std::vector<std::byte>* binary);
  // What the operator's own evaluate() gives.
  TrialResults evaluate() const;
  // Another bench has used the runners.
  void forgetOperands() { ready_ = nullptr; }
  bool isOnDevice(std::string_view kernel) const { return &runnerOf(kernel) == &device_; }
  // False when a kernel of this name has ruined its device.
  bool isUsable(std::string_view kernel) { return runnerOf(kernel).isUsable(); }

 private:
  TrialRunner& runnerOf(std::string_view kernel) const;
  TrialRunner& readyFor(std::string_view kernel);
  Trial trialOf(std::string_view kernel, const Prepared& prepared,
                const std::vector<std::byte>* binary) const;

  const Node& node_;
  SymbolValue opt_;
  TrialRunner &host_, &device_;
  TrialRunner* ready_ = nullptr;  // the one that has the operands
};

}  // namespace camshaft
