// infer() in the usual case: numpy arrays of the types and shapes that the context has, on a host.
// Everything else, errors too, is inference.py's.
#include <algorithm>
#include <utility>
#include <vector>

#include "bindings.h"

namespace camshaft::python {

using namespace nvinfer1;

namespace {

// The memory of an array; none where it is not in one piece.
class ArrayMemory {
 public:
  explicit ArrayMemory(nb::handle array) {
    isThere_ = PyObject_GetBuffer(array.ptr(), &view_, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) == 0;
    if (!isThere_) PyErr_Clear();
  }
  ArrayMemory(ArrayMemory&& other) noexcept
      : view_(other.view_), isThere_(std::exchange(other.isThere_, false)) {}
  ArrayMemory(const ArrayMemory&) = delete;
  ArrayMemory& operator=(const ArrayMemory&) = delete;
  ~ArrayMemory() {
    if (isThere_) PyBuffer_Release(&view_);
  }

  void* data() const { return view_.buf; }
  bool has(DataType type, const Dims& dims) const {
    if (!isThere_ || view_.ndim != dims.nbDims || !isOf(type)) return false;
    for (int i = 0; i < dims.nbDims; ++i)
      if (view_.shape[i] != dims.d[i]) return false;
    return reinterpret_cast<uintptr_t>(view_.buf) % static_cast<size_t>(view_.itemsize) == 0;
  }

 private:
  // By the letters of Python's struct module, in the machine's own byte order.
  bool isOf(DataType type) const {
    const char letter = view_.format && view_.format[1] == 0 ? view_.format[0] : 0;
    switch (type) {
      case DataType::kFLOAT:
        return letter == 'f';
      case DataType::kHALF:
        return letter == 'e';
      case DataType::kINT64:
        return (letter == 'l' || letter == 'q') && view_.itemsize == 8;
      case DataType::kINT32:
        return letter == 'i' && view_.itemsize == 4;
      case DataType::kINT8:
        return letter == 'b';
      case DataType::kUINT8:
        return letter == 'B';
      case DataType::kBOOL:
        return letter == '?';
      default:
        return false;
    }
  }

  Py_buffer view_;
  bool isThere_;
};

const char* numpyName(DataType type) {
  switch (type) {
    case DataType::kFLOAT:
      return "f4";
    case DataType::kHALF:
      return "f2";
    case DataType::kINT64:
      return "i8";
    case DataType::kINT32:
      return "i4";
    case DataType::kINT8:
      return "i1";
    case DataType::kUINT8:
      return "u1";
    case DataType::kBOOL:
      return "?";
    default:
      return nullptr;
  }
}

// Addresses that are the context's own again when the run is over.
class LentAddresses {
 public:
  explicit LentAddresses(IExecutionContext& context) : context_(context) {}
  LentAddresses(const LentAddresses&) = delete;
  LentAddresses& operator=(const LentAddresses&) = delete;
  ~LentAddresses() {
    for (const auto& [name, address] : before_)
      context_.setTensorAddress(name, const_cast<void*>(address));
  }
  bool lend(const char* name, void* address) {
    before_.emplace_back(name, context_.getTensorAddress(name));
    return context_.setTensorAddress(name, address);
  }

 private:
  IExecutionContext& context_;
  std::vector<std::pair<const char*, const void*>> before_;
};

nb::object newArray(const Dims& dims, const char* type) {
  nb::object shape = nb::steal(PyTuple_New(dims.nbDims));
  for (int i = 0; i < dims.nbDims; ++i)
    PyTuple_SET_ITEM(shape.ptr(), i, PyLong_FromLongLong(dims.d[i]));
  // Kept for good, as modules are.
  static PyObject* const make =
      nb::object(nb::module_::import_("camshaft._memory").attr("empty")).release().ptr();
  return nb::handle(make)(shape, type);
}

// None where the case is not the usual one; nothing has run then.
nb::object inferOnHost(IExecutionContext& context, const nb::dict& inputs) {
  const ICudaEngine& engine = context.getEngine();
  if (engine.getDevice()) return nb::none();
  std::vector<ArrayMemory> arrays;
  LentAddresses addresses(context);
  nb::dict outputs;
  size_t given = 0;
  for (int32_t i = 0; i < engine.getNbIOTensors(); ++i) {
    const char* name = engine.getIOTensorName(i);
    const DataType type = engine.getTensorDataType(name);
    const Dims dims = context.getTensorShape(name);
    const char* numpyType = numpyName(type);
    const bool isKnown = dims.nbDims >= 0 && std::none_of(dims.d, dims.d + dims.nbDims,
                                                          [](int64_t size) { return size < 0; });
    if (!numpyType || !isKnown) return nb::none();
    nb::object array;
    if (engine.getTensorIOMode(name) == TensorIOMode::kINPUT) {
      PyObject* value = PyDict_GetItem(inputs.ptr(), textOf(name).ptr());
      if (!value) return nb::none();
      array = nb::borrow(value);
      ++given;
    } else {
      if (context.getOutputAllocator(name)) return nb::none();
      array = newArray(dims, numpyType);
      outputs[textOf(name)] = array;
    }
    arrays.emplace_back(array);
    if (!arrays.back().has(type, dims) || !addresses.lend(name, arrays.back().data()))
      return nb::none();
  }
  if (given != inputs.size()) return nb::none();
  checkedUnlocked("infer", [&] { return context.enqueueV3(nullptr); });
  return outputs;
}

}  // namespace

void bindInference(nb::module_& m) {
  m.def("_infer_on_host", &inferOnHost, "context"_a, "inputs"_a);
}

}  // namespace camshaft::python
