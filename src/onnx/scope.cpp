#include "onnx/scope.h"

#include "onnx/node_import.h"
#include "support/text.h"

namespace camshaft::onnx::importer {

std::string_view describe(const Item& item) {
  if (std::holds_alternative<Value*>(item)) return "a tensor";
  if (std::holds_alternative<Strings>(item)) return "a tensor of strings";
  return std::get<Sequence>(item).isNothing ? "an optional that holds nothing" : "a sequence";
}

void requireAlike(Graph& graph, const Sequence& sequence) {
  if (!sequence.parts) return;
  const auto& [whole, axis, size] = *sequence.parts;
  const Dim& all = whole->shape()[axis];
  graph.require(
      {SizeRelation::kEqual, mod(all, size), 0,
       str("a split of dimension ", axis, " of '", whole->name,
           "' into parts that must be alike, where the run decides on their number, ", "leaves "),
       str(" elements of ", all, " where it needs "), ""});
}

namespace {

// Names that people give and exporters make up are shorter.
std::string shortened(std::string_view name) {
  constexpr size_t kLongest = 300, kKept = 250;
  if (name.size() <= kLongest) return std::string(name);
  return str(name.substr(0, kKept), "~", name.size());
}

}  // namespace

void Scope::enter(std::string_view caller) { prefix = shortened(caller) + "/"; }

std::string Scope::named(std::string_view own) const {
  return depth == 0 ? std::string(own) : prefix + shortened(own);
}

std::string Scope::named(const wire::Node& node) const {
  return node.name.empty() ? named(nodeName(node)) : named(node.name);
}

std::optional<Item> Scope::findItem(std::string_view name) const {
  if (const auto it = values.find(name); it != values.end()) return it->second;
  if (!parent || poisoned.contains(name)) return std::nullopt;
  std::optional<Item> outer = parent->findItem(name);
  if (!outer || !captures) return outer;
  if (Sequence* sequence = std::get_if<Sequence>(&*outer)) {
    for (Value*& element : sequence->elements) element = captures->inside(element);
    if (sequence->stacked) sequence->stacked = captures->inside(sequence->stacked);
    if (auto& parts = sequence->parts)
      parts = Parts{captures->inside(parts->whole), parts->axis, captures->inside(parts->size)};
  } else if (Value* value = tensorOf(*outer)) {
    outer = captures->inside(value);
  }
  return outer;
}

Value* Scope::find(std::string_view name) const {
  const std::optional<Item> item = findItem(name);
  return item ? tensorOf(*item) : nullptr;
}

bool Scope::isMade(std::string_view name) const {
  if (const auto it = values.find(name); it != values.end()) return it->second != Item();
  return parent && !poisoned.contains(name) && parent->isMade(name);
}

bool Scope::isPoisoned(std::string_view name) const {
  for (const Scope* scope = this; scope; scope = scope->parent)
    if (scope->poisoned.contains(name)) return true;
  return false;
}

int64_t Scope::opset(std::string_view domain) const {
  domain = canonicalDomain(domain);
  for (const auto& import : opsets)
    if (canonicalDomain(import.domain) == domain) return import.version;
  return 0;
}

}  // namespace camshaft::onnx::importer
