#include "engine/validate.h"

#include <algorithm>
#include <vector>

#include "support/text.h"

namespace camshaft {
namespace {

struct Fault {
  std::string what;
};

class Validator {
 public:
  explicit Validator(const Plan& plan) : plan_(plan) {}

  void run() {
    require(!plan_.profiles.empty(), "it has no profile");
    for (const IoTensor& input : plan_.inputs) checkDims(input.tensor, "an input");
    for (const IoTensor& output : plan_.outputs) {
      checkDims(output.tensor, "an output");
      require(output.aliasedInput == -1 || isIndex(output.aliasedInput, plan_.inputs.size()),
              "an output is an input that does not exist");
    }
    for (const std::shared_ptr<Plan>& body : plan_.bodies) {
      require(body->profiles.size() == 1, "a body has not one profile");
      require(!body->hasDeviceMemory || body->device == plan_.device,
              "a body is for another device");
    }
    for (const ProfilePlan& profile : plan_.profiles) checkProfile(profile);
    // Shared bodies would be run, shown and allocated once per way that leads to them.
    std::sort(bodiesRun_.begin(), bodiesRun_.end());
    require(std::adjacent_find(bodiesRun_.begin(), bodiesRun_.end()) == bodiesRun_.end(),
            "two steps run the same body");
    for (const std::shared_ptr<Plan>& body : plan_.bodies) Validator(*body).run();
  }

 private:
  static void require(bool holds, std::string_view what) {
    if (!holds) throw Fault{std::string(what)};
  }

  void checkProfile(const ProfilePlan& profile) {
    profile_ = &profile;
    checkSlots(profile);
    require(profile.inputs.size() == plan_.inputs.size(), "a profile lacks inputs");
    require(profile.outputs.size() == plan_.outputs.size() &&
                profile.outputMaxBytes.size() == plan_.outputs.size(),
            "a profile lacks outputs");
    for (size_t i = 0; i < profile.outputs.size(); ++i)
      require(profile.outputs[i].type == plan_.outputs[i].tensor.type &&
                  profile.outputs[i].dims.size() == plan_.outputs[i].tensor.dims.size(),
              "a profile gives an output another type");
    for (int64_t bytes : {profile.arenaBytes, profile.hostArenaBytes})
      require(bytes >= 0 && bytes < (int64_t{1} << 46), "its arena size is out of range");
    isHostBuffer_.assign(profile.dynamicBuffers.size(), false);
    for (int32_t index : profile.hostDynamicBuffers) {
      require(isIndex(index, isHostBuffer_.size()), "a host buffer does not exist");
      isHostBuffer_[index] = true;
    }
    for (size_t i = 0; i < profile.inputs.size(); ++i) {
      const InputRange& range = profile.inputs[i];
      const size_t rank = plan_.inputs[i].tensor.dims.size();
      require(range.min.size() == rank && range.opt.size() == rank && range.max.size() == rank,
              "a profile's rank is wrong");
      for (size_t d = 0; d < rank; ++d)
        require(0 <= range.min[d] && range.min[d] <= range.max[d],
                "a profile's bounds are inverted");
      for (const DimRef& dim : plan_.inputs[i].tensor.dims) checkDim(dim);
      require(plan_.inputs[i].dimNames.size() == rank, "an input lacks dimension names");
    }
    const size_t inputs = profile.inputValues.size(), outputs = profile.outputValues.size();
    require((inputs == 0 || inputs == plan_.inputs.size()) &&
                (outputs == 0 || outputs == plan_.outputs.size()),
            "a profile lacks values");
    for (size_t i = 0; i < plan_.inputs.size(); ++i)
      checkValues(plan_.inputs[i], inputs == 0 ? InputRange() : profile.inputValues[i]);
    for (size_t i = 0; i < outputs; ++i) {
      const std::vector<DimRef>& values = profile.outputValues[i];
      require(values.empty() || isVector(plan_.outputs[i].tensor, values.size()),
              "an output holds other values than it has room for");
      for (const DimRef& value : values) checkDim(value);
    }
    for (const TensorDesc& output : profile.outputs) checkDims(output, "an output");
    for (const DimRef& dim : profile.dynamicBuffers) checkDim(dim);
    for (const SizeCheck& check : profile.sizeChecks) {
      require(check.relation <= kLastSizeRelation, "a condition on sizes is unknown");
      checkDim(check.a);
      checkDim(check.b);
    }
    const auto programSize = static_cast<int64_t>(profile.dimProgram.size());
    require(profile.firstPhaseEnd >= 0 && profile.firstPhaseEnd <= programSize,
            "its dimension program is cut");
    for (const DimInstruction& instruction : profile.dimProgram) checkInstruction(instruction);
    for (const Step& step : profile.steps) {
      try {
        checkStep(step, programSize);
      } catch (const Fault& fault) {
        throw Fault{str("layer '", step.name, "': ", fault.what)};
      }
    }
  }

  // The host reads the values of a shape tensor.
  void checkValues(const IoTensor& input, const InputRange& range) {
    const size_t count = input.valueSlots.size();
    for (int32_t slot : input.valueSlots) require(isSlot(slot), "a value's slot is out of range");
    require(range.min.size() == count && range.opt.size() == count && range.max.size() == count,
            "a profile's values are not as many as the tensor has");
    require(
        count == 0 || (isVector(input.tensor, count) && (input.isOnHost || !plan_.hasDeviceMemory)),
        "a shape tensor is no vector of integers on the host");
  }
  static bool isVector(const TensorDesc& tensor, size_t count) {
    if (tensor.type != DataType::kI64 && tensor.type != DataType::kI32) return false;
    if (tensor.dims.empty()) return count == 1;
    return tensor.dims.size() == 1 && tensor.dims[0].isConstant() &&
           tensor.dims[0].constant == static_cast<int64_t>(count);
  }

  // Every slot is written by one input dimension, bound element or instruction, so that a size once
  // known stays what it is. Inputs may share one.
  void checkSlots(const ProfilePlan& profile) {
    std::vector<int32_t> inputSlots, others;
    for (const IoTensor& input : plan_.inputs)
      for (const DimRef& dim : input.tensor.dims)
        if (!dim.isConstant()) inputSlots.push_back(dim.slot);
    for (const IoTensor& input : plan_.inputs)
      others.insert(others.end(), input.valueSlots.begin(), input.valueSlots.end());
    for (const DimInstruction& instruction : profile.dimProgram)
      others.push_back(instruction.target);
    for (const Step& step : profile.steps)
      others.insert(others.end(), step.bindSlots.begin(), step.bindSlots.end());
    std::sort(inputSlots.begin(), inputSlots.end());
    inputSlots.erase(std::unique(inputSlots.begin(), inputSlots.end()), inputSlots.end());
    others.insert(others.end(), inputSlots.begin(), inputSlots.end());
    std::sort(others.begin(), others.end());
    require(std::adjacent_find(others.begin(), others.end()) == others.end(),
            "a dimension slot is written twice");
    require(profile.slotCount >= 0 && static_cast<size_t>(profile.slotCount) <= others.size(),
            "its slot count is out of range");
  }

  void checkInstruction(const DimInstruction& instruction) {
    require(instruction.op <= DimOp::kBroadcast, "a dimension instruction is unknown");
    require(isSlot(instruction.target), "a dimension slot is out of range");
    const bool isConstant = instruction.op == DimOp::kConstant;
    require(isConstant ? instruction.a == -1 && instruction.b == -1
                       : isSlot(instruction.a) && isSlot(instruction.b),
            "a dimension slot is out of range");
  }

  void checkStep(const Step& step, int64_t programSize) {
    require(step.kind <= StepKind::kObserve, "a step is of an unknown kind");
    require(step.binary == -1 || isIndex(step.binary, plan_.binaries.size()),
            "a step's device code is not there");
    for (const Operand& input : step.inputs) checkOperand(input);
    for (const Operand& output : step.outputs) {
      checkOperand(output);
      require(output.place != Place::kWeights && output.place != Place::kInput,
              "a step writes to read-only memory");
    }
    checkOperand(step.workspace);
    if (step.workspace.place != Place::kNone) {
      require(step.workspace.place == Place::kArena || step.workspace.place == Place::kHostArena ||
                  step.workspace.place == Place::kDynamic,
              "a workspace is misplaced");
      require(step.workspace.tensor.dims.size() == 1 && step.workspace.tensor.type == DataType::kU8,
              "a workspace has no size");
    }
    for (const DimRef& dim : step.dimArgs) checkDim(dim);
    for (int32_t slot : step.bindSlots) require(isSlot(slot), "a bind slot is out of range");
    require(0 <= step.dimBegin && step.dimBegin <= step.dimEnd && step.dimEnd <= programSize,
            "its dimension program is cut");
    require(step.bindMin.size() == step.bindSlots.size() &&
                step.bindMax.size() == step.bindSlots.size(),
            "a bind step has no bounds");
    require(runsBodies(step) || step.bodies.empty(), "it has bodies that it does not run");
    bodiesRun_.insert(bodiesRun_.end(), step.bodies.begin(), step.bodies.end());
    if (step.kind == StepKind::kBindDims) checkBind(step);
    if (step.kind == StepKind::kIf) checkIf(step);
    if (step.kind == StepKind::kLoop) checkLoop(step);
    if (step.kind == StepKind::kObserve)
      require(step.inputs.size() == 1 && step.inputs[0].place != Place::kNone &&
                  step.outputs.empty() && step.bindSlots.empty(),
              "an observed tensor is not there");
    if (step.kind == StepKind::kCopy)
      checkCopy(step);
    else
      checkSide(step);
  }

  // Where the plan's device has memory of its own, a step works on one side: the host's, or the
  // device's, but for what the host leads it by.
  void checkSide(const Step& step) {
    if (!plan_.hasDeviceMemory) return;
    const auto isOnHost = [&](const Operand& operand) {  // isHostOperand() would search
      return operand.place == Place::kDynamic ? isHostBuffer_[operand.index]
                                              : isHostOperand(plan_, *profile_, operand);
    };
    const auto check = [&](const Operand& operand, bool onHost) {
      require(operand.place == Place::kNone || operand.place == Place::kWeights ||
                  isOnHost(operand) == onHost,
              "a step reaches for memory of the other side");
    };
    const bool onHost = isHostStep(plan_, step);
    for (size_t i = 0; i < step.inputs.size(); ++i)
      check(step.inputs[i], readsOnHost(plan_, step, i));
    for (const Operand& output : step.outputs) check(output, onHost);
    check(step.workspace, onHost);
  }

  void checkCopy(const Step& step) {
    require(plan_.hasDeviceMemory, "a copy has no other side");
    require(step.inputs.size() == 1 && step.outputs.size() == 1, "a copy has no operands");
    require(step.inputs[0].tensor.type == step.outputs[0].tensor.type &&
                step.inputs[0].tensor.dims == step.outputs[0].tensor.dims,
            "a copy changes its tensor");
  }

  void checkBind(const Step& step) {
    require(step.inputs.size() == 1 && step.inputs[0].place != Place::kNone,
            "a bind step has no input");
    const TensorDesc& tensor = step.inputs[0].tensor;
    require(tensor.type == DataType::kI64 || tensor.type == DataType::kI32,
            "a bind step reads no integers");
    int64_t count = 1;
    for (const DimRef& dim : tensor.dims) {
      require(dim.isConstant() && dim.constant >= 0 && dim.constant <= 4096,
              "a bind step's size is not fixed");
      count *= dim.constant;
    }
    require(count >= static_cast<int64_t>(step.bindSlots.size()),
            "a bind step reads past its input");
  }

  const Plan& bodyOf(const Step& step, size_t index) {
    require(isIndex(step.bodies[index], plan_.bodies.size()), "a step's body is not there");
    return *plan_.bodies[step.bodies[index]];
  }

  // Sizes are compared as the step runs.
  static void checkPassed(const Operand& operand, const IoTensor& io, size_t moreDims = 0) {
    require(operand.place != Place::kNone && operand.tensor.type == io.tensor.type &&
                operand.tensor.dims.size() == io.tensor.dims.size() + moreDims,
            "an operand of a body is not what the body takes or gives");
  }

  static bool isScalar(const Operand& operand, DataType type) {
    return operand.tensor.type == type && isScalar(operand.tensor);
  }
  static bool isScalar(const TensorDesc& tensor) {
    return std::all_of(tensor.dims.begin(), tensor.dims.end(),
                       [](const DimRef& dim) { return dim.isConstant() && dim.constant == 1; });
  }

  void checkIf(const Step& step) {
    require(step.bodies.size() == 2, "a branch has not two bodies");
    size_t next = 1;
    require(!step.inputs.empty() && step.inputs[0].place != Place::kNone &&
                isScalar(step.inputs[0], DataType::kBool),
            "a branch has no condition");
    for (size_t b = 0; b < 2; ++b) {
      const Plan& body = bodyOf(step, b);
      require(step.inputs.size() - next >= body.inputs.size() &&
                  step.outputs.size() == body.outputs.size(),
              "a branch lacks operands");
      for (const IoTensor& input : body.inputs) checkPassed(step.inputs[next++], input);
      for (size_t i = 0; i < body.outputs.size(); ++i)
        checkPassed(step.outputs[i], body.outputs[i]);
    }
    require(next == step.inputs.size(), "a branch has operands that neither body takes");
    require(bodyOf(step, 0).hasDeviceMemory == bodyOf(step, 1).hasDeviceMemory,
            "a branch has bodies on both sides");
  }

  void checkLoop(const Step& step) {
    require(step.bodies.size() == 1, "a loop has not one body");
    const Plan& body = bodyOf(step, 0);
    const auto carried = static_cast<size_t>(step.carried);
    require(step.carried >= 0 && body.inputs.size() == step.inputs.size() &&
                body.inputs.size() >= 2 + carried && step.outputs.size() >= carried &&
                body.outputs.size() >= step.outputs.size() &&
                body.outputs.size() <= step.outputs.size() + 1,
            "a loop lacks operands");
    const size_t conditions = body.outputs.size() - step.outputs.size();
    for (size_t i = 0; i < 2; ++i) {
      const DataType type = i == 0 ? DataType::kI64 : DataType::kBool;
      require(step.inputs[i].place == Place::kNone || isScalar(step.inputs[i], type),
              "a loop's limits are no scalars");
      require(body.inputs[i].tensor.type == type && isScalar(body.inputs[i].tensor),
              "a loop's body takes no iteration");
    }
    for (size_t i = 0; i < 2 + carried && body.hasDeviceMemory; ++i)
      require(body.inputs[i].isOnHost == (i < 2), "a loop's values are on the wrong side");
    require(conditions == 0 || body.outputs[0].tensor.type == DataType::kBool,
            "a loop's body gives no condition");
    for (size_t i = 2; i < body.inputs.size(); ++i) checkPassed(step.inputs[i], body.inputs[i]);
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      checkPassed(step.outputs[i], body.outputs[conditions + i], i < carried ? 0 : 1);
      if (i < carried) checkPassed(step.outputs[i], body.inputs[2 + i]);
    }
  }

  void checkOperand(const Operand& operand) {
    checkDims(operand.tensor, "an operand");
    switch (operand.place) {
      case Place::kNone:
        return;
      case Place::kArena:
        return require(fits(operand, profile_->arenaBytes), "an operand lies outside the arena");
      case Place::kHostArena:
        return require(fits(operand, profile_->hostArenaBytes),
                       "an operand lies outside the host arena");
      case Place::kWeights:
        return require(fits(operand, static_cast<int64_t>(plan_.weights.size())),
                       "an operand lies outside the weights");
      case Place::kInput:
        return require(isIndex(operand.index, plan_.inputs.size()), "an operand names no input");
      case Place::kOutput:
        return require(isIndex(operand.index, plan_.outputs.size()), "an operand names no output");
      case Place::kDynamic:
        return require(isIndex(operand.index, profile_->dynamicBuffers.size()),
                       "an operand names no buffer");
    }
    require(false, "an operand is in an unknown place");
  }

  // Whether the operand lies in `size` bytes; sizes only known at run time are bounded by the
  // profile the arena was planned for.
  static bool fits(const Operand& operand, int64_t size) {
    if (operand.offset < 0 || operand.offset > size || operand.offset % 64 != 0) return false;
    int64_t count = 1;
    for (const DimRef& dim : operand.tensor.dims) {
      if (!dim.isConstant()) return true;
      if (dim.constant < 0 || __builtin_mul_overflow(count, dim.constant, &count)) return false;
    }
    if (count > size * 8) return false;
    return static_cast<int64_t>(bytesOf(operand.tensor.type, count)) <= size - operand.offset;
  }

  void checkDims(const TensorDesc& desc, std::string_view what) {
    require(static_cast<int>(desc.type) < kDataTypeCount, "an element type is unknown");
    require(desc.dims.size() <= kMostDims,
            str(what, " has ", desc.dims.size(), " dimensions, more than ", kMostDims));
    for (const DimRef& dim : desc.dims)
      require(!dim.isConstant() || dim.constant >= 0, str(what, " has a negative size"));
    if (profile_)
      for (const DimRef& dim : desc.dims) checkDim(dim);
  }

  void checkDim(const DimRef& dim) {
    require(dim.isConstant() || isSlot(dim.slot), "a dimension slot is out of range");
  }

  bool isSlot(int32_t slot) const { return slot >= 0 && slot < profile_->slotCount; }
  static bool isIndex(int32_t index, size_t size) {
    return index >= 0 && static_cast<size_t>(index) < size;
  }

  const Plan& plan_;
  const ProfilePlan* profile_ = nullptr;
  std::vector<bool> isHostBuffer_;  // by index, of the profile
  std::vector<int32_t> bodiesRun_;
};

}  // namespace

std::string faultOf(const Plan& plan) {
  try {
    Validator(plan).run();
  } catch (const Fault& fault) {
    return fault.what;
  }
  return {};
}

}  // namespace camshaft
