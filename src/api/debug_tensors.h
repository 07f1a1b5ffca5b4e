// Debug tensors of a context: which are shown, and to whom.
#pragma once

#include <set>
#include <string>

#include "NvInferRuntime.h"
#include "runtime/context.h"

namespace camshaft::api {

// Names of the tensors that a network marked, in the order of the steps, those in bodies too;
// without those that are shown because they are stored anyway.
std::vector<std::string> debugTensorsOf(const Plan& plan);

class DebugTensors {
 public:
  explicit DebugTensors(Context& context);
  DebugTensors(const DebugTensors&) = delete;  // the context knows its observer
  DebugTensors& operator=(const DebugTensors&) = delete;

  nvinfer1::IDebugListener* listener() const { return listener_; }
  void setListener(nvinfer1::IDebugListener* listener);
  void setState(const char* name, bool on);  // throws where nobody marked it
  void setAll(bool on);
  void setUnfused(bool on);
  bool state(const char* name) const { return name && on_.contains(name); }
  bool unfused() const { return isUnfusedOn_; }

 private:
  void attach();  // to the context, when there is anything to show
  void show(const ObservedTensor& tensor, const TensorArg& value, bool onDevice, void* stream);

  Context& context_;
  std::vector<std::string> marked_;
  nvinfer1::IDebugListener* listener_ = nullptr;
  std::set<std::string, std::less<>> on_;
  bool isUnfusedOn_ = false;
  Observer observer_;
};

}  // namespace camshaft::api
