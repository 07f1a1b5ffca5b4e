// ITensor: a value of the network's graph.
#pragma once

#include <optional>
#include <string>

#include "api/implements.h"
#include "ir/graph.h"
#include "support/tensor_range.h"

namespace camshaft::api {

class Network;

// Stays the same object when an edit replaces the value behind it.
class Tensor final : public Implements<nvinfer1::ITensor> {
 public:
  Tensor(Network& network, Value* value) : network_(network), value_(value) {}

  Network& network() const { return network_; }
  Value* value() const { return value_; }  // null once the tensor was removed
  void bind(Value* value) { value_ = value; }
  // The type the user gives or wants it in, as an input or output of the network.
  std::optional<DataType> borderType() const { return borderType_; }
  // What a build stores it in, as an input or output of the network.
  nvinfer1::TensorFormat format() const;
  // An output whose values are known without a run.
  bool isShapeOutput() const { return isShapeOutput_; }
  void setShapeOutput(bool isShapeOutput) { isShapeOutput_ = isShapeOutput; }
  bool isDebug() const { return isDebug_; }  // runs show it to a listener
  void setDebug(bool isDebug) { isDebug_ = isDebug; }

  void setName(const char* name) noexcept override;
  const char* getName() const noexcept override;
  void setDimensions(const nvinfer1::Dims& dims) noexcept override;
  nvinfer1::Dims getDimensions() const noexcept override;
  void setType(nvinfer1::DataType type) noexcept override;
  nvinfer1::DataType getType() const noexcept override;
  bool isNetworkInput() const noexcept override;
  bool isNetworkOutput() const noexcept override;
  bool isShapeTensor() const noexcept override;
  bool isExecutionTensor() const noexcept override;
  void setDimensionName(int32_t index, const char* name) noexcept override;
  const char* getDimensionName(int32_t index) const noexcept override;
  nvinfer1::TensorLocation getLocation() const noexcept override;
  void setLocation(nvinfer1::TensorLocation location) noexcept override;
  void setAllowedFormats(nvinfer1::TensorFormats formats) noexcept override;
  nvinfer1::TensorFormats getAllowedFormats() const noexcept override { return formats_; }
  // Batches are dimensions like others.
  void setBroadcastAcrossBatch(bool) noexcept override {}
  bool getBroadcastAcrossBatch() const noexcept override { return false; }

  bool setDynamicRange(float min, float max) noexcept override;
  bool dynamicRangeIsSet() const noexcept override { return range_.has_value(); }
  void resetDynamicRange() noexcept override { range_.reset(); }
  float getDynamicRangeMin() const noexcept override;
  float getDynamicRangeMax() const noexcept override;
  const std::optional<TensorRange>& range() const { return range_; }

 private:
  Network& network_;
  Value* value_;
  std::optional<DataType> borderType_;
  bool isShapeOutput_ = false;
  bool isDebug_ = false;
  std::optional<TensorRange> range_;
  static constexpr nvinfer1::TensorFormats kAnyFormat =
      (1u << nvinfer1::EnumMax<nvinfer1::TensorFormat>()) - 1;
  nvinfer1::TensorFormats formats_ = kAnyFormat;
};

// The symbols of a run-time dimension that was not named, and of any text used as a name.
std::string defaultSymbol(const std::string& input, int64_t index);
std::string symbolNamed(const std::string& text);

// Sizes as the public API shows them: -1 where a dimension is not a number.
nvinfer1::Dims publicDims(const Shape& shape);

}  // namespace camshaft::api
