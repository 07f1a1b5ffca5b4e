#include "fuzz/engine_mutator.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace camshaft::fuzz {
namespace {

template <class T>
T* anyOf(Random& random, std::vector<T>& list) {
  return list.empty() ? nullptr : &list[below(random, list.size())];
}

int64_t oddNumber(Random& random, int64_t near) {
  static constexpr int64_t kOdd[] = {0,         1,         -1,        2,         7,
                                     64,        4096,      1 << 20,   1ll << 31, 1ll << 40,
                                     1ll << 62, INT64_MAX, INT64_MIN, -64};
  switch (below(random, 3)) {
    case 0:
      return kOdd[below(random, std::size(kOdd))];
    case 1:  // round an end of the numbers too
      return static_cast<int64_t>(static_cast<uint64_t>(near) + below(random, 5) - 2);
    default:
      return static_cast<int64_t>(below(random, 12));
  }
}

template <class T>
void changeNumber(Random& random, T& number) {
  number = static_cast<T>(oddNumber(random, static_cast<int64_t>(number)));
}

template <class T>
void changeNumbers(Random& random, std::vector<T>& numbers) {
  T* number = anyOf(random, numbers);
  if (!number || oneIn(random, 8)) return numbers.push_back(static_cast<T>(oddNumber(random, 1)));
  if (oneIn(random, 8)) return numbers.pop_back();
  changeNumber(random, *number);
}

void changeDim(Random& random, const Plan& plan, DimRef& dim) {
  if (oneIn(random, 2))
    dim = {.constant = oddNumber(random, dim.constant)};
  else
    dim.slot = static_cast<int32_t>(below(random, plan.profiles[0].slotCount + 2)) - 1;
}

void changeTensor(Random& random, const Plan& plan, TensorDesc& tensor) {
  switch (below(random, 6)) {
    case 0:
      tensor.type = static_cast<DataType>(below(random, kDataTypeCount + 1));
      break;
    case 1:
      tensor.dims.push_back({.constant = oddNumber(random, 2)});
      break;
    case 2:
      if (!tensor.dims.empty()) tensor.dims.pop_back();
      break;
    case 3:
      if (DimRef* dim = anyOf(random, tensor.dims)) std::swap(*dim, *anyOf(random, tensor.dims));
      break;
    default:
      if (DimRef* dim = anyOf(random, tensor.dims)) changeDim(random, plan, *dim);
  }
}

// An offset some blocks of 64 bytes further, from one that may be any number.
int64_t shifted(int64_t offset, int64_t blocks) {
  return static_cast<int64_t>(static_cast<uint64_t>(offset) + 64 * static_cast<uint64_t>(blocks));
}

void changeOperand(Random& random, const Plan& plan, Operand& operand) {
  switch (below(random, 6)) {
    case 0:
      operand.place = static_cast<Place>(below(random, 8));
      break;
    case 1:
      changeNumber(random, operand.offset);
      break;
    case 2:
      operand.offset = shifted(operand.offset, static_cast<int64_t>(below(random, 9)) - 4);
      break;
    case 3:
      changeNumber(random, operand.index);
      break;
    default:
      changeTensor(random, plan, operand.tensor);
  }
}

void changeOperands(Random& random, const Plan& plan, std::vector<Operand>& operands) {
  Operand* operand = anyOf(random, operands);
  if (!operand || oneIn(random, 8)) return operands.push_back(operand ? *operand : Operand{});
  switch (below(random, 6)) {
    case 0:
      operands.erase(operands.begin() + (operand - operands.data()));
      break;
    case 1:
      std::swap(*operand, *anyOf(random, operands));
      break;
    default:
      changeOperand(random, plan, *operand);
  }
}

// One operand of the step where another one lies.
void lay(Random& random, Step& step) {
  std::vector<Operand*> all;
  for (Operand& input : step.inputs) all.push_back(&input);
  for (Operand& output : step.outputs) all.push_back(&output);
  all.push_back(&step.workspace);
  Operand &moved = **anyOf(random, all), &there = **anyOf(random, all);
  moved.place = there.place;
  moved.index = there.index;
  moved.offset = shifted(there.offset, static_cast<int64_t>(below(random, 3)));
}

void changeParams(Random& random, Step& step) {
  std::vector<std::byte>& params = step.params;
  if (params.empty() || oneIn(random, 10)) return params.resize(below(random, 64));
  const size_t at = below(random, params.size());
  switch (below(random, 5)) {
    case 0:
      params.resize(at);
      break;
    case 1:
      params[at] = static_cast<std::byte>(random());
      break;
    case 2:
      params[at] ^= static_cast<std::byte>(1 << below(random, 8));
      break;
    case 3: {  // parameters as text have digits
      const auto isDigit = [](std::byte b) { return b >= std::byte{'0'} && b <= std::byte{'9'}; };
      const auto digit =
          std::find_if(params.begin() + static_cast<int64_t>(at), params.end(), isDigit);
      if (digit != params.end()) *digit = static_cast<std::byte>('0' + below(random, 10));
      break;
    }
    default: {
      const int64_t number = oddNumber(random, 3);
      const size_t width = oneIn(random, 2) ? 8 : 4, start = at / width * width;
      std::memcpy(params.data() + start, &number, std::min(width, params.size() - start));
    }
  }
}

void stealKernel(Random& random, Step& step, const std::vector<Step>& donors) {
  if (donors.empty()) return;
  const Step& donor = donors[below(random, donors.size())];
  step.kernel = donor.kernel;
  if (!oneIn(random, 4)) step.params = donor.params;
  if (oneIn(random, 8)) step.kernel += "x";
}

void changeInstruction(Random& random, DimInstruction& instruction) {
  int32_t* const fields[] = {&instruction.target, &instruction.a, &instruction.b};
  changeNumber(random, *fields[below(random, 3)]);
  if (oneIn(random, 2)) instruction.op = static_cast<DimOp>(below(random, 7));
  if (oneIn(random, 2)) changeNumber(random, instruction.constant);
}

void changeRange(Random& random, InputRange& range) {
  std::vector<int64_t>* const bounds[] = {&range.min, &range.opt, &range.max};
  changeNumbers(random, *bounds[below(random, 3)]);
}

// An enemy would rather have none.
void changeChecks(Random& random, const Plan& plan, std::vector<SizeCheck>& checks) {
  SizeCheck* check = anyOf(random, checks);
  if (!check || oneIn(random, 2)) return checks.clear();
  if (oneIn(random, 2)) check->relation = static_cast<SizeRelation>(below(random, 8));
  changeDim(random, plan, oneIn(random, 2) ? check->a : check->b);
}

void changeProfile(Random& random, Plan& plan, ProfilePlan& profile) {
  switch (below(random, 10)) {
    case 0:
      return changeNumber(random, profile.slotCount);
    case 1:
      return changeNumber(random, profile.firstPhaseEnd);
    case 2:
      return changeNumber(random, profile.arenaBytes);
    case 3:
      if (DimInstruction* i = anyOf(random, profile.dimProgram)) changeInstruction(random, *i);
      return;
    case 4:
      if (InputRange* range = anyOf(random, profile.inputs)) changeRange(random, *range);
      return;
    case 5:
      if (TensorDesc* output = anyOf(random, profile.outputs)) changeTensor(random, plan, *output);
      return;
    case 6:
      return changeNumbers(random, profile.outputMaxBytes);
    case 7:
      return changeNumbers(random, profile.hostDynamicBuffers);
    case 8:
      return changeChecks(random, plan, profile.sizeChecks);
    default:
      if (DimRef* buffer = anyOf(random, profile.dynamicBuffers))
        changeDim(random, plan, *buffer);
      else
        profile.dynamicBuffers.push_back({.constant = 64});
  }
}

void changeBinding(Random& random, Step& step) {
  switch (below(random, 6)) {
    case 0:
      return changeNumbers(random, step.bindSlots);
    case 1:
      return changeNumbers(random, step.bindMin);
    case 2:
      return changeNumbers(random, step.bindMax);
    case 3:
      return changeNumber(random, oneIn(random, 2) ? step.dimBegin : step.dimEnd);
    case 4:
      return changeNumbers(random, step.bodies);
    default:
      return changeNumber(random, step.carried);
  }
}

void changeStep(Random& random, Plan& plan, Step& step, const std::vector<Step>& donors) {
  switch (below(random, 13)) {
    case 0:
      step.kind = static_cast<StepKind>(below(random, 6));
      return;
    case 1:
      return stealKernel(random, step, donors);
    case 2:
    case 3:
      return changeParams(random, step);
    case 4:
    case 5:
      return changeOperands(random, plan, step.inputs);
    case 6:
    case 7:
      return changeOperands(random, plan, step.outputs);
    case 8:
      if (DimRef* dim = anyOf(random, step.dimArgs)) changeDim(random, plan, *dim);
      return;
    case 9:
      return lay(random, step);
    case 10:
    case 11:
      if (runsBodies(step) || !step.bindSlots.empty()) return changeBinding(random, step);
      return lay(random, step);
    default:
      return changeOperand(random, plan, step.workspace);
  }
}

}  // namespace

void changePlan(Random& random, Plan& plan, const std::vector<Step>& donors) {
  if (!plan.bodies.empty() && oneIn(random, 2))
    return changePlan(random, **anyOf(random, plan.bodies), donors);
  if (plan.profiles.empty()) return;
  ProfilePlan& profile = *anyOf(random, plan.profiles);
  Step* step = anyOf(random, profile.steps);
  switch (below(random, 14)) {
    case 0:
      return changeProfile(random, plan, profile);
    case 1:
      if (IoTensor* input = anyOf(random, plan.inputs)) changeTensor(random, plan, input->tensor);
      return;
    case 2:
      if (IoTensor* output = anyOf(random, plan.outputs))
        changeTensor(random, plan, output->tensor);
      return;
    case 3:
      if (step) std::swap(*step, *anyOf(random, profile.steps));
      return;
    case 4:
      if (step) profile.steps.erase(profile.steps.begin() + (step - profile.steps.data()));
      return;
    default:
      if (step) changeStep(random, plan, *step, donors);
  }
}

}  // namespace camshaft::fuzz
