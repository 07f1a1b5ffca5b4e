#include "backends/cuda/libraries/problems.h"

#include <algorithm>
#include <type_traits>

#include "support/byte_reader.h"
#include "support/error.h"

namespace camshaft::cuda {
namespace {

// Each struct lists its fields once, for both directions.
template <class Visit, class P>
void visitFields(Visit& visit, P& p)
  requires std::is_same_v<std::remove_const_t<P>, GemmProblem>
{
  visit(p.sizes);
  visit.type(p.typeA), visit.type(p.typeB), visit.type(p.typeD);
  visit(p.allowTf32), visit(p.transposeA), visit(p.transposeB), visit(p.hasBias);
  visit.choice(p.activation, 3);
  visit(p.alpha), visit(p.beta), visit(p.workspaceLimit);
}

template <class Visit, class P>
void visitFields(Visit& visit, P& p)
  requires std::is_same_v<std::remove_const_t<P>, EpilogueTensor>
{
  visit.type(p.type), visit(p.hasBatch), visit(p.hasChannels), visit(p.hasSpatial);
}

template <class Visit, class P>
void visitFields(Visit& visit, P& p)
  requires std::is_same_v<std::remove_const_t<P>, EpilogueOperand>
{
  visit.choice(p.kind, 4), visit(p.index), visit(p.scalar);
}

template <class Visit, class P>
void visitFields(Visit& visit, P& p)
  requires std::is_same_v<std::remove_const_t<P>, EpilogueNode>
{
  visit.choice(p.op, kEpilogueOpCount);
  visitFields(visit, p.a), visitFields(visit, p.b);
  visit(p.lower), visit(p.upper);
}

template <class Visit, class P>
void visitFields(Visit& visit, P& p)
  requires std::is_same_v<std::remove_const_t<P>, ConvProblem>
{
  visit(p.batch), visit(p.inChannels), visit(p.outChannels), visit(p.groups);
  for (auto* sizes : {&p.image, &p.kernel, &p.strides, &p.dilations, &p.padsBegin, &p.padsEnd})
    visit.sizes(*sizes);
  visit.type(p.inputType), visit.type(p.outputType);
  visit(p.allowTf32), visit(p.channelsLast), visit(p.workspaceLimit);
  visit.list(p.epilogue.tensors), visit.list(p.epilogue.nodes);
}

template <class Visit, class P>
void visitFields(Visit& visit, P& p)
  requires std::is_same_v<std::remove_const_t<P>, AttentionProblem>
{
  visit(p.sizes);
  visit(p.heads), visit(p.keyHeads), visit(p.headSize), visit(p.valueSize);
  visit(p.inputQ), visit(p.inputK), visit(p.inputV), visit(p.inputBias);
  visit.type(p.type), visit(p.scale), visit.choice(p.causal, 3);
  visit(p.hasBias), visit(p.biasPerBatch), visit(p.biasPerHead), visit(p.biasPerQuery);
  visit.type(p.biasType), visit(p.workspaceLimit);
}

class FieldWriter {
 public:
  explicit FieldWriter(ByteWriter& writer) : writer_(writer) {}
  template <class T>
  void operator()(const T& value) {
    writer_.write(value);
  }
  template <class T>
  void choice(T value, int) {
    writer_.write(value);
  }
  void type(DataType value) { writer_.write(value); }
  void sizes(const std::vector<int64_t>& values) { writer_.writeVector(values); }
  template <class T>
  void list(const std::vector<T>& items) {
    writer_.write<uint32_t>(items.size());
    for (const T& item : items) visitFields(*this, item);
  }

 private:
  ByteWriter& writer_;
};

class FieldReader {
 public:
  explicit FieldReader(ByteReader& reader) : reader_(reader) {}
  template <class T>
  void operator()(T& value) {
    value = reader_.read<T>();
  }
  template <class T>
  void choice(T& value, int count) {
    const auto number = reader_.read<std::underlying_type_t<T>>();
    require(static_cast<int>(number) < count);
    value = static_cast<T>(number);
  }
  void type(DataType& value) { choice(value, kDataTypeCount); }
  void sizes(std::vector<int64_t>& values) { values = reader_.readVector<int64_t>(); }
  template <class T>
  void list(std::vector<T>& items) {
    const uint32_t count = reader_.read<uint32_t>();
    require(count <= 64);
    items.resize(count);
    for (T& item : items) visitFields(*this, item);
  }
  static void require(bool isSound) {
    if (!isSound)
      fail(ErrorKind::kInvalidEngine,
           "the engine holds a library problem with values out of range");
  }

 private:
  ByteReader& reader_;
};

template <class P>
P readProblem(ByteReader& reader) {
  P problem;
  FieldReader fields(reader);
  visitFields(fields, problem);
  return problem;
}

constexpr int64_t kMostElements = int64_t{1} << 40;
constexpr int64_t kMostTaps = int64_t{1} << 30;  // of a window, whose products are sizes too
bool isSize(int64_t size) { return size > 0 && size < kMostElements; }

bool refersBack(const EpilogueOperand& operand, const ConvEpilogue& epilogue, size_t node) {
  if (operand.kind == EpilogueOperand::Kind::kNode)
    return operand.index >= 0 && static_cast<size_t>(operand.index) < node;
  if (operand.kind != EpilogueOperand::Kind::kTensor) return true;
  return operand.index >= 0 && static_cast<size_t>(operand.index) < epilogue.tensors.size();
}

bool isSound(const ConvProblem& p) {
  const size_t rank = p.image.size();
  if (rank < 1 || rank > 3 || !isSize(p.batch) || !isSize(p.inChannels) || !isSize(p.outChannels))
    return false;
  if (!isSize(p.groups) || p.inChannels % p.groups != 0 || p.outChannels % p.groups != 0)
    return false;
  for (const auto* sizes : {&p.kernel, &p.strides, &p.dilations, &p.padsBegin, &p.padsEnd}) {
    if (sizes->size() != rank) return false;
    for (const int64_t size : *sizes) {
      if (size < 0 || size >= kMostTaps) return false;
    }
  }
  for (size_t i = 0; i < rank; ++i) {
    if (!isSize(p.image[i]) || !isSize(p.kernel[i]) || !isSize(p.strides[i]) ||
        !isSize(p.dilations[i]))
      return false;
  }
  for (size_t i = 0; i < p.epilogue.nodes.size(); ++i) {
    const EpilogueNode& node = p.epilogue.nodes[i];
    if (!refersBack(node.a, p.epilogue, i) || !refersBack(node.b, p.epilogue, i)) return false;
  }
  return true;
}

bool isSound(const AttentionProblem& p) {
  if (!isSize(p.heads) || !isSize(p.keyHeads) || !isSize(p.headSize) || !isSize(p.valueSize))
    return false;
  for (const int32_t input : {p.inputQ, p.inputK, p.inputV, p.inputBias}) {
    if (input < 0 || input > 3) return false;
  }
  return p.heads % p.keyHeads == 0;
}

}  // namespace

bool isBinary(EpilogueOp op) { return op <= EpilogueOp::kMax; }

GemmSizes contiguousGemm(const GemmProblem& problem, int64_t m, int64_t n, int64_t k,
                         int64_t batch) {
  return {.m = m,
          .n = n,
          .k = k,
          .batch = batch,
          .lda = problem.transposeA ? m : k,
          .ldb = problem.transposeB ? k : n,
          .ldc = n,
          .ldd = n,
          .strideA = m * k,
          .strideB = k * n,
          .strideC = m * n,
          .strideD = m * n};
}

std::vector<int64_t> outputImage(const ConvProblem& p) {
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < p.image.size(); ++i) {
    const int64_t window = (p.kernel[i] - 1) * p.dilations[i] + 1;
    sizes.push_back((p.image[i] + p.padsBegin[i] + p.padsEnd[i] - window) / p.strides[i] + 1);
  }
  return sizes;
}

bool isPixelwise(const ConvProblem& p) {
  const auto are = [](const std::vector<int64_t>& values, int64_t wanted) {
    return std::all_of(values.begin(), values.end(), [=](int64_t v) { return v == wanted; });
  };
  return p.groups == 1 && are(p.kernel, 1) && are(p.strides, 1) && are(p.padsBegin, 0) &&
         are(p.padsEnd, 0);
}

void write(ByteWriter& writer, const GemmProblem& problem) {
  FieldWriter fields(writer);
  visitFields(fields, problem);
}

void write(ByteWriter& writer, const ConvProblem& problem) {
  FieldWriter fields(writer);
  visitFields(fields, problem);
}

void write(ByteWriter& writer, const AttentionProblem& problem) {
  FieldWriter fields(writer);
  visitFields(fields, problem);
}

GemmProblem readGemmProblem(ByteReader& reader) { return readProblem<GemmProblem>(reader); }

ConvProblem readConvProblem(ByteReader& reader) {
  ConvProblem problem = readProblem<ConvProblem>(reader);
  FieldReader::require(isSound(problem));
  return problem;
}

AttentionProblem readAttentionProblem(ByteReader& reader) {
  AttentionProblem problem = readProblem<AttentionProblem>(reader);
  FieldReader::require(isSound(problem));
  return problem;
}

std::span<const std::byte> problemOf(std::string_view kernel, std::span<const std::byte> params) {
  ByteReader reader(params, "the parameters of a library's kernel");
  if (kernel == kGemmKernel)
    readGemmProblem(reader);
  else if (kernel == kConvKernel)
    readConvProblem(reader);
  else if (kernel == kAttentionKernel)
    readAttentionProblem(reader);
  else
    return params;
  return params.first(reader.position());
}

}  // namespace camshaft::cuda
