// Updates combined in shared memory. Elements narrower than 32 bits take a whole slot: their low
// bits come out the same.
template <class S>
using Slot = std::conditional_t<(sizeof(Compute<S>) < 4), int, Compute<S>>;

template <class V, class F> __device__ __forceinline__ void combineAtomically(V* at, V value, F combine) {
  using Word = std::conditional_t<sizeof(V) == 4, unsigned, unsigned long long>;
  union Both {
    V value;
    Word word;
  };
  Both old, next;
  old.value = *at;
  while (true) {
    next.value = combine(old.value, value);
    const Word found = atomicCAS(reinterpret_cast<Word*>(at), old.word, next.word);
    if (found == old.word) return;
    old.word = found;
  }
}
