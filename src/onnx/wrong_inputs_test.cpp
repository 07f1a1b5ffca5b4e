// Every operator of the table gets inputs of any rank, size and type, constants and tensors of run
// time, too few and too many of them, with attributes that lead past the first checks. It may take
// them or refuse them in words; what it must not do is read past a shape, which sanitizers see.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <random>

#include "onnx/operators.h"
#include "testing/onnx_model.h"

namespace camshaft::onnx {
namespace {

using ::testing::HasSubstr;

struct Operator {
  std::string domain, name;
  int64_t since;
};

const std::string kDomains[] = {
    "",           "com.microsoft", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training",
    "trt.plugins"};

std::vector<Operator> operators() {
  std::vector<Operator> all;
  const auto add = [&](std::string_view domain, const char* name, int64_t since) {
    all.push_back(
        {std::string(domain == importer::kAnyDomain ? "trt.plugins" : domain), name, since});
  };
#define ONNX_UNARY(name, since, scalarOp) add("", #name, since);
#define ONNX_BINARY(name, since, scalarOp) add("", #name, since);
#define ONNX_REDUCE(name, since, kind) add("", #name, since);
#define ONNX_IN(domain, name, since, function) add(domain, #name, since);
#include "onnx/ops/table.def"
  return all;
}

void PrintTo(const Operator& op, std::ostream* out) { *out << op.domain << " " << op.name; }

using Random = std::mt19937;

int64_t below(Random& random, int64_t end) {
  return static_cast<int64_t>(random() % static_cast<uint64_t>(end));
}
bool oneIn(Random& random, int64_t n) { return below(random, n) == 0; }

// f32, u8, i8, i32, i64, bool, f16, f64, and their bytes.
struct ElementCode {
  int64_t code, bytes;
};
constexpr ElementCode kElements[] = {{1, 4}, {1, 4}, {7, 8}, {7, 8},  {2, 1},
                                     {3, 1}, {6, 4}, {9, 1}, {10, 2}, {11, 8}};

struct TestInput {
  int64_t rank;
  ElementCode element;
  int64_t size;  // of each dimension; negative: a symbol, or any of 0 to 3 in a constant
  bool isConstant;
};

class WrongInputs : public ::testing::TestWithParam<Operator> {
 protected:
  void expectRefusedOrTaken(const std::vector<std::optional<TestInput>>& inputs, int64_t opset) {
    const Message model = modelOf(inputs, opset);
    camshaft::Graph graph;
    const auto problems = importModel(readModelBytes(model.asBytes()), graph);
    for (const ImportProblem& problem : problems) {
      EXPECT_NE(problem.kind, ErrorKind::kInternal) << problem.message;
      EXPECT_FALSE(problem.message.empty());
    }
    if (problems.empty()) verify(graph, "import");
  }

  Random random_;

 private:
  Message modelOf(const std::vector<std::optional<TestInput>>& inputs, int64_t opset) {
    TestNode node{.op = GetParam().name, .name = "node", .domain = GetParam().domain};
    Message graph;
    for (size_t i = 0; i < inputs.size(); ++i) {
      node.inputs.push_back(inputs[i] ? str("in", i) : "");
      if (inputs[i]) addInput(graph, node.inputs.back(), *inputs[i]);
    }
    for (int64_t i = 0, count = 1 + below(random_, 4); i < count; ++i) {
      node.outputs.push_back(str("out", i));
      graph.message(12, Message().bytes(1, node.outputs.back()));
    }
    node.attributes = attributes();
    graph.message(1, node.encode());
    Message model = modelWith(graph);
    const bool isOnnx = GetParam().domain.empty();
    for (const std::string& domain : kDomains)
      model.message(8,
                    Message().bytes(1, domain).varint(2, isOnnx || !domain.empty() ? opset : 17));
    return model;
  }

  void addInput(Message& graph, const std::string& name, const TestInput& input) {
    std::vector<int64_t> dims;
    int64_t count = 1;
    Message shape;
    for (int64_t d = 0; d < input.rank; ++d) {
      dims.push_back(input.size >= 0 ? input.size : below(random_, 4));
      count *= dims.back();
      shape.message(1, input.size >= 0 ? Message().varint(1, dims.back())
                                       : Message().bytes(2, d % 2 == 0 ? "n" : "m"));
    }
    if (input.isConstant) {
      std::string raw;
      for (int64_t i = 0; i < count * input.element.bytes; ++i)
        raw += static_cast<char>(i % input.element.bytes == 0 ? below(random_, 5) : 0);
      graph.message(5, tensorMessage(name, input.element.code, dims).bytes(9, raw));
      return;
    }
    const Message tensor = Message().varint(1, input.element.code).message(2, shape);
    graph.message(11, Message().bytes(1, name).message(2, Message().message(1, tensor)));
  }

  // What operators ask for by these names, most of it there and sensible.
  std::vector<TestAttribute> attributes() {
    const auto small = [&](int64_t from, int64_t to) { return from + below(random_, to - from); };
    const std::vector<int64_t> window(static_cast<size_t>(small(1, 4)), 2);
    static const std::string kEquations[] = {"ab,bc->ac", "a...b->...", "ii", "a,b", "...,..."};
    std::vector<TestAttribute> all{{"num_heads", small(1, 3)},
                                   {"kv_num_heads", int64_t{1}},
                                   {"q_num_heads", small(1, 3)},
                                   {"block_size", int64_t{16}},
                                   {"N", int64_t{2}},
                                   {"K", int64_t{16}},
                                   {"bits", int64_t{4}},
                                   {"groups", small(1, 3)},
                                   {"num_groups", small(1, 3)},
                                   {"group", int64_t{1}},
                                   {"size", int64_t{3}},
                                   {"num_scan_inputs", small(1, 3)},
                                   {"to", small(1, 12)},
                                   {"hidden_size", small(0, 3)},
                                   {"equation", kEquations[small(0, 5)]},
                                   {"kernel_shape", window},
                                   {"blocksize", int64_t{2}},
                                   {"do_rotary", small(0, 2)},
                                   {"pooled_shape", std::vector<int64_t>{1, 2}},
                                   {"dtype", int64_t{1}},
                                   {"keepdims", small(0, 2)},
                                   {"update_rule", std::string("linear")},
                                   {"is_causal", small(0, 2)},
                                   {"unidirectional", small(0, 2)},
                                   {"channels_last", small(0, 2)},
                                   {"num_outputs", int64_t{2}},
                                   {"k", int64_t{1}},
                                   {"batch_dims", small(0, 3)},
                                   {"sample_size", int64_t{2}},
                                   {"rotary_embedding_dim", small(0, 3)},
                                   {"smooth_softmax", small(0, 2)},
                                   {"training_mode", small(0, 2)},
                                   {"new_axis", small(0, 2)},
                                   {"layout", small(0, 2)},
                                   {"transA", small(0, 2)},
                                   {"transB", small(0, 2)},
                                   {"transBatchA", small(0, 2)},
                                   {"left_window_size", small(-1, 2)},
                                   {"keys_int64s", std::vector<int64_t>{1, 2}},
                                   {"values_int64s", std::vector<int64_t>{3, 4}}};
    std::erase_if(all, [&](const TestAttribute&) { return oneIn(random_, 8); });
    if (oneIn(random_, 2)) all.push_back({"axis", small(-3, 4)});
    if (oneIn(random_, 4)) all.push_back({"axes", std::vector<int64_t>{small(-2, 3)}});
    if (oneIn(random_, 4)) all.push_back({"perm", std::vector<int64_t>{1, 0}});
    if (oneIn(random_, 4)) all.push_back({"pads", std::vector<int64_t>(window.size() * 2, 1)});
    for (const char* name : {"body", "then_branch", "else_branch", "score_mod", "prob_mod"})
      all.push_back({name, subgraph()});
    return all;
  }

  Message subgraph() {
    Message graph;
    for (int64_t i = 0, count = 1 + below(random_, 4); i < count; ++i) {
      graph.message(11, Message().bytes(1, str("a", i)));
      graph.message(1, TestNode{"Identity", {str("a", i)}, {str("b", i)}}.encode());
      graph.message(12, Message().bytes(1, str("b", i)));
    }
    return graph;
  }
};

constexpr int64_t kHighestRank = 5, kSymbol = -1;

TEST_P(WrongInputs, OfOneKindAreRefusedOrTaken) {
  for (int64_t rank = 0; rank <= kHighestRank; ++rank)
    for (const int64_t size : {int64_t{0}, int64_t{2}, kSymbol})
      for (const size_t element : {0, 2, 4})
        for (const size_t count : {1, 4, 12}) {
          const TestInput input{rank, kElements[element], size, false};
          expectRefusedOrTaken({count, input}, GetParam().since);
        }
}

TEST_P(WrongInputs, OfAllKindsAreRefusedOrTaken) {
  constexpr int kTrials = 120;
  for (int trial = 0; trial < kTrials; ++trial) {
    const int64_t usualRank = below(random_, kHighestRank + 1);
    std::vector<std::optional<TestInput>> inputs(static_cast<size_t>(below(random_, 13)));
    for (auto& input : inputs)
      if (!oneIn(random_, 8))
        input = {oneIn(random_, 2) ? usualRank : below(random_, kHighestRank + 1),
                 kElements[oneIn(random_, 2) ? 0 : below(random_, std::size(kElements))],
                 below(random_, 5) - 1, oneIn(random_, 3)};
    expectRefusedOrTaken(inputs, oneIn(random_, 2) ? GetParam().since : kNewestOpset);
  }
}

INSTANTIATE_TEST_SUITE_P(Table, WrongInputs, ::testing::ValuesIn(operators()),
                         [](const ::testing::TestParamInfo<Operator>& info) {
                           std::string name = info.param.domain + "_" + info.param.name + "_" +
                                              std::to_string(info.param.since);
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST(WrongRank, IsNamedWithNodeInputAndRanks) {
  TestModel model;
  model.input("x", {2}).integers("step", {1});
  model.node({"STFT", {"x", "step"}, {"y"}, {}, "spectrum"}).output("y");
  camshaft::Graph graph;
  const std::vector<ImportProblem> problems = model.import(graph);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_THAT(problems[0].message, HasSubstr("node 'spectrum' (STFT, opset 17): its input 0 ('x') "
                                             "must have rank 2 to 3 and has 1"));
}

}  // namespace
}  // namespace camshaft::onnx
