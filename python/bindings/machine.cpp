// What Camshaft finds on this machine.
#include <memory>

#include "CamshaftMachine.h"
#include "bindings.h"

namespace camshaft::python {

void bindMachine(nb::module_& m) {
  m.def("describe_machine", [] {
    const std::unique_ptr<nvinfer1::IHostMemory> text(
        checkedUnlocked("describe_machine", [] { return describeMachine(quietLogger()); }));
    return std::string(static_cast<const char*>(text->data()), text->size());
  });
}

}  // namespace camshaft::python
