// How an object implements a public class: it is that class and the table the class forwards to.
#pragma once

#include <type_traits>

#include "NvInfer.h"

namespace camshaft::api {

// A derived class may name the pointer to the table, which is protected.
template <class Interface>
struct TableOf : Interface {
  using Type = std::remove_pointer_t<decltype(TableOf::mImpl)>;
};

template <class Interface>
class Implements : public Interface, public TableOf<Interface>::Type {
 protected:
  Implements() { this->mImpl = this; }
};

}  // namespace camshaft::api
