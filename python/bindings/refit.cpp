// Refitter, and the one that reads models.
#include <nanobind/stl/pair.h>

#include "bindings.h"

namespace camshaft::python {

using namespace nvinfer1;
using nvonnxparser::IParserError;
using nvonnxparser::IParserRefitter;

namespace {

using RefitterHandle = nb::handle_t<IRefitter>;

// The refitter reads the array when it refits.
template <class Set>
bool setWeights(RefitterHandle self, const std::string& key, nb::handle source, Set&& set) {
  const PyWeights given = weightsFrom(source);
  const OwnReason reason;
  const bool ok = set(nb::cast<IRefitter&>(self), given.weights);
  reason.raiseIfAny();
  if (ok && given.owner.is_valid()) hold(self, "weights_" + key, given.owner);
  return ok;
}

nb::list namesOf(IRefitter& self, int32_t (IRefitter::*list)(int32_t, const char**) noexcept) {
  std::vector<const char*> names(static_cast<size_t>((self.*list)(0, nullptr)));
  (self.*list)(static_cast<int32_t>(names.size()), names.data());
  nb::list texts;
  for (const char* name : names) texts.append(textOf(name));
  return texts;
}

// ([layers], [roles])
nb::tuple rolesOf(IRefitter& self,
                  int32_t (IRefitter::*list)(int32_t, const char**, WeightsRole*) noexcept) {
  std::vector<const char*> layers(static_cast<size_t>((self.*list)(0, nullptr, nullptr)));
  std::vector<WeightsRole> roles(layers.size());
  (self.*list)(static_cast<int32_t>(layers.size()), layers.data(), roles.data());
  nb::list names, uses;
  for (const char* layer : layers) names.append(textOf(layer));
  for (const WeightsRole role : roles) uses.append(nb::cast(role));
  return nb::make_tuple(names, uses);
}

bool refit(const char* name, IRefitter& self, bool (*call)(IRefitter&, void*), void* argument) {
  return checkedUnlocked(name, [&] { return call(self, argument); });
}

void bindRefitter(nb::module_& m) {
  nb::class_<IRefitter> c(m, "Refitter", nb::dynamic_attr());
  bindLifetime(c, "def __enter__(self) -> Refitter");
  c.def(nb::new_([](ICudaEngine& engine, ILogger& logger) {
          return checked("Refitter",
                         [&] { return createInferRefitter(engine, remembering(logger)); });
        }),
        "engine"_a, "logger"_a, nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>())
      .def(
          "set_weights",
          [](RefitterHandle self, const char* layer, WeightsRole role, nb::handle weights) {
            const std::string key =
                std::string(layer) + "." + std::to_string(static_cast<int32_t>(role));
            return setWeights(self, key, weights, [&](IRefitter& refitter, const Weights& given) {
              return refitter.setWeights(layer, role, given);
            });
          },
          "layer_name"_a, "role"_a, "weights"_a)
      .def(
          "set_named_weights",
          [](RefitterHandle self, const char* name, nb::handle weights, TensorLocation location) {
            return setWeights(self, name, weights, [&](IRefitter& refitter, const Weights& given) {
              return refitter.setNamedWeights(name, given, location);
            });
          },
          "name"_a, "weights"_a, "location"_a = TensorLocation::kHOST)
      .def("unset_named_weights", raising(&IRefitter::unsetNamedWeights), "weights_name"_a)
      .def(
          "get_named_weights",
          [](const IRefitter& self, const char* name) {
            return PyWeights{raising(&IRefitter::getNamedWeights)(self, name), nb::none()};
          },
          "weights_name"_a)
      .def(
          "get_weights_prototype",
          [](const IRefitter& self, const char* name) {
            return PyWeights{raising(&IRefitter::getWeightsPrototype)(self, name), nb::none()};
          },
          "weights_name"_a)
      .def("get_weights_location", raising(&IRefitter::getWeightsLocation), "weights_name"_a)
      .def("get_missing", [](IRefitter& self) { return rolesOf(self, &IRefitter::getMissing); })
      .def("get_all", [](IRefitter& self) { return rolesOf(self, &IRefitter::getAll); })
      .def("get_missing_weights",
           [](IRefitter& self) { return namesOf(self, &IRefitter::getMissingWeights); })
      .def("get_all_weights",
           [](IRefitter& self) { return namesOf(self, &IRefitter::getAllWeights); })
      .def("refit_cuda_engine",
           [](IRefitter& self) {
             return refit(
                 "refit_cuda_engine", self,
                 [](IRefitter& refitter, void*) { return refitter.refitCudaEngine(); }, nullptr);
           })
      .def(
          "refit_cuda_engine_async",
          [](IRefitter& self, uintptr_t stream) {
            return refit(
                "refit_cuda_engine_async", self,
                [](IRefitter& refitter, void* handle) {
                  return refitter.refitCudaEngineAsync(static_cast<cudaStream_t>(handle));
                },
                reinterpret_cast<void*>(stream));
          },
          "stream_handle"_a)
      .def(
          "get_dynamic_range",
          [](const IRefitter& self, const char* tensor) {
            return nb::make_tuple(raising(&IRefitter::getDynamicRangeMin)(self, tensor),
                                  raising(&IRefitter::getDynamicRangeMax)(self, tensor));
          },
          "tensor_name"_a)
      .def(
          "set_dynamic_range",
          [](IRefitter& self, const char* tensor, const std::pair<float, float>& range) {
            return raising(&IRefitter::setDynamicRange)(self, tensor, range.first, range.second);
          },
          "tensor_name"_a, "range"_a)
      .def("get_tensors_with_dynamic_range", [](const IRefitter&) { return nb::list(); })
      .def_prop_rw("weights_validation", &IRefitter::getWeightsValidation,
                   &IRefitter::setWeightsValidation)
      .def_prop_rw("max_threads", &IRefitter::getMaxThreads, raising(&IRefitter::setMaxThreads))
      .def_prop_ro("logger", &IRefitter::getLogger, nb::rv_policy::reference_internal)
      .def_prop_rw("error_recorder", &IRefitter::getErrorRecorder, &IRefitter::setErrorRecorder,
                   nb::for_setter(nb::keep_alive<1, 2>()), nb::for_setter(nb::arg().none()));
}

// A model's bytes, from any object with a buffer.
struct Buffer {
  explicit Buffer(nb::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_SIMPLE) != 0) throw nb::python_error();
  }
  ~Buffer() { PyBuffer_Release(&view); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Py_buffer view;
};

auto withModel(bool (IParserRefitter::*method)(const void*, size_t, const char*) noexcept) {
  return [method](IParserRefitter& self, nb::handle model, nb::object path) {
    const Buffer bytes(model);
    const std::string modelPath = path.is_none() ? "" : nb::cast<std::string>(nb::str(path));
    const Unlocked unlocked;
    return (self.*method)(bytes.view.buf, static_cast<size_t>(bytes.view.len),
                          modelPath.empty() ? nullptr : modelPath.c_str());
  };
}

// `data` is an address or an object with a buffer; either must live until the engine is refitted.
bool loadInitializer(nb::handle_t<IParserRefitter> self, const char* name, nb::object data,
                     size_t size) {
  auto& refitter = nb::cast<IParserRefitter&>(self);
  if (nb::isinstance<nb::int_>(data))
    return refitter.loadInitializer(name, reinterpret_cast<const void*>(nb::cast<uintptr_t>(data)),
                                    size);
  const Buffer bytes(data);
  if (static_cast<size_t>(bytes.view.len) != size)
    throw nb::value_error("size is not the number of bytes of data");
  const bool ok = refitter.loadInitializer(name, bytes.view.buf, size);
  if (ok) hold(self.attr("_refitter"), std::string("initializer_") + name, data);
  return ok;
}

// After OnnxParserRefitter(refitter, logger).
struct HoldsRefitter {
  static void precall(PyObject**, size_t, nb::detail::cleanup_list*) {}
  static void postcall(PyObject** args, size_t, PyObject* parser) {
    if (parser && nb::isinstance<IParserRefitter>(parser)) hold(parser, "refitter", args[1]);
  }
};

void bindParserRefitter(nb::module_& m) {
  nb::class_<IParserRefitter>(m, "OnnxParserRefitter", nb::dynamic_attr())
      .def(nb::new_([](IRefitter& refitter, ILogger& logger) {
             return checked("OnnxParserRefitter", [&] {
               return nvonnxparser::createParserRefitter(refitter, remembering(logger));
             });
           }),
           "refitter"_a, "logger"_a, nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>(),
           nb::call_policy<HoldsRefitter>())
      .def("refit_from_bytes", withModel(&IParserRefitter::refitFromBytes), "model"_a,
           "path"_a = nb::none())
      .def(
          "refit_from_file",
          [](IParserRefitter& self, nb::object model) {
            const std::string path = nb::cast<std::string>(nb::str(model));
            const Unlocked unlocked;
            return self.refitFromFile(path.c_str());
          },
          "model"_a)
      .def("load_model_proto", withModel(&IParserRefitter::loadModelProto), "model"_a,
           "path"_a = nb::none())
      .def("load_initializer", &loadInitializer, "name"_a, "data"_a, "size"_a)
      .def("refit_model_proto",
           [](IParserRefitter& self) {
             const Unlocked unlocked;
             return self.refitModelProto();
           })
      .def_prop_ro("num_errors", &IParserRefitter::getNbErrors)
      .def(
          "get_error",
          [](const IParserRefitter& self, int32_t index) {
            const IParserError* error = self.getError(index);
            if (!error) throw nb::index_error();
            return error;
          },
          "index"_a, nb::rv_policy::reference_internal)
      .def("clear_errors", [](IParserRefitter& self) { self.clearErrors(); });
}

}  // namespace

void bindRefit(nb::module_& m) {
  bindRefitter(m);
  bindParserRefitter(m);
}

}  // namespace camshaft::python
