// Lets the emulator call a kernel of any signature with an array of parameter addresses.
#pragma once

namespace camshaft::emulator {

// A parameter's own aligned copy: the caller's may lie at any address.
template <class T>
struct Parameter {
  alignas(T) unsigned char bytes[sizeof(T)];
  explicit Parameter(const void* source) { __builtin_memcpy(bytes, source, sizeof(T)); }
  T& value() { return *reinterpret_cast<T*>(bytes); }
};

template <size_t... I>
struct Indices {};

template <class... P, size_t... I>
void unpack(void (*kernel)(P...), [[maybe_unused]] void** parameters, Indices<I...>) {
  kernel(Parameter<P>(parameters[I]).value()...);
}

template <class... P>
void unpack(void (*kernel)(P...), void** parameters) {
  unpack(kernel, parameters, Indices<__integer_pack(sizeof...(P))...>());
}

template <class... P>
struct Sizes {
  static constexpr unsigned values[sizeof...(P) + 1] = {sizeof(P)..., 0};
};

template <class... P>
constexpr EntryPoint describe(const char* name, void (*invoke)(void**), void (*)(P...)) {
  return {name, invoke, sizeof...(P), Sizes<P...>::values};
}

}  // namespace camshaft::emulator

#define CAMSHAFT_ENTRY_POINT(kernel)                                                       \
  camshaft::emulator::describe(                                                            \
      #kernel, [](void** parameters) { camshaft::emulator::unpack(&kernel, parameters); }, \
      &kernel)
