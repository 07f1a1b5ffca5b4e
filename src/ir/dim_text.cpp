// The text form of dimensions: "2*h*w + 4", "floordiv(h + 3, 4) - 1".
#include <cctype>

#include "ir/dim.h"
#include "support/error.h"

namespace camshaft {

std::string toString(const Dim& dim) {
  if (dim.isConstant()) return std::to_string(dim.value());
  std::string out;
  for (const auto& term : dim.terms()) {
    const bool negative = term.coefficient < 0;
    if (out.empty())
      out += negative ? "-" : "";
    else
      out += negative ? " - " : " + ";
    const int64_t magnitude = negative ? -term.coefficient : term.coefficient;
    if (magnitude != 1) out += str(magnitude, "*");
    bool first = true;
    for (const auto& atom : term.atoms) {
      out += str(first ? "" : "*", atom->key);
      first = false;
    }
  }
  const int64_t constant = dim.constantPart();
  if (constant != 0) out += constant < 0 ? str(" - ", -constant) : str(" + ", constant);
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
    fail(ErrorKind::kInvalidArgument, "'", text_, "' is not a dimension expression (near position ", at_, ")");
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
    Dim result = product();
    for (char c = peek(); c == '+' || c == '-'; c = peek()) {
      ++at_;
      result = c == '+' ? result + product() : result - product();
    }
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
      return Dim(0) - factor();
    }
    if (c == '(') {
      ++at_;
      Dim inner = sum();
      expect(')');
      return inner;
    }
    const size_t begin = at_;
    if (std::isdigit(static_cast<unsigned char>(c))) {
      int64_t value = 0;
      for (; at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])); ++at_)
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, text_[at_] - '0', &value)) stop();
      return value;
    }
    while (at_ < text_.size() && isNameChar(text_[at_])) ++at_;
    if (begin == at_) stop();
    const std::string name(text_.substr(begin, at_ - begin));
    if (name != "floordiv" && name != "min" && name != "max") return Dim::symbol(name);
    expect('(');
    const Dim a = sum();
    expect(',');
    const Dim b = sum();
    expect(')');
    return name == "floordiv" ? floorDiv(a, b) : name == "min" ? min(a, b) : max(a, b);
  }
  static bool isNameChar(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '#' || c == ':';
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Dim parseDim(std::string_view text) { return DimParser(text).parse(); }

}  // namespace camshaft
