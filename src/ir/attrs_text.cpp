#include "ir/attrs_text.h"

#include <algorithm>
#include <typeinfo>

#include "ir/scanner.h"
#include "support/error.h"

namespace camshaft {
namespace {

template <class T>
std::string listText(const std::vector<T>& values, std::string (*textOf)(T)) {
  std::string out;
  for (const T& value : values) out += str(out.empty() ? "" : ", ", textOf(value));
  return str("[", out, "]");
}

// "{", the graph's text two steps further in, "}".
std::string bodyText(const BodyPtr& body, const ConstantForm& form) {
  if (!body) return "{}";
  std::string text = "{\n    ";
  for (char c : toText(*body, form)) {
    text += c;
    if (c == '\n') text += "    ";
  }
  text.resize(text.size() - 2);
  return text + "}";
}

class TextVisitor : public AttrVisitor {
 public:
  explicit TextVisitor(const ConstantForm& form) : form_(form) {}
  void operator()(std::string_view name, int64_t& v) override { add(name, str(v)); }
  void operator()(std::string_view name, double& v) override { add(name, realText(v)); }
  void operator()(std::string_view name, bool& v) override { add(name, str(v)); }
  void operator()(std::string_view name, std::string& v) override { add(name, quote(v)); }
  void operator()(std::string_view name, DataType& v) override { add(name, str(v)); }
  void operator()(std::string_view name, Dim& v) override { add(name, toString(v)); }
  void operator()(std::string_view name, std::vector<int64_t>& v) override {
    add(name, str("[", join(v, ", "), "]"));
  }
  void operator()(std::string_view name, std::vector<double>& v) override {
    add(name, listText(v, realText));
  }
  void operator()(std::string_view name, std::vector<Dim>& v) override { add(name, toString(v)); }
  void operator()(std::string_view name, Expr& v) override { add(name, toString(v)); }
  void operator()(std::string_view name, BodyPtr& v) override { add(name, bodyText(v, form_)); }
  void operator()(std::string_view name, ObjectPtr& v) override {
    if (form_.objectNumberOf && v) add(name, str((*form_.objectNumberOf)(v.get())));
  }
  void choice(std::string_view name, int& v, std::span<const std::string_view> spellings) override {
    add(name, std::string(spellings[v]));
  }
  AttrTexts texts;

 private:
  void add(std::string_view name, std::string text) { texts.emplace_back(name, std::move(text)); }
  const ConstantForm& form_;
};

class ParseVisitor : public AttrVisitor {
 public:
  ParseVisitor(const AttrTexts& texts, OpLookup findOp, const BesideText& beside)
      : texts_(texts), findOp_(findOp), beside_(beside) {}

  void operator()(std::string_view name, int64_t& v) override { set(name, v, parseInteger); }
  void operator()(std::string_view name, double& v) override { set(name, v, parseReal); }
  void operator()(std::string_view name, bool& v) override { set(name, v, parseBool); }
  void operator()(std::string_view name, std::string& v) override {
    set(name, v, [](std::string_view text) { return Scanner(text).quoted(); });
  }
  void operator()(std::string_view name, DataType& v) override { set(name, v, parseType); }
  void operator()(std::string_view name, Dim& v) override { set(name, v, parseDim); }
  void operator()(std::string_view name, std::vector<int64_t>& v) override {
    setList(name, v, parseInteger);
  }
  void operator()(std::string_view name, std::vector<double>& v) override {
    setList(name, v, parseReal);
  }
  void operator()(std::string_view name, std::vector<Dim>& v) override {
    setList(name, v, parseDim);
  }
  void operator()(std::string_view name, Expr& v) override { set(name, v, parseExpr); }
  void operator()(std::string_view name, BodyPtr& v) override {
    set(name, v, [&](std::string_view text) -> BodyPtr {
      if (!text.starts_with('{') || !text.ends_with('}'))
        fail(ErrorKind::kInvalidArgument, "the graph '", name, "' is not in braces");
      text = trim(text.substr(1, text.size() - 2));
      return text.empty() ? nullptr
                          : std::make_shared<const Graph>(parseGraph(text, findOp_, beside_));
    });
  }
  void operator()(std::string_view name, ObjectPtr& v) override {
    set(name, v, [&](std::string_view text) {
      const int64_t number = parseInteger(text);
      if (number < 0 || static_cast<size_t>(number) >= beside_.objects.size())
        fail(ErrorKind::kInvalidArgument, "there is no object ", number, " beside the text");
      return beside_.objects[static_cast<size_t>(number)];
    });
  }
  void choice(std::string_view name, int& v, std::span<const std::string_view> spellings) override {
    set(name, v, [&](std::string_view text) {
      for (size_t i = 0; i < spellings.size(); ++i)
        if (spellings[i] == text) return static_cast<int>(i);
      fail(ErrorKind::kInvalidArgument, "'", text, "' is not one of: ", join(spellings, ", "));
    });
  }

  void refuseUnknown() const {
    for (const auto& [name, text] : texts_) {
      if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
      const std::string close = nearest(name, known_);
      fail(ErrorKind::kInvalidArgument, "there is no attribute '", name, "'",
           close.empty() ? "" : str("; did you mean '", close, "'?"));
    }
  }

 private:
  static bool parseBool(std::string_view text) {
    if (text != "true" && text != "false")
      fail(ErrorKind::kInvalidArgument, "'", text, "' is neither true nor false");
    return text == "true";
  }
  static DataType parseType(std::string_view text) {
    const auto type = parseDataType(text);
    if (!type) fail(ErrorKind::kInvalidArgument, "'", text, "' is not an element type");
    return *type;
  }
  const std::string* textOf(std::string_view name) {
    known_.push_back(name);
    for (const auto& [field, text] : texts_)
      if (field == name) return &text;
    return nullptr;
  }
  template <class T, class Parse>
  void set(std::string_view name, T& value, Parse parse) {
    if (const std::string* text = textOf(name)) value = parse(std::string_view(*text));
  }
  template <class T, class Parse>
  void setList(std::string_view name, std::vector<T>& values, Parse parse) {
    set(name, values, [&](std::string_view text) {
      if (!text.starts_with('[') || !text.ends_with(']'))
        fail(ErrorKind::kInvalidArgument, "'", text, "' is not a list in brackets");
      std::vector<T> list;
      for (std::string_view item : splitTopLevel(text.substr(1, text.size() - 2), ','))
        list.push_back(parse(item));
      return list;
    });
  }

  const AttrTexts& texts_;
  const OpLookup findOp_;
  const BesideText& beside_;
  std::vector<std::string_view> known_;
};

class SymbolVisitor : public AttrVisitor {
 public:
  explicit SymbolVisitor(std::set<std::string>& names) : names_(names) {}
  void operator()(std::string_view, int64_t&) override {}
  void operator()(std::string_view, double&) override {}
  void operator()(std::string_view, bool&) override {}
  void operator()(std::string_view, std::string&) override {}
  void operator()(std::string_view, DataType&) override {}
  void operator()(std::string_view, Dim& v) override { collectSymbols(v, names_); }
  void operator()(std::string_view, std::vector<int64_t>&) override {}
  void operator()(std::string_view, std::vector<double>&) override {}
  void operator()(std::string_view, std::vector<Dim>& v) override {
    for (const Dim& dim : v) collectSymbols(dim, names_);
  }
  void operator()(std::string_view, Expr&) override {}
  void choice(std::string_view, int&, std::span<const std::string_view>) override {}

 private:
  std::set<std::string>& names_;
};

}  // namespace

AttrTexts textsOf(const Attrs& attrs, const ConstantForm& form) {
  TextVisitor visitor(form);
  attrs.clone()->fields(visitor);  // a copy, because visitors may write
  return std::move(visitor.texts);
}

void setFromTexts(Attrs& attrs, const AttrTexts& texts, OpLookup findOp, const BesideText& beside) {
  ParseVisitor visitor(texts, findOp, beside);
  attrs.fields(visitor);
  visitor.refuseUnknown();
}

void collectSymbols(const Attrs& attrs, std::set<std::string>& names) {
  SymbolVisitor visitor(names);
  attrs.clone()->fields(visitor);
}

std::string toString(const Attrs& attrs) {
  std::string out;
  for (const auto& [name, text] : textsOf(attrs))
    out += str(out.empty() ? "" : ", ", name, " = ", text);
  return out;
}

bool equal(const Attrs& a, const Attrs& b) {
  return typeid(a) == typeid(b) && textsOf(a) == textsOf(b);
}

}  // namespace camshaft
