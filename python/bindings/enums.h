// An enum as clients of TensorRT know it: a class of Python's own whose members are no numbers but
// convert to one with int(), and compare with nothing but themselves.
#pragma once

#include "bindings.h"

namespace camshaft::python {

template <class E>
class Enum : public nb::enum_<E> {
 public:
  Enum(nb::handle scope, const char* name) : nb::enum_<E>(scope, name) {
    const auto number = [](E value) { return static_cast<int64_t>(value); };
    this->def("__int__", number).def("__index__", number);
  }

  // A second name of a member.
  void alias(const char* name, const char* of) {
    nb::object member = this->attr(of);
    nb::setattr(*this, name, member);
    this->attr("_member_map_")[name] = member;
  }
};

void bindLayerEnums(nb::module_& m);

}  // namespace camshaft::python
