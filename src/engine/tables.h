// The FlatBuffers tables of an engine file: a plan without its weights, and what the inspector
// shows.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "plan/plan.h"

namespace camshaft {

// Bodies in bodies: how deep an engine may nest them. Reading, loading and running call themselves
// once per level.
inline constexpr int kMaxBodyDepth = 128;

struct EngineTables {
  std::vector<std::byte> plan, inspection;
  std::vector<std::byte> refit = {};  // empty: it cannot be refitted
};

// Throws Error(kUnsupported) when they would be larger than FlatBuffers can be.
EngineTables writeTables(const Plan& plan);
// The whole file around them.
std::vector<std::byte> assembleEngine(const EngineTables& tables,
                                      std::span<const std::byte> weights,
                                      std::span<const std::byte> sources = {});

// Where the bytes of a source lie in the file.
struct StoredSource {
  int64_t offset = -1;  // -1: nowhere, it was stripped
  bool inWeights = false;
};
// A plan's record of how it was made, without the bytes of its sources.
struct StoredRefit {
  RefitRecord record = {};
  std::vector<StoredSource> sources = {};  // parallel to the record's
  int64_t weightsBytes = 0;
  bool isStripped = false;
};
std::vector<std::byte> writeRefit(const StoredRefit& refit);
StoredRefit readRefit(std::span<const std::byte> bytes);  // as readTables()

// Throws Error(kInvalidEngine) when they do not verify, say more than they have bytes for, or do
// not belong together. What comes out is still to be validated.
Plan readTables(std::span<const std::byte> plan, std::span<const std::byte> inspection);

}  // namespace camshaft
