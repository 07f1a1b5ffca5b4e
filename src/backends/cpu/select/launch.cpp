#include "backend/launch.h"

#include <algorithm>

#include "backends/cpu/families.h"
#include "backends/cpu/load_params.h"
#include "backends/cpu/operands.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/select/launchers.h"
#include "backends/cpu/select/params.h"

namespace camshaft::cpu::select {

namespace {

// Elements of one width; of floats the sign does not count, there are two zeros.
template <class Bits, bool kIsFloat>
struct NonZero {
  const TensorArg& x;
  const Bits* bits = x.as<Bits>();

  bool isSet(int64_t i) const {
    return kIsFloat ? static_cast<Bits>(bits[i] << 1) != 0 : bits[i] != 0;
  }

  int64_t count(int64_t begin, int64_t end) const {
    int64_t found = 0;
    for (int64_t i = begin; i < end; ++i) found += isSet(i);
    return found;
  }

  // The index of a row of the last dimension is worked out once, when something is found in it.
  void write(int64_t begin, int64_t end, int64_t* to) const {
    const int last = x.rank - 1;
    const int64_t width = x.rank > 0 ? x.dims[last] : 1;
    int64_t index[kMaxRank] = {};
    for (int64_t row = begin / width; row * width < end; ++row) {
      const int64_t first = row * width;
      bool isKnown = false;
      for (int64_t i = std::max(begin, first); i < std::min(end, first + width); ++i) {
        if (!isSet(i)) continue;
        for (int64_t d = last - 1, rest = row; !isKnown && d >= 0; rest /= x.dims[d--])
          index[d] = rest % x.dims[d];
        isKnown = true;
        if (last >= 0) index[last] = i - first;
        to = std::copy_n(index, x.rank, to);
      }
    }
  }
};

// Two passes: parts are counted, so that each knows where its results begin, then written.
template <class Bits, bool kIsFloat>
void findNonZero(const LaunchArgs& args) {
  const TensorArg& x = args.inputs[0];
  const NonZero<Bits, kIsFloat> elements{x};
  const int64_t total = x.count(), part = (total + kNonZeroParts - 1) / kNonZeroParts;
  int64_t* counts = reinterpret_cast<int64_t*>(args.workspace);
  const auto forParts = [&](auto&& body) {
    parallelItems(args.threads, kNonZeroParts, static_cast<double>(part),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t p = begin; p < end; ++p)
                      body(p, std::min(total, p * part), std::min(total, (p + 1) * part));
                  });
  };
  forParts([&](int64_t p, int64_t begin, int64_t end) { counts[p] = elements.count(begin, end); });
  int64_t found = 0;
  for (int64_t p = 0; p < kNonZeroParts; ++p) {
    const int64_t before = found;
    found += counts[p];
    counts[p] = before;
  }
  forParts([&](int64_t p, int64_t begin, int64_t end) {
    if (begin < end) elements.write(begin, end, args.outputs[0].as<int64_t>() + counts[p] * x.rank);
  });
  *args.outputs[1].as<int64_t>() = found;
}

template <class Bits>
void findNonZero(const LaunchArgs& args) {
  if (isFloat(args.inputs[0].type))
    findNonZero<Bits, true>(args);
  else
    findNonZero<Bits, false>(args);
}

}  // namespace

bool fitsNonZero(const void*, const LaunchArgs& args) {
  if (!hasOperands(args, 1, 2) || worksInPlace(args)) return false;
  const TensorArg &x = args.inputs[0], &positions = args.outputs[0], &count = args.outputs[1];
  return positions.type == DataType::kI64 && positions.count() == x.count() * x.rank &&
         count.type == DataType::kI64 && count.count() == 1 &&
         args.workspaceBytes >= kNonZeroParts * static_cast<int64_t>(sizeof(int64_t));
}

void launchNonZero(const void*, const LaunchArgs& args) {
  switch (bitsOf(args.inputs[0].type)) {
    case 8:
      return findNonZero<uint8_t>(args);
    case 16:
      return findNonZero<uint16_t>(args);
    case 32:
      return findNonZero<uint32_t>(args);
    default:
      return findNonZero<uint64_t>(args);
  }
}

std::span<const RuntimeKernel> launchers() {
  static constexpr RuntimeKernel kLaunchers[] = {
      {"cpu/non_zero", nullptr, launchNonZero, fitsNonZero},
      {"cpu/non_max_suppression", loadParams<NmsParams>, launchNms, fitsNms},
  };
  return kLaunchers;
}

}  // namespace camshaft::cpu::select
