// A few operators for the tests of this folder, which sees none of the real ones.
#pragma once

#include "ir/graph.h"

namespace camshaft::testing {

enum class Colour { kRed, kGreen };

struct EverythingAttrs : AttrsOf<EverythingAttrs> {
  int64_t integer = 1;
  double real = 0.5;
  bool flag = false;
  std::string text;
  DataType type = DataType::kF32;
  Dim dim = 0;
  std::vector<int64_t> integers;
  std::vector<double> reals;
  std::vector<Dim> dims;
  Expr expr;
  Colour colour = Colour::kRed;
  void fields(AttrVisitor& visit) override {
    static constexpr std::string_view kColours[] = {"red", "green"};
    visit("integer", integer);
    visit("real", real);
    visit("flag", flag);
    visit("text", text);
    visit("type", type);
    visit("dim", dim);
    visit("integers", integers);
    visit("reals", reals);
    visit("dims", dims);
    visit("expr", expr);
    visit("colour", colour, kColours);
  }
};

struct BindAttrs : AttrsOf<BindAttrs> {
  std::vector<Dim> symbols;
  void fields(AttrVisitor& visit) override { visit("symbols", symbols); }
};

struct FillAttrs : AttrsOf<FillAttrs> {
  Shape shape;
  void fields(AttrVisitor& visit) override { visit("shape", shape); }
};

inline std::vector<TensorType> likeFirst(const Node& node) { return {node.input(0)->type}; }
inline std::vector<TensorType> sameTypes(const Node& node) {
  if (node.input(0)->type != node.input(1)->type)
    fail(ErrorKind::kInvalidModel, describe(node), " adds ", node.input(0)->type, " to ",
         node.input(1)->type);
  return {node.input(0)->type};
}
inline std::vector<TensorType> twice(const Node& node) {
  return {node.input(0)->type, node.input(0)->type};
}
inline std::vector<TensorType> nothing(const Node&) { return {}; }
inline std::vector<TensorType> filled(const Node& node) {
  return {{DataType::kF32, node.as<FillAttrs>().shape}};
}
inline std::vector<Dim> bound(const Attrs& attrs) {
  return static_cast<const BindAttrs&>(attrs).symbols;
}
inline void unevaluated(const Evaluation&) {}

inline const OpInfo kAdd{"Add", 2, 2, 1, makeAttrsOf<NoAttrs>, sameTypes, unevaluated};
inline const OpInfo kCopy{"Copy", 1, 1, 1, makeAttrsOf<NoAttrs>, likeFirst, unevaluated};
inline const OpInfo kEverything{"Everything", 1,          3, 1, makeAttrsOf<EverythingAttrs>,
                                likeFirst,    unevaluated};
inline const OpInfo kTwice{"Twice", 1, 1, 2, makeAttrsOf<NoAttrs>, twice, unevaluated};
inline const OpInfo kBind{"Bind",  1,           1,       0,    makeAttrsOf<BindAttrs>,
                          nothing, unevaluated, nullptr, bound};
inline const OpInfo kFill{"Fill", 0, 0, 1, makeAttrsOf<FillAttrs>, filled, unevaluated};

inline Op findTestOp(std::string_view name) {
  for (Op op : {&kAdd, &kCopy, &kEverything, &kTwice, &kBind, &kFill})
    if (op->name == name) return op;
  return nullptr;
}

inline Graph parseTest(std::string_view text) { return parseGraph(text, findTestOp); }

// The message of the Error that f throws, or "" when it throws none.
template <class F>
std::string messageOf(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

}  // namespace camshaft::testing
