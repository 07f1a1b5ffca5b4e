// Sequences and optionals: what is left of them in the graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "onnx/test_model.h"

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
  TestModel output = growingLoop({"SequenceInsert", {"s", "row"}, {"t"}}, true);
  EXPECT_THAT(problemsOf(output.output("all")),
              ElementsAre(HasSubstr("'all' is a sequence whose length is known at run time only")));
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
                  HasSubstr("output 'unused' is a tensor of strings")));
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
  TestModel unknown;
  unknown.input("x", {"n", 2}).integers("three", {3});
  unknown.node({"Squeeze", {"three"}, {"size"}}).node({"SplitToSequence", {"x", "size"}, {"s"}});
  EXPECT_THAT(problemsOf(unknown.node({"SequenceLength", {"s"}, {"y"}}).output("y")),
              ElementsAre(HasSubstr("the number of parts is not known")));
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
              ElementsAre(HasSubstr("input 'x' is a sequence, whose length is not known")));
}

}  // namespace
}  // namespace camshaft::onnx
