// The style of TensorRT 8 and before, which tutorials still teach: inputs and outputs by number,
// and addresses as a list. Each call works, and warns with the name of what took its place.
#include <nanobind/stl/variant.h>

#include <memory>

#include "bindings.h"

namespace camshaft::python {

using namespace nvinfer1;

namespace {

using Binding = std::variant<int32_t, std::string>;  // number or name

void older(const char* call, const char* instead) {
  if (PyErr_WarnFormat(PyExc_DeprecationWarning, 1, "%s is of TensorRT 8 and before: use %s", call,
                       instead) != 0)
    throw nb::python_error();
}

std::string nameAt(const ICudaEngine& engine, int32_t index) {
  const int32_t count = engine.getNbIOTensors();
  if (index < 0 || index >= count)
    throw nb::index_error(("the engine has " + std::to_string(count) +
                           " inputs and outputs: there is no number " + std::to_string(index))
                              .c_str());
  return engine.getIOTensorName(index);
}

int32_t indexOf(const ICudaEngine& engine, const std::string& name) {
  for (int32_t i = 0; i < engine.getNbIOTensors(); ++i)
    if (name == engine.getIOTensorName(i)) return i;
  return -1;
}

std::string nameOf(const ICudaEngine& engine, const Binding& binding) {
  if (const auto* index = std::get_if<int32_t>(&binding)) return nameAt(engine, *index);
  const std::string& name = std::get<std::string>(binding);
  if (indexOf(engine, name) < 0)
    throw nb::key_error(("the engine has no input or output '" + name + "'").c_str());
  return name;
}

int64_t elementBits(DataType type) {
  return static_cast<int64_t>(nb::cast<double>(nb::cast(type).attr("itemsize")) * 8);
}

// A size that the data decides becomes its bound, so that a buffer of the shape is large enough.
// Where several sizes are open, the first stands for all of them.
Dims bounded(Dims shape, const IExecutionContext& context, const std::string& name) {
  const ICudaEngine& engine = context.getEngine();
  if (engine.getTensorIOMode(name.c_str()) != TensorIOMode::kOUTPUT) return shape;
  int64_t known = 1;
  int32_t open = -1;
  for (int32_t i = shape.nbDims - 1; i >= 0; --i) {
    if (shape.d[i] >= 0) {
      known *= shape.d[i];
    } else {
      shape.d[i] = 1;
      open = i;
    }
  }
  if (open < 0 || known == 0) return shape;
  const int64_t bytes = context.getMaxOutputSize(name.c_str());
  const int64_t bits = elementBits(engine.getTensorDataType(name.c_str()));
  shape.d[open] = bytes > 0 ? (bytes * 8 + bits * known - 1) / (bits * known) : -1;
  return shape;
}

bool allInputsAreFixed(const ICudaEngine& engine) {
  for (int32_t i = 0; i < engine.getNbIOTensors(); ++i) {
    const char* name = engine.getIOTensorName(i);
    if (engine.getTensorIOMode(name) != TensorIOMode::kINPUT) continue;
    const Dims shape = engine.getTensorShape(name);
    for (int32_t d = 0; d < shape.nbDims; ++d)
      if (shape.d[d] < 0) return false;
  }
  return true;
}

Dims engineShape(ICudaEngine& self, const Binding& binding) {
  older("get_binding_shape", "get_tensor_shape");
  const std::string name = nameOf(self, binding);
  const Dims shape = self.getTensorShape(name.c_str());
  bool open = false;
  for (int32_t i = 0; i < shape.nbDims; ++i) open = open || shape.d[i] < 0;
  // Sizes of inputs that are open stay -1, and so do those that follow from them.
  if (!open || !allInputsAreFixed(self)) return shape;
  const std::unique_ptr<IExecutionContext> context(
      self.createExecutionContext(ExecutionContextAllocationStrategy::kUSER_MANAGED));
  return context ? bounded(shape, *context, name) : shape;
}

bool executeAsync(IExecutionContext& self, const std::vector<nb::object>& bindings, Stream stream) {
  older("execute_async_v2", "set_tensor_address and execute_async_v3");
  const ICudaEngine& engine = self.getEngine();
  const auto count = static_cast<size_t>(engine.getNbIOTensors());
  if (bindings.size() < count)
    throw nb::value_error(("bindings has " + std::to_string(bindings.size()) + " addresses, for " +
                           std::to_string(count) + " inputs and outputs")
                              .c_str());
  for (size_t i = 0; i < count; ++i) {
    void* memory = PyLong_AsVoidPtr(nb::int_(bindings[i]).ptr());
    if (PyErr_Occurred()) throw nb::python_error();
    const char* name = engine.getIOTensorName(static_cast<int32_t>(i));
    if (!checked("execute_async_v2", [&] { return self.setTensorAddress(name, memory); }))
      return false;
  }
  return checkedUnlocked("execute_async_v2", [&] { return self.enqueueV3(stream.handle); });
}

template <class T>
nb::class_<T> classOf() {
  return nb::borrow<nb::class_<T>>(nb::type<T>());
}

void bindOlderBuilder() {
  classOf<IBuilderConfig>().def_prop_rw(
      "max_workspace_size",
      [](const IBuilderConfig& self) {
        older("max_workspace_size", "get_memory_pool_limit");
        return self.getMemoryPoolLimit(MemoryPoolType::kWORKSPACE);
      },
      [](IBuilderConfig& self, std::size_t size) {
        older("max_workspace_size", "set_memory_pool_limit");
        raising (&IBuilderConfig::setMemoryPoolLimit)(self, MemoryPoolType::kWORKSPACE, size);
      });
  classOf<IBuilder>()
      .def(
          "build_engine",
          [](IBuilder& self, INetworkDefinition& network, IBuilderConfig& config) {
            older("build_engine", "build_serialized_network");
            return checkedUnlocked("build_engine",
                                   [&] { return self.buildEngineWithConfig(network, config); });
          },
          "network"_a, "config"_a, nb::rv_policy::take_ownership, nb::keep_alive<0, 1>())
      // Batches are a dimension like any other, so the number is kept and changes nothing.
      .def_prop_rw(
          "max_batch_size",
          [](nb::handle self) {
            older("max_batch_size", "optimisation profiles");
            return nb::getattr(self, "_max_batch_size", nb::int_(1));
          },
          [](nb::handle self, int32_t size) {
            older("max_batch_size", "optimisation profiles");
            if (size < 1) throw nb::value_error("max_batch_size must be at least 1");
            hold(self, "max_batch_size", nb::int_(size));
          },
          nb::for_getter(nb::sig("def max_batch_size(self) -> int")));
}

void bindOlderEngine() {
  classOf<ICudaEngine>()
      .def("__len__", &ICudaEngine::getNbIOTensors)  // asked for by list(engine), which warns
      .def("__getitem__", &nameAt, "index"_a)
      .def(
          "__getitem__",
          [](const ICudaEngine& self, const std::string& name) {
            older("engine[name]", "names of tensors");
            return indexOf(self, nameOf(self, name));
          },
          "name"_a)
      .def(
          "__iter__",
          [](const ICudaEngine& self) {
            older("iterating an engine", "num_io_tensors and get_tensor_name");
            nb::list names;
            for (int32_t i = 0; i < self.getNbIOTensors(); ++i)
              names.append(textOf(self.getIOTensorName(i)));
            return nb::iter(names);
          },
          nb::sig("def __iter__(self) -> typing.Iterator[str]"))
      .def_prop_ro("max_batch_size",
                   [](const ICudaEngine&) {
                     older("max_batch_size", "the dimensions of tensors");
                     return 1;
                   })
      .def("get_binding_shape", &engineShape, "binding"_a)
      .def(
          "get_binding_dtype",
          [](const ICudaEngine& self, const Binding& binding) {
            older("get_binding_dtype", "get_tensor_dtype");
            return self.getTensorDataType(nameOf(self, binding).c_str());
          },
          "binding"_a)
      .def(
          "get_binding_name",
          [](const ICudaEngine& self, int32_t index) {
            older("get_binding_name", "get_tensor_name");
            return nameAt(self, index);
          },
          "index"_a)
      .def(
          "get_binding_index",
          [](const ICudaEngine& self, const std::string& name) {
            older("get_binding_index", "names of tensors");
            return indexOf(self, name);
          },
          "name"_a)
      .def(
          "binding_is_input",
          [](const ICudaEngine& self, const Binding& binding) {
            older("binding_is_input", "get_tensor_mode");
            return self.getTensorIOMode(nameOf(self, binding).c_str()) == TensorIOMode::kINPUT;
          },
          "binding"_a)
      .def(
          "get_profile_shape",
          [](nb::handle_t<ICudaEngine> self, int32_t profile, const Binding& binding) {
            older("get_profile_shape", "get_tensor_profile_shape");
            const std::string name = nameOf(nb::cast<const ICudaEngine&>(self), binding);
            return nb::cast<nb::list>(self.attr("get_tensor_profile_shape")(name, profile));
          },
          "profile_index"_a, "binding"_a);
}

void bindOlderContext() {
  classOf<IExecutionContext>()
      .def(
          "set_binding_shape",
          [](IExecutionContext& self, const Binding& binding, const Dims& shape) {
            older("set_binding_shape", "set_input_shape");
            return self.setInputShape(nameOf(self.getEngine(), binding).c_str(), shape);
          },
          "binding"_a, "shape"_a)
      .def(
          "get_binding_shape",
          [](const IExecutionContext& self, const Binding& binding) {
            older("get_binding_shape", "get_tensor_shape");
            const std::string name = nameOf(self.getEngine(), binding);
            return bounded(self.getTensorShape(name.c_str()), self, name);
          },
          "binding"_a)
      .def("execute_async_v2", &executeAsync, "bindings"_a, "stream_handle"_a)
      .def("execute_async_v2", &executeAsync, "bindings"_a, "stream"_a);
}

}  // namespace

void bindOlderStyle() {
  bindOlderBuilder();
  bindOlderEngine();
  bindOlderContext();
}

}  // namespace camshaft::python
