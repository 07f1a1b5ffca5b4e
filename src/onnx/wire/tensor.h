// The values of a tensor read from a model.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "onnx/wire/external_data.h"
#include "onnx/wire/model.h"
#include "support/data_type.h"

namespace camshaft::onnx {

// Contiguous little-endian elements, exactly as many as the dims say, at any alignment. The bytes
// live as long as `owner`, or as the caller's buffer when the model was read from one.
struct TensorBytes {
  DataType type = DataType::kF32;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// The product of the dims; throws Error when one is negative or the product overflows.
int64_t elementCount(std::span<const int64_t> dims, std::string_view what);

// Zero-copy from raw and external data, decoded from the typed fields. Throws Error naming the
// tensor when the data does not fit its dims or the element type has no counterpart here.
TensorBytes tensorData(const Tensor& tensor, const ModelFiles& files);

// The same values with the zeros written out.
TensorBytes tensorData(const SparseTensor& tensor, const ModelFiles& files);

// The elements of a STRING tensor.
std::vector<std::string_view> tensorStrings(const Tensor& tensor);

}  // namespace camshaft::onnx
