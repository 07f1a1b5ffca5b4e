// Accuracy-aware builds.
#include "CamshaftAccuracy.h"

#include <limits>

#include "bindings.h"
#include "callbacks.h"
#include "samples.h"

namespace camshaft::python {

using namespace nvinfer1;

namespace {

// Calls a function with the samples' numbers and each output's name, type, shape and address.
class CalledMetric final : public IAccuracyMetric {
 public:
  explicit CalledMetric(nb::object call) : call_(std::move(call)) {}
  double score(const int32_t* samples, int32_t nbSamples, const OutputView* outputs,
               int32_t nbOutputs) noexcept override {
    const Locked locked;
    try {
      return untilExit([&] {
        nb::list numbers, runs;
        for (int32_t i = 0; i < nbSamples; ++i) {
          numbers.append(samples[i]);
          nb::list run;
          for (int32_t j = 0; j < nbOutputs; ++j) run.append(described(*outputs++));
          runs.append(run);
        }
        return nb::cast<double>(call_(numbers, runs));
      });
    } catch (nb::python_error& error) {
      error.restore();
    } catch (const nb::cast_error&) {
      PyErr_SetString(PyExc_TypeError, "the metric returned no number");
    }
    return std::numeric_limits<double>::quiet_NaN();
  }

 private:
  static nb::tuple described(const OutputView& output) {
    nb::list shape;
    for (int32_t dim = 0; dim < output.dims.nbDims; ++dim) shape.append(output.dims.d[dim]);
    return nb::make_tuple(textOf(output.name), output.type, nb::tuple(shape),
                          reinterpret_cast<uintptr_t>(output.data));
  }

  nb::object call_;
};

// Whatever a callback raised goes before the library's own reason.
void runTuner(IPrecisionTuner& self, const nb::list& samples, const nb::object& metric,
              double maxDrop) {
  ListedSamples data(samples);
  std::optional<CalledMetric> call;
  if (!metric.is_none()) call.emplace(metric);
  forgetReason();
  self.setMetric(call ? &*call : nullptr, maxDrop);
  bool done = false;
  {
    const Unlocked unlocked;
    done = self.run(data);
  }
  self.setMetric(nullptr, 0);
  if (PyErr_Occurred()) throw nb::python_error();
  if (!done) raiseReason("run");
}

}  // namespace

void bindAccuracy(nb::module_& m) {
  nb::class_<IPrecisionTuner>(m, "PrecisionTuner")
      .def(
          "set_max_error",
          [](IPrecisionTuner& self, double error, const std::optional<std::string>& output) {
            checked("set_max_error",
                    [&] { return self.setMaxError(error, output ? output->c_str() : nullptr); });
          },
          "error"_a, "output"_a.none() = nb::none())
      .def(
          "set_sensitivity_samples",
          [](IPrecisionTuner& self, int32_t count) {
            checked("set_sensitivity_samples", [&] { return self.setSensitivitySamples(count); });
          },
          "count"_a)
      .def("run", runTuner, "samples"_a, "metric"_a.none() = nb::none(), "max_drop"_a = 0.0)
      .def_prop_ro("table", [](IPrecisionTuner& self) { return textOf(self.reportTable()); })
      .def_prop_ro("json", [](IPrecisionTuner& self) { return textOf(self.reportJson()); });

  m.def(
      "precision_tuner",
      [](INetworkDefinition& network, IBuilderConfig& config, ILogger& logger) {
        return checked("precision_tuner",
                       [&] { return createPrecisionTuner(network, config, remembering(logger)); });
      },
      "network"_a, "config"_a, "logger"_a, nb::rv_policy::take_ownership, nb::keep_alive<0, 1>(),
      nb::keep_alive<0, 2>());
}

}  // namespace camshaft::python
