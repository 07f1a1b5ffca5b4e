#include "onnx/write/printers.h"

#include "ops/ops.h"
#include "support/text.h"

namespace camshaft::onnx::writer {

#define CAMSHAFT_PRINTER(op, function) std::string function(GraphWriter&, const Node&);
#include "onnx/write/printers.def"
#undef CAMSHAFT_PRINTER

namespace {

struct Entry {
  Op op;
  Printer printer;
};

constexpr Entry kPrinters[] = {
#define CAMSHAFT_PRINTER(op, function) {&ops::op, function},
#include "onnx/write/printers.def"
#undef CAMSHAFT_PRINTER
};

}  // namespace

std::vector<int64_t> joined(std::vector<int64_t> begin, const std::vector<int64_t>& end) {
  begin.insert(begin.end(), end.begin(), end.end());
  return begin;
}

Printer printerOf(Op op) {
  for (const Entry& entry : kPrinters)
    if (entry.op == op) return entry.printer;
  return nullptr;
}

std::string print(GraphWriter& writer, const Node& node) {
  const Printer printer = printerOf(node.op);
  if (!printer) return str("the operator ", node.op->name, " has no spelling in ONNX");
  if (node.epilogue) return "it carries an epilogue";
  if (node.outputs.size() != 1) return "it has several outputs";
  return printer(writer, node);
}

}  // namespace camshaft::onnx::writer
