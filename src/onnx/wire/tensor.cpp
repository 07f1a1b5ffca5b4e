#include "onnx/wire/tensor.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "onnx/wire/element_type.h"
#include "onnx/wire/field_reader.h"
#include "support/error.h"

namespace camshaft::onnx {

static_assert(std::endian::native == std::endian::little, "ONNX stores little-endian elements");

namespace {

std::string describe(const Tensor& tensor) {
  return tensor.name.empty() ? "an unnamed tensor" : str("tensor '", tensor.name, "'");
}

[[noreturn]] void failSize(const Tensor& tensor, uint64_t found, uint64_t needed) {
  fail(ErrorKind::kInvalidModel, describe(tensor), " of ", onnxTypeName(tensor.dataType), " [",
       join(tensor.dims, ", "), "] needs ", needed, " bytes of data, but has ", found);
}

// The typed field of TensorProto that holds elements of a type.
struct TypedField {
  uint32_t tag;
  bool isVarint;
};

TypedField typedField(DataType type) {
  switch (type) {
    case DataType::kF32:
      return {4, false};
    case DataType::kF64:
      return {10, false};
    case DataType::kI64:
      return {7, true};
    case DataType::kU32:
    case DataType::kU64:
      return {11, true};
    default:
      return {5, true};
  }
}

FieldReader enter(const Tensor& tensor, Trail& trail) {
  const std::string_view encoded(reinterpret_cast<const char*>(tensor.encoded.data()),
                                 tensor.encoded.size());
  return FieldReader(trail, {"tensor", -1, encoded, 8});
}

// Narrow types keep their bits in the low end of a wider integer; packed types, a byte at a time.
std::vector<std::byte> decodeTyped(const Tensor& tensor, DataType type, uint64_t size) {
  const TypedField field = typedField(type);
  const size_t width = isPacked(type) ? 1 : bytesOf(type, 1);
  std::vector<std::byte> out;
  // A varint of one byte becomes at most eight: the declared size is not trusted with more.
  out.reserve(std::min<uint64_t>(size, tensor.encoded.size() * 8));
  const auto append = [&](const void* data, size_t count) {
    if (count > size - out.size()) failSize(tensor, out.size() + count, size);
    const auto* bytes = static_cast<const std::byte*>(data);
    out.insert(out.end(), bytes, bytes + count);
  };

  Trail trail("the model");
  FieldReader in = enter(tensor, trail);
  while (in.next()) {
    if (in.tag() != field.tag) {
      in.skip();
    } else if (field.isVarint) {
      in.varints([&](int64_t value) {
        if (type == DataType::kBool) value = value != 0;
        append(&value, width);
      });
    } else {
      const std::string_view elements = in.fixed(width);
      append(elements.data(), elements.size());
    }
  }
  if (out.size() != size) failSize(tensor, out.size(), size);
  return out;
}

template <class Container>
TensorBytes own(DataType type, Container bytes) {
  const auto owner = std::make_shared<const Container>(std::move(bytes));
  return {type, *owner, owner};
}

TensorBytes findData(const Tensor& tensor, DataType type, uint64_t size, const ModelFiles& files) {
  if (tensor.external) {
    if (size == 0) return {type};
    OwnedBytes found = files.external(*tensor.external, size, describe(tensor));
    return {type, found.bytes, std::move(found.owner)};
  }
  if (!tensor.raw) return own(type, decodeTyped(tensor, type, size));
  if (tensor.raw->size() != size) failSize(tensor, tensor.raw->size(), size);
  return {type, *tensor.raw, files.model().owner};
}

// Everything after this may rely on a bool being 0 or 1.
TensorBytes normalizeBools(TensorBytes data) {
  const auto isClean = [](std::byte value) { return value <= std::byte{1}; };
  if (std::ranges::all_of(data.bytes, isClean)) return data;
  std::vector<std::byte> clean(data.bytes.begin(), data.bytes.end());
  for (std::byte& value : clean) value = std::byte{value != std::byte{0}};
  return own(DataType::kBool, std::move(clean));
}

int64_t loadInt64(std::span<const std::byte> bytes, size_t index) {
  int64_t value;
  std::memcpy(&value, bytes.data() + index * sizeof(value), sizeof(value));
  return value;
}

// Where the values of a sparse tensor go in the dense one. ONNX gives each either one linear
// index or one index per dim.
std::vector<int64_t> densePositions(const SparseTensor& sparse, int64_t denseCount,
                                    int64_t valueCount, const ModelFiles& files) {
  const std::string what = describe(sparse.values);
  const TensorBytes indices = tensorData(sparse.indices, files);
  const auto rank = static_cast<int64_t>(sparse.dims.size());
  const bool isLinear = sparse.indices.dims == std::vector<int64_t>{valueCount};
  if (indices.type != DataType::kI64 ||
      (!isLinear && sparse.indices.dims != std::vector<int64_t>{valueCount, rank})) {
    fail(ErrorKind::kInvalidModel, "sparse ", what, " needs INT64 indices of shape [", valueCount,
         "] or [", valueCount, ", ", rank, "]");
  }
  std::vector<int64_t> positions(valueCount, 0);
  for (int64_t v = 0; v < valueCount; ++v) {
    for (int64_t axis = 0; axis < (isLinear ? 1 : rank); ++axis) {
      const int64_t extent = isLinear ? denseCount : sparse.dims[axis];
      const int64_t index = loadInt64(indices.bytes, isLinear ? v : v * rank + axis);
      if (index < 0 || index >= extent) {
        fail(ErrorKind::kInvalidModel, "sparse ", what, " has the index ", index,
             " where only 0 to ", extent - 1, " exist");
      }
      positions[v] = positions[v] * extent + index;
    }
  }
  return positions;
}

}  // namespace

int64_t elementCount(std::span<const int64_t> dims, std::string_view what) {
  // Leaves room to count bytes and bits of any element type.
  constexpr int64_t kMaxElements = int64_t{1} << 56;
  int64_t count = 1;
  bool overflows = false;
  for (const int64_t dim : dims) {
    if (dim < 0) fail(ErrorKind::kInvalidModel, what, " has the negative dimension ", dim);
    if (__builtin_mul_overflow(count, std::max<int64_t>(dim, 1), &count)) overflows = true;
  }
  if (std::ranges::find(dims, 0) != dims.end()) return 0;
  if (overflows || count > kMaxElements) {
    fail(ErrorKind::kInvalidModel, what, " has impossibly large dimensions [", join(dims, ", "),
         "]");
  }
  return count;
}

TensorBytes tensorData(const Tensor& tensor, const ModelFiles& files) {
  const std::string what = describe(tensor);
  if (tensor.segmented) {
    fail(ErrorKind::kUnsupported, what, " is stored in segments, which Camshaft does not support");
  }
  const DataType type = dataTypeOf(tensor.dataType, what);
  TensorBytes data = findData(tensor, type, bytesOf(type, elementCount(tensor.dims, what)), files);
  return type == DataType::kBool ? normalizeBools(std::move(data)) : data;
}

TensorBytes tensorData(const SparseTensor& sparse, const ModelFiles& files) {
  constexpr int64_t kMaxDenseBytes = int64_t{1} << 30;
  const std::string what = describe(sparse.values);
  const TensorBytes values = tensorData(sparse.values, files);
  const int64_t count = elementCount(sparse.dims, what);
  if (isPacked(values.type) || bytesOf(values.type, count) > kMaxDenseBytes) {
    fail(ErrorKind::kUnsupported, "sparse ", what, " of ", values.type, " [",
         join(sparse.dims, ", "), "] cannot be written out densely: store it as a dense tensor");
  }
  const size_t width = bytesOf(values.type, 1);
  const auto valueCount = static_cast<int64_t>(values.bytes.size() / width);
  std::vector<std::byte> dense(count * width);
  const std::vector<int64_t> positions = densePositions(sparse, count, valueCount, files);
  for (int64_t v = 0; v < valueCount; ++v) {
    std::memcpy(dense.data() + positions[v] * width, values.bytes.data() + v * width, width);
  }
  return own(values.type, std::move(dense));
}

std::vector<std::string_view> tensorStrings(const Tensor& tensor) {
  constexpr uint32_t kStringData = 6;
  const std::string what = describe(tensor);
  if (tensor.dataType != kOnnxString) {
    fail(ErrorKind::kInvalidModel, what, " should hold strings, but has element type ",
         onnxTypeName(tensor.dataType));
  }
  std::vector<std::string_view> strings;
  Trail trail("the model");
  FieldReader in = enter(tensor, trail);
  while (in.next()) {
    if (in.tag() == kStringData) {
      strings.push_back(in.bytes());
    } else {
      in.skip();
    }
  }
  if (static_cast<int64_t>(strings.size()) != elementCount(tensor.dims, what)) {
    fail(ErrorKind::kInvalidModel, what, " holds ", strings.size(), " strings, but its dims are [",
         join(tensor.dims, ", "), "]");
  }
  return strings;
}

}  // namespace camshaft::onnx
