// How elements are reduced. A reducer has a State made from an element and its index, an identity,
// a commutative way to combine two states (as a functor), and a result over `count` elements.
template <class A>
__device__ __forceinline__ A infinity() {
  return A(__int_as_float(0x7f800000));
}
// What a maximum or minimum of no elements of type T is.
template <class T, class A>
__device__ __forceinline__ A lowestOf() {
  if constexpr (std::is_floating_point_v<A>)
    return -infinity<A>();
  else
    return A(std::numeric_limits<T>::min());
}
template <class T, class A>
__device__ __forceinline__ A highestOf() {
  if constexpr (std::is_floating_point_v<A>)
    return infinity<A>();
  else
    return A(std::numeric_limits<T>::max());
}

// T is what elements are computed with, A what they are accumulated in.
template <class T, class A>
struct SumReducer {
  using State = A;
  __device__ static State identity() { return A(0); }
  __device__ static State element(T x, Index) { return A(x); }
  __device__ State operator()(State a, State b) const { return op::sum(a, b); }
  __device__ static A result(State sum, Index) { return sum; }
};
template <class T, class A>
struct MeanReducer : SumReducer<T, A> {
  __device__ static A result(A sum, Index count) {
    if constexpr (std::is_floating_point_v<A>)
      return sum * (A(1) / A(count));
    else
      return op::divide(sum, A(count));
  }
};
template <class T, class A>
struct LogSumReducer : SumReducer<T, A> {
  __device__ static A result(A sum, Index) {
    if constexpr (std::is_floating_point_v<A>)
      return log(sum);
    else
      return A(log(double(sum)));
  }
};
template <class T, class A>
struct L1Reducer : SumReducer<T, A> {
  __device__ static A element(T x, Index) { return op::absolute(A(x)); }
};
template <class T, class A>
struct SumSquareReducer : SumReducer<T, A> {
  __device__ static A element(T x, Index) { return op::product(A(x), A(x)); }
};
template <class T, class A>
struct L2Reducer : SumSquareReducer<T, A> {
  __device__ static A result(A sum, Index) {
    if constexpr (std::is_floating_point_v<A>)
      return sqrt(sum);
    else
      return A(sqrt(double(sum)));
  }
};
template <class T, class A>
struct ProdReducer : SumReducer<T, A> {
  __device__ static A identity() { return A(1); }
  __device__ A operator()(A a, A b) const { return op::product(a, b); }
};
template <class T, class A>
struct MaxReducer : SumReducer<T, A> {
  __device__ static A identity() { return lowestOf<T, A>(); }
  __device__ A operator()(A a, A b) const { return op::maximum(a, b); }
};
template <class T, class A>
struct MinReducer : SumReducer<T, A> {
  __device__ static A identity() { return highestOf<T, A>(); }
  __device__ A operator()(A a, A b) const { return op::minimum(a, b); }
};

// log(sum(exp(x))) as the largest x and the sum of exp(x - largest), which stays finite.
template <class T, class A>
struct LogSumExpReducer {
  struct State {
    A largest, sum;
  };
  __device__ static A shiftOf(A largest) {
    return largest - largest == A(0) ? largest : A(0);  // infinities and NaN shift nothing
  }
  __device__ static State identity() { return {-infinity<A>(), A(0)}; }
  __device__ static State element(T x, Index) { return {A(x), exp(A(x) - shiftOf(A(x)))}; }
  __device__ State operator()(const State& a, const State& b) const {
    const A largest = op::maximum(a.largest, b.largest), shift = shiftOf(largest);
    return {largest, rescaled(a, shift) + rescaled(b, shift)};
  }
  __device__ static A rescaled(const State& a, A shift) {
    return a.sum * exp(shiftOf(a.largest) - shift);
  }
  __device__ static A result(const State& a, Index) { return log(a.sum) + shiftOf(a.largest); }
};

// The index of the largest or smallest element, the first of equal ones or the last. A NaN counts
// only at index 0, where it wins.
template <class T, bool kLargest, bool kLast>
struct ArgReducer {
  struct alignas(sizeof(T) < 4 ? 4 : sizeof(T)) State {
    T value;
    Index index;
  };
  __device__ static State identity() { return {T(0), -1}; }
  __device__ static State element(T x, Index index) {
    return {x, x == x || index == 0 ? index : -1};
  }
  __device__ State operator()(const State& a, const State& b) const {
    if (a.index < 0 || b.index < 0) return a.index < 0 ? b : a;
    if (a.value != a.value || b.value != b.value) return a.value != a.value ? a : b;
    if (a.value == b.value) return (a.index < b.index) != kLast ? a : b;
    return (a.value > b.value) == kLargest ? a : b;
  }
  __device__ static long long result(const State& a, Index) { return a.index; }
};
