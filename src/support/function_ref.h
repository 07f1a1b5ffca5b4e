// A callable passed down the stack: two words, no allocation, no ownership.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace camshaft {

template <class Signature>
class FunctionRef;

// Refers to the callable it was made from, which must outlive it: take one as a parameter, do
// not store one.
template <class Result, class... Args>
class FunctionRef<Result(Args...)> {
 public:
  template <class Callable>
    requires(!std::is_same_v<std::remove_cvref_t<Callable>, FunctionRef> &&
             std::is_invocable_r_v<Result, Callable&, Args...>)
  FunctionRef(Callable&& callable) noexcept {
    using Target = std::remove_reference_t<Callable>;
    if constexpr (std::is_function_v<Target>) {
      target_ = reinterpret_cast<void*>(&callable);
    } else {
      target_ = const_cast<void*>(static_cast<const void*>(std::addressof(callable)));
    }
    call_ = [](void* target, Args... args) -> Result {
      return (*reinterpret_cast<std::add_pointer_t<Target>>(target))(std::forward<Args>(args)...);
    };
  }

  Result operator()(Args... args) const { return call_(target_, std::forward<Args>(args)...); }

 private:
  void* target_;
  Result (*call_)(void*, Args...);
};

}  // namespace camshaft
