// A store in two halves: elementsOf(places..., results) applies the epilogue, and
// write(places..., elements) writes what that gives. The epilogue's operands may lie where the
// output lies, for all that the compiler knows, so it moves no read of theirs in front of a write:
// a thread that stores several times has all its elements made before it writes the first.
template <class ElementsOf, class Write>
struct ResultStore {
  ElementsOf elementsOf;
  Write write;

  template <class Results>
  __device__ __forceinline__ void operator()(Index place, const Results& results) const {
    write(place, elementsOf(place, results));
  }
  template <class Results>
  __device__ __forceinline__ void operator()(Index row, Index column,
                                             const Results& results) const {
    write(row, column, elementsOf(row, column, results));
  }
};
template <class ElementsOf, class Write>
ResultStore(ElementsOf, Write) -> ResultStore<ElementsOf, Write>;
