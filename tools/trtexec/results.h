// What a run has read and computed, printed and in files.
#pragma once

#include "inference.h"

namespace trtexec {

// --dumpOutput, --exportOutput and --dumpRawBindingsToFile, of the last run.
void reportResults(Stream& stream, const ReportingOptions& reporting, ConsoleLogger& log);
// Runs every reference pair and reports how far the outputs are from what they should be. False
// where one is beyond --accuracyThreshold.
bool checkAccuracy(Stream& stream, const InferenceOptions& inference, ConsoleLogger& log);

// A name that is a file's in every folder: other characters than these become '_'.
std::string fileNameOf(const std::string& name);

}  // namespace trtexec
