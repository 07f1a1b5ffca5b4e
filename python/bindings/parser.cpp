// The ONNX parser.
#include "bindings.h"

namespace camshaft::python {

using namespace nvinfer1;
using nvonnxparser::IParser;
using nvonnxparser::IParserError;

namespace {

// Calls a method of the parser that takes a model and the path it came from.
auto withModel(bool (IParser::*method)(const void*, size_t, const char*) noexcept) {
  return [method](IParser& self, nb::handle model, nb::object path) {
    const Bytes bytes(model);
    const std::string modelPath = path.is_none() ? "" : nb::cast<std::string>(nb::str(path));
    const Unlocked unlocked;
    return (self.*method)(bytes.data(), bytes.size(),
                          modelPath.empty() ? nullptr : modelPath.c_str());
  };
}

nb::list functionStack(const IParserError& error) {
  nb::list names;
  for (int32_t i = 0; i < error.localFunctionStackSize(); ++i)
    names.append(textOf(error.localFunctionStack()[i]));
  return names;
}

nb::list subgraphNodes(IParser& self, int64_t index) {
  int64_t length = 0;
  const int64_t* nodes = self.getSubgraphNodes(index, length);
  if (!nodes) throw nb::index_error();
  nb::list list;
  for (int64_t i = 0; i < length; ++i) list.append(nodes[i]);
  return list;
}

// (whether all of it is supported, [([nodes], whether these are), ...])
nb::tuple supportsModel(IParser& self, nb::handle model, nb::object path) {
  const bool supported = withModel(&IParser::supportsModelV2)(self, model, path);
  nb::list subgraphs;
  for (int64_t i = 0; i < self.getNbSubgraphs(); ++i)
    subgraphs.append(nb::make_tuple(subgraphNodes(self, i), self.isSubgraphSupported(i)));
  return nb::make_tuple(supported, subgraphs);
}

// `data` is an address, which must live until the network is built, or an object with a buffer,
// which the network keeps.
bool loadInitializer(nb::handle_t<IParser> self, const char* name, nb::object data, size_t size) {
  auto& parser = nb::cast<IParser&>(self);
  if (nb::isinstance<nb::int_>(data))
    return parser.loadInitializer(name, reinterpret_cast<const void*>(nb::cast<uintptr_t>(data)),
                                  size);
  const Bytes bytes(data);
  if (bytes.size() != size) throw nb::value_error("size is not the number of bytes of data");
  const bool ok = parser.loadInitializer(name, bytes.data(), size);
  if (ok) hold(self.attr("_network"), std::string("initializer_") + name, data);
  return ok;
}

// After OnnxParser(network, logger).
struct HoldsNetwork {
  static void precall(PyObject**, size_t, nb::detail::cleanup_list*) {}
  static void postcall(PyObject** args, size_t, PyObject* parser) {
    if (parser && nb::isinstance<IParser>(parser)) hold(parser, "network", args[1]);
  }
};

}  // namespace

void bindParser(nb::module_& m) {
  nb::class_<IParserError>(m, "ParserError")
      .def("code", &IParserError::code)
      .def("desc", text(&IParserError::desc))
      .def("file", &IParserError::file)
      .def("line", &IParserError::line)
      .def("func", &IParserError::func)
      .def("node", &IParserError::node)
      .def("node_name", text(&IParserError::nodeName))
      .def("node_operator", text(&IParserError::nodeOperator))
      .def("local_function_stack", &functionStack)
      .def("local_function_stack_size", &IParserError::localFunctionStackSize)
      .def("__str__", text(&IParserError::desc))
      .def("__repr__", text(&IParserError::desc));

  nb::class_<IParser> c(m, "OnnxParser", nb::dynamic_attr());
  bindLifetime(c, "def __enter__(self) -> OnnxParser");
  c.def(nb::new_([](INetworkDefinition& network, ILogger& logger) {
          return checked("OnnxParser",
                         [&] { return nvonnxparser::createParser(network, remembering(logger)); });
        }),
        "network"_a, "logger"_a, nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>(),
        nb::call_policy<HoldsNetwork>())
      .def("parse", withModel(&IParser::parse), "model"_a, "path"_a = nb::none())
      .def(
          "parse_with_weight_descriptors",
          [](IParser& self, nb::handle model) {
            return withModel(&IParser::parse)(self, model, nb::none());
          },
          "model"_a)
      .def(
          "parse_from_file",
          [](IParser& self, nb::object model) {
            const std::string path = nb::cast<std::string>(nb::str(model));
            const Unlocked unlocked;
            return self.parseFromFile(path.c_str(), 0);
          },
          "model"_a)
      .def("supports_operator", &IParser::supportsOperator, "op_name"_a)
      .def("supports_model", &supportsModel, "model"_a, "path"_a = nb::none())
      .def("supports_model_v2", withModel(&IParser::supportsModelV2), "model"_a,
           "path"_a = nb::none())
      .def_prop_ro("num_subgraphs", &IParser::getNbSubgraphs)
      .def("is_subgraph_supported", &IParser::isSubgraphSupported, "index"_a)
      .def("get_subgraph_nodes", &subgraphNodes, "index"_a)
      .def("load_model_proto", withModel(&IParser::loadModelProto), "model"_a,
           "path"_a = nb::none())
      .def("load_initializer", &loadInitializer, "name"_a, "data"_a, "size"_a)
      .def("parse_model_proto", &IParser::parseModelProto, nb::call_guard<Unlocked>())
      .def(
          "get_layer_output_tensor",
          [](IParser& self, const char* name, int64_t i) {
            return const_cast<ITensor*>(self.getLayerOutputTensor(name, i));
          },
          "name"_a, "i"_a, nb::rv_policy::reference_internal)
      .def("get_used_vc_plugin_libraries",
           [](const IParser& self) {
             int64_t count = 0;
             const char* const* paths = self.getUsedVCPluginLibraries(count);
             nb::list list;
             for (int64_t i = 0; i < count; ++i) list.append(paths[i]);
             return list;
           })
      .def_prop_ro("num_errors", &IParser::getNbErrors)
      .def(
          "get_error",
          [](const IParser& self, int index) {
            const IParserError* error = self.getError(index);
            if (!error) throw nb::index_error();
            return error;
          },
          "index"_a, nb::rv_policy::reference_internal)
      .def("clear_errors", &IParser::clearErrors)
      .def_prop_rw("flags", &IParser::getFlags, &IParser::setFlags)
      .def("set_flag", &IParser::setFlag, "flag"_a)
      .def("clear_flag", &IParser::clearFlag, "flag"_a)
      .def("get_flag", &IParser::getFlag, "flag"_a)
      .def("set_builder_config", &IParser::setBuilderConfig, "builder_config"_a);
}

}  // namespace camshaft::python
