#include <cstring>

#include "engine/engine_file.h"
#include "engine/file_layout.h"
#include "engine/validate.h"
#include "engine_generated.h"
#include "support/aligned_buffer.h"
#include "support/error.h"
#include "support/hash.h"
#include "support/mapped_file.h"

namespace camshaft {
namespace {

[[noreturn]] void damaged(std::string_view what) {
  fail(ErrorKind::kInvalidEngine, "the engine is damaged: ", what, "; build it again");
}

EngineHeader readHeader(std::span<const std::byte> bytes) {
  EngineHeader header;
  if (bytes.size() < sizeof header)
    fail(ErrorKind::kInvalidEngine, "the engine is ", bytes.size(),
         " bytes long, too short to be one");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != kEngineMagic)
    fail(ErrorKind::kInvalidEngine,
         "this is not a Camshaft engine (TensorRT plans and ONNX files must be built first: "
         "trtexec --onnx=model.onnx --saveEngine=model.engine)");
  if (header.format != kEngineFormat)
    fail(ErrorKind::kInvalidEngine, "the engine has format ", header.format,
         " and this version reads format ", kEngineFormat, "; build it again with this version");
  if (header.fileBytes != bytes.size())
    damaged(str("it should be ", header.fileBytes, " bytes long and is ", bytes.size()));
  for (const EngineSection& section : {header.plan, header.weights, header.inspection})
    if (section.offset % kSectionAlignment != 0 || section.offset > bytes.size() ||
        section.size > bytes.size() - section.offset)
      damaged("a section lies outside the file");
  return header;
}

uint64_t hashWithout(std::span<const std::byte> bytes, EngineHeader header) {
  header.hash = 0;
  Hasher hasher;
  hasher.update(std::as_bytes(std::span(&header, 1)));
  hasher.update(bytes.subspan(sizeof header));
  return hasher.digest();
}

std::string toText(const flatbuffers::String* text) { return text ? text->str() : std::string(); }

// The verifier leaves this out for the elements of vectors. Empty ones are written anywhere.
template <class T>
void requireAligned(const flatbuffers::Vector<T>* values) {
  constexpr size_t kAlignment = alignof(std::remove_pointer_t<T>);
  if (values && values->size() > 0 && reinterpret_cast<uintptr_t>(values->Data()) % kAlignment != 0)
    damaged("a table is misaligned");
}

template <class T>
std::vector<T> toVector(const flatbuffers::Vector<T>* values) {
  requireAligned(values);
  return values ? std::vector<T>(values->begin(), values->end()) : std::vector<T>();
}

std::vector<std::string> toTexts(
    const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* values) {
  std::vector<std::string> texts;
  if (values)
    for (const auto* text : *values) texts.push_back(text->str());
  return texts;
}

template <class Table, class F>
auto toList(const flatbuffers::Vector<flatbuffers::Offset<Table>>* values, F&& one) {
  std::vector<decltype(one(values->Get(0)))> list;
  if (values)
    for (const Table* value : *values) list.push_back(one(value));
  return list;
}

std::vector<DimRef> toDims(const flatbuffers::Vector<const fb::DimRef*>* values) {
  std::vector<DimRef> dims;
  requireAligned(values);
  if (values)
    for (const fb::DimRef* dim : *values) dims.push_back({dim->constant(), dim->slot()});
  return dims;
}

TensorDesc toTensor(const fb::TensorDesc* table) {
  if (!table) return {};
  return {static_cast<DataType>(table->type()), toDims(table->dims())};
}

Operand toOperand(const fb::Operand* table) {
  if (!table) return {};
  return {static_cast<Place>(table->place()), table->offset(), table->index(),
          toTensor(table->tensor())};
}

std::vector<std::byte> toBytes(const flatbuffers::Vector<uint8_t>* values) {
  if (!values) return {};
  const auto* data = reinterpret_cast<const std::byte*>(values->data());
  return {data, data + values->size()};
}

Step toStep(const fb::Step* table) {
  Step step;
  step.kind = static_cast<StepKind>(table->kind());
  step.name = toText(table->name());
  step.kernel = toText(table->kernel());
  step.params = toBytes(table->params());
  step.binary = table->binary();
  step.inputs = toList(table->inputs(), toOperand);
  step.outputs = toList(table->outputs(), toOperand);
  step.dimArgs = toDims(table->dim_args());
  step.workspace = toOperand(table->workspace());
  step.bindSlots = toVector(table->bind_slots());
  step.bindMin = toVector(table->bind_min());
  step.bindMax = toVector(table->bind_max());
  step.dimBegin = table->dim_begin();
  step.dimEnd = table->dim_end();
  step.bodies = toVector(table->bodies());
  step.carried = table->carried();
  return step;
}

IoTensor toIo(const fb::IoTensor* table) {
  return {toText(table->name()),    toTensor(table->tensor()), table->is_input(),
          table->is_shape_tensor(), table->is_on_host(),       toTexts(table->dim_names())};
}

SizeCheck toSizeCheck(const fb::SizeCheck* table) {
  if (!table->a() || !table->b()) damaged("a condition on sizes is incomplete");
  return {static_cast<SizeRelation>(table->relation()),
          {table->a()->constant(), table->a()->slot()},
          {table->b()->constant(), table->b()->slot()},
          toText(table->before()),
          toText(table->between()),
          toText(table->after())};
}

ProfilePlan toProfile(const fb::Profile* table) {
  ProfilePlan profile;
  profile.inputs = toList(table->inputs(), [](const fb::InputRange* range) {
    return InputRange{toVector(range->min()), toVector(range->opt()), toVector(range->max())};
  });
  profile.slotCount = table->slot_count();
  requireAligned(table->dim_program());
  if (table->dim_program())
    for (const fb::DimInstruction* i : *table->dim_program())
      profile.dimProgram.push_back(
          {static_cast<DimOp>(i->op()), i->target(), i->a(), i->b(), i->constant()});
  profile.firstPhaseEnd = table->first_phase_end();
  profile.steps = toList(table->steps(), toStep);
  profile.outputs = toList(table->outputs(), toTensor);
  profile.outputMaxBytes = toVector(table->output_max_bytes());
  profile.dynamicBuffers = toDims(table->dynamic_buffers());
  profile.hostDynamicBuffers = toVector(table->host_dynamic_buffers());
  profile.arenaBytes = table->arena_bytes();
  profile.hostArenaBytes = table->host_arena_bytes();
  profile.runsBranches = table->runs_branches();
  profile.sizeChecks = toList(table->size_checks(), toSizeCheck);
  return profile;
}

void readInspection(const fb::Inspection* table, Plan& plan) {
  if (!table->profiles() || table->profiles()->size() != plan.profiles.size())
    damaged("its inspection record is incomplete");
  for (size_t p = 0; p < plan.profiles.size(); ++p) {
    const auto* steps = table->profiles()->Get(static_cast<uint32_t>(p))->steps();
    if (!steps || steps->size() != plan.profiles[p].steps.size())
      damaged("its inspection record is incomplete");
    for (size_t s = 0; s < steps->size(); ++s) {
      const fb::StepInfo* info = steps->Get(static_cast<uint32_t>(s));
      plan.profiles[p].steps[s].info = {
          toText(info->layer_type()), toTexts(info->origins()), toText(info->why()),
          toList(info->alternatives(),
                 [](const fb::Alternative* a) {
                   return StepInfo::Alternative{toText(a->kernel()), a->milliseconds(),
                                                toText(a->note())};
                 }),
          info->milliseconds()};
    }
  }
  const size_t bodies = table->bodies() ? table->bodies()->size() : 0;
  if (bodies != plan.bodies.size()) damaged("its inspection record is incomplete");
  for (size_t b = 0; b < bodies; ++b)
    readInspection(table->bodies()->Get(static_cast<uint32_t>(b)), *plan.bodies[b]);
}

// Bodies nest no deeper than the verifier lets tables nest.
Plan toPlan(const fb::Plan* table) {
  Plan plan;
  plan.networkName = toText(table->network_name());
  plan.device = toText(table->device());
  plan.builtFor = toText(table->built_for());
  plan.inputs = toList(table->inputs(), toIo);
  plan.outputs = toList(table->outputs(), toIo);
  plan.profiles = toList(table->profiles(), toProfile);
  plan.profilingVerbosity = table->profiling_verbosity();
  plan.binaries =
      toList(table->binaries(), [](const fb::Binary* binary) { return toBytes(binary->bytes()); });
  plan.bodies = toList(table->bodies(),
                       [](const fb::Plan* body) { return std::make_shared<Plan>(toPlan(body)); });
  return plan;
}

// A verified root table. The verifier wants aligned memory, so the (small) section is copied.
template <class Table>
const Table* root(std::span<const std::byte> bytes, const EngineSection& section,
                  AlignedBuffer& copy) {
  copy = AlignedBuffer(section.size);
  std::memcpy(copy.data(), bytes.data() + section.offset, section.size);
  const auto* data = reinterpret_cast<const uint8_t*>(copy.data());
  flatbuffers::Verifier verifier(data, section.size, 64, 100'000'000);
  if (!verifier.VerifyBuffer<Table>(nullptr)) damaged("a table does not verify");
  return flatbuffers::GetRoot<Table>(data);
}

}  // namespace

Plan readEngine(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  const EngineHeader header = readHeader(bytes);
  if (hashWithout(bytes, header) != header.hash) damaged("its checksum does not match");

  AlignedBuffer planBytes, inspectionBytes;
  const fb::Plan* table = root<fb::Plan>(bytes, header.plan, planBytes);
  Plan plan = toPlan(table);
  readInspection(root<fb::Inspection>(bytes, header.inspection, inspectionBytes), plan);

  std::span<const std::byte> weights = bytes.subspan(header.weights.offset, header.weights.size);
  const bool aligned = reinterpret_cast<uintptr_t>(weights.data()) % kSectionAlignment == 0;
  if (!owner || !aligned) {
    auto copy = std::make_shared<AlignedBuffer>(weights.size());
    if (!weights.empty()) std::memcpy(copy->data(), weights.data(), weights.size());
    weights = {copy->data(), header.weights.size};
    owner = std::move(copy);
  }
  setWeights(plan, weights, owner);
  validate(plan);
  return plan;
}

Plan readEngineFile(const std::string& path) {
  auto file = std::make_shared<MappedFile>(MappedFile::open(path));
  const std::span<const std::byte> bytes = file->bytes();
  return readEngine(bytes, std::move(file));
}

}  // namespace camshaft
