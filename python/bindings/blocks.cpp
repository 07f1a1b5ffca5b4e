// Blocks of layers: conditionals and loops.
#include "bindings.h"

namespace camshaft::python {

using namespace nvinfer1;

namespace {

void bindConditionals(nb::module_& m) {
  nb::class_<IIfConditional> c(m, "IIfConditional");
  c.def_prop_rw("name", text(&IIfConditional::getName), raising(&IIfConditional::setName));
  nb::class_<IIfConditionalBoundaryLayer, ILayer>(m, "IIfConditionalBoundaryLayer")
      .def_prop_ro("conditional", &IIfConditionalBoundaryLayer::getConditional,
                   nb::rv_policy::reference_internal);
  nb::class_<IConditionLayer, IIfConditionalBoundaryLayer>(m, "IConditionLayer");
  nb::class_<IIfConditionalInputLayer, IIfConditionalBoundaryLayer>(m, "IIfConditionalInputLayer");
  nb::class_<IIfConditionalOutputLayer, IIfConditionalBoundaryLayer>(m,
                                                                     "IIfConditionalOutputLayer");
  add(
      c, "set_condition",
      [](IIfConditional& self, ITensor& condition) {
        return checked("set_condition", [&] { return self.setCondition(condition); });
      },
      "condition"_a);
  add(
      c, "add_output",
      [](IIfConditional& self, ITensor& whenTrue, ITensor& whenFalse) {
        return checked("add_output", [&] { return self.addOutput(whenTrue, whenFalse); });
      },
      "true_subgraph_output"_a, "false_subgraph_output"_a);
  add(
      c, "add_input",
      [](IIfConditional& self, ITensor& input) {
        return checked("add_input", [&] { return self.addInput(input); });
      },
      "input"_a);
}

void bindLoops(nb::module_& m) {
  nb::class_<ILoop> c(m, "ILoop");
  c.def_prop_rw("name", text(&ILoop::getName), raising(&ILoop::setName));
  nb::class_<ILoopBoundaryLayer, ILayer>(m, "ILoopBoundaryLayer")
      .def_prop_ro("loop", &ILoopBoundaryLayer::getLoop, nb::rv_policy::reference_internal);
  nb::class_<IRecurrenceLayer, ILoopBoundaryLayer>(m, "IRecurrenceLayer");
  nb::class_<ITripLimitLayer, ILoopBoundaryLayer>(m, "ITripLimitLayer")
      .def_prop_ro("kind", &ITripLimitLayer::getTripLimit);
  nb::class_<IIteratorLayer, ILoopBoundaryLayer>(m, "IIteratorLayer")
      .def_prop_rw("axis", &IIteratorLayer::getAxis, raising(&IIteratorLayer::setAxis))
      .def_prop_rw("reverse", &IIteratorLayer::getReverse, raising(&IIteratorLayer::setReverse));
  nb::class_<ILoopOutputLayer, ILoopBoundaryLayer>(m, "ILoopOutputLayer")
      .def_prop_rw("axis", &ILoopOutputLayer::getAxis, raising(&ILoopOutputLayer::setAxis))
      .def_prop_ro("kind", &ILoopOutputLayer::getLoopOutput);
  add(
      c, "add_recurrence",
      [](ILoop& self, ITensor& initial) {
        return checked("add_recurrence", [&] { return self.addRecurrence(initial); });
      },
      "initial_value"_a);
  add(
      c, "add_trip_limit",
      [](ILoop& self, ITensor& tensor, TripLimit kind) {
        return checked("add_trip_limit", [&] { return self.addTripLimit(tensor, kind); });
      },
      "tensor"_a, "kind"_a);
  add(
      c, "add_iterator",
      [](ILoop& self, ITensor& tensor, int32_t axis, bool reverse) {
        return checked("add_iterator", [&] { return self.addIterator(tensor, axis, reverse); });
      },
      "tensor"_a, "axis"_a = 0, "reverse"_a = false);
  add(
      c, "add_loop_output",
      [](ILoop& self, ITensor& tensor, LoopOutput kind, int32_t axis) {
        return checked("add_loop_output", [&] { return self.addLoopOutput(tensor, kind, axis); });
      },
      "tensor"_a, "kind"_a, "axis"_a = 0);
}

}  // namespace

void bindBlocks(nb::module_& m) {
  bindConditionals(m);
  bindLoops(m);
}

}  // namespace camshaft::python
