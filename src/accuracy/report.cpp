#include "accuracy/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "support/json_text.h"
#include "support/text.h"

namespace camshaft {
namespace {

template <class... Args>
std::string formatted(const char* format, Args... args) {
  char text[512];
  std::snprintf(text, sizeof text, format, args...);
  return text;
}

// As people and builder flags call them.
std::string_view nameOf(DataType type) {
  switch (type) {
    case DataType::kF16:
      return "fp16";
    case DataType::kBF16:
      return "bf16";
    case DataType::kI8:
      return "int8";
    default:
      return "fp32";
  }
}

std::string number(double value) { return std::isfinite(value) ? str(value) : "null"; }
std::string number(const std::optional<double>& value) { return value ? number(*value) : "null"; }

template <class Items, class Print>
std::string listed(const Items& items, Print&& print, const char* brackets = "[]") {
  std::string text(1, brackets[0]);
  for (const auto& item : items) text += str(text.size() > 1 ? ", " : "", print(item));
  return text + brackets[1];
}

std::string jsonOf(const AccuracyReport::Layer& layer) {
  const auto lowered = [](const AccuracyReport::Layer::Lowered& each) {
    return str("{\"precision\": \"", nameOf(each.type), "\", \"ms\": ", number(each.milliseconds),
               ", \"error\": ", number(each.error), ", \"finite\": ", std::isfinite(each.error),
               "}");
  };
  return str("{\"name\": ", jsonText(layer.name), ", \"op\": ", jsonText(layer.op),
             ", \"with\": ", listed(layer.with, [](const auto& name) { return jsonText(name); }),
             ", \"precision\": \"", nameOf(layer.precision),
             "\", \"ms_fp32\": ", number(layer.millisecondsF32),
             ", \"lowered\": ", listed(layer.lowered, lowered),
             ", \"reason\": ", jsonText(layer.reason), "}");
}

class EngineText {
 public:
  explicit EngineText(const AccuracyReport& report) : report_(report) {}

  std::string json(const AccuracyReport::Engine& engine) const {
    return str("{\"name\": \"", engine.name, "\", \"ms\": ", number(engine.milliseconds),
               ", \"keeps\": ", engine.keeps, ", \"tuning\": ", accuracy(engine.tuning),
               ", \"held_out\": ", engine.heldOut ? accuracy(*engine.heldOut) : "null", "}");
  }

  std::string line(const AccuracyReport::Engine& engine) const {
    const Accuracy& shown = engine.heldOut ? *engine.heldOut : engine.tuning;
    const double worst =
        shown.errors.empty() ? 0 : *std::max_element(shown.errors.begin(), shown.errors.end());
    std::string text =
        formatted("%-10s %9.3f ms, error %.3g", engine.name.c_str(), engine.milliseconds, worst);
    if (report_.bound.metric) text += formatted(", metric %.4g", shown.metric);
    text += engine.heldOut ? " on data held out" : " on data it was tuned with";
    return text + (engine.keeps ? ", keeps the bound\n" : ", does not keep the bound\n");
  }

 private:
  std::string accuracy(const Accuracy& accuracy) const {
    std::string errors;
    for (size_t i = 0; i < accuracy.errors.size(); ++i)
      errors +=
          str(i > 0 ? ", " : "", jsonText(report_.outputs[i]), ": ", number(accuracy.errors[i]));
    return str("{\"errors\": {", errors,
               "}, \"metric\": ", report_.bound.metric ? number(accuracy.metric) : "null", "}");
  }

  const AccuracyReport& report_;
};

// The fields of the Python package's BuildConfig (python/camshaft/config/build.py).
std::string jsonOf(const PrecisionRecipe& recipe) {
  std::vector<std::string> precisions{recipe.allowTf32 ? "tf32" : "fp32"};
  if (recipe.allowF16) precisions.emplace_back("fp16");
  if (recipe.allowBF16) precisions.emplace_back("bf16");
  if (recipe.allowI8) precisions.emplace_back("int8");
  const auto layer = [](const auto& each) {
    return str(jsonText(each.first), ": \"", nameOf(each.second), "\"");
  };
  const auto range = [](const auto& each) {
    return str(jsonText(each.first), ": [", number(each.second.min), ", ", number(each.second.max),
               "]");
  };
  return str("{\"precision\": ", listed(precisions, jsonText), ", \"precision_constraints\": \"",
             recipe.layers.empty() ? "none" : "prefer",
             "\", \"layer_precisions\": ", listed(recipe.layers, layer, "{}"),
             ", \"dynamic_ranges\": ", listed(recipe.ranges, range, "{}"), "}");
}

std::string jsonOf(const AccuracyBound& bound) {
  const auto output = [](const auto& each) {
    return str(jsonText(each.first), ": ", number(each.second));
  };
  return str("{\"max_error\": ", number(bound.maxError),
             ", \"max_errors\": ", listed(bound.byOutput, output, "{}"),
             ", \"max_drop\": ", bound.metric ? number(bound.maxDrop) : "null", "}");
}

// Names end with what tells them apart.
std::string shortened(const std::string& name, size_t width) {
  return name.size() <= width ? name : "~" + name.substr(name.size() - (width - 1));
}

}  // namespace

std::string AccuracyReport::table() const {
  constexpr int kName = 40;
  std::string text = formatted("%-*s %-13s %-6s %9s", kName, "layer", "operator", "chosen", "fp32");
  text += "  lowered: time, ms, and error of the outputs, alone\n";
  for (const Layer& layer : layers) {
    text += formatted("%-*s %-13s %-6s %9.4f", kName, shortened(layer.name, kName).c_str(),
                      layer.op.c_str(), std::string(nameOf(layer.precision)).c_str(),
                      layer.millisecondsF32);
    for (const Layer::Lowered& each : layer.lowered) {
      text += str("  ", nameOf(each.type), formatted(" %.4f", each.milliseconds));
      text += formatted(" %.2g", each.error);
    }
    text += layer.reason.empty() ? "\n" : str("  (", layer.reason, ")\n");
  }
  for (const Engine& engine : engines) text += EngineText(*this).line(engine);
  return text + str(layers.size(), " groups of layers, ", tuningSamples, " samples to tune with, ",
                    heldOutSamples, " held out, ", builds, " builds\n");
}

std::string AccuracyReport::json() const {
  const EngineText engine(*this);
  return str(
      "{\"version\": 1, \"device\": ", jsonText(device), ", \"bound\": ", jsonOf(bound),
      ", \"samples\": {\"tuning\": ", tuningSamples, ", \"held_out\": ", heldOutSamples,
      "}, \"builds\": ", builds, ", \"metric_fp32\": ",
      bound.metric ? str("{\"tuning\": ", number(tuningMetric),
                         ", \"held_out\": ", number(heldOutMetric), "}")
                   : "null",
      ", \"engines\": ", listed(engines, [&](const Engine& each) { return engine.json(each); }),
      ", \"layers\": ", listed(layers, [](const Layer& each) { return jsonOf(each); }),
      ", \"recipe\": ", jsonOf(recipe), "}");
}

}  // namespace camshaft
