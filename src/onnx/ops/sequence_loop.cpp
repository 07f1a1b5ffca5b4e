// A Loop that carries sequences and runs as often as only the run knows: its iterations may append
// to them and nothing else, so that what they append is a scan output.
#include <map>
#include <set>

#include "onnx/ops/loop.h"
#include "onnx/ops/sequence.h"

namespace camshaft::onnx::importer {

namespace {

class SequenceLoop {
 public:
  explicit SequenceLoop(NodeImport& node) : node_(node), inputs_(limitsOf(node)) {
    for (int i = 2; i < node.inputCount(); ++i) {
      const Item item = node.item(i);
      if (Value* tensor = tensorOf(item))
        inputs_.carried.push_back(tensor);
      else
        before_.emplace(i - 2, node.anySequence(i));
      ++count_;
    }
  }

  void run() {
    const std::vector<Value*> outputs = addLoop(
        node_, inputs_, [&] { return node_.body("body"); },
        [&](BodyImport& body, const std::vector<TensorType>& carried) {
          return makeBody(body, carried);
        });
    auto output = outputs.begin();
    for (size_t c = 0; c < count_; ++c)
      if (!before_.contains(c)) node_.setOutput(static_cast<int>(c), *output++);
    for (size_t i = 0; i < scans_; ++i) node_.setOutput(static_cast<int>(count_ + i), *output++);
    for (const auto& [c, sequence] : before_)
      node_.setOutput(static_cast<int>(c),
                      grows_.contains(c) ? grown(sequence, *output++) : sequence);
  }

 private:
  // Condition, carried tensors, the loop's own scans, and one for each sequence that grows.
  std::vector<Value*> makeBody(BodyImport& body, const std::vector<TensorType>& carried) {
    const wire::Graph& graph = body.wireGraph();
    checkCarried(node_, graph, count_);
    addLimits(body);
    for (size_t c = 0, tensor = 0; c < count_; ++c) {
      const std::string_view name = graph.inputs[2 + c].name;
      if (before_.contains(c))
        body.define(name, Sequence{.continues = true});
      else
        body.addInput(name, carried[tensor++]);
    }
    if (!body.runWithSequences()) return {};
    const std::vector<Item>& items = body.items();
    scans_ = items.size() - 1 - count_;
    grows_.clear();
    std::vector<Value*> tensors, appended;
    for (size_t i = 0; i < items.size(); ++i) {
      const size_t c = i - 1;  // of a carried value
      const bool isSequence = i > 0 && before_.contains(c);
      const Sequence* sequence = std::get_if<Sequence>(&items[i]);
      if (isSequence != (sequence && sequence->continues))
        node_.unsupported("how often it runs is known at run time only, and output '",
                          graph.outputs[i].name, "' of its body is ", describe(items[i]),
                          ": an iteration may only append to sequences it carries");
      if (!isSequence) {
        tensors.push_back(tensorOf(items[i]));
      } else if (!sequence->elements.empty()) {
        grows_.insert(c);
        body.importHere(node_, [&](NodeImport& inside) {
          appended.push_back(stacked(inside, {.elements = sequence->elements}));
        });
      }
    }
    tensors.insert(tensors.end(), appended.begin(), appended.end());
    return tensors;
  }

  // From [iterations, appended per iteration, ...].
  Sequence grown(const Sequence& before, Value* appended) const {
    Shape shape = appended->shape();
    shape[1] = shape[0] * shape[1];
    shape.erase(shape.begin());
    Sequence after{.stacked = node_.reshape(appended, std::move(shape))};
    if (before.continues) node_.unsupported("its sequence also grows in the loop around it");
    if (before.stacked || !before.elements.empty())
      after.stacked = node_.concat({stacked(node_, before), after.stacked}, 0);
    return after;
  }

  NodeImport& node_;
  LoopInputs inputs_;
  size_t count_ = 0, scans_ = 0;       // carried values, and the loop's own scan outputs
  std::map<size_t, Sequence> before_;  // carried sequences, as they come in
  std::set<size_t> grows_;             // those that the body appends to
};

}  // namespace

bool carriesSequences(const NodeImport& node) {
  for (int i = 2; i < node.inputCount(); ++i)
    if (const auto item = node.optionalItem(i); item && std::holds_alternative<Sequence>(*item))
      return true;
  return false;
}

void importSequenceLoop(NodeImport& node) {
  if (!unrollLoop(node)) SequenceLoop(node).run();
}

}  // namespace camshaft::onnx::importer
