#include "cuda_emulator/source_rewriter.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace camshaft::emulator {
namespace {

struct Token {
  std::string_view text;
  size_t begin = 0;
  size_t end() const { return begin + text.size(); }
};

bool isWordStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

size_t skipQuoted(const std::string& text, size_t at) {
  const char quote = text[at++];
  while (at < text.size() && text[at] != quote) at += text[at] == '\\' ? 2 : 1;
  return at + 1;
}

// Words, numbers, strings and single characters; preprocessor lines are left out.
std::vector<Token> tokenize(const std::string& text) {
  std::vector<Token> tokens;
  size_t at = 0;
  bool lineStart = true;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '\n' || std::isspace(static_cast<unsigned char>(c))) {
      lineStart = lineStart || c == '\n';
      ++at;
      continue;
    }
    if (c == '#' && lineStart) {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    lineStart = false;
    size_t end = at + 1;
    if (isWord(c)) {
      while (end < text.size() && isWord(text[end])) ++end;
    } else if (c == '"' || c == '\'') {
      end = std::min(skipQuoted(text, at), text.size());
    }
    tokens.push_back({std::string_view(text).substr(at, end - at), at});
    at = end;
  }
  return tokens;
}

// The index after the bracket that closes the one at `open`.
size_t skipBrackets(const std::vector<Token>& tokens, size_t open) {
  int depth = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].text == "(") ++depth;
    if (tokens[i].text == ")" && --depth == 0) return i + 1;
  }
  return tokens.size();
}

bool takesArguments(std::string_view word) {
  return word == "__launch_bounds__" || word == "__align__" || word == "alignas" ||
         word == "__attribute__" || word == "__cluster_dims__" || word == "__maxnreg__";
}

// The declared name after __global__ at `index`: the first word before a bracket.
std::string kernelName(const std::vector<Token>& tokens, size_t index) {
  for (size_t i = index + 1; i + 1 < tokens.size(); ++i) {
    if (tokens[i].text == ";" || tokens[i].text == "{") break;
    if (!isWordStart(tokens[i].text[0]) || tokens[i + 1].text != "(") continue;
    if (!takesArguments(tokens[i].text)) return std::string(tokens[i].text);
    i = skipBrackets(tokens, i + 1) - 1;
  }
  return {};
}

bool isTemplate(const std::vector<Token>& tokens, size_t index) {
  while (index-- > 0) {
    const std::string_view text = tokens[index].text;
    if (text == ";" || text == "}" || text == "{") return false;
    if (text == "template") return true;
  }
  return false;
}

// T, from the tokens of `extern __shared__ T name[]`.
std::string sharedType(const std::vector<Token>& tokens, size_t begin, size_t name) {
  std::string type;
  for (size_t i = begin; i < name; ++i) {
    if (tokens[i].text == "extern" || tokens[i].text == "__shared__") continue;
    if (takesArguments(tokens[i].text)) {
      i = skipBrackets(tokens, i + 1) - 1;
      continue;
    }
    type += std::string(tokens[i].text) + (tokens[i].text == ":" ? "" : " ");
  }
  return type;
}

bool opensNamespace(const std::vector<Token>& tokens, size_t brace) {
  for (size_t back = 1; back <= 8 && back <= brace; ++back) {
    const std::string_view text = tokens[brace - back].text;
    if (text == "namespace" || (back == 1 && text == "\"C\"")) return true;
    if (text != ":" && !isWordStart(text[0])) return false;
  }
  return false;
}

bool declaresDynamicShared(const std::vector<Token>& tokens, size_t index, size_t* semicolon) {
  bool shared = false;
  for (size_t i = index; i < tokens.size(); ++i) {
    shared = shared || tokens[i].text == "__shared__";
    if (tokens[i].text == "{" || tokens[i].text[0] == '"') return false;
    if (tokens[i].text != ";") continue;
    *semicolon = i;
    return shared && i >= index + 5 && tokens[i - 1].text == "]" && tokens[i - 2].text == "[";
  }
  return false;
}

}  // namespace

RewrittenSource rewriteSource(const std::string& preprocessed) {
  const std::vector<Token> tokens = tokenize(preprocessed);
  RewrittenSource result;
  size_t copied = 0;
  std::vector<bool> braces;  // true for those of namespaces and extern "C"
  int functionDepth = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    size_t semicolon = 0;
    if (tokens[i].text == "{") {
      braces.push_back(opensNamespace(tokens, i));
      functionDepth += !braces.back();
    } else if (tokens[i].text == "}" && !braces.empty()) {
      functionDepth -= !braces.back();
      braces.pop_back();
    }
    if (tokens[i].text == "__global__" && !isTemplate(tokens, i)) {
      std::string name = kernelName(tokens, i);
      bool known = name.empty();
      for (const std::string& other : result.kernels) known = known || other == name;
      if (!known) result.kernels.push_back(std::move(name));
    }
    if (tokens[i].text != "extern" || !declaresDynamicShared(tokens, i, &semicolon)) continue;
    const std::string name(tokens[semicolon - 3].text);
    const std::string type = sharedType(tokens, i, semicolon - 3);
    const std::string address = "reinterpret_cast<" + type + "*>(camshaftThread.dynamicShared)";
    result.text.append(preprocessed, copied, tokens[i].begin - copied);
    if (functionDepth == 0) {
      result.macros += "#define " + name + " (" + address + ")\n";
    } else {
      result.text += type + "* const " + name + " = " + address + ";";
    }
    copied = tokens[semicolon].end();
    i = semicolon;
  }
  result.text.append(preprocessed, copied);
  return result;
}

}  // namespace camshaft::emulator
