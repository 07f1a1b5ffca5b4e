// Slimming of ONNX models.
#include "CamshaftSlim.h"
#include "bindings.h"

namespace camshaft::python {

void bindSlim(nb::module_& m) {
  nb::class_<ISlimModel>(m, "SlimModel")
      .def(
          "serialize",
          [](ISlimModel& self) { return checked("serialize", [&] { return self.serialize(); }); },
          nb::rv_policy::take_ownership)
      .def(
          "write",
          [](ISlimModel& self, nb::object path) {
            const std::string text = nb::cast<std::string>(nb::str(path));
            checked("write", [&] { return self.writeFile(text.c_str()); });
          },
          "path"_a)
      .def_prop_ro("table", [](ISlimModel& self) { return textOf(self.reportTable()); })
      .def_prop_ro("json", [](ISlimModel& self) { return textOf(self.reportJson()); });

  m.def(
      "slim_bytes",
      [](nb::bytes model, nvinfer1::ILogger& logger, nb::object path) {
        const std::string text = path.is_none() ? "" : nb::cast<std::string>(nb::str(path));
        return checked("slim", [&] {
          return slimModel(model.data(), model.size(), remembering(logger),
                           text.empty() ? nullptr : text.c_str());
        });
      },
      "model"_a, "logger"_a, "path"_a = nb::none(), nb::rv_policy::take_ownership);
  m.def(
      "slim_file",
      [](nb::object path, nvinfer1::ILogger& logger) {
        const std::string text = nb::cast<std::string>(nb::str(path));
        nvinfer1::ILogger& own = remembering(logger);
        return checkedUnlocked("slim", [&] { return slimModelFile(text.c_str(), own); });
      },
      "path"_a, "logger"_a, nb::rv_policy::take_ownership);
}

}  // namespace camshaft::python
