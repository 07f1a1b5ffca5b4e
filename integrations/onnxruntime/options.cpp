#include "onnxruntime/options.h"

#include <array>
#include <charconv>
#include <limits>

#include "support/error.h"

namespace camshaft::ort {

namespace {

struct Choice {
  std::string_view name;
  int value;
};
constexpr std::array kDevices = {Choice{"cpu", 0}, Choice{"gpu", 1}};
constexpr std::array kPrecisions = {
    Choice{"f32", static_cast<int>(Precision::kF32)},
    Choice{"tf32", static_cast<int>(Precision::kTf32)},
    Choice{"bf16", static_cast<int>(Precision::kBf16)},
    Choice{"fp16", static_cast<int>(Precision::kFp16)},
    Choice{"best", static_cast<int>(Precision::kBest)},
};

constexpr std::array<std::string_view, 11> kNames = {
    "device",
    "precision",
    "threads",
    "engine_cache",
    "timing_cache",
    "optimization_level",
    "dump_subgraphs",
    "min_subgraph_nodes",
    "profile_min_shapes",
    "profile_opt_shapes",
    "profile_max_shapes",
};

template <size_t n>
int choiceOf(std::string_view option, std::string_view value,
             const std::array<Choice, n>& choices) {
  std::array<std::string_view, n> names;
  for (size_t i = 0; i < n; ++i) {
    if (choices[i].name == value) return choices[i].value;
    names[i] = choices[i].name;
  }
  fail(ErrorKind::kInvalidArgument, "option '", option, "' is one of ", join(names, ", "),
       ", not '", value, "'");
}

int numberOf(std::string_view option, std::string_view value, int least, int most) {
  int number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || number < least || number > most)
    fail(ErrorKind::kInvalidArgument, "option '", option, "' is a whole number from ", least,
         " to ", most, ", not '", value, "'");
  return number;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

// "x:1x3x224x224,mask:1x128"; names may have colons, sizes not.
ShapesByInput shapesOf(std::string_view option, std::string_view value) {
  ShapesByInput shapes;
  for (const std::string_view part : split(value, ',')) {
    const size_t colon = part.rfind(':');
    if (colon == std::string_view::npos || colon == 0)
      fail(ErrorKind::kInvalidArgument, "option '", option,
           "' is a list like 'images:1x3x224x224,mask:1x128', not '", value, "'");
    std::vector<int64_t>& shape = shapes[std::string(part.substr(0, colon))];
    for (const std::string_view size : split(part.substr(colon + 1), 'x'))
      shape.push_back(numberOf(option, size, 0, std::numeric_limits<int>::max()));
  }
  return shapes;
}

void checkProfiles(const Options& options) {
  for (const auto& [input, shape] : options.optShapes)
    for (const ShapesByInput* other : {&options.minShapes, &options.maxShapes}) {
      const auto found = other->find(input);
      if (found == other->end() || found->second.size() != shape.size())
        fail(ErrorKind::kInvalidArgument, "input '", input,
             "' needs shapes of as many dimensions in profile_min_shapes, profile_opt_shapes and "
             "profile_max_shapes");
    }
  for (const ShapesByInput* other : {&options.minShapes, &options.maxShapes})
    for (const auto& [input, shape] : *other)
      if (options.optShapes.count(input) == 0)
        fail(ErrorKind::kInvalidArgument, "input '", input, "' has no shape in profile_opt_shapes");
}

void setOption(Options& options, std::string_view name, const std::string& value) {
  if (name == "device") {
    options.onGpu = choiceOf(name, value, kDevices) != 0;
  } else if (name == "precision") {
    options.precision = static_cast<Precision>(choiceOf(name, value, kPrecisions));
  } else if (name == "threads") {
    options.threads = numberOf(name, value, 0, 4096);
  } else if (name == "optimization_level") {
    options.optimizationLevel = numberOf(name, value, 0, 5);
  } else if (name == "min_subgraph_nodes") {
    options.minSubgraphNodes = numberOf(name, value, 1, std::numeric_limits<int>::max());
  } else if (name == "engine_cache") {
    options.engineCache = value;
  } else if (name == "timing_cache") {
    options.timingCache = value;
  } else if (name == "dump_subgraphs") {
    options.dumpSubgraphs = value;
  } else if (name == "profile_min_shapes") {
    options.minShapes = shapesOf(name, value);
  } else if (name == "profile_opt_shapes") {
    options.optShapes = shapesOf(name, value);
  } else if (name == "profile_max_shapes") {
    options.maxShapes = shapesOf(name, value);
  } else {
    const std::string near = nearest(name, kNames);
    fail(ErrorKind::kInvalidArgument, "Camshaft has no option '", name, "'",
         near.empty() ? str("; it has ", join(kNames, ", ")) : str("; did you mean '", near, "'?"));
  }
}

}  // namespace

std::string Options::buildKey() const {
  std::string key = str(onGpu.value_or(false), " ", static_cast<int>(precision), " ", threads, " ",
                        optimizationLevel);
  for (const ShapesByInput* shapes : {&minShapes, &optShapes, &maxShapes})
    for (const auto& [input, shape] : *shapes) key += str(" ", input, ":", join(shape, "x"));
  return key;
}

Options parseOptions(const std::map<std::string, std::string>& given) {
  Options options;
  for (const auto& [name, value] : given) setOption(options, name, value);
  checkProfiles(options);
  return options;
}

}  // namespace camshaft::ort
