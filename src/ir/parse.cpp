// Reads what print.cpp writes:
//
//   symbols n in [1, 32], m in [0, 2*n], k   // at most: a number, a dimension or inf
//   graph main(%x: f32[n, 3]) {            // names that are not words go in quotes: %"a b"
//     require equal(n, 4) "node 'a' has " " rows where it needs " ""  // ir/size_condition.h
//     %w: f32[3] = constant [1, 2, 3]      // or: splat 0.5, hex:<bytes>, beside 0
//     %y = Op(%x, _, %w) {field = value} epilogue(%b) {relu(add(x0:f32, x1:f32))} "node name"
//     %z = Op(%y) precision(f16 -> f32)   // asked for: arithmetic, storage; _ is neither
//     return %y as "logits"
//   }
//
// Types of node outputs may be left out; where given they are checked. Symbols of inputs and
// those that nodes define need no declaration. A field that is a body has a graph in braces.
#include <algorithm>
#include <cctype>

#include "ir/attrs_text.h"
#include "ir/dispatch.h"
#include "ir/graph.h"
#include "ir/scanner.h"

namespace camshaft {
namespace {

struct Result {
  std::string name;
  std::optional<TensorType> type;
};

class GraphParser {
 public:
  GraphParser(std::string_view text, OpLookup findOp, const BesideText& beside)
      : scan_(text), findOp_(findOp), beside_(beside) {}

  Graph parse() {
    if (scan_.acceptWord("symbols")) symbols();
    if (!scan_.acceptWord("graph")) scan_.stop("'graph'");
    graph_.name = scan_.name();
    inputs();
    scan_.expect("{");
    while (!scan_.acceptWord("return")) statement();
    returns();
    scan_.expect("}");
    if (!scan_.atEnd()) scan_.stop("nothing after the graph");
    return std::move(graph_);
  }

 private:
  // Runs f; its Error gets the line that the statement begins at.
  template <class F>
  auto atLine(int line, F f) {
    try {
      return f();
    } catch (const Error& error) {
      throw Error(error.kind(), str("line ", line, ": ", error.message()));
    }
  }
  template <class F>
  auto here(F f) {
    return atLine(scan_.line(), f);
  }

  void symbols() {
    do {
      SymbolInfo info;
      const std::string name = scan_.symbol();
      if (scan_.acceptWord("in")) {
        scan_.expect("[");
        info.range.min = here([&] { return parseInteger(scan_.rawUntil(",")); });
        scan_.expect(",");
        const std::string_view most = scan_.rawUntil("]");
        if (most != "inf") {
          const Dim bound = here([&] { return parseDim(most); });
          if (bound.isConstant())
            info.range.max = bound.value();
          else
            info.upper = bound;
        }
        scan_.expect("]");
      }
      graph_.symbols[name] = info;
    } while (scan_.accept(","));
  }

  void declare(const std::set<std::string>& names) {
    for (const std::string& name : names) graph_.symbols.try_emplace(name);
  }

  std::string valueName() {
    scan_.expect("%");
    return scan_.name();
  }

  Value* use() {
    const std::string name = valueName();
    Value* value = graph_.find(name);
    if (!value)
      here([&] { fail(ErrorKind::kInvalidArgument, "there is no value %", quoteName(name)); });
    return value;
  }

  void refuseRedefinition(const std::string& name) {
    if (graph_.find(name))
      here([&] {
        fail(ErrorKind::kInvalidArgument, "value %", quoteName(name), " is defined twice");
      });
  }

  TensorType type() {
    const std::string name(scan_.rawUntil("["));
    const auto element = parseDataType(name);
    if (!element)
      here([&] { fail(ErrorKind::kInvalidArgument, "'", name, "' is not an element type"); });
    scan_.expect("[");
    TensorType type{*element, {}};
    const std::string_view dims = scan_.rawUntil("]");
    scan_.expect("]");
    here([&] {
      for (std::string_view dim : splitTopLevel(dims, ',')) type.shape.push_back(parseDim(dim));
    });
    return type;
  }

  void inputs() {
    scan_.expect("(");
    if (scan_.accept(")")) return;
    do {
      std::string name = valueName();
      refuseRedefinition(name);
      scan_.expect(":");
      TensorType inputType = type();
      std::set<std::string> names;
      for (const Dim& dim : inputType.shape) collectSymbols(dim, names);
      declare(names);
      graph_.addInput(std::move(name), std::move(inputType));
    } while (scan_.accept(","));
    scan_.expect(")");
  }

  void statement() {
    if (scan_.acceptWord("require")) return condition();
    std::vector<Result> results;
    if (scan_.peek() == '%') {
      do {
        Result result{valueName(), {}};
        refuseRedefinition(result.name);
        if (scan_.accept(":")) result.type = type();
        results.push_back(std::move(result));
      } while (scan_.accept(","));
      scan_.expect("=");
    }
    if (scan_.acceptWord("constant"))
      constant(results);
    else
      node(results);
  }

  void condition() {
    const std::string name = scan_.word();
    const std::optional<SizeRelation> relation = parseSizeRelation(name);
    if (!relation) scan_.stop("'equal', 'broadcast', 'broadcast_to' or 'at_least'");
    SizeCondition condition{.relation = *relation};
    scan_.expect("(");
    condition.a = here([&] { return parseDim(scan_.rawUntil(",")); });
    scan_.expect(",");
    condition.b = here([&] { return parseDim(scan_.rawUntil(")")); });
    scan_.expect(")");
    condition.before = scan_.quoted();
    condition.between = scan_.quoted();
    condition.after = scan_.quoted();
    here([&] { graph_.require(std::move(condition)); });
  }

  void constant(const std::vector<Result>& results) {
    if (results.size() != 1 || !results[0].type) scan_.stop("'%name: type' before '= constant'");
    const TensorType& type = *results[0].type;
    if (!isStatic(type.shape)) scan_.stop("a constant's shape in numbers");
    const int64_t count = numElements(type.shape).value();
    ConstantPtr data = scan_.acceptWord("beside")
                           ? constantBeside()
                           : ConstantData::own(constantBytes(type.type, count));
    if (data->bytes.size() != bytesOf(type.type, count))
      here([&] {
        fail(ErrorKind::kInvalidArgument, "constant %", results[0].name, " has ",
             data->bytes.size(), " bytes where ", type, " needs ", bytesOf(type.type, count));
      });
    graph_.addConstant(results[0].name, type, std::move(data));
  }

  ConstantPtr constantBeside() {
    return here([&] {
      const int64_t number = parseInteger(scan_.number());
      const auto& constants = beside_.constants;
      if (number < 0 || number >= static_cast<int64_t>(constants.size()) || !constants[number])
        fail(ErrorKind::kInvalidArgument, "there is no constant ", number, " beside the text");
      return constants[number];
    });
  }

  std::vector<std::byte> constantBytes(DataType type, int64_t count) {
    if (scan_.accept("hex:")) return hexBytes(scan_.word());
    if (scan_.accept("digest:")) scan_.stop("data: this text was printed without its constants");
    if (scan_.acceptWord("splat")) {
      const std::string element = scan_.number();
      std::vector<std::byte> bytes(bytesOf(type, count));
      for (int64_t i = 0; i < count; ++i) setElement(type, bytes.data(), i, element);
      return bytes;
    }
    scan_.expect("[");
    const auto elements = splitTopLevel(scan_.rawUntil("]"), ',');
    scan_.expect("]");
    std::vector<std::byte> bytes(bytesOf(type, static_cast<int64_t>(elements.size())));
    for (size_t i = 0; i < elements.size(); ++i)
      setElement(type, bytes.data(), static_cast<int64_t>(i), elements[i]);
    return bytes;
  }

  void setElement(DataType type, void* data, int64_t index, std::string_view text) {
    here([&] {
      if (isFloat(type)) return writeElement(type, data, index, parseReal(text));
      const int64_t value = parseInteger(text);
      dispatch(type, [&](auto tag) {
        using T = decltype(tag);
        using V = Compute<T>;
        if constexpr (std::is_integral_v<V>)
          static_cast<T*>(data)[index] = static_cast<T>(static_cast<V>(value));
      });
    });
  }

  std::vector<std::byte> hexBytes(const std::string& text) {
    std::vector<std::byte> bytes(text.size() / 2);
    for (size_t i = 0; i < bytes.size(); ++i) {
      const std::string pair = text.substr(2 * i, 2);
      if (!std::isxdigit(static_cast<unsigned char>(pair[0])) ||
          !std::isxdigit(static_cast<unsigned char>(pair[1])))
        scan_.stop("hexadecimal digits");
      bytes[i] = static_cast<std::byte>(std::stoi(pair, nullptr, 16));
    }
    return bytes;
  }

  std::vector<Value*> operands() {
    std::vector<Value*> values;
    scan_.expect("(");
    if (scan_.accept(")")) return values;
    do values.push_back(scan_.acceptWord("_") ? nullptr : use());
    while (scan_.accept(","));
    scan_.expect(")");
    return values;
  }

  std::unique_ptr<Attrs> attributes(Op op) {
    auto attrs = op->makeAttrs();
    AttrTexts texts;
    if (scan_.accept("{") && !scan_.accept("}")) {
      do {
        std::string field = scan_.word();
        scan_.expect("=");
        texts.emplace_back(std::move(field), scan_.rawUntil(",}"));
      } while (scan_.accept(","));
      scan_.expect("}");
    }
    setFromTexts(*attrs, texts, findOp_, beside_);
    return attrs;
  }

  void node(const std::vector<Result>& results) {
    const int line = scan_.line();
    const std::string opName = scan_.word();
    const Op op = findOp_(opName);
    if (!op)
      atLine(line,
             [&] { fail(ErrorKind::kInvalidArgument, "there is no operator '", opName, "'"); });
    std::vector<Value*> inputs = operands();
    auto attrs = here([&] { return attributes(op); });
    if (op->defines) {
      std::set<std::string> defined;
      for (const Dim& symbol : op->defines(*attrs)) collectSymbols(symbol, defined);
      declare(defined);
    }
    Node* added = atLine(line, [&] {
      if (op->outputs >= 0 && op->outputs != static_cast<int>(results.size()))
        fail(ErrorKind::kInvalidArgument, opName, " gives ", op->outputs, " values, not ",
             results.size());
      return graph_.addNode(op, results.empty() ? opName : results[0].name, std::move(inputs),
                            std::move(attrs), static_cast<int>(results.size()));
    });
    if (scan_.acceptWord("epilogue")) epilogue(added, line);
    if (scan_.acceptWord("precision")) precision(added);
    for (size_t i = 0; i < results.size(); ++i) graph_.rename(added->outputs[i], results[i].name);
    if (scan_.peek() == '"') added->name = scan_.quoted();
    if (scan_.acceptWord("from")) {
      do added->origins.add(scan_.quoted());
      while (scan_.accept(","));
    }
    checkTypes(*added, results, line);
  }

  // What an epilogue of the node has to read: the result so far and its own operands.
  static std::vector<DataType> epilogueOperands(const Node& node,
                                                const std::vector<Value*>& extra) {
    if (node.outputs.empty())
      fail(ErrorKind::kInvalidArgument, describe(node), " has no result for an epilogue");
    std::vector<DataType> types{node.outputs[0]->dataType()};
    for (const Value* value : extra) {
      if (!value) fail(ErrorKind::kInvalidArgument, "an operand of the epilogue is left out");
      types.push_back(value->dataType());
    }
    return types;
  }

  void epilogue(Node* node, int line) {
    const std::vector<Value*> extra = operands();
    scan_.expect("{");
    const std::string_view text = scan_.rawUntil("}");
    scan_.expect("}");
    atLine(line, [&] {
      Expr expr = parseExpr(text);
      if (expr.inputCount() != static_cast<int>(extra.size()) + 1)
        fail(ErrorKind::kInvalidArgument, "the epilogue reads ", expr.inputCount(),
             " inputs and has ", extra.size() + 1);
      const std::vector<DataType> given = epilogueOperands(*node, extra);
      for (size_t i = 0; i < given.size(); ++i)
        if (expr.inputType(static_cast<int>(i)) != given[i])
          fail(ErrorKind::kInvalidArgument, "the epilogue reads x", i, " as ",
               expr.inputType(static_cast<int>(i)), " and it is ", given[i]);
      node->epilogue = Epilogue{std::move(expr), static_cast<int>(node->inputs.size())};
      for (Value* value : extra) graph_.addInputTo(node, value);
      graph_.inferTypes(node);
    });
  }

  void precision(Node* node) {
    const auto requested = [&]() -> std::optional<DataType> {
      if (scan_.acceptWord("_")) return std::nullopt;
      const std::string name = scan_.word();
      const auto type = parseDataType(name);
      if (!type)
        here([&] { fail(ErrorKind::kInvalidArgument, "'", name, "' is not an element type"); });
      return type;
    };
    scan_.expect("(");
    node->precision.compute = requested();
    if (scan_.accept("->")) {
      do node->precision.outputs.push_back(requested());
      while (scan_.accept(","));
    }
    scan_.expect(")");
  }

  void checkTypes(const Node& node, const std::vector<Result>& results, int line) {
    for (size_t i = 0; i < results.size(); ++i) {
      const TensorType& inferred = node.outputs[i]->type;
      if (!results[i].type || *results[i].type == inferred) continue;
      atLine(line, [&] {
        fail(ErrorKind::kInvalidArgument, "%", quoteName(results[i].name), " is ", inferred,
             ", not ", *results[i].type);
      });
    }
  }

  void returns() {
    if (scan_.peek() == '}') return;
    do {
      Value* value = use();
      graph_.addOutput(scan_.acceptWord("as") ? scan_.quoted() : value->name, value);
    } while (scan_.accept(","));
  }

  Scanner scan_;
  OpLookup findOp_;
  BesideText beside_;
  Graph graph_;
};

}  // namespace

namespace {

// Graphs in graphs are read by calls in calls. A body is three braces deeper than its node.
void requireShallow(std::string_view text) {
  constexpr int kMaxBraces = 3 * 200;
  int depth = 0;
  bool isQuoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (isQuoted && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      isQuoted = !isQuoted;
    } else if (!isQuoted && text.substr(i).starts_with("//")) {
      i = std::min(text.find('\n', i), text.size());
    } else if (!isQuoted) {
      depth += text[i] == '{' ? 1 : text[i] == '}' ? -1 : 0;
    }
    if (depth > kMaxBraces)
      fail(ErrorKind::kInvalidArgument, "the text has graphs in graphs more than ", kMaxBraces / 3,
           " deep");
  }
}

}  // namespace

Graph parseGraph(std::string_view text, OpLookup findOp, const BesideText& beside) {
  requireShallow(text);
  return GraphParser(text, findOp, beside).parse();
}

}  // namespace camshaft
