// Engines that were tampered with: read, loaded and run, with nothing but an Error as the outcome
// or a run that stays inside its memory (which the sanitizers watch).
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <random>

#include "backend/device.h"
#include "compiler/compile.h"
#include "conformance/case.h"
#include "engine/engine_file.h"
#include "engine/file_layout.h"
#include "runtime/context.h"
#include "support/error.h"
#include "support/hash.h"

namespace camshaft {
namespace {

using conformance::Case;
using Random = std::mt19937;
using Bytes = std::vector<std::byte>;

uint64_t below(Random& random, uint64_t limit) { return limit == 0 ? 0 : random() % limit; }

Plan build(const Case& c, const std::string& device) {
  const Graph graph = c.graph();
  CompileOptions options;
  options.device = device;
  options.optimizationLevel = 0;
  options.threads = 1;
  options.profiles = c.profiles(graph);
  return compile(graph.clone(), options);
}

// Bytes of the case's engine on each device.
const std::vector<Bytes>& goodEngines() {
  static const std::vector<Bytes> engines = [] {
    std::vector<Bytes> all;
    for (const std::string device : {"cpu", "reference"})
      for (const Case& c : conformance::allCases()) all.push_back(writeEngine(build(c, device)));
    return all;
  }();
  return engines;
}

void rehash(Bytes& bytes) {
  EngineHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.hash = 0;
  Hasher hasher;
  hasher.update(std::as_bytes(std::span(&header, 1)));
  hasher.update(std::span(bytes).subspan(sizeof header));
  header.hash = hasher.digest();
  std::memcpy(bytes.data(), &header, sizeof header);
}

// A caller's memory for one tensor, exactly as large as asked for.
struct Memory {
  std::unique_ptr<std::byte[]> bytes;
  void* take(int64_t size) {
    bytes = std::make_unique<std::byte[]>(static_cast<size_t>(size));  // zeros are valid indices
    return bytes.get();
  }
};

int64_t bytesOfShape(DataType type, std::span<const int64_t> dims) {
  constexpr int64_t kMost = 1 << 24;
  int64_t count = 1;
  for (int64_t dim : dims) {
    if (dim < 0 || dim > kMost) return -1;
    count *= std::max<int64_t>(dim, 1);
    if (count > kMost) return -1;
  }
  return static_cast<int64_t>(bytesOf(type, std::count(dims.begin(), dims.end(), 0) > 0 ? 0 : count));
}

// As a careful program does: shapes from the profile, memory as large as the context says.
void runAsUsersDo(const std::shared_ptr<const LoadedEngine>& engine, int profile) {
  const Plan& plan = engine->plan();
  Context context(engine, 1);
  context.setProfile(profile);
  std::vector<Memory> inputs(plan.inputs.size()), outputs(plan.outputs.size());
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    context.setInputShape(static_cast<int>(i), plan.profiles[profile].inputs[i].opt);
    const int64_t bytes = bytesOfShape(plan.inputs[i].tensor.type, context.inputShape(static_cast<int>(i)));
    if (bytes < 0) return;
    context.setInputAddress(static_cast<int>(i), inputs[i].take(bytes));
  }
  context.setOutputAllocator([&](int output, void*, int64_t bytes, std::span<const int64_t>) -> void* {
    if (bytes > (1 << 26)) return nullptr;
    return outputs[output].take(bytes);
  });
  bool allKnown = true;
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    const int64_t bytes = bytesOfShape(plan.profiles[profile].outputs[i].type, context.outputShape(static_cast<int>(i)));
    allKnown &= bytes >= 0;
  }
  if (allKnown) {  // no allocator: addresses set beforehand
    context.setOutputAllocator(nullptr);
    for (size_t i = 0; i < plan.outputs.size(); ++i)
      context.setOutputAddress(static_cast<int>(i), outputs[i].take(bytesOfShape(
          plan.profiles[profile].outputs[i].type, context.outputShape(static_cast<int>(i)))));
  }
  context.run();
}

// The message of the Error that stopped it, or "" when it ran.
std::string tryEngine(const Bytes& bytes) {
  try {
    Plan plan = readEngine(bytes);
    // Larger arenas than any case has are refused by machines, not by engines.
    for (const ProfilePlan& profile : plan.profiles)
      if (profile.arenaBytes > (1 << 26)) return "not tried: its arena is large";
    const auto engine = std::make_shared<LoadedEngine>(std::move(plan));
    for (size_t p = 0; p < engine->plan().profiles.size(); ++p) runAsUsersDo(engine, static_cast<int>(p));
  } catch (const Error& error) {
    EXPECT_FALSE(error.message().empty());
    return error.message();
  }
  return "";
}

template <class T>
T* anyOf(Random& random, std::vector<T>& list) {
  return list.empty() ? nullptr : &list[below(random, list.size())];
}

int64_t oddNumber(Random& random, int64_t near) {
  static constexpr int64_t kOdd[] = {0, 1, -1, 2, 7, 64, 4096, 1 << 20, int64_t{1} << 31, int64_t{1} << 40,
                                     int64_t{1} << 62, INT64_MAX, INT64_MIN, -64};
  switch (below(random, 3)) {
    case 0: return kOdd[below(random, std::size(kOdd))];
    case 1: return near + static_cast<int64_t>(below(random, 5)) - 2;
    default: return static_cast<int64_t>(below(random, 12));
  }
}

void changeDim(Random& random, Plan& plan, DimRef& dim) {
  if (below(random, 2) == 0) dim = {.constant = oddNumber(random, dim.constant)};
  else dim.slot = static_cast<int32_t>(below(random, plan.profiles[0].slotCount + 2)) - 1;
}

void changeTensor(Random& random, Plan& plan, TensorDesc& tensor) {
  switch (below(random, 5)) {
    case 0: tensor.type = static_cast<DataType>(below(random, kDataTypeCount + 1)); break;
    case 1: tensor.dims.push_back({.constant = oddNumber(random, 2)}); break;
    case 2: if (!tensor.dims.empty()) tensor.dims.pop_back(); break;
    default:
      if (DimRef* dim = anyOf(random, tensor.dims)) changeDim(random, plan, *dim);
  }
}

void changeOperand(Random& random, Plan& plan, Operand& operand) {
  switch (below(random, 6)) {
    case 0: operand.place = static_cast<Place>(below(random, 7)); break;
    case 1: operand.offset = oddNumber(random, operand.offset); break;
    case 2: operand.offset += 64 * (static_cast<int64_t>(below(random, 9)) - 4); break;
    case 3: operand.index = static_cast<int32_t>(oddNumber(random, operand.index)); break;
    default: changeTensor(random, plan, operand.tensor);
  }
}

void changeOperands(Random& random, Plan& plan, std::vector<Operand>& operands) {
  Operand* operand = anyOf(random, operands);
  if (!operand || below(random, 8) == 0) return operands.push_back(operand ? *operand : Operand{});
  switch (below(random, 6)) {
    case 0: operands.erase(operands.begin() + (operand - operands.data())); break;
    case 1: std::swap(*operand, operands[below(random, operands.size())]); break;
    default: changeOperand(random, plan, *operand);
  }
}

void changeParams(Random& random, Step& step) {
  std::vector<std::byte>& params = step.params;
  if (params.empty() || below(random, 10) == 0) return params.resize(below(random, 64));
  const size_t at = below(random, params.size());
  switch (below(random, 4)) {
    case 0: params.resize(at); break;
    case 1: params[at] = static_cast<std::byte>(random()); break;
    case 2: params[at] ^= static_cast<std::byte>(1 << below(random, 8)); break;
    default: {
      const int64_t number = oddNumber(random, 3);
      const size_t start = at / 8 * 8, size = std::min<size_t>(8, params.size() - start);
      std::memcpy(params.data() + start, &number, size);
    }
  }
}

// Another step's kernel, parameters or both, as a file stitched from others has them.
void stealKernel(Random& random, Step& step, const std::vector<Step>& donors) {
  const Step& donor = donors[below(random, donors.size())];
  step.kernel = donor.kernel;
  if (below(random, 4) != 0) step.params = donor.params;
  if (below(random, 8) == 0) step.kernel += "x";
}

void changeProfile(Random& random, Plan& plan, ProfilePlan& profile) {
  switch (below(random, 7)) {
    case 0: profile.slotCount = static_cast<int32_t>(oddNumber(random, profile.slotCount)); break;
    case 1: profile.firstPhaseEnd = static_cast<int32_t>(oddNumber(random, profile.firstPhaseEnd)); break;
    case 2: profile.arenaBytes = oddNumber(random, profile.arenaBytes); break;
    case 3:
      if (DimInstruction* instruction = anyOf(random, profile.dimProgram)) {
        int32_t* const fields[] = {&instruction->target, &instruction->a, &instruction->b};
        *fields[below(random, 3)] = static_cast<int32_t>(oddNumber(random, instruction->a));
        if (below(random, 2)) instruction->op = static_cast<DimOp>(below(random, 7));
        if (below(random, 2)) instruction->constant = oddNumber(random, instruction->constant);
      }
      break;
    case 4:
      if (InputRange* range = anyOf(random, profile.inputs)) {
        std::vector<int64_t>* const bounds[] = {&range->min, &range->opt, &range->max};
        if (int64_t* bound = anyOf(random, *bounds[below(random, 3)])) *bound = oddNumber(random, *bound);
      }
      break;
    case 5:
      if (TensorDesc* output = anyOf(random, profile.outputs)) changeTensor(random, plan, *output);
      break;
    default:
      if (DimRef* buffer = anyOf(random, profile.dynamicBuffers)) changeDim(random, plan, *buffer);
      else profile.dynamicBuffers.push_back({.constant = 64});
  }
}

void changeStep(Random& random, Plan& plan, Step& step, const std::vector<Step>& donors) {
  switch (below(random, 10)) {
    case 0: step.kind = static_cast<StepKind>(below(random, 3)); break;
    case 1: stealKernel(random, step, donors); break;
    case 2:
    case 3: changeParams(random, step); break;
    case 4:
    case 5: changeOperands(random, plan, step.inputs); break;
    case 6:
    case 7: changeOperands(random, plan, step.outputs); break;
    case 8:
      if (DimRef* dim = anyOf(random, step.dimArgs)) changeDim(random, plan, *dim);
      else if (int32_t* slot = anyOf(random, step.bindSlots)) *slot = static_cast<int32_t>(oddNumber(random, *slot));
      break;
    default: changeOperand(random, plan, step.workspace);
  }
}

void changePlan(Random& random, Plan& plan, const std::vector<Step>& donors) {
  ProfilePlan& profile = *anyOf(random, plan.profiles);
  Step* step = anyOf(random, profile.steps);
  switch (below(random, 12)) {
    case 0: return changeProfile(random, plan, profile);
    case 1:
      if (IoTensor* input = anyOf(random, plan.inputs)) changeTensor(random, plan, input->tensor);
      return;
    case 2:
      if (step) std::swap(*step, profile.steps[below(random, profile.steps.size())]);
      return;
    default:
      if (step) changeStep(random, plan, *step, donors);
  }
}

std::vector<Step> stepsOf(const std::vector<Bytes>& engines) {
  std::vector<Step> steps;
  for (const Bytes& bytes : engines) {
    const Plan plan = readEngine(bytes);
    for (const Step& step : plan.profiles[0].steps) steps.push_back(step);
  }
  return steps;
}

// CAMSHAFT_FUZZ_SECONDS turns a test into a longer hunt; CAMSHAFT_FUZZ_SEED moves it elsewhere.
int64_t setting(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

void repeat(int rounds, const std::function<void(Random&, uint32_t seed)>& round) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(setting("CAMSHAFT_FUZZ_SECONDS", 0));
  const auto first = static_cast<uint32_t>(setting("CAMSHAFT_FUZZ_SEED", 0));
  for (uint32_t i = 0; i < static_cast<uint32_t>(rounds) || std::chrono::steady_clock::now() < end; ++i) {
    if (std::getenv("CAMSHAFT_FUZZ_TRACE")) fprintf(stderr, "seed %u\n", first + i);
    Random random(first + i);
    round(random, first + i);
  }
}

TEST(HostileEngine, GoodOnesRun) {
  for (const Bytes& bytes : goodEngines()) {
    const std::string message = tryEngine(bytes);
    // Inputs are zeros here: a run may refuse to reshape to nothing, never call its engine damaged.
    EXPECT_EQ(message.find("damaged"), std::string::npos) << message;
  }
}

TEST(HostileEngine, TruncatedAndFlippedBytesAreNoticed) {
  for (size_t e = 0; e < goodEngines().size(); e += 7) {
    const Bytes& good = goodEngines()[e];
    for (size_t length = 0; length < good.size(); length += 1 + good.size() / 40)
      EXPECT_THROW(readEngine(std::span(good).first(length)), Error) << "prefix " << length;
    for (size_t i = 0; i < good.size(); i += 1 + good.size() / 200) {
      Bytes bad = good;
      bad[i] ^= std::byte{0x41};
      EXPECT_THROW(readEngine(bad), Error) << "byte " << i;
    }
  }
}

TEST(HostileEngine, FlippedBytesWithAValidChecksum) {
  repeat(6000, [](Random& random, uint32_t) {
    Bytes bytes = goodEngines()[below(random, goodEngines().size())];
    EngineHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    const EngineSection& section = below(random, 8) == 0 ? header.inspection : header.plan;
    for (uint64_t flips = 1 + below(random, 3); flips > 0; --flips) {
      const uint64_t at = below(random, 16) == 0 ? below(random, bytes.size()) : section.offset + below(random, section.size);
      bytes[at] ^= static_cast<std::byte>(1 << below(random, 8));
    }
    rehash(bytes);
    tryEngine(bytes);
  });
}

TEST(HostileEngine, ChangedPlans) {
  const std::vector<Step> donors = stepsOf(goodEngines());
  int ran = 0, rounds = 0;
  repeat(12000, [&](Random& random, uint32_t) {
    Plan plan = readEngine(goodEngines()[below(random, goodEngines().size())]);
    for (uint64_t changes = 1 + below(random, 2); changes > 0; --changes) changePlan(random, plan, donors);
    ++rounds;
    ran += tryEngine(writeEngine(plan)).empty();
  });
  // Most changes must be caught; some are harmless. All or none would mean that nothing is tested.
  EXPECT_GT(ran, 0);
  EXPECT_LT(ran, rounds / 2);
}

TEST(HostileEngine, EveryKernelOnEveryOtherKernelsOperands) {
  const std::vector<Step> donors = stepsOf(goodEngines());
  std::map<std::string, const Step*> byKernel;
  for (const Step& step : donors) byKernel.try_emplace(step.kernel, &step);
  for (const Bytes& bytes : goodEngines()) {
    const Plan good = readEngine(bytes);
    for (const auto& [name, donor] : byKernel) {
      Plan plan = good;
      for (Step& step : plan.profiles[0].steps) {
        if (step.kind != StepKind::kKernel) continue;
        step.kernel = donor->kernel;
        step.params = donor->params;
        break;
      }
      tryEngine(writeEngine(plan));
    }
  }
}

TEST(HostileEngine, KernelsCheckTheirOperands) {
  for (const Step& step : stepsOf(goodEngines())) {
    if (step.kind != StepKind::kKernel) continue;
    const RuntimeKernel* kernel = findRuntimeKernel(step.kernel);
    ASSERT_NE(kernel, nullptr) << step.kernel;
    EXPECT_NE(kernel->fits, nullptr) << step.kernel;
  }
}

TEST(HostileEngine, ForeignFilesAreNamed) {
  const auto messageOf = [](std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return tryEngine(Bytes(bytes.begin(), bytes.end()));
  };
  EXPECT_NE(messageOf("").find("0 bytes long"), std::string::npos);
  const std::string onnx = "\x08\x07\x12\x07pytorch" + std::string(200, 'o');
  EXPECT_NE(messageOf(onnx).find("not a Camshaft engine"), std::string::npos);
  const std::string tensorrt = "ftrt" + std::string(300, '\0');
  EXPECT_NE(messageOf(tensorrt).find("not a Camshaft engine"), std::string::npos);
}

}  // namespace
}  // namespace camshaft
