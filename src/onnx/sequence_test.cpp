// Sequences and optionals: what is left of them in the graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/onnx_model.h"

namespace camshaft::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> outputsOf(TestModel& model) {
  camshaft::Graph graph;
  for (const ImportProblem& problem : model.import(graph)) ADD_FAILURE() << problem.message;
  std::vector<std::string> outputs;
  for (const auto& output : graph.outputs)
    outputs.push_back(str(output.name, ": ", toString(output.value->type)));
  return outputs;
}

std::vector<std::string> problemsOf(TestModel& model) {
  camshaft::Graph graph;
  std::vector<std::string> messages;
  for (const ImportProblem& problem : model.import(graph)) messages.push_back(problem.message);
  return messages;
}

TestModel splitModel() {
  TestModel model;
  model.input("x", {"n", 6}).integers("twos", {2, 2, 2}).integers("last", {-1});
  model.node({"SplitToSequence", {"x", "twos"}, {"s"}, {{"axis", int64_t{1}}}});
  return model;
}

TEST(Sequence, PartsAreInsertedErasedAndJoined) {
  TestModel model = splitModel();
  model.integers("one", {1}).integers("sizes", {1, 5});
  model.node({"SplitToSequence", {"x", "sizes"}, {"pair"}, {{"axis", int64_t{1}}}});
  model.node({"SequenceAt", {"pair", "last"}, {"five"}});
  model.node({"SequenceInsert", {"pair", "x", "one"}, {"three"}});
  model.node({"SequenceErase", {"three", "last"}, {"two_left"}});
  model.node({"ConcatFromSequence", {"two_left"}, {"joined"}, {{"axis", int64_t{1}}}});
  model.node({"SequenceLength", {"three"}, {"count"}});
  model.output("five").output("joined").output("count");
  EXPECT_THAT(outputsOf(model),
              ElementsAre("five: f32[n, 5]", "joined: f32[n, 7]", "count: i64[]"));
}

TEST(Sequence, ElementsAreOutputsOfTheirOwn) {
  TestModel model;
  model.input("x", {2, 3});
  model.node({"SplitToSequence", {"x"}, {"rows"}, {{"keepdims", int64_t{0}}}});
  model.node({"Identity", {"rows"}, {"y"}}).output("y");
  EXPECT_THAT(outputsOf(model), ElementsAre("y_0: f32[3]", "y_1: f32[3]"));
}

TEST(Sequence, BodiesAreCopiedForEachElement) {
  const Message body =
      Message()
          .message(1, TestNode{"Concat", {"a", "x"}, {"b"}, {{"axis", int64_t{1}}}}.encode())
          .message(11, Message().bytes(1, "a"))
          .message(12, Message().bytes(1, "b"));
  TestModel model;
  model.input("x", {2, 3}).input("z", {2, 1});
  model.node({"SequenceConstruct", {"x", "z"}, {"s"}});
  model.node({"SequenceMap", {"s"}, {"y"}, {{"body", body}}}).output("y");
  EXPECT_THAT(outputsOf(model), ElementsAre("y_0: f32[2, 6]", "y_1: f32[2, 4]"));
}

// seq = []; for i in 0..2: seq.append(x[i])
TEST(Sequence, LoopsThatCarryOneAreUnrolled) {
  const Message body = Message()
                           .message(1, TestNode{"Identity", {"go"}, {"goes"}}.encode())
                           .message(1, TestNode{"Gather", {"x", "i"}, {"row"}}.encode())
                           .message(1, TestNode{"SequenceInsert", {"s", "row"}, {"t"}}.encode())
                           .message(11, Message().bytes(1, "i"))
                           .message(11, Message().bytes(1, "go"))
                           .message(11, Message().bytes(1, "s"))
                           .message(12, Message().bytes(1, "goes"))
                           .message(12, Message().bytes(1, "t"));
  TestModel model;
  model.input("x", {4, "n"}).integers("trips", {3});
  model.node({"SequenceEmpty", {}, {"none"}});
  model.node({"Loop", {"trips", "", "none"}, {"all"}, {{"body", body}}});
  model.node(
      {"ConcatFromSequence", {"all"}, {"y"}, {{"axis", int64_t{0}}, {"new_axis", int64_t{1}}}});
  EXPECT_THAT(outputsOf(model.output("y")), ElementsAre("y: f32[3, n]"));
}

// seq = [first]; while going on: seq.append(x[i]), as often as `trips`, an input, says.
TestModel growingLoop(const TestNode& append, bool beginsEmpty) {
  const Message body = Message()
                           .message(1, TestNode{"Identity", {"go"}, {"goes"}}.encode())
                           .message(1, TestNode{"Gather", {"x", "i"}, {"row"}}.encode())
                           .message(1, append.encode())
                           .message(11, Message().bytes(1, "i"))
                           .message(11, Message().bytes(1, "go"))
                           .message(11, Message().bytes(1, "s"))
                           .message(12, Message().bytes(1, "goes"))
                           .message(12, Message().bytes(1, "t"));
  TestModel model;
  model.input("x", {4, 5, "n"}).input("trips", {}, kInt64Code).input("first", {5, "n"});
  if (beginsEmpty)
    model.node({"SequenceEmpty", {}, {"begin"}});
  else
    model.node({"SequenceConstruct", {"first"}, {"begin"}});
  model.node({"Loop", {"trips", "", "begin"}, {"all"}, {{"body", body}}});
  return model;
}

TEST(Sequence, LoopsOfRunTimeAppendToOne) {
  const TestNode append{"SequenceInsert", {"s", "row"}, {"t"}};
  TestModel model = growingLoop(append, true);
  model.integers("last", {-1});
  model.node({"ConcatFromSequence", {"all"}, {"joined"}, {{"axis", int64_t{1}}}});
  model.node({"ConcatFromSequence",
              {"all"},
              {"stack"},
              {{"axis", int64_t{-1}}, {"new_axis", int64_t{1}}}});
  model.node({"SequenceAt", {"all", "last"}, {"end"}});
  model.node({"SequenceLength", {"all"}, {"count"}});
  model.node({"SequenceInsert", {"all", "first"}, {"more"}});
  model.node({"SequenceLength", {"more"}, {"after"}});
  model.output("joined").output("stack").output("end").output("count").output("after");
  EXPECT_THAT(outputsOf(model), ElementsAre("joined: f32[5, n*trips]", "stack: f32[5, n, trips]",
                                            "end: f32[5, n]", "count: i64[]", "after: i64[]"));
  TestModel begun = growingLoop(append, false);
  begun.node({"ConcatFromSequence", {"all"}, {"joined"}, {{"axis", int64_t{0}}}});
  EXPECT_THAT(outputsOf(begun.output("joined")), ElementsAre("joined: f32[5*trips + 5, n]"));
}

TEST(Sequence, RowsOfRunTimeAreElements) {
  TestModel model;
  model.input("x", {"n", 2, "m"}).input("i", {}, kInt64Code);
  model.node({"SplitToSequence", {"x"}, {"rows"}, {{"keepdims", int64_t{0}}}});
  model.node({"SplitToSequence", {"x"}, {"columns"}, {{"axis", int64_t{2}}}});
  model.node({"SequenceAt", {"rows", "i"}, {"row"}}).node({"SequenceAt", {"columns", "i"}, {"c"}});
  model.node({"ConcatFromSequence", {"columns"}, {"y"}, {{"axis", int64_t{2}}}});
  EXPECT_THAT(outputsOf(model.output("row").output("c").output("y")),
              ElementsAre("row: f32[2, m]", "c: f32[n, 2, 1]", "y: f32[n, 2, m]"));
}

TEST(Sequence, LoopsOfRunTimeDoNothingElseToOne) {
  TestModel inserts = growingLoop({"SequenceInsert", {"s", "row", "i"}, {"t"}}, true);
  inserts.node({"SequenceLength", {"all"}, {"y"}}).output("y");
  EXPECT_THAT(
      problemsOf(inserts),
      ElementsAre(HasSubstr("how many elements the sequence 's' has is known at run time")));
  TestModel starts = growingLoop({"SequenceConstruct", {"row"}, {"t"}}, true);
  starts.node({"SequenceLength", {"all"}, {"y"}}).output("y");
  EXPECT_THAT(
      problemsOf(starts),
      ElementsAre(HasSubstr("output 't' of its body is a sequence: an iteration may only")));
  TestModel mixes = growingLoop({"SequenceInsert", {"s", "i"}, {"t"}}, false);
  mixes.node({"SequenceLength", {"all"}, {"y"}}).output("y");
  EXPECT_EQ(problemsOf(mixes).size(), 1u);
}

TEST(Sequence, ThoseOfRunTimeAreOutputsAsOneTensor) {
  TestModel model = growingLoop({"SequenceInsert", {"s", "row"}, {"t"}}, true);
  EXPECT_THAT(outputsOf(model.output("all")), ElementsAre("all: f32[trips, 5, n]"));
}

TEST(Sequence, InputsAreOneTensor) {
  const Message body =
      Message()
          .message(1, TestNode{"Concat", {"a", "w"}, {"b"}, {{"axis", int64_t{0}}}}.encode())
          .message(11, Message().bytes(1, "a"))
          .message(11, Message().bytes(1, "w"))
          .message(12, Message().bytes(1, "b"));
  TestModel model;
  model.sequenceInput("s", TestDims{"n", 3}).input("w", {2, 3});
  model.integers("last", {-1}).node({"SequenceAt", {"s", "last"}, {"end"}});
  model.node({"SequenceLength", {"s"}, {"count"}});
  model.node({"SequenceMap", {"s", "w"}, {"longer"}, {{"body", body}}});
  model.node({"SequenceErase", {"longer"}, {"fewer"}});
  model.node({"SequenceInsert", {"s", "end", "count"}, {"more"}});
  model.output("end").output("count").output("longer").output("fewer").output("more");
  EXPECT_THAT(outputsOf(model),
              ElementsAre("end: f32[n, 3]", "count: i64[]", "longer: f32[s.length, n + 2, 3]",
                          "fewer: f32[s.length - 1, n + 2, 3]", "more: f32[s.length + 1, n, 3]"));
}

// Elements that are alike, where only the run knows which.
TEST(Sequence, PositionsMayBeThoseOfRunTime) {
  TestModel model = splitModel();
  model.input("i", {}, kInt64Code).input("part", {"n", 2});
  model.node({"SequenceInsert", {"s", "part", "i"}, {"four"}});
  model.node({"SequenceErase", {"s", "i"}, {"two"}});
  EXPECT_THAT(outputsOf(model.output("four").output("two")),
              ElementsAre("four_0: f32[n, 2]", "four_1: f32[n, 2]", "four_2: f32[n, 2]",
                          "four_3: f32[n, 2]", "two_0: f32[n, 2]", "two_1: f32[n, 2]"));
}

TEST(Sequence, BranchesGiveThem) {
  const auto branch = [](const std::vector<TestNode>& nodes, const std::string& output) {
    Message message;
    for (const TestNode& node : nodes) message.message(1, node.encode());
    return message.message(12, Message().bytes(1, output));
  };
  const auto pair = branch({{"Neg", {"x"}, {"m"}}, {"SequenceConstruct", {"x", "m"}, {"s"}}}, "s");
  const auto same = branch({{"SequenceConstruct", {"x", "x"}, {"s"}}}, "s");
  const auto one = branch({{"SequenceConstruct", {"x"}, {"s"}}}, "s");
  TestModel model;
  model.input("x", {"n"}).input("c", {}, 9);
  model.node({"If", {"c"}, {"two"}, {{"then_branch", pair}, {"else_branch", same}}});
  model.node({"If", {"c"}, {"some"}, {{"then_branch", pair}, {"else_branch", one}}});
  EXPECT_THAT(outputsOf(model.output("two").output("some")),
              ElementsAre("two_0: f32[n]", "two_1: f32[n]", "some: f32[size, n]"));
}

TEST(Sequence, PartsOfRunTimeAreAlikeButForTheLast) {
  TestModel model;
  model.input("x", {"n", 6}).input("size", {}, kInt64Code).input("sizes", {"k"}, kInt64Code);
  model.integers("two", {2}).integers("scalar", {}).node({"Reshape", {"two", "scalar"}, {"pair"}});
  model.node({"SplitToSequence", {"x", "pair"}, {"pairs"}});
  model.node({"SplitToSequence", {"x", "size"}, {"rows"}});
  model.node({"SplitToSequence", {"x", "sizes"}, {"columns"}, {{"axis", int64_t{1}}}});
  EXPECT_THAT(outputsOf(model.output("pairs").output("rows").output("columns")),
              ElementsAre("pairs: f32[floordiv(n + 1, 2), 2, 6]",
                          "rows: f32[floordiv(n + size - 1, size), size, 6]",
                          "columns: f32[floordiv(6, floordiv(6, k)), n, floordiv(6, k)]"));
  TestModel taken;
  taken.input("x", {"n", 6}).integers("two", {2}).integers("scalar", {}).integers("last", {-1});
  taken.node({"Reshape", {"two", "scalar"}, {"pair"}});
  taken.node({"SplitToSequence", {"x", "pair"}, {"pairs"}});
  taken.node({"SequenceAt", {"pairs", "last"}, {"y"}});
  taken.node({"ConcatFromSequence", {"pairs"}, {"z"}, {{"axis", int64_t{0}}}});
  EXPECT_THAT(outputsOf(taken.output("y").output("z")),
              ElementsAre("y: f32[min(-2*floordiv(n + 1, 2) + n + 2, 2), 6]", "z: f32[n, 6]"));
}

TEST(Sequence, BodiesThatFailAreReportedOnce) {
  const Message body =
      Message()
          .message(1, TestNode{"Softmax", {"a"}, {"b"}, {{"axis", int64_t{7}}}, "bad"}.encode())
          .message(11, Message().bytes(1, "a"))
          .message(12, Message().bytes(1, "b"));
  TestModel model = splitModel();
  model.node({"SequenceMap", {"s"}, {"y"}, {{"body", body}}}).output("y");
  EXPECT_THAT(problemsOf(model), ElementsAre(HasSubstr("axis 7 is outside a tensor of rank 2")));
}

TEST(Sequence, FunctionsTakeAndGiveThem) {
  TestModel model = splitModel();
  model.function("drop", {"seq"}, {"shorter"}, {}, {{"SequenceErase", {"seq"}, {"shorter"}}});
  model.node({"drop", {"s"}, {"y"}, {}, "", "local"}).output("y");
  EXPECT_THAT(outputsOf(model), ElementsAre("y_0: f32[n, 2]", "y_1: f32[n, 2]"));
}

TEST(Sequence, OptionalsAreWhatTheyHold) {
  TestModel model = splitModel();
  model.node({"Optional", {"s"}, {"some"}}).node({"Optional", {}, {"none"}});
  model.node({"OptionalHasElement", {"some"}, {"yes"}});
  model.node({"OptionalHasElement", {"none"}, {"no"}});
  model.node({"OptionalGetElement", {"some"}, {"held"}});
  model.node({"SequenceAt", {"held", "last"}, {"y"}});
  EXPECT_THAT(outputsOf(model.output("yes").output("no").output("y")),
              ElementsAre("yes: bool[]", "no: bool[]", "y: f32[n, 2]"));
}

TEST(Strings, HarmNothingWhereNobodyReadsThem) {
  TestModel model;
  model.input("x", {2}).node({"Constant", {}, {"label"}, {{"value_string", std::string("cat")}}});
  model.node({"Identity", {"label"}, {"unused"}}).node({"Relu", {"x"}, {"y"}}).output("y");
  EXPECT_THAT(outputsOf(model), ElementsAre("y: f32[2]"));
  model.node({"Equal", {"label", "label"}, {"same"}}).output("unused");
  EXPECT_THAT(
      problemsOf(model),
      ElementsAre(HasSubstr("input 'label' is a tensor of strings, where it takes a tensor of"),
                  HasSubstr("output 'unused' is a tensor of strings, and engines hold numbers: "
                            "remove it from the model's outputs")));
}

constexpr int64_t kStringCode = 8;

TEST(Strings, AreCarriedToWhereSomebodyNeedsThem) {
  TestModel model;
  model.input("x", {"n", 3}).input("names", {"n"}, kStringCode);
  model.node({"Constant", {}, {"label"}, {{"value_string", std::string("cat")}}});
  model.node({"ArgMax", {"x"}, {"best"}, {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}}});
  model.node({"Gather", {"label", "best"}, {"chosen"}});
  model.node({"Identity", {"chosen"}, {"named"}}).node({"Identity", {"names"}, {"same"}});
  TestModel with = model;
  EXPECT_THAT(outputsOf(model.output("best")), ElementsAre("best: i64[n]"));
  EXPECT_THAT(problemsOf(with.output("named").output("same")),
              ElementsAre("output 'named' is a tensor of strings, and engines hold numbers: make "
                          "'best', which chooses them, an output of the model instead, and look "
                          "the strings up in the program",
                          HasSubstr("output 'same' is a tensor of strings")));
}

TEST(Sequence, RefusalsSayWhy) {
  TestModel tensorWanted = splitModel();
  EXPECT_THAT(
      problemsOf(tensorWanted.node({"Relu", {"s"}, {"y"}}).output("y")),
      ElementsAre(HasSubstr("its input 's' is a sequence, where it takes a tensor of numbers")));
  TestModel outside = splitModel();
  outside.integers("far", {3}).node({"SequenceAt", {"s", "far"}, {"y"}});
  EXPECT_THAT(problemsOf(outside.output("y")),
              ElementsAre(HasSubstr("position 3 is outside a sequence of 3 elements")));
  TestModel huge;
  huge.input("x", {int64_t{1} << 40}).node({"SplitToSequence", {"x"}, {"s"}});
  EXPECT_THAT(problemsOf(huge.node({"SequenceLength", {"s"}, {"y"}}).output("y")),
              ElementsAre(HasSubstr("into more than 8192 parts")));
  TestModel nothing;
  nothing.node({"Optional", {}, {"o"}}).node({"OptionalGetElement", {"o"}, {"y"}});
  EXPECT_THAT(problemsOf(nothing.output("y")),
              ElementsAre(HasSubstr("it reads an optional that holds nothing")));
  TestModel input;
  input.sequenceInput("x").node({"SequenceLength", {"x"}, {"y"}});
  EXPECT_THAT(problemsOf(input.output("y")),
              ElementsAre(HasSubstr("input 'x' is a sequence of elements without a shape")));
}

}  // namespace
}  // namespace camshaft::onnx
