// Graph text: print.cpp, parse.cpp and attrs_text.cpp together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/graph.h"
#include "ir/test_ops.h"

namespace camshaft::testing {
namespace {

using ::testing::HasSubstr;

void expectFixedPoint(std::string_view text) {
  const Graph graph = parseTest(text);
  verify(graph, "parsing");
  EXPECT_EQ(toText(graph, true), text);
}

TEST(Text, PrintsWhatItParses) {
  expectFixedPoint(R"(symbols m, n in [1, 32], o in [2, inf]
graph main(%x: f32[n, 3], %"odd name:0": f32[n, 3]) {
  %sum: f32[n, 3] = Add(%x, %"odd name:0") "layer \"one\"" from "a", "b\n"
  %one: f32[n, 3], %two: f32[n, 3] = Twice(%sum)
  return %one as "logits", %two
}
)");
}

TEST(Text, PrintsEveryKindOfAttribute) {
  expectFixedPoint(R"(symbols n
graph g(%x: f32[n]) {
  %y: f32[n] = Everything(%x, _, %x) {integer = -7, real = 0.1f, flag = true, text = "a, \"b\" }", type = i8, dim = 2*n + 1, integers = [1, -2], reals = [0.1, 1e+30, nan], dims = [n, min(3, n)], expr = t0 = exp(x0:f32); mul(t0, t0), colour = green}
  return %y
}
)");
}

TEST(Text, DefaultAttributesAndTypesMayBeLeftOut) {
  const Graph graph =
      parseTest("graph g(%x: f32[4]) { %y = Everything(%x) {real = 2} // a comment\n return %y }");
  EXPECT_EQ(toText(*graph.find("y")->producer), "%y: f32[4] = Everything(%x) {real = 2}");
  EXPECT_TRUE(equal(*graph.find("y")->producer->attrs, *graph.clone().find("y")->producer->attrs));
  EXPECT_FALSE(equal(*graph.find("y")->producer->attrs, EverythingAttrs()));
  EXPECT_FALSE(equal(NoAttrs(), BindAttrs()));
}

TEST(Text, PrintsConstants) {
  expectFixedPoint(R"(graph g() {
  %b: bool[2] = constant [1, 0]
  %e: f32[0, 3] = constant []
  %h: f16[2] = constant [0.5, -65504]
  %i: i64[2, 2] = constant [-9223372036854775808, 0, 1, 9223372036854775807]
  %p: i4[3] = constant hex:2103
  %r: f32[] = constant [0.1f]
  %s: f32[64] = constant splat 1e+20f
  %u: u64[1] = constant [18446744073709551615]
  %z: u8[17] = constant hex:000102030405060708090a0b0c0d0e0f10
  return
}
)");
}

TEST(Text, BoundsOfSymbolsMayBeDimensions) {
  const std::string text = R"(symbols h, n in [0, min(100, 2*h)], w in [1, 8]
graph g(%x: f32[h, n, w]) {
  return %x
}
)";
  expectFixedPoint(text);
  const Graph graph = parseTest(text);
  EXPECT_EQ(graph.symbols.at("n").upper, min(100, Dim::symbol("h") * 2));
  EXPECT_EQ(graph.symbolRange()("n").max, 100);
}

TEST(Text, LongConstantsPrintAsDigests) {
  const Graph graph = parseTest(
      "graph g() { %z: u8[17] = constant hex:000102030405060708090a0b0c0d0e0f10 return %z }");
  const std::string text = toText(graph);
  EXPECT_THAT(text, HasSubstr("%z: u8[17] = constant digest:0x"));
  EXPECT_THAT(messageOf([&] { parseTest(text); }), HasSubstr("printed without its constants"));
}

TEST(Text, PrintsEpilogues) {
  expectFixedPoint(R"(graph g(%x: f32[4], %b: f32[4]) {
  %y: i8[4] = Copy(%x) epilogue(%b) {cast(relu(add(x0:f32, x1:f32)), i8)}
  %z: f32[4] = Copy(%x) epilogue() {neg(x0:f32)} "last"
  return %y, %z
}
)");
  const Graph graph = parseTest(
      "graph g(%x: f32[4], %b: f32[4]) { %y = Copy(%x) epilogue(%b) {add(x0:f32, x1:f32)} return "
      "%y }");
  EXPECT_EQ(graph.find("y")->producer->ownInputs(), 1);
  EXPECT_EQ(graph.find("b")->users.size(), 1u);
}

TEST(Text, AnEpilogueReadsWhatItIsGiven) {
  const auto error = [](const char* node) {
    try {
      parseTest(str("graph g(%x: f32[4], %v: i64[1]) { ", node, " return %x }"));
    } catch (const Error& error) {
      return error.message();
    }
    return std::string("it was taken");
  };
  EXPECT_THAT(error("%y = Copy(%x) epilogue() {cast(x0:i16, f32)}"),
              HasSubstr("reads x0 as i16 and it is f32"));
  EXPECT_THAT(error("%y = Copy(%x) epilogue(%v) {add(x0:f32, x1:f32)}"),
              HasSubstr("reads x1 as f32 and it is i64"));
  EXPECT_THAT(error("%y = Copy(%x) epilogue(_) {add(x0:f32, x1:f32)}"), HasSubstr("left out"));
  EXPECT_THAT(error("Bind(%v) {symbols = [s]} epilogue() {neg(x0:f32)}"),
              HasSubstr("has no result for an epilogue"));
}

TEST(Text, PrintsPrecisionRequests) {
  const std::string text = R"(graph g(%x: f32[4]) {
  %a: f32[4] = Everything(%x) precision(f16)
  %b: f32[4] = Everything(%a) {real = 2} precision(_ -> bf16) "named"
  %c: f32[4] = Everything(%b) precision(f16 -> f32)
  return %c
}
)";
  expectFixedPoint(text);
  EXPECT_EQ(toText(parseTest(text).clone()), text);
  EXPECT_THAT(messageOf([&] {
                parseTest("graph g(%x: f32[4]) { %a = Everything(%x) precision(half) return %a }");
              }),
              HasSubstr("'half' is not an element type"));
}

TEST(Text, NodesWithoutOutputsDeclareTheirSymbols) {
  const Graph graph = parseTest(
      "graph g(%v: i64[1]) { Bind(%v) {symbols = [s]} %f = Fill() {shape = [s, 2]} return %f }");
  verify(graph, "parsing");
  EXPECT_TRUE(graph.symbols.contains("s"));
  EXPECT_EQ(parseTest(toText(graph)).find("f")->type, graph.find("f")->type);
}

TEST(Text, ErrorsNameTheLineAndTheText) {
  const auto message = [](const char* text) { return messageOf([&] { parseTest(text); }); };
  EXPECT_THAT(message("graph g(%x: f32[4]) {\n  %y = Nope(%x)\n return %y }"),
              HasSubstr("line 2: there is no operator 'Nope'"));
  EXPECT_THAT(message("graph g(%x: f32[4]) {\n\n  %y = Copy(%z)\n return %y }"),
              HasSubstr("line 3: there is no value %z"));
  EXPECT_THAT(message("graph g(%x: f32[4]) {\n  %y: f32[5] = Copy(%x)\n return %y }"),
              HasSubstr("line 2: %y is f32[4], not f32[5]"));
  EXPECT_THAT(message("graph g(%x: f32[4]) {\n  %x = Copy(%x)\n return %x }"),
              HasSubstr("line 2: value %x is defined twice"));
  EXPECT_THAT(message("graph g(%x: f32[4]) {\n  %y = Everything(%x) {reel = 3}\n return %y }"),
              HasSubstr("no attribute 'reel'; did you mean 'real'?"));
  EXPECT_THAT(message("graph g(%x: f32[4]) {\n  %y = Everything(%x) {colour = blue}\n return %y }"),
              HasSubstr("'blue' is not one of: red, green"));
  EXPECT_THAT(message("graph g(%x: f32[4], %b: f32[5]) {\n  %y = Add(%x, %b)\n return %y }"),
              HasSubstr("line 2: node 'y' (Add) adds"));
  EXPECT_THAT(message("graph g(%x: f99[4]) {\n return }"),
              HasSubstr("line 1: 'f99' is not an element type"));
  EXPECT_THAT(message("graph g(%x: f32[4]) {\n  %y = Copy(%x"),
              HasSubstr("line 2: expected ')' at 'end of text'"));
  EXPECT_THAT(message("graph g() {\n %c: f32[3] = constant [1, 2] return }"),
              HasSubstr("8 bytes where f32[3] needs 12"));
}

TEST(Text, GraphsInGraphsWithoutEndAreRefused) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "graph g() { %y = Everything(%x) {body = {";
  EXPECT_THAT(messageOf([&] { parseTest(text); }), HasSubstr("graphs in graphs"));
  // Braces that are no graphs.
  const std::string name(2000, '{');
  expectFixedPoint("graph g(%\"" + name + "\": f32[1]) {\n  return %\"" + name + "\"\n}\n");
}

}  // namespace
}  // namespace camshaft::testing
