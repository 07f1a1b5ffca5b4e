#include "api/convert.h"

#include <algorithm>
#include <array>

#include "api/implements.h"
#include "support/error.h"

namespace camshaft::api {
namespace {

using Public = nvinfer1::DataType;
constexpr std::pair<DataType, Public> kTypes[] = {
    {DataType::kF32, Public::kFLOAT},
    {DataType::kF16, Public::kHALF},
    {DataType::kBF16, Public::kBF16},
    {DataType::kF64, Public::kDOUBLE},
    {DataType::kI8, Public::kINT8},
    {DataType::kI16, Public::kINT16},
    {DataType::kI32, Public::kINT32},
    {DataType::kI64, Public::kINT64},
    {DataType::kU8, Public::kUINT8},
    {DataType::kU16, Public::kUINT16},
    {DataType::kU32, Public::kUINT32},
    {DataType::kU64, Public::kUINT64},
    {DataType::kBool, Public::kBOOL},
    {DataType::kF8E4M3, Public::kFP8},
    {DataType::kF8E5M2, Public::kFP8E5M2},
    {DataType::kI4, Public::kINT4},
    {DataType::kU4, Public::kUINT4},
    {DataType::kF4E2M1, Public::kFP4},
    {DataType::kI2, Public::kINT2},
    {DataType::kU2, Public::kUINT2},
    {DataType::kF8E8M0, Public::kE8M0},
    {DataType::kF8E4M3Fnuz, Public::kFP8E4M3FNUZ},
    {DataType::kF8E5M2Fnuz, Public::kFP8E5M2FNUZ},
};

class HostMemory final : public Implements<nvinfer1::IHostMemory> {
 public:
  explicit HostMemory(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  void* data() const noexcept override { return const_cast<std::byte*>(bytes_.data()); }
  std::size_t size() const noexcept override { return bytes_.size(); }
  nvinfer1::DataType type() const noexcept override { return nvinfer1::DataType::kINT8; }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace

nvinfer1::DataType toPublic(DataType type) {
  return std::find_if(std::begin(kTypes), std::end(kTypes),
                      [&](const auto& pair) { return pair.first == type; })
      ->second;
}

std::optional<DataType> fromPublic(nvinfer1::DataType type) {
  for (const auto& [own, other] : kTypes)
    if (other == type) return own;
  return std::nullopt;
}

nvinfer1::Dims toPublic(std::span<const int64_t> dims) {
  CAMSHAFT_CHECK(dims.size() <= nvinfer1::Dims::MAX_DIMS, "a tensor has ", dims.size(),
                 " dimensions");
  nvinfer1::Dims result{};
  result.nbDims = static_cast<int32_t>(dims.size());
  std::copy(dims.begin(), dims.end(), result.d);
  return result;
}

nvinfer1::Dims invalidDims() {
  nvinfer1::Dims result{};
  result.nbDims = -1;
  return result;
}

std::vector<int64_t> fromPublic(const nvinfer1::Dims& dims) {
  if (dims.nbDims < 0 || dims.nbDims > nvinfer1::Dims::MAX_DIMS)
    fail(ErrorKind::kInvalidArgument, "dimensions with nbDims ", dims.nbDims, " are outside 0 to ",
         nvinfer1::Dims::MAX_DIMS);
  return {dims.d, dims.d + dims.nbDims};
}

nvinfer1::IHostMemory* makeHostMemory(std::vector<std::byte> bytes) {
  return new HostMemory(std::move(bytes));
}

}  // namespace camshaft::api
