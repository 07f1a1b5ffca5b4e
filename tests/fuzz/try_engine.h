// Engine bytes that may have been tampered with: read, loaded and run.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace camshaft::fuzz {

// As a careful program does: shapes from the profile, memory exactly as large as the context says,
// inputs of small numbers. Returns the message of the Error that stopped it, or "" when it ran.
std::string tryEngine(std::span<const std::byte> bytes);

// The checksum that an enemy would write.
void rehash(std::vector<std::byte>& bytes);

// As it is, whatever is wrong with it; writeEngine() would refuse.
std::vector<std::byte> writeUnchecked(const Plan& plan);

}  // namespace camshaft::fuzz
