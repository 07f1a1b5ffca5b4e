// Spectra of signals.
#pragma once

#include "ops/ops.h"

namespace camshaft {

// Dft(x): the last dimension holds real and imaginary part, or the real part alone. The signal
// along `axis` is cut or padded with zeros to `length`. One-sided and forward, x is real and the
// result has bins 0..length/2; one-sided and inverse, x has these bins and the result is real.
struct DftAttrs : AttrsOf<DftAttrs> {
  int64_t axis = 0;  // non-negative, not the last
  Dim length = 0;
  bool inverse = false, oneSided = false;
  void fields(AttrVisitor& visit) override {
    visit("axis", axis);
    visit("length", length);
    visit("inverse", inverse);
    visit("one_sided", oneSided);
  }
};

// MelWeights(dftLength, sampleRate, lowerHertz, upperHertz): scalars to [bins, melBins], triangles
// that sum a spectrum of bins = dftLength/2 + 1 frequencies into bands of the mel scale.
struct MelWeightsAttrs : AttrsOf<MelWeightsAttrs> {
  Dim bins = 0, melBins = 0;
  DataType type = DataType::kF32;
  void fields(AttrVisitor& visit) override {
    visit("bins", bins);
    visit("mel_bins", melBins);
    visit("type", type);
  }
};

}  // namespace camshaft
