#include "engine/engine_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

#include "engine/inspect.h"
#include "engine/tables.h"
#include "support/error.h"

namespace camshaft {
namespace {

using ::testing::HasSubstr;

// x[n, 2] times 16 bytes of weights, twice, and a bind step.
Plan samplePlan() {
  static const std::vector<std::byte> weights(128, std::byte{7});
  const TensorDesc tensor{DataType::kF32, {{.slot = 0}, {.constant = 2}}};
  Plan plan;
  plan.profilingVerbosity = 2;  // detailed
  plan.networkName = "sample";
  plan.device = "cpu";
  plan.builtFor = "a test";
  const TensorDesc integer{DataType::kI64, {{.constant = 1}}};
  plan.inputs = {{.name = "x", .tensor = tensor, .dimNames = {"n", ""}},
                 {.name = "s", .tensor = integer, .isShapeTensor = true, .dimNames = {""}}};
  plan.outputs = {{.name = "y", .tensor = tensor, .isInput = false, .dimNames = {"n", ""}}};
  plan.weights = weights;
  ProfilePlan& profile = plan.profiles.emplace_back();
  profile.inputs = {{{1, 2}, {2, 2}, {4, 2}}, {{1}, {1}, {1}}};
  profile.slotCount = 4;
  profile.dimProgram = {{DimOp::kConstant, 1, -1, -1, 2}, {DimOp::kMultiply, 3, 2, 1}};
  profile.firstPhaseEnd = 1;
  profile.outputs = {tensor};
  profile.outputMaxBytes = {-1};
  profile.dynamicBuffers = {{.slot = 3}};
  profile.arenaBytes = 192;
  Step bind{.kind = StepKind::kBindDims, .name = "bind"};
  bind.inputs = {{.place = Place::kInput, .index = 1, .tensor = plan.inputs[1].tensor}};
  bind.bindSlots = {2};
  bind.bindMin = {0};
  bind.bindMax = {64};
  bind.dimBegin = 1;
  bind.dimEnd = 2;
  Step step{.name = "product", .kernel = "cpu/x", .params = {std::byte{1}, std::byte{2}}};
  step.inputs = {
      {.place = Place::kInput, .index = 0, .tensor = tensor},
      {.place = Place::kWeights, .offset = 64, .tensor = {DataType::kF32, {{.constant = 4}}}},
      {}};
  step.outputs = {{.place = Place::kOutput, .index = 0, .tensor = tensor}};
  step.dimArgs = {{.slot = 3}, {.constant = -5}};
  step.workspace = {
      .place = Place::kArena, .offset = 64, .tensor = {DataType::kU8, {{.constant = 128}}}};
  step.info = {.layerType = "MatMul",
               .origins = {"[ONNX Layer: /layer/MatMul]", "mine"},
               .why = "fastest of 2 measured",
               .milliseconds = 0.25};
  step.info.alternatives = {{"cpu/slow", 0.5, "slower"}, {"cpu/odd", -1, "needs even sizes"}};
  profile.steps = {bind, step};
  return plan;
}

TEST(EngineFile, IsTheSameInPieces) {
  const Plan plan = samplePlan();
  std::vector<std::byte> pieces;
  bool hasWeights = false;
  writeEngine(plan, {}, [&](std::span<const std::byte> piece) {
    pieces.insert(pieces.end(), piece.begin(), piece.end());
    hasWeights = hasWeights || piece.data() == plan.weights.data();
  });
  EXPECT_EQ(pieces, writeEngine(plan));
  EXPECT_TRUE(hasWeights) << "they were copied";
}

TEST(EngineFile, CanBeLeftOutWhereThePlanIsUsedAtOnce) {
  const Plan plan = samplePlan();
  const Plan read = asRead(plan);
  EXPECT_EQ(writeEngine(read), writeEngine(plan));
  EXPECT_EQ(read.weights.data(), plan.weights.data());
}

TEST(EngineFile, KeepsEveryField) {
  const Plan plan = samplePlan();
  const std::vector<std::byte> bytes = writeEngine(plan);
  const Plan read = readEngine(bytes);
  EXPECT_EQ(writeEngine(read), bytes);
  EXPECT_EQ(engineJson(read, read.profiles[0]), engineJson(plan, plan.profiles[0]));
  const Step &a = plan.profiles[0].steps[1], &b = read.profiles[0].steps[1];
  EXPECT_EQ(b.params, a.params);
  EXPECT_EQ(b.dimArgs, a.dimArgs);
  EXPECT_EQ(b.inputs[1].offset, a.inputs[1].offset);
  EXPECT_EQ(b.inputs[2].place, Place::kNone);
  EXPECT_EQ(read.inputs[1].isShapeTensor, true);
  EXPECT_EQ(read.profiles[0].steps[0].bindSlots, plan.profiles[0].steps[0].bindSlots);
  EXPECT_EQ(read.profiles[0].steps[0].bindMax, plan.profiles[0].steps[0].bindMax);
  EXPECT_TRUE(std::equal(read.weights.begin(), read.weights.end(), plan.weights.begin(),
                         plan.weights.end()));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(read.weights.data()) % 64, 0u);
}

TEST(EngineFile, ChecksWhatItReads) {
  struct Damage {
    const char* expected;
    std::function<void(Plan&, ProfilePlan&, Step&)> change;
  };
  const Damage damages[] = {
      {"it has no profile", [](Plan& p, ProfilePlan&, Step&) { p.profiles.clear(); }},
      {"a profile lacks inputs", [](Plan&, ProfilePlan& p, Step&) { p.inputs.pop_back(); }},
      {"a profile lacks outputs", [](Plan&, ProfilePlan& p, Step&) { p.outputs.clear(); }},
      {"arena size is out of range", [](Plan&, ProfilePlan& p, Step&) { p.arenaBytes = -1; }},
      {"rank is wrong", [](Plan&, ProfilePlan& p, Step&) { p.inputs[0].max.push_back(1); }},
      {"bounds are inverted", [](Plan&, ProfilePlan& p, Step&) { p.inputs[0].min[0] = 9; }},
      {"lacks dimension names",
       [](Plan& p, ProfilePlan&, Step&) { p.inputs[0].dimNames.pop_back(); }},
      {"slot count is out of range", [](Plan&, ProfilePlan& p, Step&) { p.slotCount = 1 << 20; }},
      {"slot is written twice", [](Plan&, ProfilePlan& p, Step&) { p.dimProgram[1].target = 0; }},
      {"slot is out of range", [](Plan&, ProfilePlan& p, Step&) { p.dimProgram[1].a = 99; }},
      {"instruction is unknown",
       [](Plan&, ProfilePlan& p, Step&) { p.dimProgram[1].op = static_cast<DimOp>(7); }},
      {"dimension program is cut", [](Plan&, ProfilePlan& p, Step&) { p.firstPhaseEnd = 3; }},
      {"element type is unknown",
       [](Plan&, ProfilePlan&, Step& s) {
         s.inputs[0].tensor.type = static_cast<DataType>(kDataTypeCount);
       }},
      {"layer 'product': an operand has 9 dimensions, more than 8",
       [](Plan&, ProfilePlan&, Step& s) { s.inputs[0].tensor.dims.resize(9); }},
      {"a negative size",
       [](Plan&, ProfilePlan&, Step& s) { s.inputs[0].tensor.dims[1].constant = -2; }},
      {"a profile gives an output another type",
       [](Plan&, ProfilePlan& p, Step&) { p.outputs[0].type = DataType::kF64; }},
      {"a profile gives an output another type",
       [](Plan&, ProfilePlan& p, Step&) { p.outputs[0].dims.pop_back(); }},
      {"outside the weights", [](Plan&, ProfilePlan&, Step& s) { s.inputs[1].offset = 128; }},
      {"outside the weights", [](Plan&, ProfilePlan&, Step& s) { s.inputs[1].offset = 4; }},
      {"outside the arena",
       [](Plan&, ProfilePlan&, Step& s) { s.workspace.tensor.dims[0].constant = 129; }},
      {"names no input", [](Plan&, ProfilePlan&, Step& s) { s.inputs[0].index = 2; }},
      {"names no output", [](Plan&, ProfilePlan&, Step& s) { s.outputs[0].index = -1; }},
      {"names no buffer",
       [](Plan&, ProfilePlan&, Step& s) { s.inputs[0] = {.place = Place::kDynamic, .index = 1}; }},
      {"unknown place",
       [](Plan&, ProfilePlan&, Step& s) { s.inputs[0].place = static_cast<Place>(7); }},
      {"read-only memory", [](Plan&, ProfilePlan&, Step& s) { s.outputs[0] = s.inputs[1]; }},
      {"a workspace is misplaced", [](Plan&, ProfilePlan&, Step& s) { s.workspace = s.inputs[1]; }},
      {"a workspace has no size",
       [](Plan&, ProfilePlan&, Step& s) { s.workspace.tensor.type = DataType::kI8; }},
      {"unknown kind", [](Plan&, ProfilePlan&, Step& s) { s.kind = static_cast<StepKind>(6); }},
      {"an observed tensor is not there",
       [](Plan&, ProfilePlan&, Step& s) { s.kind = StepKind::kObserve; }},
      {"a profile lacks values", [](Plan&, ProfilePlan& p, Step&) { p.inputValues.resize(1); }},
      {"not as many as the tensor has",
       [](Plan& p, ProfilePlan& profile, Step&) {
         profile.slotCount = 5;
         p.inputs[1].valueSlots = {4};
       }},
      {"an input that does not exist",
       [](Plan& p, ProfilePlan&, Step&) { p.outputs[0].aliasedInput = 2; }},
      {"other values than it has room for",
       [](Plan&, ProfilePlan& p, Step&) { p.outputValues = {{{.constant = 1}}}; }},
      {"layer 'product': it has bodies", [](Plan&, ProfilePlan&, Step& s) { s.bodies = {0}; }},
      {"a bind step has no input",
       [](Plan&, ProfilePlan& p, Step&) { p.steps[0].inputs[0].place = Place::kNone; }},
      {"reads no integers",
       [](Plan&, ProfilePlan& p, Step&) { p.steps[0].inputs[0].tensor.type = DataType::kF32; }},
      {"reads past its input",
       [](Plan&, ProfilePlan& p, Step&) { p.steps[0].inputs[0].tensor.dims[0].constant = 0; }},
      {"size is not fixed",
       [](Plan&, ProfilePlan& p, Step&) { p.steps[0].inputs[0].tensor.dims[0] = {.slot = 0}; }},
      {"bind slot is out of range",
       [](Plan&, ProfilePlan& p, Step&) { p.steps[0].bindSlots[0] = -1; }},
  };
  for (const Damage& damage : damages) {
    Plan plan = samplePlan();
    damage.change(plan, plan.profiles[0], plan.profiles[0].steps[1]);
    try {
      readEngine(assembleEngine(writeTables(plan), plan.weights));
      ADD_FAILURE() << "not noticed: " << damage.expected;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidEngine);
      EXPECT_THAT(error.message(), HasSubstr(damage.expected));
    }
  }
}

// What cannot be read is not written: the build that made it fails, and says why.
TEST(EngineFile, WritesNothingThatItWouldNotRead) {
  const auto refusalOf = [](const Plan& plan) -> std::string {
    try {
      writeEngine(plan);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
      return error.message();
    }
    return "";
  };
  Plan plan = samplePlan();
  EXPECT_EQ(refusalOf(plan), "");
  plan.profiles[0].steps[1].inputs[0].tensor.dims.resize(9);
  EXPECT_EQ(refusalOf(plan),
            "the network cannot be made an engine: layer 'product': an operand has 9 dimensions, "
            "more than 8");

  const auto nested = [](int depth) {
    Plan body = samplePlan();
    body.inputs.pop_back();  // a body binds nothing here
    body.profiles[0].inputs.pop_back();
    body.profiles[0].steps.clear();
    body.profiles[0].dynamicBuffers.clear();
    body.profiles[0].dimProgram.clear();
    body.profiles[0].firstPhaseEnd = 0;
    body.profiles[0].slotCount = 1;
    Plan plan = body;
    for (int i = 0; i < depth; ++i) {
      auto inner = std::make_shared<Plan>(std::move(plan));
      plan = body;
      plan.bodies.push_back(std::move(inner));
    }
    return plan;
  };
  EXPECT_EQ(readEngine(writeEngine(nested(kMaxBodyDepth))).bodies.size(), 1u);
  EXPECT_THAT(refusalOf(nested(kMaxBodyDepth + 1)),
              HasSubstr("nest 129 deep, and engines at most 128"));
}

// A file of some kilobytes whose 2000 strings are all the longest one there is.
TEST(EngineFile, SharedStringsAreNotReadOverAndOver) {
  Plan plan = samplePlan();
  plan.profiles[0].steps.resize(1);
  plan.profiles[0].steps[0].info.origins.assign(2000, "o");
  plan.profiles[0].steps[0].info.origins[0] = std::string(4096, 'x');
  EngineTables tables = writeTables(plan);
  std::vector<std::byte>& table = tables.inspection;
  const auto wordAt = [&](size_t at) {
    uint32_t value;
    std::memcpy(&value, table.data() + at, sizeof value);
    return value;
  };
  size_t origins = 0;
  for (size_t at = 0; at + 8 < table.size(); at += 4)
    if (wordAt(at) == 2000) origins = at + 4;
  ASSERT_GT(origins, 0u);
  EXPECT_NO_THROW(readEngine(assembleEngine(tables, plan.weights)));
  const uint32_t first = static_cast<uint32_t>(origins) + wordAt(origins);
  for (size_t i = 0; i < 2000; ++i) {
    const size_t at = origins + 4 * i;
    const uint32_t offset = first - static_cast<uint32_t>(at);
    std::memcpy(table.data() + at, &offset, sizeof offset);
  }
  try {
    readEngine(assembleEngine(tables, plan.weights));
    ADD_FAILURE() << "not noticed";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("say more than they have bytes for"));
  }
}

TEST(Inspect, JsonSaysHowEveryLayerRuns) {
  const Plan plan = samplePlan();
  const auto json = nlohmann::json::parse(engineJson(plan, plan.profiles[0]));
  EXPECT_EQ(json["Name"], "sample");
  EXPECT_EQ(json["WeightsBytes"], 128);
  EXPECT_EQ(json["Bindings"], (nlohmann::json{"x", "s", "y"}));
  ASSERT_EQ(json["Layers"].size(), 2u);
  const auto& layer = json["Layers"][1];
  EXPECT_EQ(layer["Name"], "product");
  EXPECT_EQ(layer["LayerType"], "MatMul");
  EXPECT_EQ(layer["TacticName"], "cpu/x");
  EXPECT_EQ(layer["OriginNodes"], (nlohmann::json{"/layer/MatMul", "mine"}));
  EXPECT_EQ(layer["Metadata"], "[ONNX Layer: /layer/MatMul]\x1emine");
  EXPECT_EQ(layer["TimeMs"], 0.25);
  ASSERT_EQ(layer["Inputs"].size(), 1u);  // neither the one left out nor the weights are listed
  EXPECT_EQ(layer["Inputs"][0]["Format/Datatype"], "Row major linear FP32");
  EXPECT_EQ(layer["Inputs"][0]["Location"], "Host");
  EXPECT_EQ(layer["ParameterType"], "MatrixMultiply");
  EXPECT_EQ(layer["Weights"], (nlohmann::json{{"Type", "FP32"}, {"Count", 4}}));
  EXPECT_EQ(layer["Inputs"][0]["Dimensions"], (nlohmann::json{-1, 2}));
  EXPECT_EQ(layer["Inputs"][0]["Memory"], (nlohmann::json{{"Place", "Input"}, {"Binding", "x"}}));
  EXPECT_EQ(layer["Workspace"],
            (nlohmann::json{{"Place", "Arena"}, {"Offset", 64}, {"Bytes", 128}}));
  EXPECT_EQ(layer["WeightBlocks"][0]["Bytes"], 16);
  EXPECT_FALSE(layer.contains("Operations")) << "a size is not known";
  EXPECT_EQ(layer["Alternatives"][0]["TimeMs"], 0.5);
  EXPECT_FALSE(layer["Alternatives"][1].contains("TimeMs"));
  EXPECT_EQ(nlohmann::json::parse(layerJson(plan, plan.profiles[0], plan.profiles[0].steps[1])),
            layer);
}

TEST(Inspect, TellsAsMuchAsTheEngineWasBuiltToTell) {
  Plan plan = samplePlan();
  plan.profilingVerbosity = 0;  // names only
  const Step& step = plan.profiles[0].steps[1];
  auto json = nlohmann::json::parse(engineJson(plan, plan.profiles[0]));
  EXPECT_EQ(json["Layers"][1], "product");
  EXPECT_EQ(layerJson(plan, plan.profiles[0], step), "\"product\"");
  EXPECT_EQ(layerLine(plan, step), "product");
  plan.profilingVerbosity = 1;  // none
  json = nlohmann::json::parse(engineJson(plan, plan.profiles[0]));
  EXPECT_TRUE(json["Layers"].empty());
  EXPECT_EQ(json["Bindings"].size(), 3u);
  EXPECT_EQ(layerLine(plan, step), "");
}

TEST(Inspect, TextNamesKernelReasonAndAlternatives) {
  const Plan plan = samplePlan();
  const std::string text = engineText(plan, plan.profiles[0]);
  for (const char* part :
       {"Engine 'sample' for cpu (a test), 2 layers",
        "product [MatMul] cpu/x(x:f32[-1,2], weights+64:f32[4], -)", "from {/layer/MatMul, mine}",
        "fastest of 2 measured, 0.25 ms", "not cpu/odd: needs even sizes"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(Inspect, NamesThatAreNoTextStayReadable) {
  Plan plan = samplePlan();
  plan.profiles[0].steps[1].name = "bad \xff\xfe name";
  EXPECT_TRUE(nlohmann::json::accept(engineJson(plan, plan.profiles[0])));
  EXPECT_TRUE(nlohmann::json::accept(layerJson(plan, plan.profiles[0], plan.profiles[0].steps[1])));
}

}  // namespace
}  // namespace camshaft
