// Parameters of kernels that are one plain struct, checked when an engine is loaded.
#pragma once

#include <cstring>
#include <memory>
#include <span>

#include "backend/launch.h"
#include "support/error.h"

namespace camshaft::cpu {

// For RuntimeKernel::load. Params::isValid() says whether the values keep launch() within bounds.
template <class Params>
std::shared_ptr<const void> loadParams(std::span<const std::byte> bytes) {
  auto params = std::make_shared<Params>();
  const bool fits = bytes.size() == sizeof(Params);
  if (fits) std::memcpy(params.get(), bytes.data(), sizeof(Params));
  if (!fits || !params->isValid())
    fail(ErrorKind::kInvalidEngine, "the engine holds damaged parameters of a kernel");
  return params;
}

inline constexpr bool isAxis(int64_t axis) { return axis >= 0 && axis < kMaxRank; }

inline void requireAxis(const TensorArg& tensor, int64_t axis) {
  if (axis >= tensor.rank)
    fail(ErrorKind::kInvalidEngine, "the engine works along dimension ", axis,
         " of a tensor of rank ", tensor.rank);
}

}  // namespace camshaft::cpu
