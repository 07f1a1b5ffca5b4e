#include "quantize/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "support/json_text.h"
#include "support/text.h"

namespace camshaft {
namespace {

constexpr double kMostDecibels = 200;

template <class... Args>
std::string formatted(const char* format, Args... args) {
  char text[512];
  std::snprintf(text, sizeof text, format, args...);
  return text;
}

// Names end with what tells them apart.
std::string shortened(const std::string& name, size_t width) {
  return name.size() <= width ? name : str("…", name.substr(name.size() - (width - 1)));
}

std::string jsonNumber(double value) { return std::isfinite(value) ? str(value) : "null"; }

std::string jsonOf(const QuantizeReport::Layer& layer) {
  std::string text = str("{\"name\": ", jsonText(layer.name), ", \"op\": ", jsonText(layer.op));
  if (!layer.input.empty())
    text +=
        str(", \"input\": ", jsonText(layer.input), ", \"range\": [", jsonNumber(layer.range.low),
            ", ", jsonNumber(layer.range.high), "], \"scale\": ", jsonNumber(layer.scale),
            ", \"clipped\": ", jsonNumber(layer.clipped));
  if (layer.signalToNoise) text += str(", \"snr_db\": ", jsonNumber(*layer.signalToNoise));
  return text + "}";
}

template <class Items, class Print>
std::string jsonList(const Items& items, Print&& print) {
  std::string text = "[";
  for (const auto& item : items) text += str(text.size() > 1 ? ", " : "", print(item));
  return text + "]";
}

}  // namespace

std::string QuantizeReport::table() const {
  constexpr int kName = 40;
  std::string text = formatted("%-*s %-13s %10s %22s %10s %9s\n", kName, "layer", "operator",
                               "SNR, dB", "range of its input", "scale", "clipped");
  for (const Layer& layer : layers) {
    const std::string ratio = layer.signalToNoise ? formatted("%.1f", *layer.signalToNoise) : "-";
    const std::string name = shortened(layer.name, kName);
    // The ellipsis is three bytes wide and one column.
    const int width = kName + (name.size() > layer.name.size() || name.starts_with("…") ? 2 : 0);
    text += formatted("%-*s %-13s %10s", width, name.c_str(), layer.op.c_str(), ratio.c_str());
    if (!layer.input.empty())
      text += formatted(" %10.4g .. %8.4g %10.3g %8.3f%%", layer.range.low, layer.range.high,
                        static_cast<double>(layer.scale), 100 * layer.clipped);
    text += "\n";
  }
  for (const Output& output : outputs)
    text += str("output '", output.name, "': ", formatted("%.1f", output.signalToNoise), " dB\n");
  text += str(layers.size(), " layers in ", format, ", ", samples, " samples");
  if (opsetBefore != opsetAfter) text += str(", opset ", opsetBefore, " became ", opsetAfter);
  if (foldedBatchNorms) text += str(", ", foldedBatchNorms, " batch norms folded");
  if (equalized) text += str(", ", equalized, " tensors equalised");
  if (correctedBiases) text += str(", ", correctedBiases, " biases corrected");
  if (residuals) text += str(", ", residuals, " residuals quantised");
  if (bytesAfter)
    text += formatted(", %.2f MiB became %.2f", static_cast<double>(bytesBefore) / (1 << 20),
                      static_cast<double>(bytesAfter) / (1 << 20));
  text += "\n";
  for (const SkippedNode& node : skipped)
    text += str("left as it was: ", node.op, " '", node.name, "': ", node.reason, "\n");
  return text;
}

std::string QuantizeReport::json() const {
  const auto output = [](const Output& each) {
    return str("{\"name\": ", jsonText(each.name), ", \"snr_db\": ", jsonNumber(each.signalToNoise),
               "}");
  };
  const auto left = [](const SkippedNode& node) {
    return str("{\"name\": ", jsonText(node.name), ", \"op\": ", jsonText(node.op),
               ", \"reason\": ", jsonText(node.reason), "}");
  };
  return str("{\"format\": ", jsonText(format), ", \"samples\": ", samples,
             ", \"opset\": {\"before\": ", opsetBefore, ", \"after\": ", opsetAfter,
             "}, \"batch_norms_folded\": ", foldedBatchNorms, ", \"equalized\": ", equalized,
             ", \"biases_corrected\": ", correctedBiases, ", \"residuals\": ", residuals,
             ", \"bytes\": {\"before\": ", bytesBefore, ", \"after\": ", bytesAfter,
             "}, \"layers\": ", jsonList(layers, jsonOf),
             ", \"outputs\": ", jsonList(outputs, output),
             ", \"skipped\": ", jsonList(skipped, left), "}");
}

void NoiseMeter::add(std::span<const float> expected, std::span<const float> actual) {
  for (size_t i = 0; i < std::min(expected.size(), actual.size()); ++i) {
    const double value = expected[i], off = value - actual[i];
    if (!std::isfinite(off)) continue;
    signal_ += value * value;
    noise_ += off * off;
  }
}

double NoiseMeter::decibels() const {
  if (noise_ == 0) return kMostDecibels;
  if (signal_ == 0) return -kMostDecibels;
  return std::clamp(10 * std::log10(signal_ / noise_), -kMostDecibels, kMostDecibels);
}

}  // namespace camshaft
