// The record of how a plan was made: plain settings, checked before a refit builds with them.
#include <algorithm>

#include "engine/validate.h"

namespace camshaft {
namespace {

bool isRange(const InputRange& range) {
  return range.min.size() == range.opt.size() && range.opt.size() == range.max.size() &&
         range.min.size() <= kMostDims;
}

bool areRanges(const std::map<std::string, InputRange>& ranges) {
  return std::ranges::all_of(ranges, [](const auto& entry) { return isRange(entry.second); });
}

}  // namespace

int64_t fixedBytesOf(const TensorDesc& tensor) {
  constexpr int64_t kMost = int64_t{1} << 46;
  if (static_cast<int>(tensor.type) >= kDataTypeCount || tensor.dims.size() > kMostDims) return -1;
  int64_t count = 1;
  for (const DimRef& dim : tensor.dims)
    if (!dim.isConstant() || dim.constant < 0 ||
        __builtin_mul_overflow(count, dim.constant, &count) || count > kMost)
      return -1;
  return static_cast<int64_t>(bytesOf(tensor.type, count));
}

std::string faultOf(const RefitRecord& record) {
  constexpr int32_t kMostThreads = 1 << 14, kHighestLevel = 5, kLastPrecisionRequest = 2;
  for (const SourceWeights& source : record.sources) {
    const int64_t bytes = fixedBytesOf(source.tensor);
    if (bytes < 0 || source.use > WeightsUse::kConstant)
      return "weights of its record are of no known type and size";
    if (!source.isMissing() && static_cast<int64_t>(source.bytes.size()) != bytes)
      return "weights of its record lie outside the file";
    if (source.isMissing() && !source.isRefittable) return "weights of its record are not there";
  }
  for (const ShapeProfile& profile : record.profiles)
    if (!areRanges(profile.inputs) || !areRanges(profile.shapeValues))
      return "a profile of its record is of no one rank";
  if (record.threads < 1 || record.threads > kMostThreads || record.optimizationLevel < 0 ||
      record.optimizationLevel > kHighestLevel ||
      record.precisionRequests > kLastPrecisionRequest || record.workspaceLimit < 0)
    return "a setting of its record is out of range";
  return "";
}

}  // namespace camshaft
