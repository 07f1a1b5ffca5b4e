// Engines with one to three changes and the right checksum: read, loaded and run, or refused in
// words. Built with libFuzzer under clang; elsewhere driver.cpp mutates the corpus.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <span>

#include "engine/engine_file.h"
#include "engine/file_layout.h"
#include "fuzz/engine_mutator.h"
#include "fuzz/try_engine.h"
#include "support/error.h"

namespace camshaft::fuzz {
namespace {

std::vector<std::byte> toVector(const Bytes& bytes) {
  const auto span = std::as_bytes(std::span(bytes));
  return {span.begin(), span.end()};
}

// Bytes of a table, or an offset in it so that two things share what they say.
void changeTable(Random& random, Bytes& engine) {
  EngineHeader header;
  if (engine.size() < sizeof header) return;
  std::memcpy(&header, engine.data(), sizeof header);
  const EngineSection section = oneIn(random, 8) ? header.inspection : header.plan;
  if (section.size < 8 || section.offset > engine.size() ||
      section.size > engine.size() - section.offset) {
    engine = changedBytes(engine, random);
    return;
  }
  const auto word = [&] { return section.offset + below(random, section.size / 4) * 4; };
  const uint64_t to = word(), from = word();
  uint32_t value;
  std::memcpy(&value, engine.data() + from, sizeof value);
  if (oneIn(random, 2))
    value = static_cast<uint32_t>(from + value - to);  // as an offset, what the other one points to
  else if (oneIn(random, 2))
    value = static_cast<uint32_t>(interesting(random));
  std::memcpy(engine.data() + to, &value, sizeof value);
}

class EngineMutator : public Mutator {
 public:
  void learn(std::string_view engine) override {
    try {
      std::vector<std::byte> bytes = toVector(Bytes(engine));
      rehash(bytes);
      learn(readEngine(bytes));
    } catch (const Error&) {  // nothing to be learnt from
    }
  }

  Bytes mutated(Bytes engine, Random& random) const override {
    const uint64_t changes = 1 + below(random, 3);
    if (oneIn(random, 5)) {
      for (uint64_t i = 0; i < changes; ++i) changeTable(random, engine);
      return engine;
    }
    try {
      std::vector<std::byte> bytes = toVector(engine);
      rehash(bytes);
      Plan plan = readEngine(bytes);
      for (uint64_t i = 0; i < changes; ++i) changePlan(random, plan, donors_);
      const std::vector<std::byte> written = writeUnchecked(plan);
      return {reinterpret_cast<const char*>(written.data()), written.size()};
    } catch (const Error&) {
      return changedBytes(std::move(engine), random);
    }
  }

 private:
  void learn(const Plan& plan) {
    for (const ProfilePlan& profile : plan.profiles)
      for (const Step& step : profile.steps)
        if (step.kind == StepKind::kKernel && known_.emplace(step.kernel, step.params).second &&
            donors_.size() < 4096)
          donors_.push_back(step);
    for (const std::shared_ptr<Plan>& body : plan.bodies) learn(*body);
  }

  std::set<std::pair<std::string, std::vector<std::byte>>> known_;
  std::vector<Step> donors_;
};

}  // namespace

std::unique_ptr<Mutator> makeMutator() { return std::make_unique<EngineMutator>(); }

}  // namespace camshaft::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  std::vector<std::byte> engine(bytes.begin(), bytes.end());
  camshaft::fuzz::rehash(engine);
  camshaft::fuzz::tryEngine(engine);
  return 0;
}
