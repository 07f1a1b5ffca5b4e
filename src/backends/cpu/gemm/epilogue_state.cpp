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

const float* floatsAt(const LaunchArgs& args, int32_t input, int64_t count) {
  if (input < 0) return nullptr;
  if (static_cast<size_t>(input) >= args.inputs.size() ||
      args.inputs[input].type != DataType::kF32 || args.inputs[input].count() < count)
    fail(ErrorKind::kInvalidEngine, "the engine's epilogue reads an operand that is not there");
  return args.inputs[input].as<const float>();
}

}  // namespace

EpilogueState::EpilogueState(ByteReader& reader) {
  fixed.scale = reader.read<float>();
  fixed.activation = readActivation(reader);
  fixed.low = reader.read<float>();
  fixed.high = reader.read<float>();
  biasInput = reader.read<int32_t>();
  residualInput = reader.read<int32_t>();
  firstOperand = reader.read<int32_t>();
  if (reader.read<bool>()) program = pointwise::EpilogueProgram(pointwise::readProgram(reader));
}

LaunchedEpilogue::LaunchedEpilogue(const EpilogueState& state, const LaunchArgs& args)
    : epilogue_(state.fixed) {
  const TensorArg& result = args.outputs[0];
  const int64_t columns = result.dims[result.rank - 1];
  epilogue_.bias = floatsAt(args, state.biasInput, columns);
  epilogue_.residual = floatsAt(args, state.residualInput, result.count());
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
