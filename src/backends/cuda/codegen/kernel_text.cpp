#include "backends/cuda/codegen/kernel_text.h"

#include <algorithm>
#include <bit>

#include "backends/cuda/generated_params.h"
#include "support/byte_reader.h"
#include "support/error.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

bool mayExceedInt(const Node& node, const BuildContext& context) {
  constexpr int64_t kMostElements = (int64_t{1} << 31) - (1 << 20);  // room for a grid's last block
  const auto isLarge = [&](const Value* value) {
    return value && context.max(numElements(value->shape())) > kMostElements;
  };
  return std::any_of(node.inputs.begin(), node.inputs.end(), isLarge) ||
         std::any_of(node.outputs.begin(), node.outputs.end(), isLarge);
}

// What is const and __restrict__ is read by loads that nothing is ordered with (LDG.CONSTANT), so
// the assembler moves them in front of the wait for the kernel before. They are for what no kernel
// writes.
std::string pointerTo(DataType type, bool isFixed) {
  return str("const ", storageType(type), isFixed ? "* __restrict__" : "*");
}

}  // namespace

std::string_view storageType(DataType type) {
  switch (type) {
    case DataType::kF32:
      return "float";
    case DataType::kF16:
      return "f16";
    case DataType::kBF16:
      return "bf16";
    case DataType::kF64:
      return "double";
    case DataType::kI8:
      return "signed char";
    case DataType::kI16:
      return "short";
    case DataType::kI32:
      return "int";
    case DataType::kI64:
      return "long long";
    case DataType::kU8:
      return "unsigned char";
    case DataType::kU16:
      return "unsigned short";
    case DataType::kU32:
      return "unsigned";
    case DataType::kU64:
      return "unsigned long long";
    case DataType::kBool:
      return "bool";
    case DataType::kF8E4M3:
      return "f8e4m3";
    case DataType::kF8E5M2:
      return "f8e5m2";
    default:
      return "";
  }
}

std::string_view computeType(DataType type) {
  return isFloat(type) && bitsOf(type) < 32 ? "float" : storageType(type);
}

KernelText::KernelText(std::string name, const Node& node, const BuildContext& context)
    : name_(std::move(name)),
      node_(node),
      context_(context),
      isWide_(mayExceedInt(node, context)) {}

void KernelText::input(const std::string& name, int nodeInput) {
  const Value* value =
      nodeInput < static_cast<int>(node_.inputs.size()) ? node_.inputs[nodeInput] : nullptr;
  if (!value) return;
  const BuildTarget& target = context_.target;
  const bool overlaps = target.computeCapability >= kOverlaps && !target.isPortable;
  inputs_.push_back({pointerTo(value->dataType(), value->isConstant() || !overlaps), name});
  prepared_.inputs.push_back(StepInput::fromNode(nodeInput));
}

void KernelText::packedInput(const std::string& name, TensorType type,
                             std::vector<std::byte> bytes) {
  inputs_.push_back({pointerTo(type.type, true), name});
  prepared_.inputs.push_back(StepInput::fromBytes(std::move(type), std::move(bytes)));
}

void KernelText::packedInput(const std::string& name, TensorType type,
                             std::function<std::vector<std::byte>()> pack) {
  inputs_.push_back({pointerTo(type.type, true), name});
  prepared_.inputs.push_back(StepInput::fromPacking(std::move(type), std::move(pack)));
}

void KernelText::output(const std::string& name, int nodeOutput) {
  outputs_.push_back({str(storageType(node_.outputs[nodeOutput]->dataType()), "*"), name});
}

void KernelText::workspace(const std::string& name, Dim bytes) {
  workspaceName_ = name;
  prepared_.workspaceBytes = std::move(bytes);
}

void KernelText::zeroedWorkspace(const std::string& name, int64_t zeroedBytes, Dim otherBytes) {
  workspace(name, otherBytes + zeroedBytes);
  zeroedBytes_ = zeroedBytes;
}

std::string KernelText::size(const Dim& dim) {
  if (dim.isConstant()) return str(dim.value(), isWide_ ? "ll" : "");
  return str("size", parameterOf(dim));
}

std::string KernelText::number(const Dim& dim) {
  return dim.isConstant() ? str(dim.value(), "ll") : str("wide", parameterOf(dim));
}

NumberText KernelText::asArguments() {
  return [this](float value) {
    numbers_.push_back(value);
    return str("number", numbers_.size() - 1);
  };
}

size_t KernelText::parameterOf(const Dim& dim) {
  const auto known = std::find(sizes_.begin(), sizes_.end(), dim);
  const size_t index = known - sizes_.begin();
  if (known == sizes_.end()) sizes_.push_back(dim);
  return index;
}

void KernelText::constant(std::string_view name, int64_t value) {
  functions += str("static constexpr int ", name, " = ", value, ";\n");
}

void KernelText::include(std::string_view deviceFile) {
  if (std::find(included_.begin(), included_.end(), deviceFile) != included_.end()) return;
  included_.emplace_back(deviceFile);
  functions += deviceSource(deviceFile);
}

std::string KernelText::whyNoLaunch(const LaunchShape& shape) const {
  constexpr int64_t kMostBlocks[] = {(int64_t{1} << 31) - 1, 65535, 65535};
  if (inputs_.size() + outputs_.size() + 1 + sizes_.size() + numbers_.size() > kMostArguments)
    return str("has more than ", kMostArguments, " operands, sizes and numbers");
  for (int axis = 0; axis < 3; ++axis) {
    const int64_t blocks = context_.max(shape.grid[axis]);
    // What has no bound along x does not fit in memory before it is too long for the grid.
    if (blocks > kMostBlocks[axis] && (axis > 0 || blocks != DimRange::kUnbounded))
      return str("may need more than the ", kMostBlocks[axis], " blocks that a grid has along ",
                 "xyz"[axis]);
  }
  if (shape.sharedBytes > context_.target.sharedBytesPerBlock)
    return str("needs ", shape.sharedBytes, " bytes of shared memory");
  return {};
}

// What is exact beyond that is lost in the store. Integers and decisions show every bit.
static bool storesShortFloats(const Node& node) {
  return std::ranges::all_of(node.outputs, [](const Value* output) {
    return isFloat(output->dataType()) && bitsOf(output->dataType()) <= 16;
  });
}

// A generated kernel lets the next one start and waits for the one before, which may still be
// running (programmatic dependent launch): both cost nothing where they have no effect. The next
// may start before this one has waited, since it waits for this one's end: so a chain of small
// kernels is on the device before its first has ended, and weights are on their way meanwhile.
Prepared KernelText::prepared(const LaunchShape& shape) {
  if (std::string reason = whyNoLaunch(shape); !reason.empty())
    return Prepared::no(std::move(reason));
  std::string parameters, sizes;
  const auto add = [&](const Parameter& parameter) {
    parameters += str(parameters.empty() ? "" : ", ", parameter.type, " ", parameter.name);
  };
  for (const Parameter& parameter : inputs_) add(parameter);
  for (const Parameter& parameter : outputs_) add(parameter);
  if (!workspaceName_.empty()) add({"void*", workspaceName_});
  for (size_t i = 0; i < sizes_.size(); ++i) {
    add({"long long", str("wide", i)});
    sizes += str("  const Index size", i, " = Index(wide", i, ");\n");
  }
  for (size_t i = 0; i < numbers_.size(); ++i) {
    add({"long long", str("bits", i)});
    sizes += str("  const float number", i, " = __int_as_float(int(bits", i, "));\n");
  }
  prepared_.source = str(
      deviceSource("device/prelude.cuh"), deviceSource("scalar_math.h"), scalarFunctions(),
      deviceSource("device/scalar_instructions.cuh"), deviceSource("device/bytes.cuh"),
      storesShortFloats(node_) ? deviceSource("device/fast_activations.cuh") : "",
      "using Index = ", isWide_ ? "long long" : "int", ";\n", functions,
      "extern \"C\" __global__ void __launch_bounds__(", shape.block, ") ", name_, "(", parameters,
      ") {\n", sizes, "  letNextStart();\n", early, "  waitForPrevious();\n", body, "}\n");
  prepared_.runtimeKernel = str(kGeneratedPrefix, name_);
  prepared_.dimArgs.assign(std::begin(shape.grid), std::end(shape.grid));
  prepared_.dimArgs.insert(prepared_.dimArgs.end(), sizes_.begin(), sizes_.end());
  for (const float number : numbers_)
    prepared_.dimArgs.emplace_back(int64_t{std::bit_cast<uint32_t>(number)});
  ByteWriter writer;
  writer.write(GeneratedParams{.block = static_cast<uint32_t>(shape.block),
                               .sharedBytes = static_cast<uint32_t>(shape.sharedBytes),
                               .cluster = static_cast<uint32_t>(shape.cluster),
                               .hasWorkspace = !workspaceName_.empty(),
                               .zeroedBytes = static_cast<uint32_t>(zeroedBytes_)});
  prepared_.params = writer.take();
  return std::move(prepared_);
}

}  // namespace camshaft::cuda
