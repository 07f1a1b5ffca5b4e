// The ONNX parser.
#include "bindings.h"

namespace camshaft::python {

using namespace nvinfer1;
using nvonnxparser::IParser;
using nvonnxparser::IParserError;

void bindParser(nb::module_& m) {
  nb::class_<IParserError>(m, "ParserError")
      .def("code", &IParserError::code)
      .def("desc", &IParserError::desc)
      .def("file", &IParserError::file)
      .def("line", &IParserError::line)
      .def("func", &IParserError::func)
      .def("node", &IParserError::node)
      .def("node_name", &IParserError::nodeName)
      .def("node_operator", &IParserError::nodeOperator)
      .def("local_function_stack", [](const IParserError&) { return nb::list(); })
      .def("local_function_stack_size", &IParserError::localFunctionStackSize)
      .def("__str__", &IParserError::desc)
      .def("__repr__", &IParserError::desc);

  nb::class_<IParser>(m, "OnnxParser")
      .def(nb::new_([](INetworkDefinition& network, ILogger& logger) {
             return checked("OnnxParser", [&] { return nvonnxparser::createParser(network, remembering(logger)); });
           }), "network"_a, "logger"_a, nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>())
      .def("parse", [](IParser& self, nb::handle model, nb::object path) {
             Py_buffer view;
             if (PyObject_GetBuffer(model.ptr(), &view, PyBUF_SIMPLE) != 0) throw nb::python_error();
             const std::string modelPath = path.is_none() ? "" : nb::cast<std::string>(nb::str(path));
             bool ok = false;
             {
               nb::gil_scoped_release release;
               ok = self.parse(view.buf, static_cast<size_t>(view.len), modelPath.empty() ? nullptr : modelPath.c_str());
             }
             PyBuffer_Release(&view);
             return ok;
           }, "model"_a, "path"_a = nb::none())
      .def("parse_from_file", [](IParser& self, nb::object model) {
             const std::string path = nb::cast<std::string>(nb::str(model));
             nb::gil_scoped_release release;
             return self.parseFromFile(path.c_str(), 0);
           }, "model"_a)
      .def("supports_operator", &IParser::supportsOperator, "op_name"_a)
      .def_prop_ro("num_errors", &IParser::getNbErrors)
      .def("get_error", [](const IParser& self, int index) {
             const IParserError* error = self.getError(index);
             if (!error) throw nb::index_error();
             return error;
           }, "index"_a, nb::rv_policy::reference_internal)
      .def("clear_errors", &IParser::clearErrors)
      .def_prop_rw("flags", &IParser::getFlags, &IParser::setFlags)
      .def("set_flag", &IParser::setFlag, "flag"_a)
      .def("clear_flag", &IParser::clearFlag, "flag"_a)
      .def("get_flag", &IParser::getFlag, "flag"_a);
}

}  // namespace camshaft::python
