#include "ir/dim.h"

#include <gtest/gtest.h>

#include "support/error.h"

namespace camshaft {
namespace {

const Dim n = Dim::symbol("n"), h = Dim::symbol("h"), w = Dim::symbol("w");

DimRange rangeIn(const Dim& dim, int64_t min, int64_t max) {
  return rangeOf(dim, [&](const std::string&) { return DimRange{min, max}; });
}

TEST(Dim, EqualExpressionsHaveOneForm) {
  EXPECT_EQ((Dim(2) * h + 4) - h - 4, h);
  EXPECT_EQ((h + 1) * (h - 1), h * h - 1);
  EXPECT_EQ(h * w, w * h);
  EXPECT_TRUE((h - h).isConstant(0));
  EXPECT_TRUE(h.isSymbol());
  EXPECT_FALSE((h + 1).isSymbol());
  EXPECT_FALSE((Dim(2) * h).isSymbol());
}

TEST(Dim, FloorDivSimplifies) {
  EXPECT_EQ(floorDiv(Dim(4) * h + 3, 4), h);
  EXPECT_EQ(floorDiv(Dim(-7), 2), Dim(-4));
  EXPECT_EQ(floorDiv(floorDiv(h, 2), 3), floorDiv(h, 6));
  EXPECT_EQ(floorDiv(Dim(2) * h + 3, 4), floorDiv(h + 1, 2));
  EXPECT_EQ(floorDiv(Dim(5) * h, 4), h + floorDiv(h, 4));
  EXPECT_EQ(floorDiv(h * w * Dim(6), w * Dim(2)), Dim(3) * h);
  EXPECT_EQ(floorDiv(h * w + w, w), h + 1);
  EXPECT_EQ(floorDiv(n * h * w, n), h * w);
  EXPECT_EQ(ceilDiv(Dim(3) * h, 3), h);
  EXPECT_EQ(mod(Dim(6) * h + 5, 3), Dim(2));
  EXPECT_EQ(toString(floorDiv(h - 1, 2)), "floordiv(h + 1, 2) - 1");
}

TEST(Dim, FloorDivKeepsItsValue) {
  for (int64_t value = 0; value < 40; ++value) {
    const auto valueOf = [&](const std::string&) { return value; };
    for (int64_t scale : {-5, -2, 1, 2, 3, 6, 9})
      for (int64_t offset : {-7, -1, 0, 3, 8})
        for (int64_t divisor : {1, 2, 4, 6}) {
          const int64_t numerator = scale * value + offset;
          const int64_t expected = (numerator >= 0 ? numerator : numerator - divisor + 1) / divisor;
          EXPECT_EQ(evaluate(floorDiv(Dim(scale) * h + offset, divisor), valueOf), expected)
              << scale << "*" << value << " + " << offset << " over " << divisor;
        }
  }
}

TEST(Dim, ExtremaSimplify) {
  EXPECT_EQ(min(h, h + 3), h);
  EXPECT_EQ(max(h, h + 3), h + 3);
  EXPECT_EQ(min(h, w), min(w, h));
  EXPECT_EQ(max(h, 0), h);
  EXPECT_EQ(min(h, 0), Dim(0));
  EXPECT_EQ(min(min(h, 10), 10), min(h, 10));
  EXPECT_EQ(max(Dim(3), 7), Dim(7));
  EXPECT_EQ(toString(min(n, 100)), "min(100, n)");
}

TEST(Dim, SubstituteSimplifiesAgain) {
  const Dim dim = floorDiv(h + w, 4) + min(h, w);
  const Dim replaced =
      substitute(dim, [](const std::string& name) { return name == "h" ? Dim(8) : Dim(4); });
  EXPECT_EQ(replaced, Dim(7));
  EXPECT_EQ(substitute(h * w, [](const std::string&) { return Dim::symbol("k"); }),
            parseDim("k*k"));
}

TEST(Dim, RangesFollowTheSymbols) {
  EXPECT_EQ(rangeIn(Dim(2) * h + 1, 1, 10).max, 21);
  EXPECT_EQ(rangeIn(h * w, 2, 5).min, 4);
  EXPECT_EQ(rangeIn(Dim(3) - h, 1, 10).min, -7);
  EXPECT_EQ(rangeIn(floorDiv(h, 3), 4, 11).max, 3);
  EXPECT_EQ(rangeIn(max(h, 6), 4, 11).min, 6);
  const DimRange open = rangeOf(h - 5, [](const std::string&) { return DimRange{}; });
  EXPECT_EQ(open.min, -5);
  EXPECT_FALSE(open.bounded());
  EXPECT_FALSE(
      rangeOf(Dim(3) * h * w - 1, [](const std::string&) { return DimRange{1}; }).bounded());
}

TEST(Dim, TextRoundTrips) {
  const Dim smallest = std::numeric_limits<int64_t>::min();
  for (const Dim& dim :
       {Dim(0), Dim(-3), h, Dim(-1) * h, Dim(2) * h * w + 4, h * h - w - 7,
        floorDiv(h + 3, w) * n - 1, min(h, max(w, 3)), ceilDiv(h, 16), smallest, h + smallest + 1})
    EXPECT_EQ(parseDim(toString(dim)), dim) << toString(dim);
  EXPECT_EQ(toString(Dim(2) * h * w + 4), "2*h*w + 4");
  EXPECT_EQ(parseDim("  2 * (h+1) "), Dim(2) * h + 2);
  EXPECT_EQ(parseDim("min"), Dim::symbol("min"));
}

TEST(Dim, BadTextIsRefused) {
  for (const char* text : {"", "h +", "2h", "min(h)", "(h", "9223372036854775808", "h; w"})
    EXPECT_THROW(parseDim(text), Error) << text;
  EXPECT_THROW(parseDim(std::string(5000, '(')), Error);
}

TEST(Dim, OverflowAndDivisionByZeroAreErrors) {
  const Dim large = std::numeric_limits<int64_t>::max();
  EXPECT_THROW(large + 1, Error);
  EXPECT_THROW(large * 2, Error);
  EXPECT_THROW(evaluate(h * w, [](const std::string&) { return int64_t{1} << 40; }), Error);
  EXPECT_THROW(floorDiv(Dim(1), 0), Error);
  EXPECT_THROW(floorDiv(Dim(std::numeric_limits<int64_t>::min()), -1), Error);
  EXPECT_THROW(evaluate(floorDiv(h, w), [](const std::string&) { return int64_t{0}; }), Error);
}

TEST(Dim, CollectsSymbolsOfNestedOperations) {
  std::set<std::string> names;
  collectSymbols(floorDiv(h, n + 1) + min(w, 3), names);
  EXPECT_EQ(names, (std::set<std::string>{"h", "n", "w"}));
}

TEST(Shape, CountsAndPrints) {
  EXPECT_EQ(toString(Shape{n, 3, h}), "[n, 3, h]");
  EXPECT_EQ(numElements(Shape{n, 3, h}), Dim(3) * n * h);
  EXPECT_EQ(numElements(Shape{}), Dim(1));
  EXPECT_FALSE(isStatic(Shape{n, 3}));
  EXPECT_EQ(staticDims(Shape{2, 3}), (std::vector<int64_t>{2, 3}));
}

TEST(Dim, RefusesExpressionsThatGrowWithoutEnd) {
  const auto repeat = [](Dim dim, auto step) {
    for (int i = 0; i < 40; ++i) dim = step(dim);
  };
  EXPECT_THROW(repeat(n, [](const Dim& d) { return d * d; }), Error);
  EXPECT_THROW(repeat(n + 1, [](const Dim& d) { return floorDiv(d, 3) * d + n; }), Error);
  EXPECT_THROW(repeat(n, [](const Dim& d) { return max(floorDiv(d, 3), d - 7); }), Error);
}

TEST(DimText, SignsWithoutEndAreRefused) {
  EXPECT_EQ(parseDim("--n"), Dim::symbol("n"));
  EXPECT_THROW(parseDim(std::string(1000000, '-') + "n"), Error);
}

}  // namespace
TEST(Dim, BroadcastsAreWhatTheStandardSays) {
  const Dim n = Dim::symbol("n"), m = Dim::symbol("m"), k = Dim::symbol("k");
  EXPECT_EQ(broadcast(n, n), n);
  EXPECT_EQ(broadcast(1, n), n);
  EXPECT_EQ(broadcast(n, 1), n);
  EXPECT_EQ(broadcast(n, 7), Dim(7));
  EXPECT_EQ(broadcast(0, n), Dim(0));
  EXPECT_EQ(broadcast(n, m + 2), m + 2);  // which is not 1
  EXPECT_EQ(broadcast(min(n, 8), n), n);
  EXPECT_EQ(toString(broadcast(min(n, m), n)), "broadcast(min(m, n), n)");  // m may be 0
  // In any order, each once.
  EXPECT_EQ(toString(broadcast(n, m)), "broadcast(m, n)");
  EXPECT_EQ(broadcast(broadcast(n, m), n), broadcast(m, n));
  EXPECT_EQ(broadcast(broadcast(n, k), m), broadcast(k, broadcast(m, n)));
  EXPECT_EQ(parseDim("2*broadcast(n, m) + 1"), broadcast(m, n) * 2 + 1);
  const auto valueOf = [&](int64_t a, int64_t b) {
    return evaluate(broadcast(n, m), [&](const std::string& name) { return name == "n" ? a : b; });
  };
  EXPECT_EQ(valueOf(1, 5), 5);
  EXPECT_EQ(valueOf(5, 1), 5);
  EXPECT_EQ(valueOf(5, 5), 5);
  EXPECT_EQ(valueOf(0, 1), 0);
  EXPECT_EQ(valueOf(1, 0), 0);
  const auto toOne = [&](const std::string& name) { return name == "n" ? Dim(1) : m; };
  EXPECT_EQ(substitute(broadcast(n, m), toOne), m);
  const DimRange range = rangeOf(broadcast(n, m), [](const std::string& name) {
    return name == "n" ? DimRange{2, 4} : DimRange{0, 9};
  });
  EXPECT_EQ(range.min, 2);
  EXPECT_EQ(range.max, 4);
}

}  // namespace camshaft
