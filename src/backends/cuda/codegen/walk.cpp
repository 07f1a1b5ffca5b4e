#include "backends/cuda/codegen/walk.h"

#include <algorithm>
#include <numeric>

#include "support/text.h"

namespace camshaft::cuda {

void Walk::split(size_t axis, const Dim& inner) {
  splits_.emplace_back(axis, inner);
  shape_[axis] = floorDiv(shape_[axis], inner);
  shape_.insert(shape_.begin() + axis + 1, inner);
}

std::vector<Run> Walk::runsAlong(const WalkPart& part, const Access& access) const {
  std::vector<Dim> all = access.strides;
  for (const auto& [axis, inner] : splits_) all.insert(all.begin() + axis, all[axis] * inner);
  Shape shape;
  std::vector<Dim> strides;
  for (size_t axis : part.axes) {
    shape.push_back(shape_[axis]);
    strides.push_back(all[axis]);
  }
  return runsOf(shape, strides);
}

// Divisions by the sizes one after the other, which operands and coordinates then share.
std::string Walk::position(const Access& access, std::string_view lane) {
  std::string text = access.offset.isConstant(0) ? "" : kernel_.size(access.offset);
  for (const WalkPart& part : parts_) {
    const bool isLast = &part == &parts_.back();
    std::string at = isLast && !lane.empty() ? str("(", part.index, " + ", lane, ")") : part.index;
    std::vector<Run> runs = runsAlong(part, access);
    const auto isRead = [](const Run& run) { return !run.stride.isConstant(0); };
    const size_t first = std::find_if(runs.begin(), runs.end(), isRead) - runs.begin();
    for (size_t i = runs.size(); i-- > first;) {
      const std::string size = i > 0 ? kernel_.size(runs[i].size) : "";
      if (isRead(runs[i])) {
        text += str(text.empty() ? "" : " + ", at, i > 0 ? str(" % ", size) : "");
        if (!runs[i].stride.isConstant(1)) text += str(" * ", kernel_.size(runs[i].stride));
      }
      at += str(" / ", size);
    }
  }
  return text.empty() ? "0" : text;
}

bool Walk::hasVectors(const Access& access, int width) const {
  if (width == 1) return true;
  if (!isMultiple(access.offset, width)) return false;
  for (const WalkPart& part : parts_) {
    std::vector<Run> runs = runsAlong(part, access);
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

std::string Walk::load(const std::string& pointer, const Access& access, int width,
                       const std::string& name) {
  const std::vector<Run> along = runsAlong(parts_.back(), access);
  const bool isWithinRun = along.empty() || isMultiple(along.back().size, width);
  const bool isFixed = isWithinRun ? along.empty() || along.back().stride.isConstant(0)
                                   : along.size() == 1 && along.back().stride.isConstant(0);
  if (isFixed) {
    kernel_.body +=
        str("    const auto ", name, " = toCompute(", pointer, "[", position(access), "]);\n");
    return name;
  }
  if (hasVectors(access, width)) {
    kernel_.body += str("    const auto ", name, " = readElements<", width, ">(", pointer, " + (",
                        position(access), "));\n");
    return str("elementAt(", name, ", lane)");
  }
  if (isWithinRun) {
    kernel_.body += str("    const auto ", name, " = ", pointer, " + (", position(access), ");\n");
    return str("toCompute(", name, "[lane * ", kernel_.size(along.back().stride), "])");
  }
  return str("toCompute(", pointer, "[", position(access, "lane"), "])");
}

std::vector<size_t> axesFrom(size_t first, size_t last) {
  std::vector<size_t> axes(last - first);
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

std::vector<WalkPart> partPerAxis(const std::vector<std::string>& names) {
  std::vector<WalkPart> parts;
  for (size_t i = 0; i < names.size(); ++i) parts.push_back({names[i], {i}});
  return parts;
}

std::string sizesText(KernelText& kernel, const std::vector<Dim>& sizes) {
  std::string text;
  for (const Dim& size : sizes) text += str(text.empty() ? "" : ", ", kernel.size(size));
  return str("{", text, "}");
}

}  // namespace camshaft::cuda
