// What the user implements to steer a build: calibrators and selectors of algorithms.
#include <algorithm>
#include <vector>

#include "callbacks.h"

namespace camshaft::python {

using namespace nvinfer1;

namespace {

// Memory that Python code may keep, as TensorRT's calibrators get it: it has tobytes(), and files
// take it.
nb::object memoryOf(const void* data, std::size_t length) {
  nb::bytes copy(static_cast<const char*>(data), length);
  return nb::steal(PyMemoryView_FromObject(copy.ptr()));
}

template <class Interface>
struct PyCalibrator : OfPython<Interface> {
  NB_TRAMPOLINE(OfPython<Interface>);

  int32_t getBatchSize() const noexcept override {
    return fromPython(1, [&] { return nb::cast<int32_t>(self().attr("get_batch_size")()); });
  }
  bool getBatch(void* bindings[], const char* names[], int32_t count) noexcept override {
    return fromPython(false, [&] {
      nb::list wanted;
      for (int32_t i = 0; i < count; ++i) wanted.append(textOf(names[i]));
      nb::object batch = self().attr("get_batch")(wanted);
      if (batch.is_none()) return false;
      if (static_cast<int32_t>(nb::len(batch)) < count) return false;
      for (int32_t i = 0; i < count; ++i) bindings[i] = addressFrom(nb::object(batch[i]));
      return true;
    });
  }
  const void* readCalibrationCache(std::size_t& length) noexcept override {
    return fromPython<const void*>(
        nullptr, [&] { return kept(self().attr("read_calibration_cache")(), length); });
  }
  void writeCalibrationCache(const void* data, std::size_t length) noexcept override {
    fromPython(0,
               [&] { return self().attr("write_calibration_cache")(memoryOf(data, length)), 0; });
  }
  CalibrationAlgoType getAlgorithm() noexcept override {
    return fromPython(CalibrationAlgoType::kENTROPY_CALIBRATION_2, [&] {
      return nb::cast<CalibrationAlgoType>(self().attr("get_algorithm")());
    });
  }

 protected:
  nb::handle self() const { return nb_trampoline.base(); }
  const void* kept(const nb::object& cache, std::size_t& length) {
    length = 0;
    if (cache.is_none()) return nullptr;
    const Bytes bytes(cache);
    cache_.assign(static_cast<const char*>(bytes.data()), bytes.size());
    length = cache_.size();
    return cache_.data();
  }

 private:
  std::string cache_;
};

// Also of IInt8Calibrator itself: a class of Python's may derive from that and say LEGACY, and what
// it does not define is as for all elements.
struct PyLegacyCalibrator : PyCalibrator<IInt8LegacyCalibrator> {
  double getQuantile() const noexcept override { return numberOf("get_quantile"); }
  double getRegressionCutoff() const noexcept override { return numberOf("get_regression_cutoff"); }
  const void* readHistogramCache(std::size_t& length) noexcept override {
    length = 0;
    return fromPython<const void*>(nullptr, [&]() -> const void* {
      if (!nb::hasattr(self(), kRead)) return nullptr;
      return kept(self().attr(kRead)(0), length);
    });
  }
  void writeHistogramCache(const void* data, std::size_t length) noexcept override {
    fromPython(0, [&] {
      if (nb::hasattr(self(), kWrite)) self().attr(kWrite)(memoryOf(data, length), length);
      return 0;
    });
  }

 private:
  static constexpr const char *kRead = "read_histogram_cache", *kWrite = "write_histogram_cache";
  double numberOf(const char* method) const {
    return fromPython(1.0, [&] {
      return nb::hasattr(self(), method) ? nb::cast<double>(self().attr(method)()) : 1.0;
    });
  }
};

template <class Interface, class Trampoline, class... Base>
auto bindCalibrator(nb::module_& m, const char* name) {
  return nb::class_<Interface, Base..., Trampoline>(m, name)
      .def(nb::init<>())
      .def("get_batch_size", toDefine("get_batch_size"), nb::sig("def get_batch_size(self) -> int"))
      .def("get_batch", toDefine("get_batch"),
           nb::sig("def get_batch(self, names: list[str]) -> list[int] | None"))
      .def("read_calibration_cache", toDefine("read_calibration_cache"),
           nb::sig("def read_calibration_cache(self) -> bytes | None"))
      .def("write_calibration_cache", toDefine("write_calibration_cache"),
           nb::sig("def write_calibration_cache(self, cache: bytes) -> None"));
}

template <class Interface, class Trampoline = PyCalibrator<Interface>>
void bindCalibratorOf(nb::module_& m, const char* name, CalibrationAlgoType algorithm) {
  bindCalibrator<Interface, Trampoline, IInt8Calibrator>(m, name).def(
      "get_algorithm", [algorithm](nb::handle) { return algorithm; });
}

struct PyAlgorithmSelector : OfPython<IAlgorithmSelector> {
  NB_TRAMPOLINE(OfPython<IAlgorithmSelector>);
  int32_t selectAlgorithms(const IAlgorithmContext& context, const IAlgorithm* const* choices,
                           int32_t count, int32_t* selection) noexcept override {
    return fromPython<int32_t>(-1, [&] {
      nb::object chosen = nb_trampoline.base().attr("select_algorithms")(
          nb::cast(&context, nb::rv_policy::reference), listOf(choices, count));
      const auto indices = nb::cast<std::vector<int32_t>>(chosen);
      if (static_cast<int32_t>(indices.size()) > count)
        throw nb::value_error("select_algorithms() returned more than it was given");
      std::copy(indices.begin(), indices.end(), selection);
      return static_cast<int32_t>(indices.size());
    });
  }
  void reportAlgorithms(const IAlgorithmContext* const* contexts, const IAlgorithm* const* choices,
                        int32_t count) noexcept override {
    fromPython(0, [&] {
      return nb_trampoline.base().attr("report_algorithms")(listOf(contexts, count),
                                                            listOf(choices, count)),
             0;
    });
  }

 private:
  template <class T>
  static nb::list listOf(const T* const* items, int32_t count) {
    nb::list list;
    for (int32_t i = 0; i < count; ++i) list.append(nb::cast(items[i], nb::rv_policy::reference));
    return list;
  }
};

void bindAlgorithms(nb::module_& m) {
  nb::class_<IAlgorithmIOInfo>(m, "IAlgorithmIOInfo")
      .def_prop_ro("dtype", &IAlgorithmIOInfo::getDataType)
      .def_prop_ro("strides", &IAlgorithmIOInfo::getStrides)
      .def_prop_ro("vectorized_dim", &IAlgorithmIOInfo::getVectorizedDim)
      .def_prop_ro("components_per_element", &IAlgorithmIOInfo::getComponentsPerElement);
  nb::class_<IAlgorithmVariant>(m, "IAlgorithmVariant")
      .def_prop_ro("implementation", &IAlgorithmVariant::getImplementation)
      .def_prop_ro("tactic", &IAlgorithmVariant::getTactic);
  nb::class_<IAlgorithmContext>(m, "IAlgorithmContext")
      .def_prop_ro("name", text(&IAlgorithmContext::getName))
      .def(
          "get_shape",
          [](const IAlgorithmContext& self, int32_t index) {
            nb::list shapes;
            for (auto select :
                 {OptProfileSelector::kMIN, OptProfileSelector::kOPT, OptProfileSelector::kMAX})
              shapes.append(self.getDimensions(index, select));
            return shapes;
          },
          "index"_a)
      .def_prop_ro("num_inputs", &IAlgorithmContext::getNbInputs)
      .def_prop_ro("num_outputs", &IAlgorithmContext::getNbOutputs);
  nb::class_<IAlgorithm>(m, "IAlgorithm")
      .def("get_algorithm_io_info", &IAlgorithm::getAlgorithmIOInfoByIndex, "index"_a,
           nb::rv_policy::reference_internal)
      .def_prop_ro("algorithm_variant", &IAlgorithm::getAlgorithmVariant,
                   nb::rv_policy::reference_internal)
      .def_prop_ro("timing_msec", &IAlgorithm::getTimingMSec)
      .def_prop_ro("workspace_size", &IAlgorithm::getWorkspaceSize);
  nb::class_<IAlgorithmSelector, IVersionedInterface, PyAlgorithmSelector>(m, "IAlgorithmSelector")
      .def(nb::init<>())
      .def("select_algorithms", toDefine("select_algorithms"),
           nb::sig("def select_algorithms(self, context: IAlgorithmContext, "
                   "choices: list[IAlgorithm]) -> list[int]"))
      .def("report_algorithms", toDefine("report_algorithms"),
           nb::sig("def report_algorithms(self, contexts: list[IAlgorithmContext], "
                   "choices: list[IAlgorithm]) -> None"));
}

}  // namespace

void bindCalibrators(nb::module_& m) {
  bindCalibrator<IInt8Calibrator, PyLegacyCalibrator, IVersionedInterface>(m, "IInt8Calibrator")
      .def("get_algorithm", toDefine("get_algorithm"),
           nb::sig("def get_algorithm(self) -> CalibrationAlgoType"));
  bindCalibratorOf<IInt8EntropyCalibrator>(m, "IInt8EntropyCalibrator",
                                           CalibrationAlgoType::kENTROPY_CALIBRATION);
  bindCalibratorOf<IInt8EntropyCalibrator2>(m, "IInt8EntropyCalibrator2",
                                            CalibrationAlgoType::kENTROPY_CALIBRATION_2);
  bindCalibratorOf<IInt8MinMaxCalibrator>(m, "IInt8MinMaxCalibrator",
                                          CalibrationAlgoType::kMINMAX_CALIBRATION);
  bindCalibratorOf<IInt8LegacyCalibrator, PyLegacyCalibrator>(
      m, "IInt8LegacyCalibrator", CalibrationAlgoType::kLEGACY_CALIBRATION);
  bindAlgorithms(m);
}

}  // namespace camshaft::python
