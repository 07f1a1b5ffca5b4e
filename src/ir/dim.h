// A dimension: a number, or a symbolic expression over named run-time sizes.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace camshaft {

struct DimAtom;

// An immutable value kept in one canonical form, a polynomial with integer coefficients over
// atoms (symbols, floor divisions, minima, maxima, broadcasts), so equal expressions compare equal:
// (2*h + 4) - h - 4 == h, floorDiv(4*h + 3, 4) == h. Symbols are compared by name; they are sizes,
// never negative: max(h, 0) == h.
class Dim {
 public:
  using AtomPtr = std::shared_ptr<const DimAtom>;
  struct Term {
    std::vector<AtomPtr> atoms;  // a product, sorted by key
    int64_t coefficient;
  };

  Dim(int64_t value = 0) : constant_(value) {}  // implicit: dimensions are mostly numbers
  static Dim symbol(std::string name);

  bool isConstant() const { return terms_ == nullptr; }
  int64_t value() const;  // only when isConstant()
  bool isConstant(int64_t value) const { return isConstant() && constant_ == value; }
  bool isSymbol() const;
  const std::string& symbolName() const;  // only when isSymbol()

  // The constant part and the symbolic terms of the sum.
  int64_t constantPart() const { return constant_; }
  const std::vector<Term>& terms() const;

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  friend bool operator==(const Dim& a, const Dim& b);
  Dim& operator+=(const Dim& other) { return *this = *this + other; }
  Dim& operator*=(const Dim& other) { return *this = *this * other; }

 private:
  friend class DimBuilder;
  int64_t constant_ = 0;
  std::shared_ptr<const std::vector<Term>> terms_;  // null for a number; sorted, no zero terms
};

Dim floorDiv(const Dim& a, const Dim& b);
Dim ceilDiv(const Dim& a, const Dim& b);
Dim mod(const Dim& a, const Dim& b);
Dim min(const Dim& a, const Dim& b);
Dim max(const Dim& a, const Dim& b);
// The size that a and b broadcast to: b where a is 1, else a. They are equal unless one is 1;
// whoever asks for it makes that a condition (SizeRelation::kBroadcast).
Dim broadcast(const Dim& a, const Dim& b);

// One factor of a term: a symbol, or an operation that has no polynomial form.
struct DimAtom {
  enum class Kind { kSymbol, kFloorDiv, kMin, kMax, kBroadcast };
  Kind kind;
  std::string key;  // canonical text; a symbol's is its name
  Dim a, b;         // operands, unless a symbol
};

// "2*h*w + 4", "floordiv(h + 3, 4)", "min(100, n)"; parseDim reads it back.
std::string toString(const Dim& dim);
Dim parseDim(std::string_view text);

using SymbolValue = std::function<int64_t(const std::string& name)>;
int64_t evaluate(const Dim& dim, const SymbolValue& valueOf);

using SymbolReplacement = std::function<Dim(const std::string& name)>;
Dim substitute(const Dim& dim, const SymbolReplacement& replace);

void collectSymbols(const Dim& dim, std::set<std::string>& names);

// What is known of a dimension before it has a value; kUnbounded when there is no upper limit.
struct DimRange {
  static constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max();
  int64_t min = 0;
  int64_t max = kUnbounded;
  bool bounded() const { return max != kUnbounded; }
};
using SymbolRange = std::function<DimRange(const std::string& name)>;
DimRange rangeOf(const Dim& dim, const SymbolRange& rangeOfSymbol);

using Shape = std::vector<Dim>;

std::string toString(const Shape& shape);  // "[n, 3, 224, 224]"
bool isStatic(const Shape& shape);
Dim numElements(const Shape& shape);
std::vector<int64_t> staticDims(const Shape& shape);  // only when isStatic
Shape makeShape(const std::vector<int64_t>& dims);

}  // namespace camshaft
