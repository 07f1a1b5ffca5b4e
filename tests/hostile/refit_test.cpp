// Records of refittable engines that were tampered with: read, and built from, with nothing but an
// Error as the outcome or the weights that the plan has room for.
#include <gtest/gtest.h>

#include <cstring>

#include "compiler/refit.h"
#include "conformance/case.h"
#include "engine/engine_file.h"
#include "engine/file_layout.h"
#include "engine/tables.h"
#include "fuzz/engine_mutator.h"
#include "fuzz/try_engine.h"
#include "support/error.h"

namespace camshaft {
namespace {

using conformance::Case;
using fuzz::below;
using fuzz::Random;
using fuzz::rehash;
using Bytes = std::vector<std::byte>;

Plan build(const Case& c) {
  const Graph graph = c.graph();
  CompileOptions options;
  options.optimizationLevel = 0;
  options.threads = 1;
  options.profiles = c.profiles(graph);
  return compileRefittable(graph, options,
                           {.weights = RefitRequest::Weights::kMarked,
                            .marked = {c.weights.begin(), c.weights.end()},
                            .nameOf = {}});
}

const std::vector<Bytes>& goodEngines() {
  static const std::vector<Bytes> engines = [] {
    std::vector<Bytes> all;
    for (const Case& c : conformance::allCases()) {
      if (!c.name.starts_with("weights_")) continue;
      const Plan plan = build(c);
      all.push_back(writeEngine(plan));
      all.push_back(writeEngine(plan, {.weights = false}));
    }
    return all;
  }();
  return engines;
}

// Reads the engine and refits it with what it has, zeros where it was stripped; what was said
// against it, or "".
std::string tryRefit(const Bytes& bytes) {
  try {
    const Plan plan = readEngine(bytes);
    if (!plan.refit) return "it cannot be refitted";
    RefitRecord record = *plan.refit;
    for (SourceWeights& source : record.sources) {
      if (!source.isMissing()) continue;
      int64_t count = 1;
      for (const DimRef& dim : source.tensor.dims) count *= dim.constant;
      const size_t size = bytesOf(source.tensor.type, count);
      if (size > size_t{1} << 24) return "it is larger than this test";
      const auto zeros = std::make_shared<const Bytes>(size);
      source.bytes = *zeros;
      source.owner = zeros;
    }
    const auto weights = remakeWeights(plan, record);
    EXPECT_EQ(weights.bytes.size(), plan.weights.size());
    fixedConstants(record);
    return "";
  } catch (const Error& error) {
    EXPECT_NE(error.kind(), ErrorKind::kInternal) << error.message();
    return error.message();
  }
}

TEST(HostileRefit, GoodOnesAreRefitted) {
  for (const Bytes& bytes : goodEngines()) EXPECT_EQ(tryRefit(bytes), "");
}

TEST(HostileRefit, FlippedBytesWithAValidChecksum) {
  int refused = 0;
  constexpr int kRounds = 1500;
  for (uint32_t seed = 0; seed < kRounds; ++seed) {
    Random random(seed);
    Bytes bytes = goodEngines()[below(random, goodEngines().size())];
    EngineHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    for (uint64_t flips = 1 + below(random, 3); flips > 0; --flips)
      bytes[header.refit.offset + below(random, header.refit.size)] ^=
          static_cast<std::byte>(1 << below(random, 8));
    rehash(bytes);
    refused += !tryRefit(bytes).empty();
  }
  EXPECT_GT(refused, kRounds / 4);
  EXPECT_LT(refused, kRounds);
}

TEST(HostileRefit, ChangedRecords) {
  struct Change {
    const char* sentence;
    void (*change)(StoredRefit& refit);
  };
  constexpr Change kChanges[] = {
      {"outside the file", [](StoredRefit& r) { r.sources[0].offset = int64_t{1} << 40; }},
      {"outside the file", [](StoredRefit& r) { r.record.sources[0].tensor.dims = {{1 << 30}}; }},
      {"outside the file",
       [](StoredRefit& r) { r.record.sources[0].tensor.type = static_cast<DataType>(200); }},
      {"outside the file", [](StoredRefit& r) { r.record.sources[0].tensor.dims = {{-1}}; }},
      {"not there",
       [](StoredRefit& r) {
         r.sources[0].offset = -1;
         r.record.sources[0].isRefittable = false;
       }},
      {"another size", [](StoredRefit& r) { r.weightsBytes += 64; }},
      {"another size", [](StoredRefit& r) { r.isStripped = true; }},
      {"out of range", [](StoredRefit& r) { r.record.threads = 1 << 30; }},
      {"out of range", [](StoredRefit& r) { r.record.optimizationLevel = 9; }},
      {"out of range", [](StoredRefit& r) { r.record.precisionRequests = 3; }},
      {"no one rank", [](StoredRefit& r) { r.record.profiles[0].inputs["x"].min.clear(); }},
      {"change more than weights", [](StoredRefit& r) { r.record.graph = "graph g("; }},
      {"change more than weights", [](StoredRefit& r) { r.record.decisions.pop_back(); }},
      {"change more than weights", [](StoredRefit& r) { r.record.decisions[0].kernel = "cpu/x"; }},
      {"change more than weights", [](StoredRefit& r) { r.record.decisions[0].config = 12345; }},
  };
  const Plan plan = readEngine(goodEngines()[0]);
  for (const Change& each : kChanges) {
    // Every source in the section of its own.
    StoredRefit refit{.record = *plan.refit,
                      .weightsBytes = static_cast<int64_t>(plan.weights.size())};
    Bytes sources;
    for (const SourceWeights& source : refit.record.sources) {
      sources.resize((sources.size() + 63) / 64 * 64);
      refit.sources.push_back({static_cast<int64_t>(sources.size()), false});
      sources.insert(sources.end(), source.bytes.begin(), source.bytes.end());
    }
    each.change(refit);
    EngineTables tables = writeTables(plan);
    tables.refit = writeRefit(refit);
    const std::string message = tryRefit(assembleEngine(tables, plan.weights, sources));
    EXPECT_NE(message.find(each.sentence), std::string::npos)
        << each.sentence << " is not in: " << message;
  }
}

}  // namespace
}  // namespace camshaft
