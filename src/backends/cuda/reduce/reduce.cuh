// The states of kOuts neighbouring results.
template <class Reducer, int kOuts>
struct States {
  typename Reducer::State v[kOuts];
};
template <class Reducer, int kOuts>
struct CombineStates {
  __device__ __forceinline__ States<Reducer, kOuts> operator()(
      const States<Reducer, kOuts>& a, const States<Reducer, kOuts>& b) const {
    States<Reducer, kOuts> result;
#pragma unroll
    for (int i = 0; i < kOuts; ++i) result.v[i] = Reducer{}(a.v[i], b.v[i]);
    return result;
  }
};

// Reduces `count` elements for each of kOuts results. load(first, values) reads the elements from
// `first` on: kWidth of one result, or one of each of several results.
template <class Reducer, class Team, int kOuts, int kWidth, class T, class Load>
__device__ __forceinline__ States<Reducer, kOuts> reduceElements(Index count, Load load) {
  static_assert(kOuts == 1 || kWidth == 1, "a vector runs along one of the two");
  States<Reducer, kOuts> states;
  for (auto& state : states.v) state = Reducer::identity();
#pragma unroll 4
  for (Index first = Team::lane() * kWidth; first < count; first += Team::kLanes * kWidth) {
    T values[kOuts * kWidth];
    load(first, values);
#pragma unroll
    for (int i = 0; i < kOuts * kWidth; ++i) {
      auto& state = states.v[kOuts == 1 ? 0 : i];
      state = Reducer{}(state, Reducer::element(values[i], kOuts == 1 ? first + i : first));
    }
  }
  return Team::reduce(states, CombineStates<Reducer, kOuts>{});
}

// The same into `results`, of which there are `all`: this team's are those from `out` on.
template <class Reducer, class Team, int kOuts, int kWidth, class T, class Result, class Load,
          class Store>
__device__ __forceinline__ void reduceTo(Index out, Index all, Index count, Load load,
                                         Store store) {
  const auto states = reduceElements<Reducer, Team, kOuts, kWidth, T>(out < all ? count : 0, load);
  if (Team::lane() != 0 || out >= all) return;
  Result results[kOuts];
#pragma unroll
  for (int i = 0; i < kOuts; ++i)
    results[i] = static_cast<Result>(Reducer::result(states.v[i], count));
  store(out, results);
}
