#include "conformance/case.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "compiler/compile.h"
#include "ops/ops.h"
#include "support/error.h"

namespace camshaft::conformance {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    part.erase(0, part.find_first_not_of(' '));
    part.erase(part.find_last_not_of(' ') + 1);
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

std::pair<std::string, std::string> halves(const std::string& text, std::string_view separator) {
  const size_t at = text.find(separator);
  if (at == std::string::npos)
    fail(ErrorKind::kInvalidArgument, "'", text, "' lacks '", separator, "'");
  return {text.substr(0, at), text.substr(at + separator.size())};
}

// Where the suite's files lie: where it was built, unless the program was carried elsewhere.
std::filesystem::path folder() {
  const char* moved = std::getenv("CAMSHAFT_CONFORMANCE");
  return moved ? moved : CAMSHAFT_CONFORMANCE;
}

// "n=2 h=7 %shape=[8,3]"
Run parseRun(const std::string& text) {
  Run run;
  for (const std::string& setting : split(text, ' ')) {
    const auto [name, value] = halves(setting, "=");
    if (name[0] != '%') {
      run.sizes[name] = std::stoll(value);
      continue;
    }
    std::vector<double>& values = run.values[name.substr(1)];
    for (const std::string& element : split(value.substr(1, value.size() - 2), ','))
      values.push_back(std::stod(element));
  }
  return run;
}

void parseDirective(const std::string& key, const std::string& value, Case& c) {
  if (key == "weights") {
    c.weights = split(value, ' ');
  } else if (key == "runs") {
    for (const std::string& run : split(value, ';')) c.runs.push_back(parseRun(run));
  } else if (key == "values") {
    for (const std::string& setting : split(value, ' ')) {
      const auto [name, range] = halves(setting, "=");
      const auto [low, high] = halves(range, "..");
      c.ranges[name] = {std::stod(low), std::stod(high)};
    }
  } else if (key == "profiles") {
    c.profileCount = std::stoi(value);
  } else if (key == "tolerance") {
    c.tolerance = std::stod(value);
  } else {
    fail(ErrorKind::kInvalidArgument, "'", key, "' is no setting of a conformance case");
  }
}

// A case is "// case: NAME", settings as "// KEY: VALUE" lines, and a graph.
std::vector<Case> readCases(const std::filesystem::path& path) {
  static constexpr std::string_view kHeader = "// case: ";
  std::vector<Case> cases;
  std::ifstream file(path);
  bool inSettings = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(kHeader)) {
      cases.push_back({.name = line.substr(kHeader.size()), .file = path.filename().string()});
      inSettings = true;
    } else if (inSettings && line.starts_with("// ")) {
      const auto [key, value] = halves(line.substr(3), ": ");
      parseDirective(key, value, cases.back());
    } else if (!cases.empty()) {
      inSettings = false;
      if (!line.starts_with("//")) cases.back().text += line + "\n";
    }
  }
  for (Case& c : cases)
    if (c.runs.empty()) c.runs.emplace_back();
  return cases;
}

HostTensor randomTensor(const Value& value, Dims dims, const std::pair<double, double>* range) {
  HostTensor tensor(value.dataType(), std::move(dims));
  std::mt19937 random(static_cast<uint32_t>(std::hash<std::string>()(value.name)));
  const bool isReal = isFloat(tensor.type);
  const double low = range ? range->first : isReal ? -1 : 0;
  const double high = range ? range->second : tensor.type == DataType::kBool || isReal ? 1 : 3;
  std::uniform_real_distribution<double> real(low, high);
  std::uniform_int_distribution<int64_t> integer(static_cast<int64_t>(low),
                                                 static_cast<int64_t>(high));
  for (int64_t i = 0; i < tensor.count(); ++i)
    writeElement(tensor.type, tensor.view().data, i,
                 isReal ? real(random) : static_cast<double>(integer(random)));
  return tensor;
}

Dims shapeAt(const Value& value, const Run& run) {
  Dims dims;
  for (const Dim& dim : value.shape())
    dims.push_back(evaluate(dim, [&](const std::string& name) { return run.sizes.at(name); }));
  return dims;
}

}  // namespace

Graph Case::graph() const {
  Graph graph = parseGraph(text, findOp);
  for (const std::string& name : weights) {
    Value* input = graph.find(name);
    if (!input)
      fail(ErrorKind::kInvalidArgument, "case ", this->name, " has no input '", name, "'");
    const auto range = ranges.find(name);
    HostTensor tensor =
        randomTensor(*input, shapeAt(*input, {}), range == ranges.end() ? nullptr : &range->second);
    Value* constant = graph.addConstant(str(name, ".data"), input->type,
                                        ConstantData::own(std::move(tensor.bytes)));
    graph.replaceUses(input, constant);
    graph.removeInput(input);
    graph.rename(constant, name);
  }
  return graph;
}

std::vector<HostTensor> Case::inputs(const Graph& graph, const Run& run) const {
  std::vector<HostTensor> tensors;
  for (const Value* input : graph.inputs) {
    const auto range = ranges.find(input->name);
    tensors.push_back(randomTensor(*input, shapeAt(*input, run),
                                   range == ranges.end() ? nullptr : &range->second));
    const auto values = run.values.find(input->name);
    if (values == run.values.end()) continue;
    HostTensor& tensor = tensors.back();
    for (int64_t i = 0; i < tensor.count(); ++i)
      writeElement(tensor.type, tensor.view().data, i, values->second.at(i));
  }
  return tensors;
}

std::vector<ShapeProfile> Case::profiles(const Graph& graph) const {
  std::vector<ShapeProfile> profiles(profileCount);
  for (size_t i = 0; i < runs.size(); ++i) {
    for (const Value* input : graph.inputs) {
      const Dims dims = shapeAt(*input, runs[i]);
      auto [it, isNew] =
          profiles[profileOf(i)].inputs.try_emplace(input->name, InputRange{dims, dims, dims});
      for (size_t d = 0; d < dims.size(); ++d) {
        it->second.min[d] = std::min(it->second.min[d], dims[d]);
        it->second.max[d] = std::max(it->second.max[d], dims[d]);
      }
    }
  }
  return profiles;
}

const std::vector<Case>& allCases() {
  static const std::vector<Case> cases = [] {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder()))
      if (entry.path().extension() == ".txt") paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    std::vector<Case> all;
    for (const auto& path : paths)
      for (Case& c : readCases(path)) all.push_back(std::move(c));
    return all;
  }();
  return cases;
}

namespace {
std::vector<std::string> usedDevices;
std::vector<int> usedLevels = {0, 3};
}  // namespace

void useDevices(std::vector<std::string> names, std::vector<int> levels) {
  usedDevices = std::move(names);
  usedLevels = std::move(levels);
}

const std::vector<int>& allLevels() { return usedLevels; }

std::vector<Device> allDevices() {
  std::vector<Device> devices;
  std::ifstream file(folder() / "devices.list");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.starts_with("//")) continue;
    if (line.starts_with("device ")) {
      devices.push_back({.name = line.substr(7)});
      continue;
    }
    const auto [name, reason] = halves(line, ": ");
    devices.back().skips[name.substr(std::string("skip ").size())] = reason;
  }
  std::erase_if(devices, [](const Device& device) {
    if (usedDevices.empty()) return !whyUnusable(device.name).empty();
    return std::find(usedDevices.begin(), usedDevices.end(), device.name) == usedDevices.end();
  });
  return devices;
}

}  // namespace camshaft::conformance
