// The discrete Fourier transform of any length in O(n log n).
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace camshaft {

// Made once per length. Lengths of small prime factors are split by them; others become a
// convolution of the next power of two (Bluestein).
class Fourier {
 public:
  using Complex = std::complex<double>;

  explicit Fourier(int64_t length);

  // x[k] = sum over n of x[n] * e^(-2 pi i k n / length), in place; inverse: with +2 pi i, divided
  // by the length.
  void transform(std::vector<Complex>& x, bool inverse) const;

 private:
  void forward(std::vector<Complex>& x) const;
  void split(const Complex* x, int64_t step, int64_t count, size_t factor, Complex* y) const;
  void convolve(std::vector<Complex>& x) const;

  int64_t length_;
  std::vector<int64_t> factors_;  // empty: `convolve`
  std::vector<Complex> roots_;    // e^(-2 pi i k / length)
  std::vector<Complex> chirp_;    // e^(-pi i k^2 / length)
  std::vector<Complex> filter_;   // the transform of its conjugate, wrapped around
  std::unique_ptr<Fourier> wide_;
};

}  // namespace camshaft
