// Where ranges of tensors come from when a build may use INT8.
#pragma once

#include <memory>

#include "NvInfer.h"
#include "options/options.h"

namespace trtexec {

// Reads --calib, or stands in for data with random numbers, whose ranges make layers as fast as
// they will be and results meaningless. Null where nothing is to be calibrated. It must live as
// long as the build.
std::unique_ptr<nvinfer1::IInt8Calibrator> makeCalibrator(
    const Options& options, const nvinfer1::INetworkDefinition& network,
    nvinfer1::IBuilderConfig& config);

}  // namespace trtexec
