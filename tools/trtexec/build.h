// Getting an engine: from an ONNX model or from a file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "NvInfer.h"
#include "options/options.h"
#include "report.h"

namespace trtexec {

// All throw, without words where the library has logged the reason already.

std::vector<char> buildEngine(const Options& options, ConsoleLogger& log);
// From --loadEngine's file when given, else from the bytes just built.
std::unique_ptr<nvinfer1::ICudaEngine> loadEngine(nvinfer1::IRuntime& runtime,
                                                  const Options& options,
                                                  const std::vector<char>& built,
                                                  ConsoleLogger& log);
// Loads the engine again and again, and reports how long that takes.
void timeDeserialization(nvinfer1::IRuntime& runtime, const Options& options,
                         const std::vector<char>& built, ConsoleLogger& log);
// What wrote the file of --loadEngine, by its first bytes.
void printPlanVersion(const Options& options, ConsoleLogger& log);
// The routes that builds may take.
void printBuildRoutes(ConsoleLogger& log);

}  // namespace trtexec
