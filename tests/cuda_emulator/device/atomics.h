// Atomic operations. Blocks may run on several host threads, so these are real atomics.
#pragma once

namespace camshaft::emulator {

template <class T>
struct Bits {
  using Type = unsigned;
};
template <class T>
  requires(sizeof(T) == 8)
struct Bits<T> {
  using Type = unsigned long long;
};

// Replaces *address by update(*address); returns what was there.
template <class T, class Update>
T atomicUpdate(T* address, Update update) {
  using Word = typename Bits<T>::Type;
  Word* word = reinterpret_cast<Word*>(address);
  Word old = __atomic_load_n(word, __ATOMIC_RELAXED);
  Word next;
  do {
    next = __builtin_bit_cast(Word, static_cast<T>(update(__builtin_bit_cast(T, old))));
  } while (
      !__atomic_compare_exchange_n(word, &old, next, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
  return __builtin_bit_cast(T, old);
}

}  // namespace camshaft::emulator

// _block and _system differ in scope only.
#define CAMSHAFT_ATOMIC(name, type, expression)                                             \
  inline type name(type* address, type value) {                                             \
    return camshaft::emulator::atomicUpdate(address, [=](type old) { return expression; }); \
  }                                                                                         \
  inline type name##_block(type* address, type value) { return name(address, value); }      \
  inline type name##_system(type* address, type value) { return name(address, value); }
#define CAMSHAFT_INTEGER_ATOMICS(type)                                    \
  CAMSHAFT_ATOMIC(atomicAdd, type, old + value)                           \
  CAMSHAFT_ATOMIC(atomicExch, type, value)                                \
  CAMSHAFT_ATOMIC(atomicMin, type, min(old, value))                       \
  CAMSHAFT_ATOMIC(atomicMax, type, max(old, value))                       \
  CAMSHAFT_ATOMIC(atomicAnd, type, old& value)                            \
  CAMSHAFT_ATOMIC(atomicOr, type, old | value)                            \
  CAMSHAFT_ATOMIC(atomicXor, type, old ^ value)                           \
  inline type atomicCAS(type* address, type compare, type value) {        \
    return camshaft::emulator::atomicUpdate(                              \
        address, [=](type old) { return old == compare ? value : old; }); \
  }
CAMSHAFT_INTEGER_ATOMICS(int)
CAMSHAFT_INTEGER_ATOMICS(unsigned)
CAMSHAFT_INTEGER_ATOMICS(long long)
CAMSHAFT_INTEGER_ATOMICS(unsigned long long)
CAMSHAFT_ATOMIC(atomicSub, int, old - value)
CAMSHAFT_ATOMIC(atomicSub, unsigned, old - value)
CAMSHAFT_ATOMIC(atomicInc, unsigned, old >= value ? 0u : old + 1u)
CAMSHAFT_ATOMIC(atomicDec, unsigned, old == 0u || old > value ? value : old - 1u)
CAMSHAFT_ATOMIC(atomicAdd, float, old + value)
CAMSHAFT_ATOMIC(atomicAdd, double, old + value)
CAMSHAFT_ATOMIC(atomicExch, float, value)
#undef CAMSHAFT_INTEGER_ATOMICS
#undef CAMSHAFT_ATOMIC

inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
