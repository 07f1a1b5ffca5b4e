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
};

// Throws Error(kUnsupported) when they would be larger than FlatBuffers can be.
EngineTables writeTables(const Plan& plan);
// The whole file around them.
std::vector<std::byte> assembleEngine(const EngineTables& tables,
                                      std::span<const std::byte> weights);

// Throws Error(kInvalidEngine) when they do not verify, say more than they have bytes for, or do
// not belong together. What comes out is still to be validated.
Plan readTables(std::span<const std::byte> plan, std::span<const std::byte> inspection);

}  // namespace camshaft
