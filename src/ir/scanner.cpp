#include "ir/scanner.h"

#include <cctype>
#include <charconv>
#include <cmath>

#include "support/error.h"

namespace camshaft {
namespace {

bool isAlnum(char c) { return std::isalnum(static_cast<unsigned char>(c)); }
bool isWordChar(char c) { return isAlnum(c) || c == '_' || c == '.' || c == '/' || c == '-'; }

// Where a quoted string that begins at `at` ends (past its closing quote), or npos.
size_t endOfQuoted(std::string_view text, size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\')
      ++at;
    else if (text[at] == '"')
      return at + 1;
  }
  return std::string_view::npos;
}

// Position of the first of `stops` outside brackets and quotes, or the text's size.
size_t findTopLevel(std::string_view text, std::string_view stops, size_t at = 0) {
  int depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (depth == 0 && stops.find(c) != std::string_view::npos) return at;
    if (c == '"') {
      at = endOfQuoted(text, at);
      if (at == std::string_view::npos) return text.size();
      continue;
    }
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    ++at;
  }
  return text.size();
}

int hexDigit(char c) {
  const char digits[] = "0123456789abcdef";
  const char* found = std::char_traits<char>::find(digits, 16, static_cast<char>(std::tolower(c)));
  return found ? static_cast<int>(found - digits) : -1;
}

}  // namespace

void Scanner::skipSpace() {
  while (at_ < text_.size()) {
    if (text_[at_] == '\n') ++line_;
    if (std::isspace(static_cast<unsigned char>(text_[at_]))) {
      ++at_;
    } else if (text_.substr(at_, 2) == "//") {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else {
      return;
    }
  }
}

void Scanner::stop(std::string_view wanted) {
  skipSpace();
  const size_t lineEnd = std::min(text_.find('\n', at_), text_.size());
  const std::string_view here = text_.substr(at_, std::min<size_t>(lineEnd - at_, 40));
  fail(ErrorKind::kInvalidArgument, "line ", line_, ": expected ", wanted, " at '",
       here.empty() ? "end of text" : here, "'");
}

bool Scanner::atEnd() {
  skipSpace();
  return at_ >= text_.size();
}

char Scanner::peek() {
  skipSpace();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool Scanner::accept(std::string_view symbol) {
  skipSpace();
  if (!text_.substr(at_).starts_with(symbol)) return false;
  at_ += symbol.size();
  return true;
}

bool Scanner::acceptWord(std::string_view keyword) {
  skipSpace();
  if (!text_.substr(at_).starts_with(keyword)) return false;
  const size_t end = at_ + keyword.size();
  if (end < text_.size() && isWordChar(text_[end])) return false;
  at_ = end;
  return true;
}

void Scanner::expect(std::string_view symbol) {
  if (!accept(symbol)) stop(str("'", symbol, "'"));
}

template <class Accepts>
std::string Scanner::take(Accepts accepts, std::string_view wanted) {
  skipSpace();
  const size_t begin = at_;
  while (at_ < text_.size() && accepts(text_[at_])) ++at_;
  if (begin == at_) stop(wanted);
  return std::string(text_.substr(begin, at_ - begin));
}

std::string Scanner::word() { return take(isWordChar, "a name"); }

std::string Scanner::number() {
  return take([](char c) { return c == '+' || c == '-' || c == '.' || isAlnum(c); }, "a number");
}

std::string Scanner::symbol() {
  return take([](char c) { return c == '_' || c == '.' || c == ':' || c == '#' || isAlnum(c); },
              "the name of a dimension");
}

std::string Scanner::name() { return peek() == '"' ? quoted() : word(); }

std::string Scanner::quoted() {
  if (peek() != '"') stop("a string in quotes");
  const size_t end = endOfQuoted(text_, at_);
  if (end == std::string_view::npos) stop("a closing quote");
  std::string out;
  for (size_t i = at_ + 1; i + 1 < end; ++i) {
    char c = text_[i];
    if (c == '\n') ++line_;
    if (c == '\\') {
      c = text_[++i];
      if (c == 'n') {
        c = '\n';
      } else if (c == 't') {
        c = '\t';
      } else if (c == 'x' && i + 2 < end - 1 && hexDigit(text_[i + 1]) >= 0 &&
                 hexDigit(text_[i + 2]) >= 0) {
        c = static_cast<char>(hexDigit(text_[i + 1]) * 16 + hexDigit(text_[i + 2]));
        i += 2;
      }
    }
    out += c;
  }
  at_ = end;
  return out;
}

std::string_view Scanner::rawUntil(std::string_view stops) {
  skipSpace();
  const size_t end = findTopLevel(text_, stops, at_);
  if (end == text_.size()) stop(str("text closed by one of '", stops, "'"));
  const std::string_view raw = text_.substr(at_, end - at_);
  for (char c : raw) line_ += c == '\n';
  at_ = end;
  return trim(raw);
}

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += str('\\', c);
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (code < 32 || code == 127)
      out += str("\\x", "0123456789abcdef"[code >> 4], "0123456789abcdef"[code & 15]);
    else
      out += c;
  }
  return out + '"';
}

std::string quoteName(std::string_view name) {
  // "//" would start a comment.
  bool bare = !name.empty() && name.find("//") == std::string_view::npos;
  for (char c : name) bare = bare && isWordChar(c);
  return bare ? std::string(name) : quote(name);
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> splitTopLevel(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  if (trim(text).empty()) return parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = findTopLevel(text, std::string_view(&separator, 1), begin);
    parts.push_back(trim(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

std::string realText(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string plain = str(value);
  double back = 0;
  std::from_chars(plain.data(), plain.data() + plain.size(), back);
  return back == value ? plain : plain + "f";
}

double parseReal(std::string_view text) {
  const std::string_view whole = text;
  if (text == "nan") return std::nan("");
  if (text == "inf" || text == "-inf") return text[0] == '-' ? -HUGE_VAL : HUGE_VAL;
  const bool narrow = text.ends_with('f');
  if (narrow) text.remove_suffix(1);
  double wide = 0;
  float single = 0;
  const char* end = text.data() + text.size();
  const auto result =
      narrow ? std::from_chars(text.data(), end, single) : std::from_chars(text.data(), end, wide);
  if (result.ec != std::errc() || result.ptr != end)
    fail(ErrorKind::kInvalidArgument, "'", whole, "' is not a number");
  return narrow ? single : wide;
}

int64_t parseInteger(std::string_view text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  auto result = std::from_chars(text.data(), end, value);
  if (result.ec == std::errc::result_out_of_range) {  // u64 above the signed range
    uint64_t wide = 0;
    result = std::from_chars(text.data(), end, wide);
    value = static_cast<int64_t>(wide);
  }
  if (result.ec != std::errc() || result.ptr != end)
    fail(ErrorKind::kInvalidArgument, "'", text, "' is not an integer");
  return value;
}

}  // namespace camshaft
