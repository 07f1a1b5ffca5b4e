// What conditionals, loops and attentions have in common: layers among others that mark where they
// begin and end. Of conditionals and loops, builds find what lies between (api/lowering/lower.h).
#pragma once

#include <string>

#include "api/layers/layer.h"
#include "api/lowering/placeholders.h"

namespace camshaft::api {

class Block {
 public:
  Block(Network& network, int64_t number, std::string name)
      : network(network), number(number), name(std::move(name)) {}
  virtual ~Block() = default;

  void setName(const char* text) noexcept;
  BoundaryAttrs attrs() const {
    BoundaryAttrs attrs;
    attrs.block = number;
    return attrs;
  }

  Network& network;
  const int64_t number;  // among those of the network
  std::string name;
};

// Throws unless the value has one element of this type.
void requireSingle(const Emission& at, const Value* value, std::string_view what, bool fits);

}  // namespace camshaft::api
