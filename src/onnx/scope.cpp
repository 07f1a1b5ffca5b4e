#include "onnx/scope.h"

namespace camshaft::onnx::importer {

Value* Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope; scope = scope->parent)
    if (const auto it = scope->values.find(name); it != scope->values.end()) return it->second;
  return nullptr;
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
