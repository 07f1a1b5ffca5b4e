#include "ops/fourier.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace camshaft {

namespace {

constexpr int64_t kLargestFactor = 31;

using Complex = Fourier::Complex;

// Without the checks for infinities that std::complex makes.
Complex product(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

Complex turn(int64_t numerator, int64_t denominator) {  // e^(-2 pi i numerator / denominator)
  const double angle = -2 * std::numbers::pi * static_cast<double>(numerator % denominator) /
                       static_cast<double>(denominator);
  return {std::cos(angle), std::sin(angle)};
}

// Prime factors, or none when one is too large.
std::vector<int64_t> smallFactors(int64_t n) {
  std::vector<int64_t> factors;
  if (n <= 1) return factors;
  for (int64_t p = 2; p <= kLargestFactor; ++p)
    for (; n % p == 0; n /= p) factors.push_back(p);
  return n == 1 ? factors : std::vector<int64_t>{};
}

}  // namespace

Fourier::Fourier(int64_t length) : length_(length), factors_(smallFactors(length)) {
  if (length <= 1) return;
  if (!factors_.empty()) {
    for (int64_t k = 0; k < length; ++k) roots_.push_back(turn(k, length));
    return;
  }
  int64_t width = 1;
  while (width < 2 * length - 1) width *= 2;
  wide_ = std::make_unique<Fourier>(width);
  filter_.resize(width);
  for (int64_t k = 0; k < length; ++k) {
    chirp_.push_back(turn(k * k, 2 * length));
    filter_[k] = filter_[(width - k) % width] = std::conj(chirp_[k]);
  }
  wide_->forward(filter_);
}

void Fourier::transform(std::vector<Complex>& x, bool inverse) const {
  if (!inverse) return forward(x);
  for (Complex& value : x) value = std::conj(value);
  forward(x);
  for (Complex& value : x) value = std::conj(value) / static_cast<double>(length_);
}

void Fourier::forward(std::vector<Complex>& x) const {
  if (length_ <= 1) return;
  if (wide_) return convolve(x);
  const std::vector<Complex> input = x;
  split(input.data(), 1, length_, 0, x.data());
}

// y = the transform of `count` elements of x, `step` apart, where count * step is the length.
void Fourier::split(const Complex* x, int64_t step, int64_t count, size_t factor,
                    Complex* y) const {
  if (count == 1) {
    *y = *x;
    return;
  }
  const int64_t p = factors_[factor], part = count / p;
  for (int64_t r = 0; r < p; ++r) split(x + r * step, step * p, part, factor + 1, y + r * part);
  Complex turned[kLargestFactor];
  for (int64_t k = 0; k < part; ++k) {
    for (int64_t r = 0; r < p; ++r) turned[r] = product(y[r * part + k], roots_[r * k * step]);
    if (p == 2) {
      y[k] = turned[0] + turned[1];
      y[part + k] = turned[0] - turned[1];
      continue;
    }
    for (int64_t q = 0; q < p; ++q) {
      Complex sum = turned[0];
      for (int64_t r = 1; r < p; ++r) sum += product(turned[r], roots_[r * q % p * (length_ / p)]);
      y[q * part + k] = sum;
    }
  }
}

// kn = (k^2 + n^2 - (k-n)^2) / 2 makes the transform a convolution with the chirp.
void Fourier::convolve(std::vector<Complex>& x) const {
  std::vector<Complex> wide(filter_.size());
  for (int64_t n = 0; n < length_; ++n) wide[n] = product(x[n], chirp_[n]);
  wide_->forward(wide);
  for (size_t k = 0; k < wide.size(); ++k) wide[k] = product(wide[k], filter_[k]);
  wide_->transform(wide, true);
  for (int64_t k = 0; k < length_; ++k) x[k] = product(wide[k], chirp_[k]);
}

}  // namespace camshaft
