#include <algorithm>
#include <cstring>

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

}  // namespace

std::vector<std::byte> writeEngine(const Plan& plan) {
  if (const int depth = depthOf(plan); depth > kMaxBodyDepth)
    refuse(
        str("its branches and loops nest ", depth, " deep, and engines at most ", kMaxBodyDepth));
  const EngineTables tables = writeTables(plan);
  requireReadable(tables, plan);
  return assembleEngine(tables, plan.weights);
}

std::vector<std::byte> assembleEngine(const EngineTables& tables,
                                      std::span<const std::byte> weights) {
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
  header.fileBytes = end;

  std::vector<std::byte> file(end);
  const auto put = [&file](const EngineSection& section, std::span<const std::byte> bytes) {
    std::copy(bytes.begin(), bytes.end(),
              file.begin() + static_cast<std::ptrdiff_t>(section.offset));
  };
  put(header.plan, tables.plan);
  put(header.inspection, tables.inspection);
  put(header.weights, weights);
  std::memcpy(file.data(), &header, sizeof header);
  header.hash = hashBytes(file);
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

}  // namespace camshaft
