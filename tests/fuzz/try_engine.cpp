#include "fuzz/try_engine.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "engine/engine_file.h"
#include "engine/file_layout.h"
#include "engine/inspect.h"
#include "engine/tables.h"
#include "runtime/context.h"
#include "support/error.h"
#include "support/hash.h"

namespace camshaft::fuzz {
namespace {

constexpr int64_t kMostElements = 1 << 22;    // of an input or output; machines refuse more, not
constexpr int64_t kMostArenaBytes = 1 << 24;  // engines
constexpr int64_t kMostTrips = 16;

// A caller's memory for one tensor, exactly as large as asked for.
struct Memory {
  std::unique_ptr<std::byte[]> bytes;
  void* take(int64_t size) {
    bytes = std::make_unique<std::byte[]>(static_cast<size_t>(size));
    return bytes.get();
  }
};

int64_t bytesOfShape(DataType type, std::span<const int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims) {
    if (dim < 0 || dim > kMostElements) return -1;
    count *= std::max<int64_t>(dim, 1);
    if (count > kMostElements) return -1;
  }
  const bool isEmpty = std::find(dims.begin(), dims.end(), 0) != dims.end();
  return static_cast<int64_t>(bytesOf(type, isEmpty ? 0 : count));
}

// Numbers from 0 to 3: valid as most indices, sizes, conditions and trip counts.
void fill(DataType type, void* data, int64_t bytes, uint64_t seed) {
  const int64_t width = std::max<int64_t>(bitsOf(type) / 8, 1);
  for (int64_t i = 0; i * width + width <= bytes; ++i) {
    const auto number = static_cast<int64_t>(type == DataType::kBool ? (seed + i) % 2
                                             : seed % 3 == 0         ? 0
                                                                     : (seed + i / 2) % 4);
    std::byte* to = static_cast<std::byte*>(data) + i * width;
    const auto real = static_cast<float>(number) - 1.25f;
    if (type == DataType::kF32)
      std::memcpy(to, &real, sizeof real);
    else
      std::memcpy(to, &number, static_cast<size_t>(std::min<int64_t>(width, sizeof number)));
  }
}

// Loops whose end cannot be told are left alone: an engine may well run for ever, as a model may.
bool endsSoon(const Plan& plan, bool isBody) {
  for (const ProfilePlan& profile : plan.profiles)
    for (const Step& step : profile.steps) {
      if (step.kind != StepKind::kLoop) continue;
      const Operand& trips = step.inputs[0];
      int64_t count = 0;
      if (trips.place == Place::kWeights)
        std::memcpy(&count, plan.weights.data() + trips.offset, sizeof count);
      else if (trips.place != Place::kInput || isBody ||
               plan.inputs[trips.index].tensor.type != DataType::kI64)
        return false;  // fill() writes few trips into a caller's integers alone
      if (count > kMostTrips) return false;
    }
  return std::all_of(plan.bodies.begin(), plan.bodies.end(),
                     [](const auto& body) { return endsSoon(*body, true); });
}

bool isSmall(const Plan& plan) {
  for (const ProfilePlan& profile : plan.profiles)
    if (profile.arenaBytes > kMostArenaBytes) return false;
  return std::all_of(plan.bodies.begin(), plan.bodies.end(),
                     [](const auto& body) { return isSmall(*body); });
}

class Run {
 public:
  Run(const std::shared_ptr<const LoadedEngine>& engine, int profile, uint64_t seed)
      : plan_(engine->plan()),
        profile_(plan_.profiles[profile]),
        context_(engine, 1),
        seed_(seed),
        inputs_(plan_.inputs.size()),
        outputs_(plan_.outputs.size()) {
    context_.setProfile(profile);
  }

  void at(const std::vector<int64_t> InputRange::* sizes) {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const int index = static_cast<int>(i);
      const DataType type = plan_.inputs[i].tensor.type;
      context_.setInputShape(index, profile_.inputs[i].*sizes);
      const int64_t bytes = bytesOfShape(type, context_.inputShape(index));
      if (bytes < 0) return;
      fill(type, inputs_[i].take(bytes), bytes, seed_ + i);
      context_.setInputAddress(index, inputs_[i].bytes.get());
    }
    giveOutputs();
    context_.run();
    context_.forgetRunSizes();  // as the API does: memory is not taken for sizes of the last run
  }

 private:
  // Addresses set beforehand where all shapes are known then, else an allocator.
  void giveOutputs() {
    std::vector<int64_t> sizes;
    for (size_t i = 0; i < outputs_.size(); ++i)
      sizes.push_back(
          bytesOfShape(profile_.outputs[i].type, context_.outputShape(static_cast<int>(i))));
    const bool allKnown = std::find(sizes.begin(), sizes.end(), -1) == sizes.end();
    for (size_t i = 0; i < outputs_.size(); ++i)
      context_.setOutputAddress(static_cast<int>(i),
                                allKnown ? outputs_[i].take(sizes[i]) : nullptr);
    const auto allocate = [this](int output, void*, int64_t bytes,
                                 std::span<const int64_t>) -> void* {
      return bytes > kMostElements * 8 ? nullptr : outputs_[output].take(bytes);
    };
    if (allKnown)
      context_.setOutputAllocator(nullptr);
    else
      context_.setOutputAllocator(allocate);
  }

  const Plan& plan_;
  const ProfilePlan& profile_;
  Context context_;
  uint64_t seed_;
  std::vector<Memory> inputs_, outputs_;
};

}  // namespace

std::string tryEngine(std::span<const std::byte> bytes) {
  try {
    Plan plan = readEngine(bytes);
    if (!isSmall(plan)) return "not tried: its arena is large";
    if (!endsSoon(plan, false)) return "not tried: it may run for ever";
    const auto engine = std::make_shared<LoadedEngine>(std::move(plan));
    const uint64_t seed = hashBytes(bytes);
    for (size_t p = 0; p < engine->plan().profiles.size(); ++p) {
      engineText(engine->plan(), engine->plan().profiles[p]);
      engineJson(engine->plan(), engine->plan().profiles[p]);
      Run run(engine, static_cast<int>(p), seed);
      run.at(&InputRange::opt);
      run.at(&InputRange::max);
      run.at(&InputRange::min);
    }
  } catch (const Error& error) {
    return error.message().empty() ? "an error without words" : error.message();
  }
  return "";
}

void rehash(std::vector<std::byte>& bytes) {
  EngineHeader header;
  if (bytes.size() < sizeof header) return;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.fileBytes = bytes.size();
  header.hash = 0;
  std::memcpy(bytes.data(), &header, sizeof header);
  header.hash = hashBytes(bytes);
  std::memcpy(bytes.data(), &header, sizeof header);
}

std::vector<std::byte> writeUnchecked(const Plan& plan) {
  return assembleEngine(writeTables(plan), plan.weights);
}

}  // namespace camshaft::fuzz
