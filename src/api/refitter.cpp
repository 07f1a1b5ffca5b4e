#include "api/refitter.h"

#include <cmath>
#include <limits>

#include "api/convert.h"
#include "compiler/refit.h"
#include "ir/tensor.h"
#include "support/cpu_info.h"

namespace camshaft::api {

using namespace nvinfer1;

namespace {

WeightsRole roleOf(WeightsUse use) {
  switch (use) {
    case WeightsUse::kKernel:
      return WeightsRole::kKERNEL;
    case WeightsUse::kBias:
      return WeightsRole::kBIAS;
    case WeightsUse::kShift:
      return WeightsRole::kSHIFT;
    case WeightsUse::kScale:
      return WeightsRole::kSCALE;
    case WeightsUse::kConstant:
      break;
  }
  return WeightsRole::kCONSTANT;
}

int64_t elementCountOf(const TensorDesc& tensor) {
  int64_t count = 1;
  for (const DimRef& dim : tensor.dims) count *= dim.constant;
  return count;
}

std::string typeTextOf(const TensorDesc& tensor) {
  std::vector<int64_t> dims;
  for (const DimRef& dim : tensor.dims) dims.push_back(dim.constant);
  return str(tensor.type, "[", join(dims, ", "), "]");
}

}  // namespace

Refitter::Refitter(std::shared_ptr<const LoadedEngine> engine, ILogger* logger)
    : engine_(std::move(engine)), reporter_(logger), maxThreads_(usableCores()) {
  const std::vector<SourceWeights>& sources = record().sources;
  for (size_t i = 0; i < sources.size(); ++i) {
    const SourceWeights& source = sources[i];
    if (!source.isRefittable) continue;
    byName_.emplace(source.name, weights_.size());
    weights_.push_back(
        {.source = i,
         .name = source.name,
         .layer = source.layer,
         .role = roleOf(source.use),
         .prototype = {toPublic(source.tensor.type), nullptr, elementCountOf(source.tensor)}});
  }
}

const Refitter::Refittable& Refitter::named(const char* name) const {
  const auto found = byName_.find(std::string_view(name ? name : ""));
  if (found != byName_.end()) return weights_[found->second];
  std::vector<std::string_view> names;
  for (const Refittable& weights : weights_) names.push_back(weights.name);
  const std::string suggestion = name ? nearest(name, names) : "";
  fail(ErrorKind::kInvalidArgument, "'", name ? name : "(null)",
       "' are no weights that the engine can be refitted with",
       suggestion.empty() ? "" : str("; did you mean '", suggestion, "'?"));
}

Refitter::Refittable& Refitter::named(const char* name) {
  return const_cast<Refittable&>(std::as_const(*this).named(name));
}

Refitter::Refittable& Refitter::of(const char* layer, WeightsRole role) {
  requireKnown(role, "role of weights");
  for (Refittable& weights : weights_)
    if (layer && weights.layer == layer && (weights.role == role || role == WeightsRole::kANY))
      return weights;
  fail(ErrorKind::kInvalidArgument, "layer '", layer ? layer : "(null)",
       "' has no weights of that role that the engine can be refitted with; getAll() lists them");
}

void Refitter::give(Refittable& weights, const Weights& given, TensorLocation location,
                    std::shared_ptr<const void> memory) {
  requireKnown(location, "location of weights");
  const TensorDesc& tensor = record().sources[weights.source].tensor;
  const auto type = fromPublic(given.type);
  if (!given.values)
    fail(ErrorKind::kInvalidArgument, "weights '", weights.name, "' were given no values");
  if (!type || *type != tensor.type || given.count != weights.prototype.count)
    fail(ErrorKind::kInvalidArgument, "weights '", weights.name, "' are ", typeTextOf(tensor),
         ", so they need ", weights.prototype.count, " elements of type ", tensor.type,
         " and were given ", given.count, " of type ", type ? toString(*type) : "unknown");
  if (location == TensorLocation::kDEVICE && !engine_->device())
    fail(ErrorKind::kInvalidArgument, "weights '", weights.name,
         "' were given in device memory, and the engine is for the CPU");
  weights.given = given;
  weights.location = location;
  weights.memory = std::move(memory);
}

void Refitter::set(const std::string& name, const Weights& weights,
                   std::shared_ptr<const void> memory) {
  give(named(name.c_str()), weights, TensorLocation::kHOST, std::move(memory));
}

bool Refitter::setWeights(const char* layer, WeightsRole role, const Weights weights) noexcept {
  return guarded(reporter_, false, [&] {
    give(of(layer, role), weights, TensorLocation::kHOST);
    return true;
  });
}

bool Refitter::setNamedWeights(const char* name, Weights weights) noexcept {
  return setNamedWeightsWithLocation(name, weights, TensorLocation::kHOST);
}

bool Refitter::setNamedWeightsWithLocation(const char* name, Weights weights,
                                           TensorLocation location) noexcept {
  return guarded(reporter_, false, [&] {
    give(named(name), weights, location);
    return true;
  });
}

bool Refitter::unsetNamedWeights(const char* name) noexcept {
  return guarded(reporter_, false, [&] {
    Refittable& weights = named(name);
    if (!weights.given.values)
      fail(ErrorKind::kInvalidArgument, "weights '", weights.name, "' were not set");
    weights.given = {};
    weights.location = TensorLocation::kHOST;
    weights.memory = nullptr;
    return true;
  });
}

Weights Refitter::getNamedWeights(const char* name) const noexcept {
  const Weights none{nvinfer1::DataType::kFLOAT, nullptr, 0};
  return guarded(reporter_, none, [&] {
    const Refittable& weights = named(name);
    return weights.given.values ? weights.given : none;
  });
}

TensorLocation Refitter::getWeightsLocation(const char* name) const noexcept {
  return guarded(reporter_, TensorLocation::kHOST, [&] { return named(name).location; });
}

Weights Refitter::getWeightsPrototype(const char* name) const noexcept {
  return guarded(reporter_, Weights{nvinfer1::DataType::kFLOAT, nullptr, -1},
                 [&] { return named(name).prototype; });
}

bool Refitter::isMissing(const Refittable& weights) const {
  return !weights.given.values && record().sources[weights.source].isMissing();
}

template <class Wanted>
int32_t Refitter::list(int32_t size, const char** names, WeightsRole* roles, bool byLayer,
                       Wanted&& wanted) const {
  int32_t count = 0;
  for (const Refittable& weights : weights_) {
    if (!wanted(weights)) continue;
    if (count < size && names) names[count] = (byLayer ? weights.layer : weights.name).c_str();
    if (count < size && roles) roles[count] = weights.role;
    ++count;
  }
  return count;
}

int32_t Refitter::getMissing(int32_t size, const char** layers, WeightsRole* roles) noexcept {
  return list(size, layers, roles, true, [&](const Refittable& each) { return isMissing(each); });
}

int32_t Refitter::getAll(int32_t size, const char** layers, WeightsRole* roles) noexcept {
  return list(size, layers, roles, true, [](const Refittable&) { return true; });
}

int32_t Refitter::getMissingWeights(int32_t size, const char** names) noexcept {
  return list(size, names, nullptr, false, [&](const Refittable& each) { return isMissing(each); });
}

int32_t Refitter::getAllWeights(int32_t size, const char** names) noexcept {
  return list(size, names, nullptr, false, [](const Refittable&) { return true; });
}

std::vector<std::byte> Refitter::bytesOf(const Refittable& weights) const {
  const auto* values = static_cast<const std::byte*>(weights.given.values);
  const size_t size =
      camshaft::bytesOf(record().sources[weights.source].tensor.type, weights.prototype.count);
  if (weights.location == TensorLocation::kHOST) return {values, values + size};
  std::vector<std::byte> bytes(size);
  Device& device = *engine_->device();
  device.makeCurrent();
  download(device, bytes.data(), values, static_cast<int64_t>(size));
  return bytes;
}

// Such weights are rarely meant, but masks have them too.
void Refitter::validate(const Refittable& weights, std::span<const std::byte> bytes) const {
  const camshaft::DataType type = record().sources[weights.source].tensor.type;
  if (!validates_ || !isFloat(type) || isPacked(type)) return;
  for (int64_t i = 0; i < weights.prototype.count; ++i) {
    if (std::isfinite(readElement(type, bytes.data(), i))) continue;
    reporter_.warning(str("weights '", weights.name, "' hold a number that is not finite, at ", i));
    return;
  }
}

bool Refitter::refit(std::optional<void*> stream) noexcept {
  return guarded(
      reporter_, false,
      [&] {
        const int32_t missing = getMissingWeights(0, nullptr);
        if (missing > 0) {
          const char* first = nullptr;
          getMissingWeights(1, &first);
          fail(ErrorKind::kInvalidArgument, "the engine was stripped and ", missing,
               " of its weights are still to be set, '", first,
               "' first; getMissingWeights() lists them");
        }
        RefitRecord changed = record();
        for (const Refittable& weights : weights_) {
          if (!weights.given.values) continue;
          auto bytes = std::make_shared<const std::vector<std::byte>>(bytesOf(weights));
          validate(weights, *bytes);
          changed.sources[weights.source].bytes = *bytes;
          changed.sources[weights.source].owner = bytes;
        }
        const auto remade = remakeWeights(engine_->plan(), changed);
        engine_->replaceWeights(remade.bytes, std::move(changed.sources), stream);
        return true;
      },
      OutOfMemory{"out of memory while refitting an engine"});
}

bool Refitter::refitCudaEngine() noexcept { return refit(std::nullopt); }

bool Refitter::refitCudaEngineAsync(cudaStream_t stream) noexcept { return refit(stream); }

bool Refitter::setMaxThreads(int32_t maxThreads) noexcept {
  return guarded(reporter_, false, [&] {
    if (maxThreads < 1)
      fail(ErrorKind::kInvalidArgument, "setMaxThreads needs at least 1 thread, not ", maxThreads);
    maxThreads_ = maxThreads;
    return true;
  });
}

namespace {

constexpr char kNoDynamicRanges[] =
    "engines have no dynamic ranges: quantised layers have their scales in the network, as weights";

}  // namespace

bool Refitter::setDynamicRange(const char*, float, float) noexcept {
  return refused(reporter_, kNoDynamicRanges, false);
}

float Refitter::getDynamicRangeMin(const char*) const noexcept {
  return refused(reporter_, kNoDynamicRanges, std::numeric_limits<float>::quiet_NaN());
}

float Refitter::getDynamicRangeMax(const char*) const noexcept {
  return refused(reporter_, kNoDynamicRanges, std::numeric_limits<float>::quiet_NaN());
}

}  // namespace camshaft::api
