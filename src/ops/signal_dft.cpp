#include "ops/fourier.h"
#include "ops/rules.h"
#include "ops/signal.h"
#include "ops/walk.h"

namespace camshaft {

namespace {

std::vector<TensorType> inferDft(const Node& node) {
  const auto& attrs = node.as<DftAttrs>();
  const TensorType& x = node.inputs[0]->type;
  requireFloat(node, 0);
  requireAxis(node, attrs.axis);
  const Dim& parts = x.shape.back();
  if (attrs.axis == x.rank() - 1 || !(parts.isConstant(1) || parts.isConstant(2)))
    fail(ErrorKind::kInvalidModel, describe(node), " transforms dimension ", attrs.axis, " of ", x,
         ", whose last dimension must be the real and imaginary part");
  if (attrs.oneSided && parts.value() != (attrs.inverse ? 2 : 1))
    fail(ErrorKind::kInvalidModel, describe(node), " is one-sided and ",
         attrs.inverse ? "inverse, which needs a complex input" : "needs a real input");
  // A half of nothing would be one number, of no signal.
  Dim rows = 1;
  for (int64_t i = 0; i < x.rank(); ++i)
    if (i != attrs.axis) rows *= x.shape[i];
  requireAtLeast(node, attrs.length, "samples in its signal",
                 attrs.oneSided ? min(rows, 1) : Dim(0));
  TensorType y = x;
  y.shape[attrs.axis] =
      attrs.oneSided && !attrs.inverse ? floorDiv(attrs.length, 2) + 1 : attrs.length;
  y.shape.back() = attrs.oneSided && attrs.inverse ? 1 : 2;
  return {y};
}

void evaluateDft(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<DftAttrs>();
  const int64_t length = evaluation.resolve(attrs.length);
  const AxisView in(evaluation.inputs[0].dims, attrs.axis);
  const AxisView out(evaluation.outputs[0].dims, attrs.axis);
  const int64_t parts = evaluation.inputs[0].dims.back();
  const int64_t outParts = evaluation.outputs[0].dims.back();
  const std::vector<double> x = readReals(evaluation.inputs[0]);
  std::vector<double> y(evaluation.outputs[0].count());
  if (length < out.size && !y.empty())
    fail(ErrorKind::kInvalidArgument, describe(evaluation.node), " has a signal of ", length,
         " samples for ", out.size, " results");
  const bool fromHalf = attrs.oneSided && attrs.inverse;
  // Bins past the middle of a one-sided spectrum are not looked at.
  const int64_t taken = std::min(in.size, fromHalf ? length / 2 + 1 : length);
  const Fourier fourier(length);
  std::vector<Fourier::Complex> signal(length);
  const int64_t inner = in.inner / parts;
  for (int64_t row = 0; row < in.outer * inner && !y.empty(); ++row) {
    const double* from = x.data() + row / inner * in.size * in.inner + row % inner * parts;
    std::fill(signal.begin(), signal.end(), 0);
    for (int64_t i = 0; i < taken; ++i) {
      const double* at = from + i * in.inner;
      signal[i] = {at[0], parts == 2 ? at[1] : 0};
      // A real signal: the other bins are conjugates, the first and the middle one are real.
      if (fromHalf && i > 0) signal[length - i] = std::conj(signal[i]);
      if (fromHalf && i == length - i) signal[i] = at[0];
    }
    if (fromHalf && length > 0) signal[0] = signal[0].real();
    fourier.transform(signal, attrs.inverse);
    double* to = &y[row / inner * out.size * out.inner + row % inner * outParts];
    for (int64_t i = 0; i < out.size; ++i) {
      to[i * out.inner] = signal[i].real();
      if (outParts == 2) to[i * out.inner + 1] = signal[i].imag();
    }
  }
  writeReals(evaluation.outputs[0], y);
}

}  // namespace

const OpInfo ops::Dft = {"Dft", 1, 1, 1, makeAttrsOf<DftAttrs>, inferDft, evaluateDft};

}  // namespace camshaft
