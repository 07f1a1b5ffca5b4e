#include <cstring>

#include "engine/tables.h"
#include "engine_generated.h"
#include "support/aligned_buffer.h"
#include "support/error.h"

namespace camshaft {
namespace {

[[noreturn]] void damaged(std::string_view what) {
  fail(ErrorKind::kInvalidEngine, "the engine is damaged: ", what, "; build it again");
}

// The verifier leaves this out for the elements of vectors. Empty ones are written anywhere.
template <class T>
void requireAligned(const flatbuffers::Vector<T>* values) {
  constexpr size_t kAlignment = alignof(std::remove_pointer_t<T>);
  if (values && values->size() > 0 && reinterpret_cast<uintptr_t>(values->Data()) % kAlignment != 0)
    damaged("a table is misaligned");
}

// Tables may point to the same string, vector or table many times, so that a small file could say
// very much. The writer never does that: whatever is read must have bytes of its own.
class TableReader {
 public:
  explicit TableReader(size_t bytes) : left_(bytes) {}

  // Bodies nest no deeper than the verifier lets tables nest.
  Plan plan(const fb::Plan* table) {
    charge(kLeastPlan);
    Plan plan;
    plan.networkName = text(table->network_name());
    plan.device = text(table->device());
    plan.hasDeviceMemory = table->has_device_memory();
    plan.builtFor = text(table->built_for());
    plan.inputs = list(table->inputs(), &TableReader::io);
    plan.outputs = list(table->outputs(), &TableReader::io);
    plan.profiles = list(table->profiles(), &TableReader::profile);
    plan.profilingVerbosity = table->profiling_verbosity();
    plan.binaries = list(table->binaries(), &TableReader::binary);
    plan.bodies = list(table->bodies(), &TableReader::body);
    plan.pluginLibraries = list(table->plugin_libraries(), &TableReader::library);
    plan.streamsWeights = table->streams_weights();
    return plan;
  }

  StoredRefit refit(const fb::Refit* table) {
    StoredRefit stored{.weightsBytes = table->weights_bytes(), .isStripped = table->is_stripped()};
    RefitRecord& record = stored.record;
    record.graph = text(table->graph());
    charge(table->sources());
    if (table->sources())
      for (const fb::SourceWeights* each : *table->sources()) {
        record.sources.push_back(source(each));
        stored.sources.push_back({each->offset(), each->in_weights()});
      }
    record.decisions = list(table->decisions(), &TableReader::decision);
    record.profiles = list(table->profiles(), &TableReader::shapeProfile);
    record.disabledPasses = texts(table->disabled_passes());
    record.workspaceLimit = table->workspace_limit();
    record.computeCapability = table->compute_capability();
    record.optimizationLevel = table->optimization_level();
    record.threads = table->threads();
    record.precisionRequests = table->precision_requests();
    record.allowTf32 = table->allow_tf32();
    record.allowF16 = table->allow_f16();
    record.allowBF16 = table->allow_bf16();
    record.gpus = table->gpus();
    record.observeUnfused = table->observe_unfused();
    record.plugins = list(table->plugins(), &TableReader::pluginRecord);
    return stored;
  }

  void inspection(const fb::Inspection* table, Plan& plan) {
    const size_t profiles = table->profiles() ? table->profiles()->size() : 0;
    const size_t bodies = table->bodies() ? table->bodies()->size() : 0;
    if (profiles != plan.profiles.size() || bodies != plan.bodies.size())
      damaged("its inspection record is incomplete");
    charge(table->profiles());
    charge(table->bodies());
    for (size_t p = 0; p < profiles; ++p) {
      std::vector<StepInfo> infos =
          list(table->profiles()->Get(static_cast<uint32_t>(p))->steps(), &TableReader::stepInfo);
      std::vector<Step>& steps = plan.profiles[p].steps;
      if (infos.size() != steps.size()) damaged("its inspection record is incomplete");
      for (size_t s = 0; s < steps.size(); ++s) steps[s].info = std::move(infos[s]);
    }
    for (size_t b = 0; b < bodies; ++b)
      inspection(table->bodies()->Get(static_cast<uint32_t>(b)), *plan.bodies[b]);
  }

 private:
  // What the writer spends on a table of some kind, whatever is in it.
  static constexpr size_t kLeastDimRefs = 8, kLeastTable = 12, kLeastOperand = 16, kLeastPlan = 32,
                          kLeastStep = 48;

  void charge(size_t bytes) {
    if (bytes > left_) damaged("its tables say more than they have bytes for");
    left_ -= bytes;
  }
  template <class T>
  void charge(const flatbuffers::Vector<T>* values) {
    using Element = std::remove_pointer_t<T>;
    if (values) charge(sizeof(uint32_t) + values->size() * sizeof(Element));
  }

  std::string text(const flatbuffers::String* value) {
    charge(value);
    return value ? value->str() : std::string();
  }

  std::vector<std::string> texts(
      const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* values) {
    charge(values);
    std::vector<std::string> texts;
    if (values)
      for (const auto* value : *values) texts.push_back(text(value));
    return texts;
  }

  template <class T>
  std::vector<T> numbers(const flatbuffers::Vector<T>* values) {
    charge(values);
    requireAligned(values);
    return values ? std::vector<T>(values->begin(), values->end()) : std::vector<T>();
  }

  std::vector<std::byte> bytes(const flatbuffers::Vector<uint8_t>* values) {
    charge(values);
    if (!values) return {};
    const auto* data = reinterpret_cast<const std::byte*>(values->data());
    return {data, data + values->size()};
  }

  template <class Table, class T>
  std::vector<T> list(const flatbuffers::Vector<flatbuffers::Offset<Table>>* values,
                      T (TableReader::*one)(const Table*)) {
    charge(values);
    std::vector<T> list;
    if (values)
      for (const Table* value : *values) list.push_back((this->*one)(value));
    return list;
  }

  std::vector<DimRef> dims(const flatbuffers::Vector<const fb::DimRef*>* values) {
    charge(values);
    requireAligned(values);
    std::vector<DimRef> dims;
    if (values)
      for (const fb::DimRef* dim : *values) dims.push_back({dim->constant(), dim->slot()});
    return dims;
  }

  TensorDesc tensor(const fb::TensorDesc* table) {
    if (!table) return {};
    return {static_cast<DataType>(table->type()), dims(table->dims())};
  }

  Operand operand(const fb::Operand* table) {
    if (!table) return {};
    charge(kLeastOperand);
    return {static_cast<Place>(table->place()), table->offset(), table->index(),
            tensor(table->tensor())};
  }

  Step step(const fb::Step* table) {
    charge(kLeastStep);
    Step step;
    step.kind = static_cast<StepKind>(table->kind());
    step.name = text(table->name());
    step.kernel = text(table->kernel());
    step.params = bytes(table->params());
    step.binary = table->binary();
    step.inputs = list(table->inputs(), &TableReader::operand);
    step.outputs = list(table->outputs(), &TableReader::operand);
    step.dimArgs = dims(table->dim_args());
    step.workspace = operand(table->workspace());
    step.bindSlots = numbers(table->bind_slots());
    step.bindMin = numbers(table->bind_min());
    step.bindMax = numbers(table->bind_max());
    step.dimBegin = table->dim_begin();
    step.dimEnd = table->dim_end();
    step.bodies = numbers(table->bodies());
    step.carried = table->carried();
    step.observed = {text(table->observed()), table->observed_unfused()};
    return step;
  }

  IoTensor io(const fb::IoTensor* table) {
    charge(kLeastTable);
    return {text(table->name()),
            tensor(table->tensor()),
            table->is_input(),
            table->is_shape_tensor(),
            table->is_on_host(),
            texts(table->dim_names()),
            {table->format(), table->channels()},
            numbers(table->value_slots()),
            table->aliased_input()};
  }

  InputRange range(const fb::InputRange* table) {
    charge(kLeastTable);
    return {numbers(table->min()), numbers(table->opt()), numbers(table->max())};
  }

  SizeCheck sizeCheck(const fb::SizeCheck* table) {
    charge(kLeastTable);
    if (!table->a() || !table->b()) damaged("a condition on sizes is incomplete");
    return {static_cast<SizeRelation>(table->relation()),
            {table->a()->constant(), table->a()->slot()},
            {table->b()->constant(), table->b()->slot()},
            text(table->before()),
            text(table->between()),
            text(table->after())};
  }

  std::vector<DimRef> dimRefs(const fb::DimRefs* table) {
    charge(kLeastDimRefs);
    return dims(table->dims());
  }

  ProfilePlan profile(const fb::Profile* table) {
    charge(kLeastPlan);
    ProfilePlan profile;
    profile.inputs = list(table->inputs(), &TableReader::range);
    profile.slotCount = table->slot_count();
    charge(table->dim_program());
    requireAligned(table->dim_program());
    if (table->dim_program())
      for (const fb::DimInstruction* i : *table->dim_program())
        profile.dimProgram.push_back(
            {static_cast<DimOp>(i->op()), i->target(), i->a(), i->b(), i->constant()});
    profile.firstPhaseEnd = table->first_phase_end();
    profile.steps = list(table->steps(), &TableReader::step);
    profile.outputs = list(table->outputs(), &TableReader::tensor);
    profile.outputMaxBytes = numbers(table->output_max_bytes());
    profile.dynamicBuffers = dims(table->dynamic_buffers());
    profile.hostDynamicBuffers = numbers(table->host_dynamic_buffers());
    profile.arenaBytes = table->arena_bytes();
    profile.hostArenaBytes = table->host_arena_bytes();
    profile.runsBranches = table->runs_branches();
    profile.sizeChecks = list(table->size_checks(), &TableReader::sizeCheck);
    profile.inputValues = list(table->input_values(), &TableReader::range);
    profile.outputValues = list(table->output_values(), &TableReader::dimRefs);
    return profile;
  }

  std::vector<std::byte> binary(const fb::Binary* table) { return bytes(table->bytes()); }
  PluginLibrary library(const fb::PluginLibrary* table) {
    charge(kLeastTable);
    return {text(table->name()), bytes(table->bytes())};
  }
  std::shared_ptr<Plan> body(const fb::Plan* table) { return std::make_shared<Plan>(plan(table)); }

  StepInfo stepInfo(const fb::StepInfo* table) {
    charge(kLeastTable);
    StepInfo info{text(table->layer_type()), texts(table->origins()),
                  text(table->why()),        list(table->alternatives(), &TableReader::alternative),
                  table->milliseconds(),     texts(table->inputs()),
                  texts(table->outputs()),   {}};
    std::vector<std::string> names = texts(table->attribute_names()),
                             attributes = texts(table->attribute_texts());
    if (names.size() != attributes.size()) damaged("its inspection record is incomplete");
    for (size_t i = 0; i < names.size(); ++i)
      info.attributes.emplace_back(std::move(names[i]), std::move(attributes[i]));
    return info;
  }
  SourceWeights source(const fb::SourceWeights* table) {
    charge(kLeastTable);
    return {.name = text(table->name()),
            .layer = text(table->layer()),
            .use = static_cast<WeightsUse>(table->use()),
            .tensor = tensor(table->tensor()),
            .isRefittable = table->is_refittable(),
            .isOpaque = table->is_opaque()};
  }
  KernelDecision decision(const fb::KernelDecision* table) {
    charge(kLeastTable);
    return {text(table->node()), text(table->kernel()), table->config(), table->source_hash()};
  }
  PluginRecord pluginRecord(const fb::PluginRecord* table) {
    charge(kLeastTable);
    PluginRecord record{text(table->label()), {}};
    std::vector<std::string> questions = texts(table->questions()), said = texts(table->answers());
    said.resize(questions.size());
    for (size_t i = 0; i < questions.size(); ++i)
      record.answers.emplace(std::move(questions[i]), std::move(said[i]));
    return record;
  }
  std::map<std::string, InputRange> namedRanges(
      const flatbuffers::Vector<flatbuffers::Offset<fb::NamedRange>>* values) {
    charge(values);
    std::map<std::string, InputRange> ranges;
    if (values)
      for (const fb::NamedRange* value : *values) {
        if (!value->range()) damaged("a range of its record is incomplete");
        ranges.emplace(text(value->name()), range(value->range()));
      }
    return ranges;
  }
  ShapeProfile shapeProfile(const fb::ShapeProfile* table) {
    charge(kLeastTable);
    return {namedRanges(table->inputs()), namedRanges(table->shape_values())};
  }

  StepInfo::Alternative alternative(const fb::Alternative* table) {
    charge(kLeastTable);
    return {text(table->kernel()), table->milliseconds(), text(table->note())};
  }

  size_t left_;  // bytes that nothing was read from yet
};

// A verified root table. The verifier wants aligned memory, so the (small) section is copied.
template <class Table>
const Table* root(std::span<const std::byte> bytes, AlignedBuffer& copy) {
  if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) damaged("a table is too large");
  copy = AlignedBuffer(bytes.size());
  if (!bytes.empty()) std::memcpy(copy.data(), bytes.data(), bytes.size());
  const auto* data = reinterpret_cast<const uint8_t*>(copy.data());
  constexpr int kTablesInAPlan = 8;  // in one another, without bodies
  const auto mostTables = static_cast<flatbuffers::uoffset_t>(bytes.size() / sizeof(uint32_t));
  flatbuffers::Verifier verifier(data, bytes.size(), kMaxBodyDepth + kTablesInAPlan, mostTables);
  if (!verifier.VerifyBuffer<Table>(nullptr)) damaged("a table does not verify");
  return flatbuffers::GetRoot<Table>(data);
}

}  // namespace

StoredRefit readRefit(std::span<const std::byte> bytes) {
  AlignedBuffer copy;
  return TableReader(bytes.size()).refit(root<fb::Refit>(bytes, copy));
}

Plan readTables(std::span<const std::byte> plan, std::span<const std::byte> inspection) {
  AlignedBuffer planBytes, inspectionBytes;
  Plan whole = TableReader(plan.size()).plan(root<fb::Plan>(plan, planBytes));
  TableReader(inspection.size())
      .inspection(root<fb::Inspection>(inspection, inspectionBytes), whole);
  return whole;
}

}  // namespace camshaft
