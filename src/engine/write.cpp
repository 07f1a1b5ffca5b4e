#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "engine/engine_file.h"
#include "engine/file_layout.h"
#include "engine/tables.h"
#include "engine/validate.h"
#include "support/error.h"
#include "support/hash.h"

namespace camshaft {
namespace {

int depthOf(const Plan& plan) {
  int deepest = 0;
  for (const std::shared_ptr<Plan>& body : plan.bodies)
    deepest = std::max(deepest, 1 + depthOf(*body));
  return deepest;
}

[[noreturn]] void refuse(std::string_view why) {
  fail(ErrorKind::kUnsupported, "the network cannot be made an engine: ", why);
}

// What readEngine() would say of the file, without its weights being copied or hashed.
void requireReadable(const EngineTables& tables, const Plan& plan) {
  Plan read = readTables(tables.plan, tables.inspection);
  setWeights(read, plan.weights, plan.weightsOwner);
  if (const std::string fault = faultOf(read); !fault.empty()) refuse(fault);
}

// Blocks of the weights that steps read, by the hash of their bytes.
using Blocks = std::unordered_multimap<uint64_t, std::span<const std::byte>>;

void addBlocks(const Plan& plan, Blocks& blocks) {
  for (const ProfilePlan& profile : plan.profiles)
    for (const Step& step : profile.steps)
      for (const Operand& input : step.inputs) {
        const int64_t bytes = fixedBytesOf(input.tensor);
        if (input.place != Place::kWeights || bytes <= 0) continue;
        const auto block =
            plan.weights.subspan(static_cast<size_t>(input.offset), static_cast<size_t>(bytes));
        blocks.emplace(hashBytes(block), block);
      }
  for (const std::shared_ptr<Plan>& body : plan.bodies) addBlocks(*body, blocks);
}

struct StoredSources {
  std::vector<StoredSource> places;
  std::vector<std::byte> section;
};

// Sources that some step reads as they are lie in the file once.
StoredSources storeSources(const Plan& plan, bool isStripped) {
  StoredSources stored;
  Blocks blocks;
  if (!isStripped) addBlocks(plan, blocks);
  for (const SourceWeights& source : plan.refit->sources) {
    StoredSource& place = stored.places.emplace_back();
    if (source.isMissing() || (isStripped && source.isRefittable)) continue;
    const auto [begin, end] = blocks.equal_range(hashBytes(source.bytes));
    const auto found = std::find_if(begin, end, [&](const auto& block) {
      return std::ranges::equal(block.second, source.bytes);
    });
    if (found != end) {
      place = {found->second.data() - plan.weights.data(), true};
      continue;
    }
    stored.section.resize((stored.section.size() + kSectionAlignment - 1) / kSectionAlignment *
                          kSectionAlignment);
    place.offset = static_cast<int64_t>(stored.section.size());
    stored.section.insert(stored.section.end(), source.bytes.begin(), source.bytes.end());
  }
  return stored;
}

}  // namespace

std::vector<std::byte> writeEngine(const Plan& plan, const EngineParts& parts) {
  if (const int depth = depthOf(plan); depth > kMaxBodyDepth)
    refuse(
        str("its branches and loops nest ", depth, " deep, and engines at most ", kMaxBodyDepth));
  EngineTables tables = writeTables(plan);
  requireReadable(tables, plan);
  const bool isStripped = !parts.weights || (plan.refit && plan.refit->isStripped);
  CAMSHAFT_CHECK(!isStripped || (plan.refit && parts.refit),
                 "an engine without weights must be refittable");
  if (!plan.refit || !parts.refit) return assembleEngine(tables, plan.weights);
  const StoredSources stored = storeSources(plan, isStripped);
  tables.refit = writeRefit(
      {*plan.refit, stored.places, static_cast<int64_t>(plan.weights.size()), isStripped});
  return assembleEngine(tables, isStripped ? std::span<const std::byte>() : plan.weights,
                        stored.section);
}

std::vector<std::byte> assembleEngine(const EngineTables& tables,
                                      std::span<const std::byte> weights,
                                      std::span<const std::byte> sources) {
  EngineHeader header;
  uint64_t end = sizeof header;
  const auto place = [&end](uint64_t size) {
    const uint64_t offset = (end + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
    end = offset + size;
    return EngineSection{offset, size};
  };
  header.plan = place(tables.plan.size());
  header.inspection = place(tables.inspection.size());
  header.weights = place(weights.size());
  if (!tables.refit.empty()) {
    header.refit = place(tables.refit.size());
    header.sources = place(sources.size());
  }
  header.fileBytes = end;

  std::vector<std::byte> file(end);
  const auto put = [&file](const EngineSection& section, std::span<const std::byte> bytes) {
    std::copy(bytes.begin(), bytes.end(),
              file.begin() + static_cast<std::ptrdiff_t>(section.offset));
  };
  put(header.plan, tables.plan);
  put(header.inspection, tables.inspection);
  put(header.weights, weights);
  put(header.refit, tables.refit);
  put(header.sources, tables.refit.empty() ? std::span<const std::byte>() : sources);
  std::memcpy(file.data(), &header, sizeof header);
  header.hash = hashBytes(file);
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

}  // namespace camshaft
