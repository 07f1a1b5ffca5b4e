#include "onnx/constant.h"

#include <algorithm>

#include "ir/dispatch.h"
#include "onnx/wire/tensor.h"
#include "ops/evaluate.h"
#include "support/mapped_pages.h"

namespace camshaft::onnx::importer {

namespace {

constexpr int64_t kMaxFolded = 4096;  // elements: shapes, scales and axes, not weights
constexpr int kMostSteps = 64;        // from a value to the constants it is computed of
// Of one node: its other outputs may be large, and bodies may run for ever.
constexpr size_t kMaxBytes = size_t{4} << 20;
constexpr int64_t kMaxNodes = 10'000;

bool isSmall(const Dims& dims) {
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return true;
  int64_t count = 1;
  return std::all_of(dims.begin(), dims.end(), [&](int64_t dim) {
    return !__builtin_mul_overflow(count, dim, &count) && count <= kMaxFolded;
  });
}

// Sizes are sometimes computed with in floating point.
void writeSize(DataType type, void* data, size_t i, int64_t value) {
  dispatch(type, [&](auto tag) {
    using T = decltype(tag);
    static_cast<T*>(data)[i] = static_cast<T>(static_cast<Compute<T>>(value));
  });
}

Value* addBytes(Graph& graph, const std::string& name, const std::vector<int64_t>& dims,
                TensorBytes data, const std::shared_ptr<const ModelFiles>& files) {
  const size_t elementBytes = std::max(1, bitsOf(data.type) / 8);
  const TensorType type{data.type, makeShape(dims)};
  auto shared = std::make_shared<ConstantData>();
  if (reinterpret_cast<uintptr_t>(data.bytes.data()) % elementBytes != 0) {
    *shared = *ConstantData::own({data.bytes.begin(), data.bytes.end()});
    letGoOfMapped(data.bytes);
  } else {
    shared->bytes = data.bytes;
    shared->owner = data.owner ? data.owner : files;
  }
  shared->given = data.bytes.data();
  return graph.addConstant(name, type, std::move(shared));
}

// Nothing when the node's attributes depend on dimensions that are known at run time only, or when
// it would take too long to find out.
std::optional<HostTensor> evaluateNow(const Node& node, std::span<const ConstTensorView> inputs,
                                      int output) {
  struct Unknown {};
  if (!node.op->evaluate) return std::nullopt;
  EvaluationBudget budget(kMaxBytes, kMaxNodes);
  try {
    return evaluateNode(
               node, inputs, [](const std::string&) -> int64_t { throw Unknown(); }, &budget)
        .at(output);
  } catch (const Unknown&) {
    return std::nullopt;
  } catch (const EvaluationBudget::Spent&) {
    return std::nullopt;
  }
}

}  // namespace

Value* addTensor(Graph& graph, const std::string& name, const wire::Tensor& tensor,
                 const std::shared_ptr<const ModelFiles>& files) {
  return addBytes(graph, name, tensor.dims, tensorData(tensor, *files), files);
}

Value* addTensor(Graph& graph, const std::string& name, const wire::SparseTensor& tensor,
                 const std::shared_ptr<const ModelFiles>& files) {
  return addBytes(graph, name, tensor.dims, tensorData(tensor, *files), files);
}

ConstantFolder::ConstantFolder() = default;
ConstantFolder::~ConstantFolder() = default;

std::optional<std::vector<double>> ConstantFolder::numbers(const Value* value) {
  const HostTensor* tensor = fold(value, 0);
  if (!tensor) return std::nullopt;
  std::vector<double> numbers;
  for (int64_t i = 0; i < tensor->count(); ++i)
    numbers.push_back(readElement(tensor->type, tensor->bytes.data(), i));
  return numbers;
}

std::optional<std::vector<int64_t>> ConstantFolder::integers(const Value* value) {
  const HostTensor* tensor = fold(value, 0);
  if (!tensor) return std::nullopt;
  std::vector<int64_t> integers;
  for (int64_t i = 0; i < tensor->count(); ++i)
    integers.push_back(readInteger(tensor->type, tensor->bytes.data(), i));
  return integers;
}

const HostTensor* ConstantFolder::fold(const Value* value, int depth) {
  if (const auto it = known_.find(value); it != known_.end()) return it->second.get();
  if (depth > kMostSteps || isPacked(value->dataType()) || !isStatic(value->shape()))
    return nullptr;
  const Dims dims = staticDims(value->shape());
  if (!isSmall(dims)) return nullptr;

  auto tensor = std::make_unique<HostTensor>(value->dataType(), dims);
  if (value->isConstant()) {
    std::ranges::copy(value->constant->bytes, tensor->bytes.begin());
  } else if (value->contents && isStatic(*value->contents)) {
    for (size_t i = 0; i < value->contents->size(); ++i)
      writeSize(tensor->type, tensor->bytes.data(), i, (*value->contents)[i].value());
  } else if (const Node* node = value->producer) {
    std::vector<ConstTensorView> inputs;
    for (const Value* input : node->inputs) {
      if (!input) {
        inputs.emplace_back();
        continue;
      }
      const HostTensor* folded = fold(input, depth + 1);
      if (!folded) return nullptr;
      inputs.push_back(folded->view());
    }
    if (inputs.empty()) return nullptr;  // its values come from dimensions, unknown until run time
    std::optional<HostTensor> result = evaluateNow(*node, inputs, value->index);
    if (result)
      *tensor = std::move(*result);
    else
      tensor.reset();  // not tried again
  } else {
    return nullptr;
  }
  return known_.emplace(value, std::move(tensor)).first->second.get();
}

}  // namespace camshaft::onnx::importer
