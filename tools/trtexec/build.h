// Getting an engine: from an ONNX model or from a file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "NvInfer.h"
#include "options.h"
#include "report.h"

namespace trtexec {

// Both throw std::runtime_error when the library reported the reason already.
std::vector<char> buildEngine(const Options& options, ConsoleLogger& log);
// From --loadEngine's file when given, else from the bytes just built.
std::unique_ptr<nvinfer1::ICudaEngine> loadEngine(nvinfer1::IRuntime& runtime,
                                                  const Options& options,
                                                  const std::vector<char>& built,
                                                  ConsoleLogger& log);

}  // namespace trtexec
