#include "ops/shape.h"

#include "ops/pointwise.h"
#include "testing/graph_text.h"

namespace camshaft::testing {
namespace {

using ::testing::HasSubstr;

// The contents of the graph's first output, as text; "unknown" when there are none.
std::string contentsIn(const std::string& inputs, const std::string& body) {
  const Graph graph = parseBody(body, inputs);
  const auto& contents = graph.outputs[0].value->contents;
  return contents ? toString(*contents) : "unknown";
}

TEST(Shape, IsItsContents) {
  expectValues(
      "%x: f32[2, 3] = constant splat 0 %y = Shape(%x) {end = 2} %z = Shape(%x) {begin = 1, end = "
      "2} return %y, %z",
      {{2, 3}, {3}});
  EXPECT_EQ(contentsIn("%x: f32[n, 3, h]", "%y = Shape(%x) {end = 3} return %y"), "[n, 3, h]");
  EXPECT_THAT(refusalOf("%x: f32[2]", "%y = Shape(%x) {end = 2} return %y"),
              HasSubstr("dimensions 0 to 2 of f32[2]"));
}

TEST(Shape, ArithmeticFolds) {
  // What exporters write for x.reshape(x.shape[0] * 2, -1): slices, products and joins of sizes.
  const std::string inputs = "%x: f32[n, 3, h]";
  const std::string shape =
      "%s = Shape(%x) {end = 3} %i: i64[] = constant [0] %one: i64[1] = constant [1] %two: i64[] = "
      "constant [2] ";
  EXPECT_EQ(contentsIn(inputs, shape + "%g = Gather(%s, %i) return %g"), "[n]");
  EXPECT_EQ(contentsIn(
                inputs,
                shape + "%g = Gather(%s, %i) %p = Pointwise(%g, %two) {expr = mul(x0:i64, x1:i64)} "
                        "%r = Reshape(%p) {shape = [1]} %c = Concat(%r, %one) return %c"),
            "[2*n, 1]");
  EXPECT_EQ(
      contentsIn(
          inputs,
          shape + "%y = Slice(%s) {axes = [0], starts = [2], sizes = [2], steps = [-2]} return %y"),
      "[h, n]");
  EXPECT_EQ(
      contentsIn(inputs, shape + "%y = Pointwise(%s, %two) {expr = div(x0:i64, x1:i64)} return %y"),
      "[floordiv(n, 2), 1, floordiv(h, 2)]");
  EXPECT_EQ(contentsIn(inputs, shape + "%y = Expand(%two) {shape = [3]} return %y"), "[2, 2, 2]");
  EXPECT_EQ(contentsIn(inputs, shape + "%y = Tile(%s) {repeats = [2]} return %y"),
            "[n, 3, h, n, 3, h]");
  EXPECT_EQ(contentsIn(inputs, shape + "%y = Identity(%s) return %y"), "[n, 3, h]");
}

TEST(Shape, ComparisonsAreDecidedWherePossible) {
  const std::string inputs = "%x: f32[n, 3]";
  const std::string shape = "%s = Shape(%x) {end = 2} ";
  EXPECT_EQ(
      contentsIn(
          inputs,
          shape +
              "%y = Pointwise(%s) {expr = where(equal(x0:i64, -1:i64), 7:i64, x0:i64)} return %y"),
      "[n, 3]");
  EXPECT_EQ(
      contentsIn(inputs,
                 shape + "%y = Pointwise(%s) {expr = greater_equal(x0:i64, 0:i64)} return %y"),
      "[1, 1]");
  EXPECT_EQ(contentsIn(inputs, shape + "%y = Pointwise(%s) {expr = less(x0:i64, 3:i64)} return %y"),
            "unknown");
  EXPECT_EQ(
      contentsIn(inputs,
                 shape + "%y = Pointwise(%s) {expr = max(min(x0:i64, 3:i64), 0:i64)} return %y"),
      "[min(3, n), 3]");
}

TEST(Shape, SizesMayPassThroughFloats) {
  const std::string body =
      "%s = Shape(%x) {end = 2} %k: f32[2] = constant [2, 4] "
      "%f = Pointwise(%s) {expr = cast(x0:i64, f32)} %m = Pointwise(%f, %k) {expr = "
      "floor(mul(x0:f32, x1:f32))} "
      "%y = Pointwise(%m) {expr = cast(x0:f32, i64)} return %y";
  EXPECT_EQ(contentsIn("%x: f32[n, 3]", body), "[2*n, 12]");
  EXPECT_EQ(contentsIn("%x: f32[n]",
                       "%s = Shape(%x) {end = 1} %f = Pointwise(%s) {expr = mul(cast(x0:i64, f32), "
                       "0.5:f32)} return %f"),
            "unknown");
}

TEST(Shape, HugeNumbersAreNotSizes) {
  EXPECT_EQ(contentsIn("",
                       "%a: i64[1] = constant [9223372036854775807] %y = Pointwise(%a) {expr = "
                       "add(x0:i64, 1:i64)} return %y"),
            "unknown");
  EXPECT_EQ(
      contentsIn(
          "", "%a: i64[1] = constant [7] %y = Pointwise(%a) {expr = div(x0:i64, 0:i64)} return %y"),
      "unknown");
}

TEST(Range, Counts) {
  expectValues(
      "%s: i64[] = constant [5] %d: i64[] = constant [-2] %y = Range(%s, %d) {count = 3} return %y",
      {{5, 3, 1}});
  expectValues(
      "%s: f32[] = constant [0] %d: f32[] = constant [0.25] %y = Range(%s, %d) {count = 3} return "
      "%y",
      {{0, 0.25, 0.5}});
  EXPECT_EQ(contentsIn("",
                       "%s: i64[] = constant [1] %d: i64[] = constant [3] %y = Range(%s, %d) "
                       "{count = 3} return %y"),
            "[1, 4, 7]");
  EXPECT_EQ(typeOf("n", "%s: i32[], %d: i32[]", "%y = Range(%s, %d) {count = n} return %y"),
            "i32[n]");
}

TEST(ReshapeDims, ResolvesZeroAndMinusOne) {
  expectValues(
      "%s: i64[3] = constant [0, -1, 2] %y = ReshapeDims(%s) {input = [4, 3, 2]} return %y",
      {{4, 3, 2}});
  EXPECT_EQ(
      contentsIn(
          "", "%s: i64[2] = constant [0, -1] %y = ReshapeDims(%s) {input = [4, 3, 2]} return %y"),
      "[4, 6]");
  EXPECT_EQ(
      contentsIn("%x: f32[n]",
                 "%s: i64[2] = constant [-1, 3] %y = ReshapeDims(%s) {input = [6, n]} return %y"),
      "[2*n, 3]");
  EXPECT_THAT(
      refusalOf("", "%s: i64[2] = constant [-1, -1] %y = ReshapeDims(%s) {input = [4]} return %y"),
      HasSubstr("two sizes of -1"));
}

TEST(ReshapeDims, ChecksAtRunTime) {
  const Graph graph = parseBody("%y = ReshapeDims(%s) {input = [4, 3]} return %y", "%s: i64[2]");
  const auto run = [&](std::vector<int64_t> sizes) {
    const ConstTensorView inputs[] = {ConstTensorView(DataType::kI64, {2}, sizes.data())};
    return numbersOf(evaluateGraph(graph, inputs)[0]);
  };
  EXPECT_EQ(run({-1, 6}), (std::vector<double>{2, 6}));
  EXPECT_THROW(run({-1, 5}), Error);
  EXPECT_THROW(run({-1, -1}), Error);
  EXPECT_THROW(run({-2, 6}), Error);
}

TEST(DimsTensor, HoldsItsValues) {
  expectValues(
      "%y = DimsTensor() {values = [3, 4]} %z = DimsTensor() {values = [5], scalar = true, type = "
      "i32} return %y, %z",
      {{3, 4}, {5}});
  EXPECT_EQ(contentsIn("%x: f32[n]", "%y = DimsTensor() {values = [n + 1, 2]} return %y"),
            "[n + 1, 2]");
  EXPECT_EQ(typeOf("n", "%x: f32[n]", "%y = DimsTensor() {values = [n], scalar = true} return %y"),
            "i64[]");
}

TEST(BindDims, GivesSymbolsTheirValues) {
  const Graph graph = parseBody(
      "BindDims(%v) {symbols = [a, b]} %c: f32[] = constant [7] %y = Expand(%c) {shape = [a, b]} "
      "return %y",
      "%v: i64[2]");
  verify(graph, "parsing");
  const int64_t sizes[] = {2, 3};
  const ConstTensorView inputs[] = {ConstTensorView(DataType::kI64, {2}, sizes)};
  EXPECT_EQ(evaluateGraph(graph, inputs)[0].dims, (Dims{2, 3}));
  EXPECT_THAT(refusalOf("%v: i64[2]", "BindDims(%v) {symbols = [a]} return %v"),
              HasSubstr("binds 1 symbols"));
}

TEST(ContentsOf, BindsOnlyWhatIsUnknown) {
  Graph graph = parseBody("%s = Shape(%x) {end = 2} return %s",
                          "%x: f32[n, 3], %\"run time\": i64[2], %f: f32[2], %u: i64[n]");
  EXPECT_EQ(toString(contentsOf(graph, graph.find("s"), "node 'r'")), "[n, 3]");
  EXPECT_EQ(graph.nodeCount(), 1u);
  const auto bound = contentsOf(graph, graph.find("run time"), "node 'r'");
  EXPECT_EQ(toString(bound), "[run_time.0, run_time.1]");
  EXPECT_EQ(contentsOf(graph, graph.find("run time"), "node 'q'"), bound);
  EXPECT_EQ(graph.nodeCount(), 2u);
  // Ahead of the first node the symbols have no value yet, so they are bound there anew.
  EXPECT_NE(contentsOf(graph, graph.find("run time"), "node 'p'", graph.nodes().front().get()),
            bound);
  verify(graph, "binding");
  EXPECT_THROW(contentsOf(graph, graph.find("f"), "node 'r'"), Error);
  EXPECT_THROW(contentsOf(graph, graph.find("u"), "node 'r'"), Error);
}

TEST(AddDims, IsAConstantWhenItCanBe) {
  Graph graph = parseBody("return %x", "%x: f32[n]");
  EXPECT_TRUE(addDims(graph, "fixed", {2, 3})->isConstant());
  Value* open = addDims(graph, "open", {Dim::symbol("n"), 3});
  EXPECT_EQ(toText(*open->producer), "%open: i64[2] = DimsTensor() {values = [n, 3]}");
  EXPECT_EQ(toString(contentsOf(graph, open, "node 'r'")), "[n, 3]");
}

TEST(Ops, EveryOperatorIsFoundByName) {
  for (Op op : allOps()) {
    EXPECT_EQ(findOp(op->name), op);
    EXPECT_NE(op->infer, nullptr) << op->name;
    EXPECT_EQ(op->evaluate == nullptr, op == &ops::Plugin) << op->name;
  }
  EXPECT_EQ(findOp("Nope"), nullptr);
}

}  // namespace
}  // namespace camshaft::testing
