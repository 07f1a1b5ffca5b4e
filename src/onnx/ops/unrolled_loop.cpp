// A Loop that carries sequences from one iteration to the next becomes copies of its body.
#include <algorithm>

#include "onnx/ops/sequence.h"

namespace camshaft::onnx::importer {

namespace {

constexpr int64_t kMostTrips = 1024;

int64_t tripsOf(const NodeImport& node) {
  if (!node.hasInput(0)) return kMostTrips + 1;
  const auto known = node.knownIntegers(node.input(0));
  if (!known)
    node.unsupported("it carries a sequence, and its trip count ('", node.input(0)->name,
                     "') is known at run time only: make it a constant, or collect tensors as a "
                     "scan output");
  return known->at(0);
}

bool isTrue(const NodeImport& node, const Value* condition) {
  const auto known = node.knownIntegers(condition);
  if (!known)
    node.unsupported(
        "it carries a sequence, and whether it goes on is known at run time only: "
        "collect tensors as a scan output");
  return known->at(0) != 0;
}

}  // namespace

bool carriesSequences(const NodeImport& node) {
  for (int i = 2; i < node.inputCount(); ++i)
    if (const auto item = node.optionalItem(i); item && std::holds_alternative<Sequence>(*item))
      return true;
  return false;
}

void importUnrolledLoop(NodeImport& node) {
  const int64_t trips = tripsOf(node);
  Value* condition = node.hasInput(1) ? node.input(1) : node.scalar(DataType::kBool, 1);
  std::vector<Item> carried;
  for (int i = 2; i < node.inputCount(); ++i) carried.push_back(node.item(i));
  const size_t count = carried.size();
  std::vector<std::vector<Value*>> scans(static_cast<size_t>(node.outputCount()) -
                                         std::min(count, static_cast<size_t>(node.outputCount())));

  for (int64_t trip = 0; trip < trips && isTrue(node, condition); ++trip) {
    if (trip == kMostTrips)
      node.unsupported("it carries a sequence through more than ", kMostTrips, " iterations");
    std::vector<Item> inputs{node.scalar(DataType::kI64, static_cast<double>(trip)), condition};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    const std::vector<Item> outputs = node.importBranch("body", inputs, str(trip));
    if (isSpoilt(node, outputs)) return;
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
}

}  // namespace camshaft::onnx::importer
