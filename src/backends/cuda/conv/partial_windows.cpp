#include "backends/cuda/conv/partial_windows.h"

#include <algorithm>

#include "support/text.h"

namespace camshaft::cuda {
namespace {

// One dimension. Windows from the first to the last whole one are alike; each other is of a kind
// of its own.
struct Along {
  Window window;
  int64_t size, count, firstWhole, lastWhole;

  Along(const Window& w, int64_t imageSize) : window(w), size(imageSize) {
    const int64_t room = size + w.padBegin + w.padEnd - w.extent();
    count = room / w.stride + 1;
    firstWhole = 0;
    while (firstWhole < count && !isOn(firstWhole, 0)) ++firstWhole;
    lastWhole = count - 1;
    while (lastWhole >= 0 && !isOn(lastWhole, w.kernel - 1)) --lastWhole;
    if (firstWhole > lastWhole) firstWhole = lastWhole = count - 1;  // none is whole: all differ
  }
  bool isOn(int64_t place, int64_t tap) const {
    const int64_t at = place * window.stride - window.padBegin + tap * window.dilation;
    return at >= 0 && at < size;
  }
  int64_t kinds() const { return firstWhole + count - lastWhole; }
  // A window of that kind.
  int64_t placeOf(int64_t kind) const {
    return kind <= firstWhole ? kind : lastWhole + kind - firstWhole;
  }
  std::string kindOf(const std::string& place) const {
    return str("min(", place, ", ", firstWhole, ") + max(", place, " - ", lastWhole, ", 0)");
  }
};

// Of each tap and output, over all channels.
std::vector<int32_t> sumsOfTaps(const HostTensor& weights, int64_t taps) {
  const int64_t outputs = weights.dims[0], channels = weights.dims[1];
  std::vector<int32_t> sums(taps * outputs);
  const auto* bytes = reinterpret_cast<const uint8_t*>(weights.bytes.data());
  for (int64_t m = 0; m < outputs; ++m)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t tap = 0; tap < taps; ++tap, ++bytes)
        sums[tap * outputs + m] +=
            weights.type == DataType::kI8 ? int{static_cast<int8_t>(*bytes)} : int{*bytes};
  return sums;
}

}  // namespace

int64_t countKinds(const std::vector<Window>& windows, const std::vector<int64_t>& sizes) {
  int64_t kinds = 1;
  for (size_t i = 0; i < windows.size(); ++i) kinds *= Along(windows[i], sizes[i]).kinds();
  return kinds;
}

PartialWindows partialWindows(const std::vector<Window>& windows, const std::vector<int64_t>& sizes,
                              const HostTensor& weights) {
  PartialWindows partial{.kinds = countKinds(windows, sizes)};
  std::vector<Along> along;
  int64_t taps = 1, places = 1;
  for (size_t i = 0; i < windows.size(); ++i) {
    along.emplace_back(windows[i], sizes[i]);
    taps *= windows[i].kernel;
  }
  for (size_t i = windows.size(); i-- > 0; places *= along[i].count) {
    const std::string place = str("(at.row / ", places, " % ", along[i].count, ")");
    partial.kindOf = i + 1 == windows.size() ? along[i].kindOf(place)
                                             : str("(", along[i].kindOf(place), ") * ",
                                                   along[i + 1].kinds(), " + ", partial.kindOf);
  }
  const std::vector<int32_t> ofTaps = sumsOfTaps(weights, taps);
  const int64_t outputs = weights.dims[0];
  partial.sums.resize(partial.kinds * outputs);
  for (int64_t kind = 0; kind < partial.kinds; ++kind)
    for (int64_t tap = 0; tap < taps; ++tap) {
      bool isOn = true;
      int64_t kindsLeft = kind, tapsLeft = tap;
      for (size_t i = windows.size(); i-- > 0;) {
        const int64_t place = along[i].placeOf(kindsLeft % along[i].kinds());
        isOn = isOn && along[i].isOn(place, tapsLeft % windows[i].kernel);
        kindsLeft /= along[i].kinds();
        tapsLeft /= windows[i].kernel;
      }
      if (!isOn) continue;
      for (int64_t m = 0; m < outputs; ++m)
        partial.sums[kind * outputs + m] += ofTaps[tap * outputs + m];
    }
  return partial;
}

}  // namespace camshaft::cuda
