// Parameters of kernels that are one plain struct, checked when an engine is loaded.
#pragma once

#include <memory>
#include <span>

#include "backend/launch.h"
#include "support/byte_reader.h"
#include "support/error.h"

namespace camshaft::cpu {

// For RuntimeKernel::load. Params::isValid() says whether the values keep launch() within bounds.
template <class Params>
std::shared_ptr<const void> loadParams(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, "the parameters of a kernel");
  auto params = std::make_shared<Params>(reader.read<Params>());
  reader.expectEnd();
  if (!params->isValid())
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
