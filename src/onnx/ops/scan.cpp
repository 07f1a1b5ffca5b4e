// Scan, as a Loop whose body takes the iteration's elements out of its scan inputs.
#include "onnx/ops/loop.h"
#include "ops/index.h"
#include "ops/move.h"
#include "ops/pointwise.h"
#include "ops/shape.h"

namespace camshaft::onnx::importer {

namespace {

struct ScanAxis {
  int64_t axis = 0;
  bool backwards = false;
};

std::vector<ScanAxis> scanAxes(const NodeImport& node, std::string_view axes,
                               std::string_view directions, size_t count) {
  const std::vector<int64_t> axis = node.integers(axes), direction = node.integers(directions);
  if ((!axis.empty() && axis.size() != count) || (!direction.empty() && direction.size() != count))
    node.invalid("its '", axes, "' or '", directions, "' do not list ", count, " values");
  std::vector<ScanAxis> all(count);
  for (size_t i = 0; i < count; ++i)
    all[i] = {axis.empty() ? 0 : axis[i], !direction.empty() && direction[i] != 0};
  return all;
}

Value* sizeValue(NodeImport& node, const Dim& size) {
  if (size.isConstant()) return node.scalar(DataType::kI64, static_cast<double>(size.value()));
  DimsTensorAttrs attrs;
  attrs.values = {size};
  attrs.scalar = true;
  return node.add(&ops::DimsTensor, {}, std::move(attrs));
}

struct ScanInputs {
  std::vector<Value*> states, scanned;
  std::vector<ScanAxis> axes;  // of `scanned`
};

// The last states, then what the iterations gave, stacked.
std::vector<Value*> scanOver(NodeImport& node, const ScanInputs& scan) {
  const Dim length = scan.scanned[0]->shape()[scan.axes[0].axis];
  const LoopInputs inputs{.trips = sizeValue(node, length), .carried = scan.states};
  const size_t states = scan.states.size(), scans = scan.scanned.size();

  const auto make = [&](BodyImport& body, const std::vector<TensorType>& carried) {
    const wire::Graph& graph = body.wireGraph();
    if (graph.inputs.size() != states + scans || graph.outputs.size() < states)
      node.invalid("its body takes ", graph.inputs.size(), " inputs where it has ", states + scans);
    Graph& into = body.graph();
    Value* iteration = into.addInput("iteration", {DataType::kI64, {}});
    into.addInput("condition", {DataType::kBool, {}});
    for (size_t c = 0; c < states; ++c) body.addInput(graph.inputs[c].name, carried[c]);
    for (size_t i = 0; i < scans; ++i) {
      Value* index = iteration;
      if (scan.axes[i].backwards) {
        Value* last = body.inside(sizeValue(node, length - 1));
        index = addBinary(into, ScalarOp::kSub, "from_the_end", last, iteration);
      }
      Value* all = body.inside(scan.scanned[i]);
      body.define(graph.inputs[states + i].name,
                  elementAt(into, str("element", i), all, index, scan.axes[i].axis));
    }
    return body.run() ? goingOn(into, body.outputs()) : std::vector<Value*>();
  };
  return addLoop(node, inputs, [&] { return node.body("body"); }, make);
}

// Puts the stacked iterations where a scan output has them.
Value* unstack(NodeImport& node, Value* stacked, ScanAxis to) {
  const int64_t rank = stacked->rank();
  if (to.backwards) {
    const Dim count = stacked->shape()[0];
    SliceAttrs attrs;
    attrs.axes = {0};
    attrs.starts = {count - 1};
    attrs.steps = {-1};
    attrs.sizes = {count};
    stacked = node.add(&ops::Slice, {stacked}, std::move(attrs));
  }
  const int64_t axis = node.axis(to.axis, rank);
  if (axis == 0) return stacked;
  std::vector<int64_t> order;
  for (int64_t d = 1; d < rank; ++d) order.push_back(d);
  order.insert(order.begin() + axis, 0);
  return node.transpose(stacked, std::move(order));
}

}  // namespace

void importScan(NodeImport& node) {
  const auto scans = static_cast<size_t>(node.integer("num_scan_inputs"));
  const auto count = static_cast<size_t>(node.inputCount());
  if (scans < 1 || scans > count)
    node.invalid("it has ", count, " inputs, of which ", scans, " are scanned");
  const size_t states = count - scans;
  ScanInputs scan{.axes = scanAxes(node, "scan_input_axes", "scan_input_directions", scans)};
  for (size_t i = 0; i < count; ++i)
    (i < states ? scan.states : scan.scanned).push_back(node.input(static_cast<int>(i)));
  for (size_t i = 0; i < scans; ++i)
    scan.axes[i].axis = node.axis(scan.axes[i].axis, scan.scanned[i]->rank());
  const std::vector<Value*> outputs = scanOver(node, scan);
  const std::vector<ScanAxis> out =
      scanAxes(node, "scan_output_axes", "scan_output_directions", outputs.size() - states);
  for (size_t i = 0; i < outputs.size(); ++i)
    node.setOutput(static_cast<int>(i),
                   i < states ? outputs[i] : unstack(node, outputs[i], out[i - states]));
}

// Before opset 9 everything has a batch dimension in front, which the body does not see: a loop
// over the batch around the scan of each of its elements.
void importBatchedScan(NodeImport& node) {
  const auto scans = static_cast<size_t>(node.integer("num_scan_inputs"));
  const auto count = static_cast<size_t>(node.inputCount());
  if (node.hasInput(0)) node.unsupported("sequences of different lengths are not supported");
  if (scans < 1 || scans >= count)
    node.invalid("it has ", count - 1, " inputs, of which ", scans, " are scanned");
  const size_t states = count - 1 - scans;
  const Dim batch = node.input(static_cast<int>(count - 1))->shape().at(0);
  const LoopInputs inputs{.trips = sizeValue(node, batch)};

  const auto make = [&](BodyImport& body, const std::vector<TensorType>&) {
    Graph& into = body.graph();
    Value* index = into.addInput("batch", {DataType::kI64, {}});
    into.addInput("condition", {DataType::kBool, {}});
    ScanInputs scan{.axes = scanAxes(node, "", "directions", scans)};
    for (size_t i = 1; i < count; ++i) {
      Value* all = body.inside(node.input(static_cast<int>(i)));
      (i <= states ? scan.states : scan.scanned)
          .push_back(elementAt(into, str("of_batch", i), all, index, 0));
    }
    std::vector<Value*> outputs;
    body.importHere(node,
                    [&](NodeImport& inside) { outputs = goingOn(into, scanOver(inside, scan)); });
    return outputs;
  };
  const std::vector<Value*> outputs =
      addLoop(node, inputs, [&] { return node.body("body"); }, make);
  for (size_t i = 0; i < outputs.size(); ++i) node.setOutput(static_cast<int>(i), outputs[i]);
}

}  // namespace camshaft::onnx::importer
