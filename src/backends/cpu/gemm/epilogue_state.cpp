#include "backends/cpu/gemm/epilogue_state.h"

#include "support/error.h"

namespace camshaft::cpu {
namespace {

Activation readActivation(ByteReader& reader) {
  const int32_t value = reader.read<int32_t>();
  if (value < 0 || value > static_cast<int32_t>(Activation::kTanh))
    fail(ErrorKind::kInvalidEngine, "the engine asks for activation ", value,
         ", which does not exist");
  return static_cast<Activation>(value);
}

bool isAt(const LaunchArgs& args, int32_t input, DataType type) {
  return input >= 0 && static_cast<size_t>(input) < args.inputs.size() &&
         args.inputs[input].type == type;
}

template <class T>
const T* elementsAt(const LaunchArgs& args, int32_t input, DataType type, int64_t count) {
  if (input < 0) return nullptr;
  if (!isAt(args, input, type) || args.inputs[input].count() < count)
    fail(ErrorKind::kInvalidEngine, "the engine's epilogue reads an operand that is not there");
  return args.inputs[input].as<const T>();
}

}  // namespace

EpilogueState::EpilogueState(ByteReader& reader) {
  fixed.scale = reader.read<float>();
  fixed.activation = readActivation(reader);
  fixed.low = reader.read<float>();
  fixed.high = reader.read<float>();
  fixed.outScale = reader.read<float>();
  fixed.outShift = reader.read<float>();
  biasInput = reader.read<int32_t>();
  residualInput = reader.read<int32_t>();
  firstOperand = reader.read<int32_t>();
  if (reader.read<bool>()) program = pointwise::EpilogueProgram(pointwise::readProgram(reader));
}

LaunchedEpilogue::LaunchedEpilogue(const EpilogueState& state, const LaunchArgs& args,
                                   bool readsBf16)
    : epilogue_(state.fixed) {
  const TensorArg& result = args.outputs[0];
  const int64_t columns = result.dims[result.rank - 1];
  epilogue_.bias = elementsAt<float>(args, state.biasInput, DataType::kF32, columns);
  if (readsBf16 && isAt(args, state.residualInput, DataType::kBF16))
    epilogue_.bf16Residual =
        elementsAt<BFloat16>(args, state.residualInput, DataType::kBF16, result.count());
  else
    epilogue_.residual =
        elementsAt<float>(args, state.residualInput, DataType::kF32, result.count());
  epilogue_.residualStride = columns;
  if (state.program.empty()) return;
  const size_t first = state.firstOperand, count = state.program.operandCount();
  if (first > args.inputs.size() || count > args.inputs.size() - first)
    fail(ErrorKind::kInvalidEngine, "the engine's epilogue reads an operand that is not there");
  program_.emplace(state.program, args.inputs.subspan(first, count), result);
  epilogue_.post = pointwise::BoundEpilogue::post;
  epilogue_.postContext = &*program_;
}

}  // namespace camshaft::cpu
