// A Loop that carries sequences from one iteration to the next, as copies of its body.
#include <algorithm>

#include "onnx/ops/sequence.h"

namespace camshaft::onnx::importer {

namespace {

constexpr int64_t kMostTrips = 1024;

std::optional<int64_t> tripsOf(const NodeImport& node) {
  if (!node.hasInput(0)) return kMostTrips + 1;
  const auto known = node.knownIntegers(node.input(0));
  return known ? std::optional(known->at(0)) : std::nullopt;
}

}  // namespace

bool unrollLoop(NodeImport& node) {
  const std::optional<int64_t> trips = tripsOf(node);
  if (!trips) return false;
  Value* condition = node.hasInput(1) ? node.input(1) : node.scalar(DataType::kBool, 1);
  std::vector<Item> carried;
  for (int i = 2; i < node.inputCount(); ++i) carried.push_back(node.item(i));
  const size_t count = carried.size();
  std::vector<std::vector<Value*>> scans(static_cast<size_t>(node.outputCount()) -
                                         std::min(count, static_cast<size_t>(node.outputCount())));

  for (int64_t trip = 0; trip < *trips; ++trip) {
    const auto goesOn = node.knownIntegers(condition);
    if (!goesOn || trip == kMostTrips) return false;
    if (goesOn->at(0) == 0) break;
    std::vector<Item> inputs{node.scalar(DataType::kI64, static_cast<double>(trip)), condition};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    const std::vector<Item> outputs = node.importBranch("body", inputs, str(trip));
    if (isSpoilt(node, outputs)) return true;
    condition = tensorOutput(node, outputs, 0);
    for (size_t i = 0; i < count; ++i) carried[i] = outputs.at(1 + i);
    for (size_t i = 0; i < scans.size(); ++i)
      scans[i].push_back(tensorOutput(node, outputs, 1 + count + i));
  }
  for (size_t i = 0; i < count; ++i) node.setOutput(static_cast<int>(i), carried[i]);
  for (size_t i = 0; i < scans.size(); ++i) {
    if (scans[i].empty()) node.unsupported("it never runs, so nothing tells a scan output's shape");
    node.setOutput(static_cast<int>(count + i), joined(node, scans[i], 0, true));
  }
  return true;
}

}  // namespace camshaft::onnx::importer
