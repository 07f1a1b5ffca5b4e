// Attributes of an operator: a plain struct that lists its fields once.
//
//   struct TransposeAttrs : AttrsOf<TransposeAttrs> {
//     std::vector<int64_t> order;
//     void fields(AttrVisitor& visit) { visit("order", order); }
//   };
//
// Printing, parsing, comparing and hashing all go through fields().
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ir/dim.h"
#include "ir/expr.h"
#include "support/data_type.h"

namespace camshaft {

class Graph;
// The body of a branch or loop: a closed graph, shared by copies of its node. To change one, put a
// changed clone in its place.
using BodyPtr = std::shared_ptr<const Graph>;
// An object of a user's, of the type that the attributes know.
using ObjectPtr = std::shared_ptr<const void>;

class AttrVisitor {
 public:
  virtual ~AttrVisitor() = default;
  virtual void operator()(std::string_view name, int64_t& value) = 0;
  virtual void operator()(std::string_view name, double& value) = 0;
  virtual void operator()(std::string_view name, bool& value) = 0;
  virtual void operator()(std::string_view name, std::string& value) = 0;
  virtual void operator()(std::string_view name, DataType& value) = 0;
  virtual void operator()(std::string_view name, Dim& value) = 0;
  virtual void operator()(std::string_view name, std::vector<int64_t>& value) = 0;
  virtual void operator()(std::string_view name, std::vector<double>& value) = 0;
  virtual void operator()(std::string_view name, std::vector<Dim>& value) = 0;
  virtual void operator()(std::string_view name, Expr& value) = 0;
  // Few visitors have any business in a body: its dimensions are its own.
  virtual void operator()(std::string_view, BodyPtr&) {}
  // What no text can hold.
  virtual void operator()(std::string_view, ObjectPtr&) {}
  // An enum by its spellings, in the order of its values from 0.
  virtual void choice(std::string_view name, int& value,
                      std::span<const std::string_view> spellings) = 0;

  template <class E>
    requires std::is_enum_v<E>
  void operator()(std::string_view name, E& value, std::span<const std::string_view> spellings) {
    int index = static_cast<int>(value);
    choice(name, index, spellings);
    value = static_cast<E>(index);
  }
};

class Attrs {
 public:
  virtual ~Attrs() = default;
  virtual std::unique_ptr<Attrs> clone() const = 0;
  virtual void fields(AttrVisitor& visit) = 0;
};

template <class Derived>
class AttrsOf : public Attrs {
 public:
  std::unique_ptr<Attrs> clone() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }
};

struct NoAttrs : AttrsOf<NoAttrs> {
  void fields(AttrVisitor&) override {}
};

// The text between braces: "order = [0, 2, 1]". Equal attributes print equally.
std::string toString(const Attrs& attrs);
bool equal(const Attrs& a, const Attrs& b);

}  // namespace camshaft
