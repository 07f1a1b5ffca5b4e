#include "engine/tables.h"
#include "engine_generated.h"
#include "support/error.h"

namespace camshaft {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
template <class T>
using OffsetVector = Offset<flatbuffers::Vector<Offset<T>>>;

class PlanWriter {
 public:
  std::vector<std::byte> write(const Plan& whole) {
    builder_.Finish(plan(whole));
    return bytes();
  }

  std::vector<std::byte> writeInspection(const Plan& whole) {
    builder_.Finish(inspection(whole));
    return bytes();
  }

  std::vector<std::byte> writeRefit(const StoredRefit& stored) {
    builder_.Finish(refit(stored));
    return bytes();
  }

 private:
  template <class T, class Table>
  OffsetVector<Table> list(const std::vector<T>& items,
                           Offset<Table> (PlanWriter::*one)(const T&)) {
    std::vector<Offset<Table>> offsets;
    for (const T& item : items) offsets.push_back((this->*one)(item));
    return builder_.CreateVector(offsets);
  }

  Offset<fb::Plan> plan(const Plan& value) {
    const auto inputs = list(value.inputs, &PlanWriter::io);
    const auto outputs = list(value.outputs, &PlanWriter::io);
    const auto profiles = list(value.profiles, &PlanWriter::profile);
    const auto name = text(value.networkName), device = text(value.device),
               builtFor = text(value.builtFor);
    const auto binaries = list(value.binaries, &PlanWriter::binary);
    const auto bodies = list(value.bodies, &PlanWriter::body);
    const auto libraries = list(value.pluginLibraries, &PlanWriter::library);
    return fb::CreatePlan(builder_, name, device, builtFor, inputs, outputs, profiles,
                          value.profilingVerbosity, binaries, bodies, value.hasDeviceMemory,
                          libraries, value.streamsWeights);
  }
  Offset<fb::Plan> body(const std::shared_ptr<Plan>& value) { return plan(*value); }

  Offset<fb::Inspection> inspection(const Plan& value) {
    const auto profiles = list(value.profiles, &PlanWriter::profileInfo);
    return fb::CreateInspection(builder_, profiles,
                                list(value.bodies, &PlanWriter::bodyInspection));
  }
  Offset<fb::Inspection> bodyInspection(const std::shared_ptr<Plan>& value) {
    return inspection(*value);
  }

  // Larger buffers would be written wrong in silence.
  void requireRoom(size_t bytes) const {
    constexpr size_t kOthers = size_t{64} << 20;  // what follows without asking
    if (builder_.GetSize() + bytes > FLATBUFFERS_MAX_BUFFER_SIZE - kOthers)
      fail(ErrorKind::kUnsupported,
           "the network cannot be made an engine: its names and parameters take more than 2 GB; "
           "give its nodes shorter names");
  }

  Offset<flatbuffers::String> text(const std::string& value) {
    requireRoom(value.size());
    return builder_.CreateString(value);
  }

  OffsetVector<flatbuffers::String> texts(const std::vector<std::string>& values) {
    std::vector<Offset<flatbuffers::String>> offsets;
    for (const std::string& value : values) offsets.push_back(text(value));
    return builder_.CreateVector(offsets);
  }

  Offset<flatbuffers::Vector<const fb::DimRef*>> dims(const std::vector<DimRef>& values) {
    std::vector<fb::DimRef> structs;
    for (const DimRef& dim : values) structs.emplace_back(dim.constant, dim.slot);
    return builder_.CreateVectorOfStructs(structs);
  }

  Offset<flatbuffers::Vector<uint8_t>> rawBytes(const std::vector<std::byte>& values) {
    requireRoom(values.size());
    return builder_.CreateVector(reinterpret_cast<const uint8_t*>(values.data()), values.size());
  }

  Offset<fb::PluginLibrary> library(const PluginLibrary& value) {
    const auto name = text(value.name);
    return fb::CreatePluginLibrary(builder_, name, rawBytes(value.bytes));
  }
  Offset<fb::Binary> binary(const std::vector<std::byte>& value) {
    return fb::CreateBinary(builder_, rawBytes(value));
  }

  Offset<fb::TensorDesc> tensor(const TensorDesc& desc) {
    return fb::CreateTensorDesc(builder_, static_cast<uint8_t>(desc.type), dims(desc.dims));
  }

  Offset<fb::Operand> operand(const Operand& value) {
    return fb::CreateOperand(builder_, static_cast<uint8_t>(value.place), value.offset, value.index,
                             tensor(value.tensor));
  }

  Offset<fb::Step> step(const Step& value) {
    const auto name = text(value.name), kernel = text(value.kernel);
    const auto params = rawBytes(value.params);
    const auto inputs = list(value.inputs, &PlanWriter::operand),
               outputs = list(value.outputs, &PlanWriter::operand);
    const auto dimArgs = dims(value.dimArgs);
    const auto workspace = operand(value.workspace);
    const auto bindSlots = builder_.CreateVector(value.bindSlots);
    const auto bindMin = builder_.CreateVector(value.bindMin),
               bindMax = builder_.CreateVector(value.bindMax);
    const auto observed = text(value.observed.name);
    return fb::CreateStep(builder_, static_cast<uint8_t>(value.kind), name, kernel, params, inputs,
                          outputs, dimArgs, workspace, bindSlots, value.dimBegin, value.dimEnd,
                          value.binary, bindMin, bindMax, builder_.CreateVector(value.bodies),
                          value.carried, observed, value.observed.isUnfused);
  }

  Offset<fb::IoTensor> io(const IoTensor& value) {
    const auto name = text(value.name);
    const auto desc = tensor(value.tensor);
    const auto dimNames = texts(value.dimNames);
    return fb::CreateIoTensor(builder_, name, desc, value.isInput, value.isShapeTensor, dimNames,
                              value.isOnHost, value.format.code, value.format.channels,
                              builder_.CreateVector(value.valueSlots), value.aliasedInput);
  }

  Offset<fb::SizeCheck> sizeCheck(const SizeCheck& value) {
    const auto before = text(value.before), between = text(value.between),
               after = text(value.after);
    const fb::DimRef a(value.a.constant, value.a.slot), b(value.b.constant, value.b.slot);
    return fb::CreateSizeCheck(builder_, static_cast<uint8_t>(value.relation), &a, &b, before,
                               between, after);
  }

  Offset<fb::InputRange> range(const InputRange& value) {
    const auto min = builder_.CreateVector(value.min), opt = builder_.CreateVector(value.opt),
               max = builder_.CreateVector(value.max);
    return fb::CreateInputRange(builder_, min, opt, max);
  }

  Offset<fb::DimRefs> dimRefs(const std::vector<DimRef>& values) {
    return fb::CreateDimRefs(builder_, dims(values));
  }

  Offset<fb::Profile> profile(const ProfilePlan& value) {
    std::vector<fb::DimInstruction> program;
    for (const DimInstruction& i : value.dimProgram)
      program.emplace_back(i.constant, i.target, i.a, i.b, static_cast<uint8_t>(i.op));
    const auto inputs = list(value.inputs, &PlanWriter::range);
    const auto programVector = builder_.CreateVectorOfStructs(program);
    const auto steps = list(value.steps, &PlanWriter::step);
    const auto outputs = list(value.outputs, &PlanWriter::tensor);
    const auto dynamicBuffers = dims(value.dynamicBuffers);
    const auto hostDynamicBuffers = builder_.CreateVector(value.hostDynamicBuffers);
    const auto outputMaxBytes = builder_.CreateVector(value.outputMaxBytes);
    const auto sizeChecks = list(value.sizeChecks, &PlanWriter::sizeCheck);
    const auto inputValues = list(value.inputValues, &PlanWriter::range);
    const auto outputValues = list(value.outputValues, &PlanWriter::dimRefs);
    return fb::CreateProfile(builder_, inputs, value.slotCount, programVector, value.firstPhaseEnd,
                             steps, outputs, dynamicBuffers, value.arenaBytes, value.hostArenaBytes,
                             hostDynamicBuffers, outputMaxBytes, value.runsBranches, sizeChecks,
                             inputValues, outputValues);
  }

  Offset<fb::Alternative> alternative(const StepInfo::Alternative& value) {
    const auto kernel = text(value.kernel), note = text(value.note);
    return fb::CreateAlternative(builder_, kernel, value.milliseconds, note);
  }

  Offset<fb::StepInfo> stepInfo(const Step& value) {
    const auto layerType = text(value.info.layerType), why = text(value.info.why);
    const auto origins = texts(value.info.origins);
    const auto alternatives = list(value.info.alternatives, &PlanWriter::alternative);
    const auto inputs = texts(value.info.inputs), outputs = texts(value.info.outputs);
    std::vector<std::string> names, attributes;
    for (const auto& [name, attribute] : value.info.attributes) {
      names.push_back(name);
      attributes.push_back(attribute);
    }
    const auto attributeNames = texts(names), attributeTexts = texts(attributes);
    return fb::CreateStepInfo(builder_, layerType, origins, why, alternatives,
                              value.info.milliseconds, inputs, outputs, attributeNames,
                              attributeTexts);
  }

  Offset<fb::ProfileInfo> profileInfo(const ProfilePlan& value) {
    return fb::CreateProfileInfo(builder_, list(value.steps, &PlanWriter::stepInfo));
  }

  Offset<fb::SourceWeights> source(const SourceWeights& value, const StoredSource& stored) {
    const auto name = text(value.name), layer = text(value.layer);
    return fb::CreateSourceWeights(builder_, name, layer, static_cast<uint8_t>(value.use),
                                   tensor(value.tensor), value.isRefittable, value.isOpaque,
                                   stored.offset, stored.inWeights);
  }

  Offset<fb::KernelDecision> decision(const KernelDecision& value) {
    const auto node = text(value.node), kernel = text(value.kernel);
    return fb::CreateKernelDecision(builder_, node, kernel, value.config, value.sourceHash);
  }

  Offset<fb::PluginRecord> pluginRecord(const PluginRecord& value) {
    std::vector<std::string> questions, said;
    for (const auto& [question, answer] : value.answers) {
      questions.push_back(question);
      said.push_back(answer);
    }
    const auto label = text(value.label);
    const auto questionTexts = texts(questions);
    return fb::CreatePluginRecord(builder_, label, questionTexts, texts(said));
  }

  OffsetVector<fb::NamedRange> namedRanges(const std::map<std::string, InputRange>& ranges) {
    std::vector<Offset<fb::NamedRange>> offsets;
    for (const auto& [name, bounds] : ranges) {
      const auto nameText = text(name);
      offsets.push_back(fb::CreateNamedRange(builder_, nameText, range(bounds)));
    }
    return builder_.CreateVector(offsets);
  }

  Offset<fb::ShapeProfile> shapeProfile(const ShapeProfile& value) {
    const auto inputs = namedRanges(value.inputs);
    return fb::CreateShapeProfile(builder_, inputs, namedRanges(value.shapeValues));
  }

  Offset<fb::Refit> refit(const StoredRefit& value) {
    const RefitRecord& record = value.record;
    std::vector<Offset<fb::SourceWeights>> sources;
    for (size_t i = 0; i < record.sources.size(); ++i)
      sources.push_back(source(record.sources[i], value.sources[i]));
    const auto graph = text(record.graph);
    const auto sourceVector = builder_.CreateVector(sources);
    const auto decisions = list(record.decisions, &PlanWriter::decision);
    const auto profiles = list(record.profiles, &PlanWriter::shapeProfile);
    const auto disabledPasses = texts(record.disabledPasses);
    const auto plugins = list(record.plugins, &PlanWriter::pluginRecord);
    return fb::CreateRefit(builder_, graph, sourceVector, decisions, profiles, disabledPasses,
                           record.workspaceLimit, record.computeCapability,
                           record.optimizationLevel, record.threads, record.precisionRequests,
                           record.allowTf32, record.allowF16, record.allowBF16, record.gpus,
                           record.observeUnfused, value.weightsBytes, value.isStripped, plugins);
  }

  std::vector<std::byte> bytes() const {
    const auto* data = reinterpret_cast<const std::byte*>(builder_.GetBufferPointer());
    return {data, data + builder_.GetSize()};
  }

  FlatBufferBuilder builder_;
};

}  // namespace

EngineTables writeTables(const Plan& plan) {
  return {PlanWriter().write(plan), PlanWriter().writeInspection(plan)};
}

std::vector<std::byte> writeRefit(const StoredRefit& refit) {
  return PlanWriter().writeRefit(refit);
}

}  // namespace camshaft
