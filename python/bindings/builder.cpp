// Builder and optimisation profiles.
#include "CamshaftFiles.h"
#include "bindings.h"

namespace camshaft::python {

using namespace nvinfer1;

namespace {

constexpr OptProfileSelector kSelectors[] = {OptProfileSelector::kMIN, OptProfileSelector::kOPT,
                                             OptProfileSelector::kMAX};

// TensorRT's profiles raise as well.
void require(bool ok, const char* call) {
  if (ok) return;
  raiseReason(call);
  throw nb::value_error("the profile does not take these sizes; the log says why");
}

void writeBytes(nb::object path, nb::handle data) {
  const std::string name = nb::cast<std::string>(nb::str(path));
  const Bytes bytes(data);
  checked("write_file",
          [&] { return writeFile(name.c_str(), bytes.data(), bytes.size(), quietLogger()); });
}

void bindFileWriter(nb::module_& m) {
  nb::class_<IFileWriter, IStreamWriter>(m, "FileWriter",
                                         "A file to stream into, such as an engine that is built: "
                                         "it is never in memory as a whole. It "
                                         "takes the place of the file at `path` at commit().")
      .def(nb::new_([](nb::object path) {
             const std::string name = nb::cast<std::string>(nb::str(path));
             return checked("FileWriter",
                            [&] { return createFileWriter(name.c_str(), quietLogger()); });
           }),
           "path"_a)
      .def(
          "write",
          [](IFileWriter& self, nb::handle data) {
            const Bytes bytes(data);
            const auto size = static_cast<int64_t>(bytes.size());
            checked("write", [&] { return self.write(bytes.data(), size) == size; });
            return size;
          },
          "data"_a)
      .def("commit",
           [](IFileWriter& self) { checkedUnlocked("commit", [&] { return self.commit(); }); })
      .def_prop_ro("is_good", &IFileWriter::isGood, "False once a write has failed.");
}

void bindProfile(nb::module_& m) {
  nb::class_<IOptimizationProfile>(m, "IOptimizationProfile")
      .def(
          "set_shape",
          [](IOptimizationProfile& self, const char* input, const Dims& min, const Dims& opt,
             const Dims& max) {
            forgetReason();
            const Dims* dims[] = {&min, &opt, &max};
            for (int i = 0; i < 3; ++i)
              require(self.setDimensions(input, kSelectors[i], *dims[i]), "set_shape");
          },
          "input"_a, "min"_a, "opt"_a, "max"_a)
      .def(
          "get_shape",
          [](const IOptimizationProfile& self, const char* input) {
            nb::list shapes;
            if (self.getDimensions(input, OptProfileSelector::kMIN).nbDims < 0) return shapes;
            for (auto select : kSelectors) shapes.append(self.getDimensions(input, select));
            return shapes;
          },
          "input"_a)
      .def(
          "set_shape_input",
          [](IOptimizationProfile& self, const char* input, const std::vector<int64_t>& min,
             const std::vector<int64_t>& opt, const std::vector<int64_t>& max) {
            forgetReason();
            const std::vector<int64_t>* values[] = {&min, &opt, &max};
            for (int i = 0; i < 3; ++i)
              require(self.setShapeValuesV2(input, kSelectors[i], values[i]->data(),
                                            static_cast<int32_t>(values[i]->size())),
                      "set_shape_input");
          },
          "input"_a, "min"_a, "opt"_a, "max"_a)
      .def(
          "get_shape_input",
          [](const IOptimizationProfile& self, const char* input) {
            nb::list all;
            const int32_t count = self.getNbShapeValues(input);
            for (auto select : kSelectors) {
              if (count < 0) break;
              const int64_t* values = self.getShapeValuesV2(input, select);
              if (!values && count > 0)
                throw nb::value_error(
                    "the shape input was not given as many values for min and max as for opt");
              all.append(values ? std::vector<int64_t>(values, values + count)
                                : std::vector<int64_t>());
            }
            return all;
          },
          "input"_a)
      .def_prop_rw("extra_memory_target", &IOptimizationProfile::getExtraMemoryTarget,
                   raising(&IOptimizationProfile::setExtraMemoryTarget))
      .def("__nonzero__", &IOptimizationProfile::isValid)
      .def("__bool__", &IOptimizationProfile::isValid);
}

}  // namespace

void bindBuilder(nb::module_& m) {
  bindProfile(m);
  bindFileWriter(m);
  m.def(
      "write_file", &writeBytes, "path"_a, "data"_a,
      "Writes a new file beside `path` and renames it: whatever fails, the old one is as it was.");
  nb::class_<IBuilder> c(m, "Builder", nb::dynamic_attr());
  bindLifetime(c, "def __enter__(self) -> Builder");
  c.def(nb::new_([](ILogger& logger) {
          return checked("Builder", [&] { return createInferBuilder(remembering(logger)); });
        }),
        "logger"_a, nb::keep_alive<0, 2>())
      .def(
          "create_network",
          [](IBuilder& self, NetworkDefinitionCreationFlags flags) {
            return checked("create_network", [&] { return self.createNetworkV2(flags); });
          },
          "flags"_a = 0, nb::rv_policy::take_ownership, nb::keep_alive<0, 1>())
      .def(
          "create_builder_config",
          [](IBuilder& self) {
            return checked("create_builder_config", [&] { return self.createBuilderConfig(); });
          },
          nb::rv_policy::take_ownership, nb::keep_alive<0, 1>())
      .def(
          "create_optimization_profile",
          [](IBuilder& self) {
            return checked("create_optimization_profile",
                           [&] { return self.createOptimizationProfile(); });
          },
          nb::rv_policy::reference_internal)
      .def(
          "build_serialized_network",
          [](IBuilder& self, INetworkDefinition& network, IBuilderConfig& config) {
            return checkedUnlocked("build_serialized_network",
                                   [&] { return self.buildSerializedNetwork(network, config); });
          },
          "network"_a, "config"_a, nb::rv_policy::take_ownership)
      .def(
          "build_serialized_network_to_stream",
          [](IBuilder& self, INetworkDefinition& network, IBuilderConfig& config,
             IStreamWriter& writer) {
            return checkedUnlocked("build_serialized_network_to_stream", [&] {
              return self.buildSerializedNetworkToStream(network, config, writer);
            });
          },
          "network"_a, "config"_a, "writer"_a)
      .def(
          "build_engine_with_config",
          [](IBuilder& self, INetworkDefinition& network, IBuilderConfig& config) {
            return checkedUnlocked("build_engine_with_config",
                                   [&] { return self.buildEngineWithConfig(network, config); });
          },
          "network"_a, "config"_a, nb::rv_policy::take_ownership, nb::keep_alive<0, 1>())
      .def_prop_ro("platform_has_fast_fp16", &IBuilder::platformHasFastFp16)
      .def_prop_ro("platform_has_fast_int8", &IBuilder::platformHasFastInt8)
      .def_prop_ro("platform_has_tf32", &IBuilder::platformHasTf32)
      .def_prop_ro("max_DLA_batch_size", &IBuilder::getMaxDLABatchSize)
      .def_prop_ro("num_DLA_cores", &IBuilder::getNbDLACores)
      .def("is_network_supported", &IBuilder::isNetworkSupported, "network"_a, "config"_a)
      .def_prop_ro(
          "logger", [](const IBuilder& self) { return loggerOf(self.getLogger()); },
          nb::rv_policy::reference)
      .def_prop_rw("max_threads", &IBuilder::getMaxThreads, raising(&IBuilder::setMaxThreads))
      .def_prop_rw("gpu_allocator", nullptr, raising(&IBuilder::setGpuAllocator),
                   nb::for_setter(nb::keep_alive<1, 2>()), nb::for_setter(nb::arg().none()))
      .def_prop_rw("error_recorder", &IBuilder::getErrorRecorder, &IBuilder::setErrorRecorder,
                   nb::for_setter(nb::keep_alive<1, 2>()), nb::for_setter(nb::arg().none()))
      .def("get_plugin_registry", &IBuilder::getPluginRegistry, nb::rv_policy::reference)
      .def("reset", &IBuilder::reset);
}

}  // namespace camshaft::python
