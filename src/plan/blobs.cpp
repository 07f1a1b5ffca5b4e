// The engine's weights and device code as planning collects them.
#include <algorithm>

#include "plan/memory.h"
#include "plan/planner.h"
#include "support/hash.h"
#include "support/mapped_pages.h"

namespace camshaft {

int64_t WeightsBuilder::add(std::span<const std::byte> bytes, std::string_view source) {
  const uint64_t hash = hashBytes(bytes);
  const auto [begin, end] = known_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const Block& block = it->second;
    if (block.size != bytes.size() || block.source != source) continue;
    const auto stored = bytes_.bytes().subspan(static_cast<size_t>(block.offset), block.size);
    const bool isSame = std::ranges::equal(stored, bytes);
    letGoOfMapped(stored);
    if (isSame) return block.offset;
  }
  bytes_.resize((bytes_.size() + kWeightsAlignment - 1) / kWeightsAlignment * kWeightsAlignment);
  const int64_t offset = static_cast<int64_t>(bytes_.size());
  bytes_.append(bytes);
  known_.emplace(hash, Block{offset, bytes.size(), std::string(source)});
  return offset;
}

std::shared_ptr<const GrowingMemory> WeightsBuilder::take() {
  bytes_.shrinkToFit();
  known_.clear();
  return std::make_shared<const GrowingMemory>(std::move(bytes_));
}

int32_t BinariesBuilder::add(const std::vector<std::byte>& binary) {
  const uint64_t hash = hashBytes(binary);
  const auto [begin, end] = known_.equal_range(hash);
  for (auto it = begin; it != end; ++it)
    if (binaries_[it->second] == binary) return it->second;
  const auto index = static_cast<int32_t>(binaries_.size());
  binaries_.push_back(binary);
  known_.emplace(hash, index);
  return index;
}

}  // namespace camshaft
