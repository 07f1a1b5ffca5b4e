#include "plan/storage.h"

#include <algorithm>
#include <set>
#include <string>

#include "plan/memory.h"

namespace camshaft {

Dim byteSize(const TensorType& type) {
  const Dim count = numElements(type.shape);
  return isPacked(type.type) ? ceilDiv(count * bitsOf(type.type), 8)
                             : count * Dim(bitsOf(type.type) / 8);
}

int64_t upperBound(const Dim& bytes, const Graph& graph, const ResolvedProfile& profile) {
  constexpr int64_t kLargestPlanned = int64_t{1} << 44;  // above, the bound says nothing
  const DimRange range = rangeOf(bytes, profile.rangeOfSymbol(graph));
  return range.max > kLargestPlanned ? DimRange::kUnbounded : std::max<int64_t>(range.max, 0);
}

namespace {

class StoragePlanner {
 public:
  StoragePlanner(const Graph& graph, const ResolvedProfile& profile,
                 std::span<const StepDraft> drafts, DimProgramBuilder& dims, ProfilePlan& plan)
      : graph_(graph), profile_(profile), drafts_(drafts), dims_(dims), plan_(plan) {}

  Storage run(const std::vector<IoTensor>& inputs) {
    for (size_t i = 0; i < graph_.inputs.size(); ++i)
      places_[{graph_.inputs[i], inputs[i].isOnHost ? Side::kHost : Side::kDevice}] = {
          .place = Place::kInput, .index = static_cast<int32_t>(i)};
    for (size_t i = 0; i < graph_.outputs.size(); ++i)
      places_[{storageOf(graph_.outputs[i].value), Side::kDevice}] = {
          .place = Place::kOutput, .index = static_cast<int32_t>(i)};
    for (size_t i = 0; i < drafts_.size(); ++i)
      for (const Location& location : drafts_[i].reads()) lastUse_[location] = static_cast<int>(i);
    for (size_t i = 0; i < drafts_.size(); ++i) addBuffers(static_cast<int>(i));
    plan_.arenaBytes = placeBuffers(buffers_);
    plan_.hostArenaBytes = placeBuffers(hostBuffers_);
    for (const auto& [key, buffer] : bufferOf_) {
      const bool onHost = key.second == Side::kHost;
      places_[key] = {.place = onHost ? Place::kHostArena : Place::kArena,
                      .offset = buffersOf(key.second)[buffer].offset};
    }
    return std::move(places_);
  }

 private:
  void addBuffers(int step) {
    const StepDraft& draft = drafts_[static_cast<size_t>(step)];
    for (const Location& output : draft.writes()) {
      if (places_.contains(output)) continue;
      const int last = std::max(step, lastUse_.contains(output) ? lastUse_[output] : step);
      const int shared = inPlaceBuffer(draft, output.first, step);
      if (shared >= 0) {
        buffersOf(draft.side)[shared].lastStep = last;
        bufferOf_[output] = shared;
      } else {
        addBuffer(output, byteSize(output.first->type), step, last);
      }
    }
    if (!draft.workspaceBytes().isConstant(0))
      addBuffer({&draft, draft.side}, draft.workspaceBytes(), step, step);
  }

  // The arena buffer of an input that dies here and that the kernel may overwrite, or -1.
  int inPlaceBuffer(const StepDraft& draft, const Value* output, int step) const {
    if (!draft.chosen) return -1;
    const std::vector<Value*>& inputs = draft.node->inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i] ||
          !draft.chosen->kernel->mayOverwrite(*draft.node, static_cast<int>(i), output->index))
        continue;
      const Value* storage = storageOf(inputs[i]);
      const StorageKey key{storage, draft.side};
      const auto buffer = bufferOf_.find(key);
      if (buffer == bufferOf_.end() || lastUse_.at(key) != step) continue;
      if (std::count_if(inputs.begin(), inputs.end(),
                        [&](const Value* v) { return v && storageOf(v) == storage; }) != 1)
        continue;
      if (byteSize(inputs[i]->type) == byteSize(output->type)) return buffer->second;
    }
    return -1;
  }

  void addBuffer(const StorageKey& key, const Dim& bytes, int first, int last) {
    const int64_t bound = upperBound(bytes, graph_, profile_);
    if (!isWorthPlanning(bytes, bound)) {
      const auto index = static_cast<int32_t>(plan_.dynamicBuffers.size());
      places_[key] = {.place = Place::kDynamic, .index = index};
      if (key.second == Side::kHost) plan_.hostDynamicBuffers.push_back(index);
      plan_.dynamicBuffers.push_back(dims_.refer(bytes));
      return;
    }
    std::vector<BufferLifetime>& buffers = buffersOf(key.second);
    bufferOf_[key] = static_cast<int>(buffers.size());
    buffers.push_back({.bytes = bound, .firstStep = first, .lastStep = last});
  }

  // Bounds of what the data decides are far from what is usual, and products of them even more:
  // large buffers of such sizes are made as they are needed.
  bool isWorthPlanning(const Dim& bytes, int64_t bound) const {
    constexpr int64_t kAlways = int64_t{256} << 20;
    if (bound == DimRange::kUnbounded) return false;
    if (bound <= kAlways) return true;
    std::set<std::string> symbols;
    collectSymbols(bytes, symbols);
    return std::all_of(symbols.begin(), symbols.end(),
                       [&](const auto& name) { return profile_.ranges.contains(name); });
  }

  std::vector<BufferLifetime>& buffersOf(Side side) {
    return side == Side::kHost ? hostBuffers_ : buffers_;
  }

  const Graph& graph_;
  const ResolvedProfile& profile_;
  std::span<const StepDraft> drafts_;
  DimProgramBuilder& dims_;
  ProfilePlan& plan_;
  std::map<StorageKey, int> lastUse_;  // the last step that reads it
  std::vector<BufferLifetime> buffers_, hostBuffers_;
  std::map<StorageKey, int> bufferOf_;  // arena buffers, of the key's side
  Storage places_;
};

}  // namespace

Storage placeStorage(const Graph& graph, const ResolvedProfile& profile,
                     const std::vector<IoTensor>& inputs, std::span<const StepDraft> drafts,
                     DimProgramBuilder& dims, ProfilePlan& plan) {
  return StoragePlanner(graph, profile, drafts, dims, plan).run(inputs);
}

}  // namespace camshaft
