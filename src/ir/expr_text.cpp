// The text form of scalar expressions: "relu(add(x0:f32, 1.5:f32))".
#include <algorithm>
#include <cmath>
#include <map>

#include "ir/expr.h"
#include "ir/scanner.h"
#include "support/error.h"

namespace camshaft {
namespace {

std::vector<int> operandsOf(const ScalarInstruction& instruction) {
  const int all[] = {instruction.a, instruction.b, instruction.c};
  return {all, all + infoOf(instruction.op).arity};
}

// Calls in calls; what is deeper is written as temporaries, so that reading needs little stack.
constexpr int kMaxPrinted = 64, kMaxRead = 256;

class ExprPrinter {
 public:
  explicit ExprPrinter(const Expr& expr)
      : code_(expr.code()),
        uses_(code_.size(), 0),
        nesting_(code_.size(), 0),
        temporary_(code_.size(), -1) {}

  std::string print() {
    if (code_.empty()) return "";
    const int last = static_cast<int>(code_.size()) - 1;
    countUses(last);
    std::string out;
    int count = 0;
    for (int i = 0; i < last; ++i) {
      for (int operand : operandsOf(code_[i]))
        if (temporary_[operand] < 0) nesting_[i] = std::max(nesting_[i], nesting_[operand] + 1);
      if (uses_[i] == 0 || isLeaf(i) || (uses_[i] < 2 && nesting_[i] < kMaxPrinted)) continue;
      out += str("t", count, " = ", body(i), "; ");
      temporary_[i] = count++;
    }
    return out + body(last);
  }

 private:
  bool isLeaf(int i) const { return infoOf(code_[i].op).arity == 0; }
  void countUses(int i) {
    if (uses_[i]++ > 0) return;
    for (int operand : operandsOf(code_[i])) countUses(operand);
  }
  std::string reference(int i) const {
    return temporary_[i] >= 0 ? str("t", temporary_[i]) : body(i);
  }
  std::string body(int i) const {
    const ScalarInstruction& in = code_[i];
    if (in.op == ScalarOp::kInput) return str("x", in.a, ":", in.type);
    if (in.op == ScalarOp::kConst) return str(constantText(in), ":", in.type);
    std::string out(infoOf(in.op).name);
    const char* separator = "(";
    for (int operand : operandsOf(in)) {
      out += separator + reference(operand);
      separator = ", ";
    }
    if (in.op == ScalarOp::kCast) out += str(", ", in.type);
    return out + ")";
  }
  static std::string constantText(const ScalarInstruction& in) {
    if (!isFloat(in.type)) return std::to_string(in.integer);
    if (in.type == DataType::kF64 || !std::isfinite(in.real)) return realText(in.real);
    return str(in.real);  // the type already says how it rounds
  }

  const std::vector<ScalarInstruction>& code_;
  std::vector<int> uses_, nesting_;
  std::vector<int> temporary_;
};

class ExprParser {
 public:
  explicit ExprParser(std::string_view text) : text_(text) {}

  Expr parse() {
    if (trim(text_).empty()) return {};
    const auto statements = splitTopLevel(text_, ';');
    for (size_t i = 0; i + 1 < statements.size(); ++i) {
      const size_t equals = statements[i].find('=');
      if (equals == std::string_view::npos) stop(statements[i]);
      const std::string name(trim(statements[i].substr(0, equals)));
      const int value = term(trim(statements[i].substr(equals + 1)));
      if (!temporaries_.emplace(name, value).second) stop(statements[i]);
    }
    const int result = term(statements.back());
    if (result != static_cast<int>(expr_.code().size()) - 1) stop(statements.back());
    return std::move(expr_);
  }

 private:
  [[noreturn]] void stop(std::string_view part) const {
    fail(ErrorKind::kInvalidArgument, "'", part, "' in '", text_, "' is not a scalar expression");
  }
  DataType type(std::string_view text) const {
    const auto type = parseDataType(text);
    if (!type) stop(text);
    return *type;
  }
  int term(std::string_view text) {
    if (text.ends_with(')')) return call(text);
    if (auto it = temporaries_.find(std::string(text)); it != temporaries_.end()) return it->second;
    const size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0) stop(text);
    return leaf(text.substr(0, colon), type(text.substr(colon + 1)));
  }
  int leaf(std::string_view text, DataType type) {
    if (text[0] == 'x') {
      const int64_t index = parseInteger(text.substr(1));
      if (index < 0 || index > 4096) stop(text);
      const int at = expr_.input(static_cast<int>(index), type);
      if (expr_.code()[at].type != type) stop(text);
      return at;
    }
    return isFloat(type) ? expr_.constant(parseReal(text), type)
                         : expr_.constantInteger(parseInteger(text), type);
  }
  int call(std::string_view text) {
    if (++depth_ > kMaxRead)
      fail(ErrorKind::kInvalidArgument, "a scalar expression has calls in calls more than ",
           kMaxRead, " deep");
    const int value = readCall(text);
    --depth_;
    return value;
  }
  int readCall(std::string_view text) {
    const size_t open = text.find('(');
    if (open == std::string_view::npos) stop(text);
    const std::string_view name = text.substr(0, open);
    const auto arguments = splitTopLevel(text.substr(open + 1, text.size() - open - 2), ',');
    if (name == infoOf(ScalarOp::kCast).name && arguments.size() == 2) {
      const int a = term(arguments[0]);
      return expr_.cast(a, type(arguments[1]));
    }
    const ScalarOp op = operation(name);
    if (static_cast<size_t>(infoOf(op).arity) != arguments.size()) stop(text);
    std::vector<int> operands;
    for (std::string_view argument : arguments) operands.push_back(term(argument));
    checkTypes(op, operands, text);
    if (op == ScalarOp::kWhere) return expr_.where(operands[0], operands[1], operands[2]);
    return expr_.apply(op, operands[0], operands.size() > 1 ? operands[1] : -1);
  }
  void checkTypes(ScalarOp op, const std::vector<int>& operands, std::string_view text) const {
    const auto typeOf = [&](int i) { return expr_.code()[operands[i]].type; };
    const bool isWhere = op == ScalarOp::kWhere;
    if (isWhere && typeOf(0) != DataType::kBool) stop(text);
    for (size_t i = isWhere ? 2 : 1; i < operands.size(); ++i)
      if (typeOf(static_cast<int>(i)) != typeOf(static_cast<int>(i) - 1)) stop(text);
  }
  ScalarOp operation(std::string_view name) const {
    static constexpr ScalarOp kCallable[] = {
        ScalarOp::kWhere,
#define CAMSHAFT_SCALAR_OP(Name, text, arity, domain, expression) ScalarOp::k##Name,
#include "ir/scalar_ops.def"
#undef CAMSHAFT_SCALAR_OP
    };
    for (ScalarOp op : kCallable)
      if (infoOf(op).name == name) return op;
    stop(name);
  }

  std::string_view text_;
  int depth_ = 0;
  Expr expr_;
  std::map<std::string, int> temporaries_;
};

}  // namespace

std::string toString(const Expr& expr) { return ExprPrinter(expr).print(); }
Expr parseExpr(std::string_view text) { return ExprParser(text).parse(); }

}  // namespace camshaft
