// Quantisation of ONNX models.
#include "bindings.h"
#include "callbacks.h"
#include "samples.h"

namespace camshaft::python {

using namespace nvinfer1;

namespace {

class CalledProgress final : public IQuantizerProgress {
 public:
  explicit CalledProgress(nb::object call) : call_(std::move(call)) {}
  bool advance(const char* phase, int32_t done, int32_t total) noexcept override {
    const Locked locked;
    try {
      return untilExit([&] { return !nb::object(call_(phase, done, total)).is(nb::bool_(false)); });
    } catch (nb::python_error& error) {
      error.restore();
      return false;
    }
  }

 private:
  nb::object call_;
};

// Whatever a callback raised goes before the library's own reason.
void runQuantizer(IQuantizer& self, const nb::object& samples, const nb::object& progress) {
  std::optional<ListedSamples> data;
  if (!samples.is_none()) data.emplace(nb::cast<nb::list>(samples));
  std::optional<CalledProgress> call;
  if (!progress.is_none()) call.emplace(progress);
  forgetReason();
  bool done = false;
  {
    const Unlocked unlocked;
    done = self.run(data ? &*data : nullptr, call ? &*call : nullptr);
  }
  if (PyErr_Occurred()) throw nb::python_error();
  if (!done) raiseReason("run");
}

nb::list inputsOf(IQuantizer& self) {
  nb::list inputs;
  for (int32_t i = 0; i < self.getNbInputs(); ++i) {
    const Dims dims = self.getInputShape(i);
    nb::object shape = nb::none();
    if (dims.nbDims >= 0) {
      nb::list sizes;
      for (int32_t dim = 0; dim < dims.nbDims; ++dim) sizes.append(dims.d[dim]);
      shape = nb::tuple(sizes);
    }
    inputs.append(nb::make_tuple(textOf(self.getInputName(i)), self.getInputType(i), shape));
  }
  return inputs;
}

}  // namespace

void bindQuantize(nb::module_& m) {
  nb::class_<IQuantizer>(m, "Quantizer")
      .def_prop_ro("inputs", inputsOf)
      .def(
          "set",
          [](IQuantizer& self, const std::string& option, const std::string& value) {
            checked("set", [&] { return self.set(option.c_str(), value.c_str()); });
          },
          "option"_a, "value"_a)
      .def("run", runQuantizer, "samples"_a.none(), "progress"_a.none() = nb::none())
      .def(
          "serialize",
          [](IQuantizer& self) { return checked("serialize", [&] { return self.serialize(); }); },
          nb::rv_policy::take_ownership)
      .def(
          "write",
          [](IQuantizer& self, nb::object path) {
            const std::string text = nb::cast<std::string>(nb::str(path));
            checked("write", [&] { return self.writeFile(text.c_str()); });
          },
          "path"_a)
      .def_prop_ro("table", [](IQuantizer& self) { return textOf(self.reportTable()); })
      .def_prop_ro("json", [](IQuantizer& self) { return textOf(self.reportJson()); });

  m.def(
      "quantizer_of_bytes",
      [](nb::bytes model, ILogger& logger) {
        return checked("quantize", [&] {
          return createQuantizer(model.data(), model.size(), remembering(logger));
        });
      },
      "model"_a, "logger"_a, nb::rv_policy::take_ownership);
  m.def(
      "quantizer_of_file",
      [](nb::object path, ILogger& logger) {
        const std::string text = nb::cast<std::string>(nb::str(path));
        return checked("quantize",
                       [&] { return createQuantizerForFile(text.c_str(), remembering(logger)); });
      },
      "path"_a, "logger"_a, nb::rv_policy::take_ownership);
}

}  // namespace camshaft::python
