#include "ir/dim.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "support/error.h"

namespace camshaft {
namespace {

const std::vector<Dim::Term> kNoTerms;

std::string keyOf(const std::vector<Dim::AtomPtr>& atoms) {
  std::string key;
  for (const auto& atom : atoms) {
    if (!key.empty()) key += '*';
    key += atom->key;
  }
  return key;
}

int64_t checkedAdd(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_add_overflow(a, b, &result))
    fail(ErrorKind::kInvalidModel, "a dimension overflows 64 bits (", a, " + ", b, ")");
  return result;
}

int64_t checkedMultiply(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_mul_overflow(a, b, &result))
    fail(ErrorKind::kInvalidModel, "a dimension overflows 64 bits (", a, " * ", b, ")");
  return result;
}

int64_t floorDivide(int64_t a, int64_t b) {
  if (b == 0) fail(ErrorKind::kInvalidModel, "a dimension is divided by zero");
  if (b == -1) return checkedMultiply(a, -1);  // the one division that can overflow
  const int64_t quotient = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

// Expressions that grow without end, as n*n*n... squared again and again, would take all time and
// memory. Those of real models have a few terms.
constexpr size_t kMostProducts = 10'000;  // of terms, in one multiplication
constexpr size_t kMostAtoms = 64;         // in one term
constexpr size_t kLongestAtom = 10'000;   // characters

[[noreturn]] void failTooLong() {
  fail(ErrorKind::kUnsupported,
       "a dimension becomes too long an expression of the run-time sizes: fix some of them when "
       "exporting");
}

}  // namespace

// Collects terms and restores the canonical form.
class DimBuilder {
 public:
  void add(int64_t constant) { constant_ = checkedAdd(constant_, constant); }
  void add(const Dim::Term& term, int64_t scale = 1) {
    auto [it, isNew] = terms_.try_emplace(keyOf(term.atoms), Dim::Term{term.atoms, 0});
    it->second.coefficient =
        checkedAdd(it->second.coefficient, checkedMultiply(term.coefficient, scale));
  }
  void add(const Dim& dim, int64_t scale = 1) {
    add(checkedMultiply(dim.constantPart(), scale));
    for (const Dim::Term& term : dim.terms()) add(term, scale);
  }
  Dim build() {
    std::vector<Dim::Term> kept;
    for (auto& [key, term] : terms_)
      if (term.coefficient != 0) kept.push_back(std::move(term));
    Dim result(constant_);
    if (!kept.empty())
      result.terms_ = std::make_shared<const std::vector<Dim::Term>>(std::move(kept));
    return result;
  }
  static Dim fromAtom(DimAtom atom) {
    if (atom.key.size() > kLongestAtom) failTooLong();
    DimBuilder builder;
    builder.add(Dim::Term{{std::make_shared<const DimAtom>(std::move(atom))}, 1});
    return builder.build();
  }

 private:
  int64_t constant_ = 0;
  std::map<std::string, Dim::Term> terms_;
};

Dim Dim::symbol(std::string name) {
  return DimBuilder::fromAtom({DimAtom::Kind::kSymbol, std::move(name), {}, {}});
}

int64_t Dim::value() const {
  CAMSHAFT_CHECK(isConstant(), "dimension ", toString(*this), " is not a number");
  return constant_;
}

const std::vector<Dim::Term>& Dim::terms() const { return terms_ ? *terms_ : kNoTerms; }

bool Dim::isSymbol() const {
  return constant_ == 0 && terms_ && terms_->size() == 1 && terms_->front().coefficient == 1 &&
         terms_->front().atoms.size() == 1 &&
         terms_->front().atoms.front()->kind == DimAtom::Kind::kSymbol;
}

const std::string& Dim::symbolName() const {
  CAMSHAFT_CHECK(isSymbol(), "dimension ", toString(*this), " is not a symbol");
  return terms_->front().atoms.front()->key;
}

Dim operator+(const Dim& a, const Dim& b) {
  DimBuilder builder;
  builder.add(a);
  builder.add(b);
  return builder.build();
}

Dim operator-(const Dim& a, const Dim& b) {
  DimBuilder builder;
  builder.add(a);
  builder.add(b, -1);
  return builder.build();
}

Dim operator*(const Dim& a, const Dim& b) {
  if (a.terms().size() * b.terms().size() > kMostProducts) failTooLong();
  DimBuilder builder;
  builder.add(checkedMultiply(a.constantPart(), b.constantPart()));
  for (const auto& term : a.terms()) builder.add(term, b.constantPart());
  for (const auto& term : b.terms()) builder.add(term, a.constantPart());
  for (const auto& x : a.terms()) {
    for (const auto& y : b.terms()) {
      if (x.atoms.size() + y.atoms.size() > kMostAtoms) failTooLong();
      Dim::Term product{x.atoms, checkedMultiply(x.coefficient, y.coefficient)};
      product.atoms.insert(product.atoms.end(), y.atoms.begin(), y.atoms.end());
      std::sort(product.atoms.begin(), product.atoms.end(),
                [](const auto& l, const auto& r) { return l->key < r->key; });
      builder.add(product);
    }
  }
  return builder.build();
}

bool operator==(const Dim& a, const Dim& b) {
  if (a.constant_ != b.constant_) return false;
  if (a.terms_ == b.terms_) return true;
  return std::equal(a.terms().begin(), a.terms().end(), b.terms().begin(), b.terms().end(),
                    [](const Dim::Term& x, const Dim::Term& y) {
                      return x.coefficient == y.coefficient && keyOf(x.atoms) == keyOf(y.atoms);
                    });
}

namespace {

// term / divisor when it divides exactly: 6*h*w / (2*w) gives 3*h.
bool divideTerm(const Dim::Term& term, const Dim::Term& divisor, Dim::Term& quotient) {
  if (divisor.coefficient == 0 || term.coefficient % divisor.coefficient != 0) return false;
  quotient = {term.atoms, term.coefficient / divisor.coefficient};
  for (const auto& atom : divisor.atoms) {
    auto it = std::find_if(quotient.atoms.begin(), quotient.atoms.end(),
                           [&](const auto& own) { return own->key == atom->key; });
    if (it == quotient.atoms.end()) return false;
    quotient.atoms.erase(it);
  }
  return true;
}

Dim termAsDim(const Dim::Term& term) {
  DimBuilder builder;
  if (term.atoms.empty())
    builder.add(term.coefficient);
  else
    builder.add(term);
  return builder.build();
}

Dim::Term leadingTerm(const Dim& dim) {
  return dim.isConstant() ? Dim::Term{{}, dim.value()} : dim.terms().front();
}

Dim makeFloorDiv(const Dim& a, const Dim& b) {
  return DimBuilder::fromAtom(
      {DimAtom::Kind::kFloorDiv, str("floordiv(", toString(a), ", ", toString(b), ")"), a, b});
}

// floor((d*q + r) / d) = q + floor(r / d) term by term, for a positive number d. A factor that d
// and all of r's terms share is cancelled: floor((2*h + 3) / 4) = floor((h + 1) / 2).
Dim floorDivByNumber(const Dim& a, int64_t d) {
  DimBuilder quotient, rest;
  int64_t common = d;
  for (const auto& term : a.terms()) {
    quotient.add(Dim::Term{term.atoms, term.coefficient / d});
    rest.add(Dim::Term{term.atoms, term.coefficient % d});
    common = std::gcd(common, term.coefficient % d);
  }
  quotient.add(floorDivide(a.constantPart(), d));
  const Dim symbolic = rest.build();
  if (symbolic.isConstant()) return quotient.build();

  const int64_t left = a.constantPart() % d;
  DimBuilder reduced;
  for (const auto& term : symbolic.terms())
    reduced.add(Dim::Term{term.atoms, term.coefficient / common});
  reduced.add((left < 0 ? left + d : left) / common);
  const Dim remainder = reduced.build();
  const int64_t divisor = d / common;

  // floor(floor(x / m) / d) = floor(x / (m*d))
  const auto& terms = remainder.terms();
  if (remainder.constantPart() == 0 && terms.size() == 1 && terms[0].coefficient == 1 &&
      terms[0].atoms.size() == 1 && terms[0].atoms[0]->kind == DimAtom::Kind::kFloorDiv &&
      terms[0].atoms[0]->b.isConstant()) {
    const DimAtom& inner = *terms[0].atoms[0];
    return quotient.build() + floorDiv(inner.a, inner.b * Dim(divisor));
  }
  return quotient.build() + makeFloorDiv(remainder, divisor);
}

Dim makeExtremum(DimAtom::Kind kind, const Dim& a, const Dim& b) {
  const bool isMin = kind == DimAtom::Kind::kMin;
  const DimRange difference = rangeOf(a - b, [](const std::string&) { return DimRange{}; });
  if (difference.max <= 0) return isMin ? a : b;
  if (difference.min >= 0) return isMin ? b : a;
  std::string left = toString(a), right = toString(b);
  const bool swap = right < left;
  return DimBuilder::fromAtom(
      {kind, str(isMin ? "min(" : "max(", swap ? right : left, ", ", swap ? left : right, ")"),
       swap ? b : a, swap ? a : b});
}

}  // namespace

Dim floorDiv(const Dim& a, const Dim& b) {
  if (b.isConstant(1)) return a;
  if (a.isConstant() && b.isConstant()) return floorDivide(a.value(), b.value());
  if (a.isConstant(0)) return 0;
  if (b.isConstant() && b.value() > 0) return floorDivByNumber(a, b.value());

  // Exact polynomial division: take leading-term quotients while they divide.
  Dim rest = a, quotient = 0;
  for (size_t steps = 0; steps <= a.terms().size() + 1; ++steps) {
    if (rest.isConstant(0)) return quotient;
    bool divided = false;
    std::vector<Dim::Term> candidates = rest.terms();
    if (rest.constantPart() != 0) candidates.push_back({{}, rest.constantPart()});
    for (const auto& term : candidates) {
      Dim::Term part;
      if (!divideTerm(term, leadingTerm(b), part)) continue;
      quotient += termAsDim(part);
      rest = rest - termAsDim(part) * b;
      divided = true;
      break;
    }
    if (!divided) break;
  }
  return makeFloorDiv(a, b);
}

Dim ceilDiv(const Dim& a, const Dim& b) { return floorDiv(a + b - 1, b); }
Dim mod(const Dim& a, const Dim& b) { return a - floorDiv(a, b) * b; }
Dim min(const Dim& a, const Dim& b) { return makeExtremum(DimAtom::Kind::kMin, a, b); }
Dim max(const Dim& a, const Dim& b) { return makeExtremum(DimAtom::Kind::kMax, a, b); }

namespace {

// The atom that the dimension is and nothing else, if of this kind, or null.
const DimAtom* asAtom(const Dim& dim, DimAtom::Kind kind) {
  if (dim.constantPart() != 0 || dim.terms().size() != 1) return nullptr;
  const Dim::Term& term = dim.terms().front();
  const bool isAtom = term.coefficient == 1 && term.atoms.size() == 1;
  return isAtom && term.atoms.front()->kind == kind ? term.atoms.front().get() : nullptr;
}

// The sizes that broadcast, each once, by their texts. A broadcast is a list of them: the first and
// the broadcast of the others.
void collectBroadcast(const Dim& dim, std::map<std::string, Dim>& sizes) {
  if (const DimAtom* atom = asAtom(dim, DimAtom::Kind::kBroadcast)) {
    collectBroadcast(atom->a, sizes);
    collectBroadcast(atom->b, sizes);
  } else {
    sizes.emplace(toString(dim), dim);
  }
}

DimRange rangeOfAny(const Dim& dim) {
  return rangeOf(dim, [](const std::string&) { return DimRange{}; });
}

// Whether a <= b, and a is 0 only where b is: then they broadcast to b.
bool givesWayTo(const Dim& a, const Dim& b) {
  if (const DimAtom* least = asAtom(a, DimAtom::Kind::kMin))
    if ((least->a == b && rangeOfAny(least->b).min > 0) ||
        (least->b == b && rangeOfAny(least->a).min > 0))
      return true;
  return rangeOfAny(a).min > 0 && rangeOfAny(a - b).max <= 0;
}

}  // namespace

Dim broadcast(const Dim& a, const Dim& b) {
  std::map<std::string, Dim> sizes;
  collectBroadcast(a, sizes);
  collectBroadcast(b, sizes);
  sizes.erase("1");
  // A size that cannot be 1 is the result's; a number says most.
  const Dim* certain = nullptr;
  for (const auto& [text, size] : sizes)
    if (size.isConstant() || (!certain && rangeOfAny(size).min > 1)) certain = &size;
  if (certain) return *certain;
  for (auto it = sizes.begin(); it != sizes.end();) {
    const bool isCovered = std::any_of(sizes.begin(), sizes.end(), [&](const auto& other) {
      return &other != &*it && givesWayTo(it->second, other.second);
    });
    it = isCovered ? sizes.erase(it) : std::next(it);
  }
  if (sizes.empty()) return 1;
  Dim result = sizes.rbegin()->second;
  for (auto it = std::next(sizes.rbegin()); it != sizes.rend(); ++it)
    result = DimBuilder::fromAtom({DimAtom::Kind::kBroadcast,
                                   str("broadcast(", it->first, ", ", toString(result), ")"),
                                   it->second, result});
  return result;
}

int64_t evaluate(const Dim& dim, const SymbolValue& valueOf) {
  int64_t sum = dim.constantPart();
  for (const auto& term : dim.terms()) {
    int64_t product = term.coefficient;
    for (const auto& atom : term.atoms) {
      int64_t value = 0;
      switch (atom->kind) {
        case DimAtom::Kind::kSymbol:
          value = valueOf(atom->key);
          break;
        case DimAtom::Kind::kFloorDiv:
          value = floorDivide(evaluate(atom->a, valueOf), evaluate(atom->b, valueOf));
          break;
        case DimAtom::Kind::kMin:
          value = std::min(evaluate(atom->a, valueOf), evaluate(atom->b, valueOf));
          break;
        case DimAtom::Kind::kMax:
          value = std::max(evaluate(atom->a, valueOf), evaluate(atom->b, valueOf));
          break;
        case DimAtom::Kind::kBroadcast:
          value = evaluate(atom->a, valueOf);
          if (value == 1) value = evaluate(atom->b, valueOf);
          break;
      }
      product = checkedMultiply(product, value);
    }
    sum = checkedAdd(sum, product);
  }
  return sum;
}

Dim substitute(const Dim& dim, const SymbolReplacement& replace) {
  Dim sum = dim.constantPart();
  for (const auto& term : dim.terms()) {
    Dim product = term.coefficient;
    for (const auto& atom : term.atoms) {
      switch (atom->kind) {
        case DimAtom::Kind::kSymbol:
          product *= replace(atom->key);
          break;
        case DimAtom::Kind::kFloorDiv:
          product *= floorDiv(substitute(atom->a, replace), substitute(atom->b, replace));
          break;
        case DimAtom::Kind::kMin:
          product *= min(substitute(atom->a, replace), substitute(atom->b, replace));
          break;
        case DimAtom::Kind::kMax:
          product *= max(substitute(atom->a, replace), substitute(atom->b, replace));
          break;
        case DimAtom::Kind::kBroadcast:
          product *= broadcast(substitute(atom->a, replace), substitute(atom->b, replace));
          break;
      }
    }
    sum += product;
  }
  return sum;
}

void collectSymbols(const Dim& dim, std::set<std::string>& names) {
  for (const auto& term : dim.terms()) {
    for (const auto& atom : term.atoms) {
      if (atom->kind == DimAtom::Kind::kSymbol) {
        names.insert(atom->key);
      } else {
        collectSymbols(atom->a, names);
        collectSymbols(atom->b, names);
      }
    }
  }
}

namespace {

// Limits saturate, and what has no limit stays without one.
constexpr int64_t kNoMax = DimRange::kUnbounded;
constexpr int64_t kNoMin = std::numeric_limits<int64_t>::min();

bool isLimit(int64_t a) { return a != kNoMax && a != kNoMin; }

int64_t addLimits(int64_t a, int64_t b) {
  int64_t result;
  if (!isLimit(a)) return a;
  if (!isLimit(b)) return b;
  if (!__builtin_add_overflow(a, b, &result)) return result;
  return a > 0 ? kNoMax : kNoMin;
}

int64_t multiplyLimits(int64_t a, int64_t b) {
  int64_t result;
  if (a == 0 || b == 0) return 0;
  if (isLimit(a) && isLimit(b) && !__builtin_mul_overflow(a, b, &result)) return result;
  return (a > 0) == (b > 0) ? kNoMax : kNoMin;
}

DimRange multiplyRanges(const DimRange& a, const DimRange& b) {
  const int64_t products[] = {multiplyLimits(a.min, b.min), multiplyLimits(a.min, b.max),
                              multiplyLimits(a.max, b.min), multiplyLimits(a.max, b.max)};
  return {*std::min_element(products, products + 4), *std::max_element(products, products + 4)};
}

DimRange floorDivRanges(const DimRange& a, const DimRange& b) {
  if (b.min < 0) return {kNoMin, kNoMax};
  const int64_t smallest = std::max<int64_t>(b.min, 1);  // a division by zero has no value
  const auto divide = [](int64_t x, int64_t y) { return isLimit(x) ? floorDivide(x, y) : x; };
  return {std::min(divide(a.min, smallest), divide(a.min, b.max)),
          std::max(divide(a.max, smallest), divide(a.max, b.max))};
}

// Under the condition that they broadcast.
DimRange broadcastRanges(const DimRange& a, const DimRange& b) {
  if (a.min > 1) return a;
  if (b.min > 1) return b;
  return {std::min(a.min, b.min), std::max(a.max, b.max)};
}

DimRange rangeOfAtom(const DimAtom& atom, const SymbolRange& rangeOfSymbol) {
  if (atom.kind == DimAtom::Kind::kSymbol) return rangeOfSymbol(atom.key);
  const DimRange a = rangeOf(atom.a, rangeOfSymbol), b = rangeOf(atom.b, rangeOfSymbol);
  if (atom.kind == DimAtom::Kind::kFloorDiv) return floorDivRanges(a, b);
  if (atom.kind == DimAtom::Kind::kMin) return {std::min(a.min, b.min), std::min(a.max, b.max)};
  if (atom.kind == DimAtom::Kind::kBroadcast) return broadcastRanges(a, b);
  return {std::max(a.min, b.min), std::max(a.max, b.max)};
}

}  // namespace

DimRange rangeOf(const Dim& dim, const SymbolRange& rangeOfSymbol) {
  DimRange sum{dim.constantPart(), dim.constantPart()};
  for (const auto& term : dim.terms()) {
    DimRange product{term.coefficient, term.coefficient};
    for (const auto& atom : term.atoms)
      product = multiplyRanges(product, rangeOfAtom(*atom, rangeOfSymbol));
    sum.min = addLimits(sum.min, product.min);
    sum.max = addLimits(sum.max, product.max);
  }
  return sum;
}

std::string toString(const Shape& shape) { return str("[", join(shape, ", "), "]"); }

bool isStatic(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](const Dim& dim) { return dim.isConstant(); });
}

Dim numElements(const Shape& shape) {
  Dim count = 1;
  for (const Dim& dim : shape) count *= dim;
  return count;
}

std::vector<int64_t> staticDims(const Shape& shape) {
  std::vector<int64_t> dims;
  for (const Dim& dim : shape) dims.push_back(dim.value());
  return dims;
}

Shape makeShape(const std::vector<int64_t>& dims) { return Shape(dims.begin(), dims.end()); }

}  // namespace camshaft
