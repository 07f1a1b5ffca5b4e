#include "backends/cuda/codegen/store.h"

#include "support/text.h"

namespace camshaft::cuda {

std::string whyNotPrinted(const Node& node) {
  for (const auto* values : {&node.inputs, &node.outputs})
    for (const Value* value : *values)
      if (value && !isPrintable(value->dataType()))
        return str("has elements of type ", value->dataType(), ", which device code lacks");
  return node.epilogue ? whyNotPrinted(node.epilogue->expr) : "";
}

Verdict isPrinted(const Node& node, const BuildContext&) { return Verdict{whyNotPrinted(node)}; }

void declareEpilogue(KernelText& kernel, const Node& node) {
  for (size_t i = node.ownInputs(); i < node.inputs.size(); ++i)
    kernel.input(str("extra", i), static_cast<int>(i));
}

void printLoad(KernelText& kernel, Walk& walk, std::string_view indices, DataType type,
               const Access& access, int width) {
  kernel.body += str("  const auto load = [&](", indices, ", ", computeType(type), " (&values)[",
                     width, "]) {\n");
  const std::string value = walk.load("x0", access, width, "part");
  kernel.body += str("#pragma unroll\n    for (int lane = 0; lane < ", width,
                     "; ++lane) values[lane] = ", value, ";\n  };\n");
}

void printStore(KernelText& kernel, const Node& node, Walk& walk, std::string_view indices,
                int width, Results kind) {
  kernel.include("device/result_store.cuh");
  const Value& y = *node.output();
  const DataType before = node.resultBeforeEpilogue().type;
  const bool isStored = kind == Results::kStored;
  const std::string_view type = storageType(y.dataType());
  kernel.body +=
      str("  const auto elementsOf = [&](", indices, ", const ",
          isStored ? storageType(before) : computeType(before), " (&results)[", width, "]) {\n");
  std::vector<std::string> values{isStored ? "toCompute(results[lane])" : "results[lane]"};
  for (size_t i = node.ownInputs(); i < node.inputs.size(); ++i)
    values.push_back(walk.load(str("extra", i),
                               broadcastStrides(node.inputs[i]->shape(), y.shape()), width,
                               str("part", i)));
  const std::vector<Dim> strides = contiguousStrides(y.shape());
  const std::string lanes =
      str("#pragma unroll\n    for (int lane = 0; lane < ", width, "; ++lane) ");
  const std::string vector = str("    Vector<", type, ", ", width, "> stored;\n");
  const bool isVector = walk.hasVectors(strides, width), isMoved = isStored && !node.epilogue;
  std::string statements;
  if (isMoved) {
    kernel.body += str(vector, lanes, "stored.v[lane] = results[lane];\n    return stored;\n");
  } else if (isVector) {
    const PrintedElement element =
        node.epilogue
            ? printElement(node.epilogue->expr, values, "t", statements, kernel.asArguments())
            : PrintedElement{values[0], computeType(y.dataType()), "toElements"};
    kernel.body += str("    ", element.type, " stored[", width, "];\n", lanes, "{\n", statements,
                       "    stored[lane] = ", element.result, ";\n    }\n    return ", element.pack,
                       "<", type, ">(stored);\n");
  } else {
    const std::string result = node.epilogue ? printExpr(node.epilogue->expr, values, "t",
                                                         statements, kernel.asArguments())
                                             : values[0];
    kernel.body += str(vector, lanes, "{\n", statements, "    stored.v[lane] = toStorage<", type,
                       ">(", result, ");\n    }\n    return stored;\n");
  }
  kernel.body += str("  };\n  const auto write = [&](", indices, ", const auto& elements) {\n");
  kernel.body += isVector
                     ? str("    ", isMoved ? "storeVector<" : "writeElements<", width, ">(y + (",
                           walk.position(strides), "), elements);\n")
                     : str(lanes, "y[", walk.position(strides, "lane"), "] = elements.v[lane];\n");
  kernel.body += "  };\n  const ResultStore store{elementsOf, write};\n";
}

void printElementStore(KernelText& kernel, const Node& node, int width, Results kind) {
  for (int i = 0; i < node.ownInputs(); ++i) kernel.input(str("x", i), i);
  declareEpilogue(kernel, node);
  kernel.output("y");
  Walk walk = Walk::linear(kernel, node.output()->shape(), "first");
  printStore(kernel, node, walk, "Index first", width, kind);
}

}  // namespace camshaft::cuda
