#include "backends/cuda/codegen/walk.h"

#include <algorithm>
#include <numeric>

#include "backends/cuda/pointwise/pointwise.h"
#include "support/text.h"

namespace camshaft::cuda {

void Walk::split(size_t axis, const Dim& inner) {
  splits_.emplace_back(axis, inner);
  shape_[axis] = floorDiv(shape_[axis], inner);
  shape_.insert(shape_.begin() + axis + 1, inner);
}

std::vector<Dim> Walk::splitStrides(std::vector<Dim> strides) const {
  for (const auto& [axis, inner] : splits_)
    strides.insert(strides.begin() + axis, strides[axis] * inner);
  return strides;
}

// The part's dimensions without those of size 1, neighbours joined where the operand walks them
// as one.
std::vector<Walk::Run> Walk::runsOf(const WalkPart& part, const std::vector<Dim>& strides) const {
  std::vector<Run> runs;
  for (size_t axis : part.axes) {
    if (shape_[axis].isConstant(1)) continue;
    const Run run{shape_[axis], strides[axis]};
    if (!runs.empty() && runs.back().stride == run.stride * run.size)
      runs.back() = {runs.back().size * run.size, run.stride};
    else
      runs.push_back(run);
  }
  return runs;
}

std::string Walk::position(const std::vector<Dim>& strides, std::string_view lane) {
  const std::vector<Dim> all = splitStrides(strides);
  std::string text;
  for (const WalkPart& part : parts_) {
    const bool isLast = &part == &parts_.back();
    const std::string index =
        isLast && !lane.empty() ? str("(", part.index, " + ", lane, ")") : part.index;
    const std::vector<Run> runs = runsOf(part, all);
    Dim below = 1;  // elements of the runs after this one
    for (size_t i = runs.size(); i-- > 0;) {
      const Dim passed = below;
      below *= runs[i].size;
      if (runs[i].stride.isConstant(0)) continue;
      std::string at = passed.isConstant(1) ? index : str(index, " / ", kernel_.size(passed));
      if (i > 0) at += str(" % ", kernel_.size(runs[i].size));
      if (!runs[i].stride.isConstant(1)) at += str(" * ", kernel_.size(runs[i].stride));
      text += str(text.empty() ? "" : " + ", at);
    }
  }
  return text.empty() ? "0" : text;
}

bool Walk::hasVectors(const std::vector<Dim>& strides, int width) const {
  if (width == 1) return true;
  const std::vector<Dim> all = splitStrides(strides);
  for (const WalkPart& part : parts_) {
    std::vector<Run> runs = runsOf(part, all);
    if (&part == &parts_.back()) {
      if (runs.empty() || !runs.back().stride.isConstant(1)) return false;
      if (!isMultiple(runs.back().size, width)) return false;
      runs.pop_back();
    }
    for (const Run& run : runs)
      if (!isMultiple(run.stride, width)) return false;
  }
  return true;
}

std::string Walk::load(const std::string& pointer, const std::vector<Dim>& strides, int width,
                       const std::string& name) {
  const std::vector<Run> along = runsOf(parts_.back(), splitStrides(strides));
  const bool isFixed = std::all_of(along.begin(), along.end(),
                                   [](const Run& run) { return run.stride.isConstant(0); });
  if (isFixed) {
    kernel_.body +=
        str("    const auto ", name, " = toCompute(", pointer, "[", position(strides), "]);\n");
    return name;
  }
  if (hasVectors(strides, width)) {
    kernel_.body += str("    const auto ", name, " = loadVector<", width, ">(", pointer, " + (",
                        position(strides), "));\n");
    return str("toCompute(", name, ".v[lane])");
  }
  return str("toCompute(", pointer, "[", position(strides, "lane"), "])");
}

void declareEpilogue(KernelText& kernel, const Node& node) {
  for (size_t i = node.ownInputs(); i < node.inputs.size(); ++i)
    kernel.input(str("extra", i), static_cast<int>(i));
}

void printStore(KernelText& kernel, const Node& node, Walk& walk, std::string_view index,
                int width) {
  const Value& y = *node.output();
  const std::string_view type = storageType(y.dataType());
  kernel.body +=
      str("  const auto store = [&](Index ", index, ", const ",
          computeType(node.resultBeforeEpilogue().type), " (&results)[", width, "]) {\n");
  std::vector<std::string> values{"results[lane]"};
  for (size_t i = node.ownInputs(); i < node.inputs.size(); ++i)
    values.push_back(walk.load(str("extra", i),
                               broadcastStrides(node.inputs[i]->shape(), y.shape()), width,
                               str("part", i)));
  const std::vector<Dim> strides = contiguousStrides(y.shape());
  const bool isVector = walk.hasVectors(strides, width);
  if (isVector) kernel.body += str("    Vector<", type, ", ", width, "> stored;\n");
  kernel.body += str("#pragma unroll\n    for (int lane = 0; lane < ", width, "; ++lane) {\n");
  const std::string result =
      node.epilogue ? printExpr(node.epilogue->expr, values, "t", kernel.body) : values[0];
  const std::string stored = str(" = toStorage<", type, ">(", result, ");\n    }\n");
  if (isVector)
    kernel.body += str("    stored.v[lane]", stored, "    storeVector<", width, ">(y + (",
                       walk.position(strides), "), stored);\n  };\n");
  else
    kernel.body += str("    y[", walk.position(strides, "lane"), "]", stored, "  };\n");
}

void printLoad(KernelText& kernel, Walk& walk, std::string_view index, DataType type,
               const std::vector<Dim>& strides, int width) {
  kernel.body += str("  const auto load = [&](Index ", index, ", ", computeType(type),
                     " (&values)[", width, "]) {\n");
  const std::string value = walk.load("x", strides, width, "part");
  kernel.body += str("#pragma unroll\n    for (int lane = 0; lane < ", width,
                     "; ++lane) values[lane] = ", value, ";\n  };\n");
}

std::string whyNotPrinted(const Node& node) {
  for (const Value* value : node.inputs)
    if (value && !isPrintable(value->dataType()))
      return str("has elements of type ", value->dataType(), ", which device code lacks");
  return node.epilogue ? whyNotPrinted(node.epilogue->expr) : "";
}

std::vector<size_t> axesFrom(size_t first, size_t last) {
  std::vector<size_t> axes(last - first);
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

}  // namespace camshaft::cuda
