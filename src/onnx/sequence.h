// What a name of a model stands for. Graphs hold tensors of numbers only: sequences and optionals
// are taken apart while importing.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "onnx/names.h"

namespace camshaft::onnx::importer {

// Parts of a tensor along an axis, alike but for the last, which may be smaller.
struct Parts {
  Value* whole = nullptr;
  int64_t axis = 0;
  Dim size;
  friend bool operator==(const Parts&, const Parts&) = default;
};

// A list of tensors. An optional that holds something is that tensor or sequence itself; one that
// holds nothing is a Sequence with `isNothing`.
struct Sequence {
  std::vector<Value*> elements;
  bool isNothing = false;
  // Elements of one type, as many as the run or the caller decides, along dimension 0; then
  // `elements` is empty.
  Value* stacked = nullptr;
  // What these were cut from, where the last may be smaller; there it is filled up with zeros.
  std::optional<Parts> parts;
  // Seen from the body of a loop that adds to it: `elements` follow those of earlier iterations.
  bool continues = false;
  friend bool operator==(const Sequence&, const Sequence&) = default;
};

// Nothing can be computed from strings; models may still carry them along and choose among them.
struct Strings {
  std::string chosenBy;  // the tensor of numbers that did so, where there is one
  friend bool operator==(const Strings&, const Strings&) = default;
};

using Item = std::variant<Value*, Sequence, Strings>;

// Null where it is no tensor of numbers.
inline Value* tensorOf(const Item& item) {
  return std::holds_alternative<Value*>(item) ? std::get<Value*>(item) : nullptr;
}
std::string_view describe(const Item& item);  // "a sequence"
// Elements that were cut from a tensor are alike, or the run fails: for what takes them as one.
void requireAlike(Graph& graph, const Sequence& sequence);

}  // namespace camshaft::onnx::importer
