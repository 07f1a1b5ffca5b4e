#include "api/profile.h"

#include <algorithm>
#include <span>

#include "api/convert.h"

namespace camshaft::api {

using namespace nvinfer1;

namespace {

std::vector<int64_t>& part(InputRange& range, OptProfileSelector select) {
  requireKnown(select, "selector of a profile");
  return select == OptProfileSelector::kMIN   ? range.min
         : select == OptProfileSelector::kOPT ? range.opt
                                              : range.max;
}

const std::vector<int64_t>* find(const std::map<std::string, InputRange>& ranges, const char* input,
                                 OptProfileSelector select) {
  const auto it = ranges.find(input ? input : "");
  return it == ranges.end() ? nullptr : &part(const_cast<InputRange&>(it->second), select);
}

bool complete(const InputRange& range) {
  if (range.min.size() != range.opt.size() || range.opt.size() != range.max.size()) return false;
  for (size_t i = 0; i < range.min.size(); ++i)
    if (range.min[i] > range.opt[i] || range.opt[i] > range.max[i]) return false;
  return true;
}

}  // namespace

bool OptimizationProfile::setDimensions(const char* input, OptProfileSelector select,
                                        const nvinfer1::Dims& dims) noexcept {
  return guarded(reporter_, false, [&] {
    if (!input) fail(ErrorKind::kInvalidArgument, "setDimensions was given no input name");
    std::vector<int64_t> sizes = fromPublic(dims);
    for (int64_t size : sizes)
      if (size < 0)
        fail(ErrorKind::kInvalidArgument, "a profile's sizes must not be negative; input '", input,
             "' was given ", size);
    requireKnown(select, "selector of a profile");  // before the input is entered
    part(profile_.inputs[input], select) = std::move(sizes);
    return true;
  });
}

nvinfer1::Dims OptimizationProfile::getDimensions(const char* input,
                                                  OptProfileSelector select) const noexcept {
  return guarded(reporter_, invalidDims(), [&] {
    const auto* sizes = find(profile_.inputs, input, select);
    return sizes ? toPublic(*sizes) : invalidDims();
  });
}

bool OptimizationProfile::setShapeValues(const char* input, OptProfileSelector select,
                                         const int32_t* values, int32_t count) noexcept {
  return guarded(reporter_, false, [&] {
    if (!values || count < 0)
      fail(ErrorKind::kInvalidArgument, "setShapeValues needs an input name and its values");
    const std::vector<int64_t> wide(values, values + count);
    return setShapeValuesV2(input, select, wide.data(), count);
  });
}

bool OptimizationProfile::setShapeValuesV2(const char* input, OptProfileSelector select,
                                           const int64_t* values, int32_t count) noexcept {
  return guarded(reporter_, false, [&] {
    if (!input || !values || count < 0)
      fail(ErrorKind::kInvalidArgument, "setShapeValues needs an input name and its values");
    requireKnown(select, "selector of a profile");
    part(profile_.shapeValues[input], select).assign(values, values + count);
    return true;
  });
}

int32_t OptimizationProfile::getNbShapeValues(const char* input) const noexcept {
  return guarded(reporter_, int32_t{-1}, [&] {
    const auto* values = find(profile_.shapeValues, input, OptProfileSelector::kOPT);
    return values ? static_cast<int32_t>(values->size()) : -1;
  });
}

const int64_t* OptimizationProfile::getShapeValuesV2(const char* input,
                                                     OptProfileSelector select) const noexcept {
  return guarded<const int64_t*>(reporter_, nullptr, [&]() -> const int64_t* {
    const auto* values = find(profile_.shapeValues, input, select);
    // Callers read as many as getNbShapeValues says.
    const bool isWhole = values && static_cast<int32_t>(values->size()) == getNbShapeValues(input);
    return isWhole ? values->data() : nullptr;
  });
}

const int32_t* OptimizationProfile::getShapeValues(const char* input,
                                                   OptProfileSelector select) const noexcept {
  return guarded<const int32_t*>(reporter_, nullptr, [&]() -> const int32_t* {
    const int64_t* values = getShapeValuesV2(input, select);
    if (!values) return nullptr;
    const std::span all(values, static_cast<size_t>(getNbShapeValues(input)));
    const auto fits = [](int64_t value) { return value == static_cast<int32_t>(value); };
    if (!std::all_of(all.begin(), all.end(), fits)) return nullptr;
    std::vector<int32_t>& copy = narrow_[{input, select}];
    copy.assign(all.begin(), all.end());
    return copy.data();
  });
}

bool OptimizationProfile::setExtraMemoryTarget(float target) noexcept {
  return guarded(reporter_, false, [&] {
    if (!(target >= 0 && target <= 1))
      fail(ErrorKind::kInvalidArgument, "a profile's extra memory target must be 0 to 1, not ",
           target);
    extraMemory_ = target;
    return true;
  });
}

bool OptimizationProfile::isValid() const noexcept {
  for (const auto* ranges : {&profile_.inputs, &profile_.shapeValues})
    for (const auto& [name, range] : *ranges)
      if (!complete(range)) return false;
  return true;
}

}  // namespace camshaft::api
