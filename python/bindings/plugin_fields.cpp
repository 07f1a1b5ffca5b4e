#include "plugin_fields.h"

namespace camshaft::python {

using namespace nvinfer1;

const PluginFieldCollection* Fields::assign(nb::handle collection) {
  names_.clear();
  arrays_.clear();
  fields_.clear();
  if (!collection.is_none()) {
    nb::object bytesOf = nb::module_::import_("camshaft._plugins").attr("_contents");
    for (nb::handle field : collection) {
      // (array of the elements side by side, how many there are)
      nb::object contents = bytesOf(field);
      names_.push_back(nb::cast<std::string>(nb::str(field.attr("name"))));
      arrays_.push_back(nb::object(contents[0]));
      fields_.emplace_back(names_.back().c_str(),
                           pointer(nb::cast<uintptr_t>(arrays_.back().attr("ctypes").attr("data"))),
                           nb::cast<PluginFieldType>(field.attr("type")),
                           nb::cast<int32_t>(contents[1]));
    }
  }
  collection_ = {static_cast<int32_t>(fields_.size()), fields_.data()};
  return &collection_;
}

nb::object fieldsOf(const PluginFieldCollection* collection) {
  nb::object make = nb::module_::import_("camshaft._plugins").attr("_field_at");
  nb::list fields;
  for (int32_t i = 0; collection && i < collection->nbFields; ++i) {
    const PluginField& field = collection->fields[i];
    fields.append(
        make(textOf(field.name ? field.name : ""), address(field.data), field.type, field.length));
  }
  return nb::module_::import_("camshaft").attr("PluginFieldCollection")(fields);
}

nb::list addressesOf(const void* const* pointers, int32_t count) {
  nb::list list;
  for (int32_t i = 0; i < count; ++i) list.append(address(pointers[i]));
  return list;
}

void bindPluginValues(nb::module_& m) {
  nb::class_<PluginTensorDesc>(m, "PluginTensorDesc")
      .def("__init__",
           [](PluginTensorDesc* self) { new (self) PluginTensorDesc{{}, {}, {}, 1.0F}; })
      .def_rw("dims", &PluginTensorDesc::dims)
      .def_rw("type", &PluginTensorDesc::type)
      .def_rw("format", &PluginTensorDesc::format)
      .def_rw("scale", &PluginTensorDesc::scale);
  nb::class_<DynamicPluginTensorDesc>(m, "DynamicPluginTensorDesc")
      .def("__init__", [](DynamicPluginTensorDesc* self) { new (self) DynamicPluginTensorDesc{}; })
      .def_rw("desc", &DynamicPluginTensorDesc::desc)
      .def_rw("min", &DynamicPluginTensorDesc::min)
      .def_rw("opt", &DynamicPluginTensorDesc::opt)
      .def_rw("max", &DynamicPluginTensorDesc::max);
  nb::class_<IPluginResourceContext>(m, "IPluginResourceContext")
      .def_prop_ro("gpu_allocator", &IPluginResourceContext::getGpuAllocator,
                   nb::rv_policy::reference)
      .def_prop_ro("error_recorder", &IPluginResourceContext::getErrorRecorder,
                   nb::rv_policy::reference);
}

}  // namespace camshaft::python
