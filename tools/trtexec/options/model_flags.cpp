#include "flag.h"

namespace trtexec {

std::vector<Flag> modelFlags(Options& options) {
  return {{{"onnx"}, "FILE", "Model to build an engine from", stores(options.model.onnx)}};
}

}  // namespace trtexec
