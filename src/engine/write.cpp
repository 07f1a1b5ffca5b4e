#include <algorithm>
#include <unordered_map>

#include "engine/engine_file.h"
#include "engine/file_layout.h"
#include "engine/tables.h"
#include "engine/validate.h"
#include "support/byte_reader.h"
#include "support/error.h"
#include "support/hash.h"
#include "support/mapped_pages.h"

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

void requireDepth(const Plan& plan) {
  if (const int depth = depthOf(plan); depth > kMaxBodyDepth)
    refuse(
        str("its branches and loops nest ", depth, " deep, and engines at most ", kMaxBodyDepth));
}

// What readEngine() would make of the file, without its weights being copied or hashed.
Plan readBack(const EngineTables& tables, const Plan& plan) {
  Plan read = readTables(tables.plan, tables.inspection);
  setWeights(read, plan.weights, plan.weightsOwner);
  if (const std::string fault = faultOf(read); !fault.empty()) refuse(fault);
  return read;
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

// The file, whose header has the hash of all that follows: everything is read twice and nothing
// copied, and of weights that lie in a file no more than a piece is in memory.
void writeSections(const EngineTables& tables, std::span<const std::byte> weights,
                   std::span<const std::byte> sources, EngineSink sink) {
  EngineHeader header;
  const auto headerBytes = std::as_bytes(std::span(&header, 1));
  constexpr std::byte kZeros[kSectionAlignment] = {};
  constexpr size_t kMostAtOnce = 4 << 20;
  std::vector<std::span<const std::byte>> pieces;
  header.fileBytes = sizeof header;
  const auto place = [&](EngineSection& section, std::span<const std::byte> bytes) {
    const uint64_t fill = -header.fileBytes % kSectionAlignment;
    section = {header.fileBytes + fill, bytes.size()};
    header.fileBytes = section.offset + section.size;
    if (fill > 0) pieces.push_back(std::span(kZeros).first(fill));
    for (; !bytes.empty(); bytes = bytes.subspan(pieces.back().size()))
      pieces.push_back(bytes.first(std::min(bytes.size(), kMostAtOnce)));
  };
  place(header.plan, tables.plan);
  place(header.inspection, tables.inspection);
  place(header.weights, weights);
  if (!tables.refit.empty()) {
    place(header.refit, tables.refit);
    place(header.sources, sources);
  }
  Hasher hasher;
  hasher.update(headerBytes);
  for (const auto piece : pieces) {
    hasher.update(piece);
    letGoOfMapped(piece);
  }
  header.hash = hasher.digest();
  sink(headerBytes);
  for (const auto piece : pieces) {
    sink(piece);
    letGoOfMapped(piece);
  }
}

template <class Write>
std::vector<std::byte> collected(const Write& write) {
  std::vector<std::byte> file;
  write([&](std::span<const std::byte> piece) {
    if (file.empty())  // the header, which says how much there will be
      file.reserve(ByteReader(piece, "the header").read<EngineHeader>().fileBytes);
    file.insert(file.end(), piece.begin(), piece.end());
  });
  return file;
}

}  // namespace

void writeEngine(const Plan& plan, const EngineParts& parts, EngineSink sink) {
  requireDepth(plan);
  EngineTables tables = writeTables(plan);
  readBack(tables, plan);
  const bool isStripped = !parts.weights || (plan.refit && plan.refit->isStripped);
  CAMSHAFT_CHECK(!isStripped || (plan.refit && parts.refit),
                 "an engine without weights must be refittable");
  if (!plan.refit || !parts.refit) return writeSections(tables, plan.weights, {}, sink);
  const StoredSources stored = storeSources(plan, isStripped);
  tables.refit = writeRefit(
      {*plan.refit, stored.places, static_cast<int64_t>(plan.weights.size()), isStripped});
  writeSections(tables, isStripped ? std::span<const std::byte>() : plan.weights, stored.section,
                sink);
}

std::vector<std::byte> writeEngine(const Plan& plan, const EngineParts& parts) {
  return collected([&](EngineSink sink) { writeEngine(plan, parts, sink); });
}

std::vector<std::byte> assembleEngine(const EngineTables& tables,
                                      std::span<const std::byte> weights,
                                      std::span<const std::byte> sources) {
  return collected([&](EngineSink sink) { writeSections(tables, weights, sources, sink); });
}

Plan asRead(Plan plan, const EngineParts& parts) {
  if (plan.refit) return readEngine(writeEngine(plan, parts));  // copies what a refit changes
  requireDepth(plan);
  return readBack(writeTables(plan), plan);
}

}  // namespace camshaft
