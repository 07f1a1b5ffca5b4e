// Camshaft's messages in Triton's log.
#pragma once

#include <string>

#include "NvInfer.h"
#include "triton_api.h"

namespace triton_backend {

// The one logger of the backend. Errors are remembered for the call that failed; whoever asked gets
// them as a response or as the reason why a model is not loaded, so the log has them only where it
// is verbose: a client that sends nonsense does not fill it.
nvinfer1::ILogger& camshaftLog();

// The first error of this thread since it was last asked for; empty where there was none.
std::string takeCamshaftError();

void log(TRITONSERVER_LogLevel level, const std::string& message);

}  // namespace triton_backend
