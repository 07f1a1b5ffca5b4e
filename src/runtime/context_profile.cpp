// What a context has for one profile, all of it or none.
#include <algorithm>
#include <tuple>

#include "runtime/context.h"
#include "support/error.h"

namespace camshaft {

// Where anything fails, the context goes on with the profile and shapes it had.
void Context::setProfile(int profile) {
  const Plan& whole = engine_->plan();
  if (profile < 0 || profile >= static_cast<int>(whole.profiles.size()))
    fail(ErrorKind::kInvalidArgument, "profile ", profile, " does not exist; the engine has ",
         whole.profiles.size());
  if (device_) device_->makeCurrent();
  const auto state = [this] {
    return std::tie(profile_, dynamic_, runners_, unrecordable_, segments_, bindsSizes_,
                    inputShapes_, slots_, bytesAhead_, resolved_, sizesCurrent_);
  };
  auto before =
      std::tuple(profile_, std::move(dynamic_), std::move(runners_), std::move(unrecordable_),
                 std::move(segments_), bindsSizes_, std::move(inputShapes_), std::move(slots_),
                 std::move(bytesAhead_), std::move(resolved_), sizesCurrent_);
  try {
    select(profile);
  } catch (...) {
    state() = std::move(before);
    throw;
  }
  setBranches(plan().runsBranches);
}

void Context::select(int profile) {
  const Plan& whole = engine_->plan();
  profile_ = profile;
  makeArenas();
  dynamic_.clear();
  for (size_t i = 0; i < plan().dynamicBuffers.size(); ++i) dynamic_.emplace_back(device_);
  for (int32_t index : plan().hostDynamicBuffers)
    dynamic_[index] = DeviceBuffer(device_, DeviceBuffer::Side::kHost);
  runners_.clear();
  runners_.resize(plan().steps.size());
  bindsSizes_ = std::any_of(plan().steps.begin(), plan().steps.end(),
                            [](const Step& step) { return !step.bindSlots.empty(); });
  unrecordable_.clear();
  findSegments();
  inputShapes_.assign(whole.inputs.size(), std::nullopt);
  for (size_t i = 0; i < whole.inputs.size(); ++i) {
    std::vector<int64_t> dims = inputShape(static_cast<int>(i));
    if (std::find(dims.begin(), dims.end(), -1) == dims.end()) inputShapes_[i] = std::move(dims);
  }
  resolved_.assign(plan().steps.size(), {});
  sizesCurrent_ = false;
  resolveSizes();
}

// A profile that found no room has freed what there was, so every run asks; it is there mostly.
void Context::makeArenas() {
  if (arenaOwner_ == ArenaOwner::kContext) {
    arenaData_ = nullptr;
    arena_.reserve(plan().arenaBytes);
    arenaData_ = arena_.data();
  }
  hostArena_.reserve(plan().hostArenaBytes);
}

}  // namespace camshaft
