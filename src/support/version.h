// Camshaft's own version (the TensorRT version it answers to is in NvInferVersion.h).
#pragma once

namespace camshaft {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace camshaft
