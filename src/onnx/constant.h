// Constants: from the model's tensors into the graph, and values that are computed from constants
// alone, evaluated while importing.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "onnx/names.h"
#include "onnx/wire/external_data.h"

namespace camshaft {
struct HostTensor;
}

namespace camshaft::onnx::importer {

// A constant with the tensor's values, sharing the model's bytes where they are aligned.
Value* addTensor(Graph& graph, const std::string& name, const wire::Tensor& tensor,
                 const std::shared_ptr<const ModelFiles>& files);
Value* addTensor(Graph& graph, const std::string& name, const wire::SparseTensor& tensor,
                 const std::shared_ptr<const ModelFiles>& files);

// Finds the elements of small values that depend on constants and static sizes only.
class ConstantFolder {
 public:
  ConstantFolder();
  ~ConstantFolder();
  const HostTensor* find(const Value* value) { return fold(value, 0); }  // null: not known
  std::optional<std::vector<double>> numbers(const Value* value);
  std::optional<std::vector<int64_t>> integers(const Value* value);

 private:
  const HostTensor* fold(const Value* value, int depth);
  std::unordered_map<const Value*, std::unique_ptr<HostTensor>> known_;
};

}  // namespace camshaft::onnx::importer
