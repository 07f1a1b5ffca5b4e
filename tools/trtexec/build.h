// Getting an engine: from an ONNX model or from a file.
#pragma once

#include <memory>
#include <string>

#include "NvInfer.h"
#include "options/options.h"
#include "report.h"

namespace trtexec {

// All throw, without words where the library has logged the reason already.

// Where an engine is: in a file, or in memory where nobody asked for one.
struct StoredEngine {
  std::string file;
  std::unique_ptr<nvinfer1::IHostMemory> bytes;
};
// Written to --saveEngine's file as it is built, if there is one.
StoredEngine buildEngine(const Options& options, ConsoleLogger& log);
std::unique_ptr<nvinfer1::ICudaEngine> loadEngine(nvinfer1::IRuntime& runtime,
                                                  const StoredEngine& stored, ConsoleLogger& log);
// Loads the engine again and again, and reports how long that takes.
void timeDeserialization(nvinfer1::IRuntime& runtime, const StoredEngine& stored,
                         ConsoleLogger& log);
// What wrote the file of --loadEngine, by its first bytes.
void printPlanVersion(const Options& options, ConsoleLogger& log);
// The routes that builds may take.
void printBuildRoutes(ConsoleLogger& log);

}  // namespace trtexec
