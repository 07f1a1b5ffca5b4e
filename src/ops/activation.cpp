#include "ops/activation.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "support/error.h"

namespace camshaft {

namespace {

struct NamedActivation {
  std::string_view name;
  double (*function)(double x, double alpha, double beta);
  bool takesAlpha = false;
  bool takesBeta = false;
  double alpha = 0, beta = 0;  // defaults
};

constexpr NamedActivation kActivations[] = {
    {"Sigmoid", [](double x, double, double) { return 1 / (1 + std::exp(-x)); }},
    {"Tanh", [](double x, double, double) { return std::tanh(x); }},
    {"Relu", [](double x, double, double) { return std::max(x, 0.0); }},
    {"Affine", [](double x, double a, double b) { return a * x + b; }, true, true, 1, 0},
    {"LeakyRelu", [](double x, double a, double) { return x < 0 ? a * x : x; }, true, false, 0.01},
    {"ThresholdedRelu", [](double x, double a, double) { return x > a ? x : 0; }, true, false, 1},
    {"ScaledTanh", [](double x, double a, double b) { return a * std::tanh(b * x); }, true, true, 1,
     1},
    {"HardSigmoid", [](double x, double a, double b) { return std::clamp(a * x + b, 0.0, 1.0); },
     true, true, 0.2, 0.5},
    {"Elu", [](double x, double a, double) { return x < 0 ? a * (std::exp(x) - 1) : x; }, true,
     false, 1},
    {"Softsign", [](double x, double, double) { return x / (1 + std::fabs(x)); }},
    {"Softplus", [](double x, double,
                    double) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }},
};

const NamedActivation& findActivation(std::string_view name, const std::string& who) {
  auto sameLetter = [](char a, char b) { return std::tolower(a) == std::tolower(b); };
  for (const NamedActivation& activation : kActivations)
    if (std::ranges::equal(activation.name, name, sameLetter)) return activation;
  fail(ErrorKind::kInvalidModel, who, " names the activation '", name, "', which there is not");
}

std::vector<std::string_view> namesOf(const RecurrentAttrs& attrs) {
  std::string_view rest = attrs.activations;
  if (rest.empty()) {
    static constexpr std::string_view kDefaults[] = {"Sigmoid,Tanh,Tanh", "Sigmoid,Tanh", "Tanh"};
    rest = kDefaults[static_cast<int>(attrs.kind)];
  }
  std::vector<std::string_view> names;
  while (true) {
    const size_t comma = rest.find(',');
    names.push_back(rest.substr(0, comma));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (attrs.activations.empty() && directionsOf(attrs) == 2) {
    const std::vector<std::string_view> forward = names;
    names.insert(names.end(), forward.begin(), forward.end());
  }
  return names;
}

}  // namespace

int64_t gatesOf(RecurrentKind kind) {
  static constexpr int64_t kGates[] = {4, 3, 1};
  return kGates[static_cast<int>(kind)];
}

int64_t directionsOf(const RecurrentAttrs& attrs) {
  return attrs.direction == RecurrentDirection::kBidirectional ? 2 : 1;
}

std::vector<Activation> activationsOf(const RecurrentAttrs& attrs, int64_t direction,
                                      const std::string& who) {
  static constexpr size_t kPerDirection[] = {3, 2, 1};
  const size_t perDirection = kPerDirection[static_cast<int>(attrs.kind)];
  const std::vector<std::string_view> names = namesOf(attrs);
  if (names.size() != perDirection * directionsOf(attrs))
    fail(ErrorKind::kInvalidModel, who, " has ", names.size(), " activations where it needs ",
         perDirection * directionsOf(attrs));
  std::vector<Activation> all;
  size_t nextAlpha = 0, nextBeta = 0;
  for (std::string_view name : names) {
    const NamedActivation& named = findActivation(name, who);
    Activation activation{named.name, named.function, named.alpha, named.beta};
    if (named.takesAlpha && nextAlpha < attrs.activationAlpha.size())
      activation.alpha = attrs.activationAlpha[nextAlpha++];
    if (named.takesBeta && nextBeta < attrs.activationBeta.size())
      activation.beta = attrs.activationBeta[nextBeta++];
    all.push_back(activation);
  }
  const auto first = all.begin() + direction * perDirection;
  return std::vector<Activation>(first, first + perDirection);
}

}  // namespace camshaft
