// Reads graph text piece by piece; knows the line it is at.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace camshaft {

// Spaces, line ends and "//" comments count as nothing between pieces. Every refusal is an Error
// that names the line and quotes what stands there.
class Scanner {
 public:
  explicit Scanner(std::string_view text, int firstLine = 1) : text_(text), line_(firstLine) {}

  bool atEnd();
  bool accept(std::string_view symbol);       // punctuation
  bool acceptWord(std::string_view keyword);  // a whole word
  void expect(std::string_view symbol);
  char peek();

  std::string word();    // [A-Za-z0-9_./-]+
  std::string number();  // [A-Za-z0-9.+-]+
  std::string symbol();  // the name of a dimension: [A-Za-z0-9_.:#]+
  std::string name();    // a word, or any string in quotes
  std::string quoted();  // "..." with \" \\ \n \t \xHH
  // The text up to one of `stops` outside brackets and quotes, trimmed.
  std::string_view rawUntil(std::string_view stops);

  int line() const { return line_; }
  [[noreturn]] void stop(std::string_view wanted);

 private:
  void skipSpace();
  template <class Accepts>
  std::string take(Accepts accepts, std::string_view wanted);

  std::string_view text_;
  size_t at_ = 0;
  int line_;
};

// "name" as the text form writes it: bare where possible, else in quotes.
std::string quoteName(std::string_view name);
std::string quote(std::string_view text);

// The parts of "a, f(b, c), [d]" between separators outside brackets and quotes.
std::vector<std::string_view> splitTopLevel(std::string_view text, char separator);
std::string_view trim(std::string_view text);

// Numbers as text that reads back to the same bits: a double that is a widened float prints as the
// float with an 'f' ("0.1f") where the plain decimal would mean another double.
std::string realText(double value);
double parseReal(std::string_view text);
int64_t parseInteger(std::string_view text);

}  // namespace camshaft
