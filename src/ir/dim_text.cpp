// The text form of dimensions: "2*h*w + 4", "floordiv(h + 3, 4) - 1".
#include <cctype>

#include "ir/dim.h"
#include "support/error.h"

namespace camshaft {
namespace {

uint64_t magnitudeOf(int64_t value) {
  return value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

}  // namespace

std::string toString(const Dim& dim) {
  if (dim.isConstant()) return std::to_string(dim.value());
  std::string out;
  for (const auto& term : dim.terms()) {
    const bool negative = term.coefficient < 0;
    if (out.empty())
      out += negative ? "-" : "";
    else
      out += negative ? " - " : " + ";
    const uint64_t magnitude = magnitudeOf(term.coefficient);
    if (magnitude != 1) out += str(magnitude, "*");
    bool first = true;
    for (const auto& atom : term.atoms) {
      out += str(first ? "" : "*", atom->key);
      first = false;
    }
  }
  const int64_t constant = dim.constantPart();
  if (constant != 0) out += str(constant < 0 ? " - " : " + ", magnitudeOf(constant));
  return out;
}

namespace {

// sum := product (('+'|'-') product)*; product := factor ('*' factor)*
class DimParser {
 public:
  explicit DimParser(std::string_view text) : text_(text) {}

  Dim parse() {
    Dim result = sum();
    if (peek() != '\0') stop();
    return result;
  }

 private:
  [[noreturn]] void stop() const {
    fail(ErrorKind::kInvalidArgument, "'", text_, "' is not a dimension expression (near position ",
         at_, ")");
  }
  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  void expect(char c) {
    if (peek() != c) stop();
    ++at_;
  }
  Dim sum() {
    if (++depth_ > kMaxDepth) stop();
    Dim result = product();
    for (char c = peek(); c == '+' || c == '-'; c = peek()) {
      ++at_;
      result = c == '+' ? result + product() : result - product();
    }
    --depth_;
    return result;
  }
  Dim product() {
    Dim result = factor();
    while (peek() == '*') {
      ++at_;
      result *= factor();
    }
    return result;
  }
  Dim factor() {
    const char c = peek();
    if (c == '-') {
      ++at_;
      if (std::isdigit(static_cast<unsigned char>(peek()))) return number(-1);
      if (++depth_ > kMaxDepth) stop();
      Dim inner = factor();
      --depth_;
      return Dim(0) - inner;
    }
    if (c == '(') {
      ++at_;
      Dim inner = sum();
      expect(')');
      return inner;
    }
    if (std::isdigit(static_cast<unsigned char>(c))) return number(1);
    const size_t begin = at_;
    while (at_ < text_.size() && isNameChar(text_[at_])) ++at_;
    if (begin == at_) stop();
    const std::string name(text_.substr(begin, at_ - begin));
    const auto function = functionNamed(name);
    if (!function || peek() != '(') return Dim::symbol(name);
    expect('(');
    const Dim a = sum();
    expect(',');
    const Dim b = sum();
    expect(')');
    return function(a, b);
  }
  static Dim (*functionNamed(std::string_view name))(const Dim&, const Dim&) {
    if (name == "floordiv") return floorDiv;
    if (name == "min") return min;
    if (name == "max") return max;
    return name == "broadcast" ? broadcast : nullptr;
  }
  int64_t number(int sign) {
    int64_t value = 0;
    for (; at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])); ++at_) {
      const int digit = sign * (text_[at_] - '0');
      if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, digit, &value))
        stop();
    }
    return value;
  }
  static bool isNameChar(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '#' ||
           c == ':';
  }

  static constexpr int kMaxDepth = 200;
  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Dim parseDim(std::string_view text) { return DimParser(text).parse(); }

}  // namespace camshaft
