// Checks cuBLASLt's and cuDNN's steps on a GPU against the host in double precision: types,
// epilogues, strides, batches, other sizes than planned for, recorded and not, from four threads.
// The target library_check builds it; it needs nothing but a driver and the libraries to run:
//   library_check [part of a check's name | all] [plans per problem] [seconds per part]
// Names begin with their part, gemm, conv, attention or threads: "conv bf16 bias relu6".
#include <algorithm>
#include <cstdlib>
#include <future>
#include <string_view>
#include <thread>

#include "library_attention_data.h"
#include "library_conv_data.h"
#include "backends/cuda/runtime/libraries/stored_plan.h"
#include "support/error.h"

namespace camshaft::cuda::library_check {
namespace {

// The first plans of a problem, built side by side as builds of engines do.
template <class Problem>
std::vector<LibraryPlan> firstPlans(std::optional<LibraryPlan> (*planOf)(const Problem&, int),
                                    const Problem& problem, int most) {
  std::vector<std::future<std::optional<LibraryPlan>>> builds;
  for (int number = 0; number < most; ++number)
    builds.push_back(std::async(std::launch::async, [&problem, planOf, number] {
      currentDevice().makeCurrent();
      return planOf(problem, number);
    }));
  std::vector<LibraryPlan> plans;
  for (auto& build : builds)
    if (auto plan = build.get()) plans.push_back(*std::move(plan));
  return plans;
}

std::vector<int64_t> dimsOf(const GemmSizes& sizes) {
  const int64_t* first = &sizes.m;
  return {first, first + kGemmSizeCount};
}

void checkGemm(const std::string& name, const GemmProblem& problem, Report& report) {
  report.guard(name, [&] {
    const std::vector<LibraryPlan> plans = gemmPlans(problem, report.selection.plans);
    if (plans.empty()) return report.refuse(name);
    Random random(1);
    const GemmData data(problem, problem.sizes, random);
    const std::vector<double> expected = data.expected();
    const double tolerance = toleranceOf(problem.typeA, problem.typeD, problem.allowTf32);
    for (const LibraryPlan& plan : plans) {
      const Step step(kGemmCublasLt, plan.bytes, plan.workspaceBytes);
      for (const Mode mode : {Mode::kEager, Mode::kRecorded}) {
        if (!step.run(data.inputs(), data.d.arg(), {}, mode))
          return report.fail(name, "operands do not fit");
        report.add(str(name, ", ", plan.name), difference(data.d.download(), expected), tolerance);
      }
    }
    // Another size than planned for.
    const Step step(kGemmCublasLt, plans[0].bytes, plans[0].workspaceBytes);
    const GemmSizes& s = problem.sizes;
    const GemmSizes other = contiguousGemm(problem, s.m + 32, s.n, s.k, s.batch);
    const GemmData more(problem, other, random);
    if (!step.run(more.inputs(), more.d.arg(), dimsOf(other), Mode::kRecorded, 1 << 20))
      return report.fail(name, "operands of another size do not fit");
    report.add(name + ", another size", difference(more.d.download(), more.expected()), tolerance);
  });
}

void checkGemms(Report& report) {
  for (const DataType type : {DataType::kF16, DataType::kBF16, DataType::kF32}) {
    for (const auto activation :
         {GemmActivation::kNone, GemmActivation::kRelu, GemmActivation::kGeluTanh})
      for (const bool hasBias : {false, true})
        for (const float beta : {0.0f, 1.0f}) {
          GemmProblem p{.typeA = type,
                        .typeB = type,
                        .typeD = type,
                        .hasBias = hasBias,
                        .activation = activation,
                        .alpha = 0.5f,
                        .beta = beta};
          p.sizes = contiguousGemm(p, 96, 160, 64);
          checkGemm(str("gemm ", type, " activation ", static_cast<int>(activation),
                        hasBias ? " bias" : "", beta != 0 ? " residual" : ""),
                    p, report);
        }
    for (const bool ta : {false, true})
      for (const bool tb : {false, true}) {
        GemmProblem p{.typeA = type,
                      .typeB = type,
                      .typeD = type,
                      .transposeA = ta,
                      .transposeB = tb,
                      .hasBias = true};
        p.sizes = contiguousGemm(p, 64, 72, 40, 3);
        checkGemm(
            str("gemm ", type, ta ? " A transposed" : "", tb ? " B transposed" : "", " batch 3"), p,
            report);
        p.sizes.strideB = 0;
        p.sizes.ldd = p.sizes.ldc = 80;
        p.sizes.strideD = p.sizes.strideC = 64 * 80;
        checkGemm(str("gemm ", type, ta ? " A transposed" : "", tb ? " B transposed" : "",
                      " one B, wide rows"),
                  p, report);
      }
  }
  GemmProblem exact{.typeA = DataType::kF32,
                    .typeB = DataType::kF32,
                    .typeD = DataType::kF32,
                    .allowTf32 = false};
  exact.sizes = contiguousGemm(exact, 65, 33, 127);
  checkGemm("gemm f32 without tf32, odd sizes", exact, report);
  GemmProblem wide{
      .typeA = DataType::kF16, .typeB = DataType::kF16, .typeD = DataType::kF32, .hasBias = true};
  wide.sizes = contiguousGemm(wide, 64, 64, 64);
  checkGemm("gemm f16 to f32", wide, report);
  GemmProblem doubles{
      .typeA = DataType::kF64, .typeB = DataType::kF64, .typeD = DataType::kF64, .beta = 1};
  doubles.sizes = contiguousGemm(doubles, 48, 32, 64, 2);
  checkGemm("gemm f64", doubles, report);
  GemmProblem integers{
      .typeA = DataType::kI8, .typeB = DataType::kI8, .typeD = DataType::kI32, .transposeB = true};
  integers.sizes = contiguousGemm(integers, 64, 128, 256);
  checkGemm("gemm i8", integers, report);
  GemmProblem narrow{.typeA = DataType::kF8E4M3,
                     .typeB = DataType::kF8E4M3,
                     .typeD = DataType::kBF16,
                     .transposeB = true,
                     .hasBias = true};
  narrow.sizes = contiguousGemm(narrow, 64, 128, 256);
  checkGemm("gemm f8e4m3", narrow, report);
}

// Plans that cannot be loaded are made anew.
std::vector<std::byte> damaged(std::vector<std::byte> params) {
  constexpr std::byte kStart[] = {std::byte{'{'}, std::byte{'"'}};  // of the library's own text
  *std::search(params.begin(), params.end(), std::begin(kStart), std::end(kStart)) = std::byte{'!'};
  return params;
}

void checkConv(const std::string& name, const ConvProblem& problem, Report& report) {
  report.guard(name, [&] {
    const std::vector<LibraryPlan> plans = firstPlans(convPlan, problem, report.selection.plans);
    if (plans.empty()) return report.refuse(name);
    Random random(2);
    const ConvData data(problem, random);
    const std::vector<double> expected = data.expected();
    const double tolerance = data.tolerance(expected);
    const auto runs = [&](const std::vector<std::byte>& params, const LibraryPlan& plan, Mode mode,
                          const std::string& how) {
      const Step step(kConvCudnn, params, plan.workspaceBytes);
      if (!report.timed([&] { return step.run(data.inputs(), data.y.arg(), {}, mode, 32 << 20); }))
        return report.fail(name, "operands do not fit");
      report.add(str(name, ", ", plan.name, how), difference(data.y.download(), expected),
                 tolerance);
    };
    for (const LibraryPlan& plan : plans) {
      runs(plan.bytes, plan, Mode::kEager, "");
      forgetWrittenPlans();
      runs(plan.bytes, plan, Mode::kRecorded, ", loaded and recorded");
    }
    runs(damaged(plans[0].bytes), plans[0], Mode::kRecorded, ", planned anew");
    ConvProblem other = problem;
    other.batch += 1;
    other.image[0] += 2;
    const ConvData more(other, random);
    if (!Step(kConvCudnn, plans[0].bytes, plans[0].workspaceBytes)
             .run(more.inputs(), more.y.arg(), {}, Mode::kRecorded, 32 << 20))
      return report.fail(name, "operands of another size do not fit");
    report.add(name + ", another size", difference(more.y.download(), more.expected()), tolerance);
  });
}

void checkConvs(Report& report) {
  using Kind = EpilogueOperand::Kind;
  const EpilogueOperand sum{}, first{Kind::kNode, 0}, second{Kind::kNode, 1};
  const EpilogueOperand bias{Kind::kTensor, 0}, residual{Kind::kTensor, 1};
  const EpilogueNode addBias{EpilogueOp::kAdd, sum, bias};
  for (const DataType type : {DataType::kF16, DataType::kBF16, DataType::kF32}) {
    ConvProblem plain{.batch = 2,
                      .inChannels = 32,
                      .outChannels = 64,
                      .image = {14, 12},
                      .kernel = {3, 3},
                      .strides = {1, 1},
                      .dilations = {1, 1},
                      .padsBegin = {1, 1},
                      .padsEnd = {1, 1},
                      .inputType = type,
                      .outputType = type};
    const EpilogueTensor perChannel{type}, full{type, true, true, true};
    const auto with = [&](std::vector<EpilogueTensor> tensors, std::vector<EpilogueNode> nodes) {
      ConvProblem p = plain;
      p.epilogue = {std::move(tensors), std::move(nodes)};
      return p;
    };
    checkConv(str("conv ", type), plain, report);
    checkConv(str("conv ", type, " bias"), with({perChannel}, {addBias}), report);
    checkConv(str("conv ", type, " bias relu"),
              with({perChannel}, {addBias, {EpilogueOp::kClip, first, {}, 0, INFINITY}}), report);
    checkConv(str("conv ", type, " bias relu6"),
              with({perChannel}, {addBias, {EpilogueOp::kClip, first, {}, 0, 6}}), report);
    checkConv(str("conv ", type, " bias residual relu"),
              with({perChannel, full}, {addBias,
                                        {EpilogueOp::kAdd, first, residual},
                                        {EpilogueOp::kClip, second, {}, 0, INFINITY}}),
              report);
    checkConv(str("conv ", type, " f32 bias hard swish"),
              with({{DataType::kF32}}, {addBias,
                                        {EpilogueOp::kMul, first, {Kind::kScalar, 0, 1.0f / 6}},
                                        {EpilogueOp::kAdd, second, {Kind::kScalar, 0, 0.5f}},
                                        {EpilogueOp::kClip, {Kind::kNode, 2}, {}, 0, 1},
                                        {EpilogueOp::kMul, first, {Kind::kNode, 3}}}),
              report);
    for (const EpilogueOp op : {EpilogueOp::kSigmoid, EpilogueOp::kTanh, EpilogueOp::kSwish,
                                EpilogueOp::kGelu, EpilogueOp::kGeluTanh})
      checkConv(str("conv ", type, " bias operation ", static_cast<int>(op)),
                with({perChannel}, {addBias, {op, first}}), report);
    ConvProblem p = plain;
    p.strides = {2, 2}, p.padsEnd = {0, 0};
    checkConv(str("conv ", type, " stride 2, padded on one side"), p, report);
    p = plain, p.dilations = p.padsBegin = p.padsEnd = {2, 2};
    checkConv(str("conv ", type, " dilated"), p, report);
    p = plain, p.kernel = {1, 1}, p.padsBegin = p.padsEnd = {0, 0};
    checkConv(str("conv ", type, " 1x1"), p, report);
    p = plain, p.groups = 4;
    checkConv(str("conv ", type, " 4 groups"), p, report);
    p = with({perChannel}, {addBias, {EpilogueOp::kSwish, first}}), p.groups = p.outChannels = 32;
    checkConv(str("conv ", type, " depthwise bias swish"), p, report);
    p = with({perChannel}, {addBias, {EpilogueOp::kClip, first, {}, 0, INFINITY}});
    p.inChannels = 3, p.kernel = {7, 7}, p.strides = {2, 2}, p.padsBegin = p.padsEnd = {3, 3},
    p.image = {32, 32};
    checkConv(str("conv ", type, " three channels"), p, report);
    if (type == DataType::kF32) {
      plain.allowTf32 = false;
      checkConv("conv f32 without tf32", plain, report);
    }
  }
  ConvProblem integers{.batch = 2,
                       .inChannels = 32,
                       .outChannels = 64,
                       .image = {14, 12},
                       .kernel = {3, 3},
                       .strides = {1, 1},
                       .dilations = {1, 1},
                       .padsBegin = {1, 1},
                       .padsEnd = {1, 1},
                       .inputType = DataType::kI8,
                       .outputType = DataType::kF32};
  integers.epilogue = {{{DataType::kF32}}, {{EpilogueOp::kMul, sum, bias}}};
  checkConv("conv i8 scaled", integers, report);
}

void checkAttention(const std::string& name, const AttentionProblem& shape, bool isPacked,
                    int64_t batch, int64_t queries, int64_t keys, Report& report) {
  report.guard(name, [&] {
    Random random(3);
    const AttentionData data = attentionData(shape, isPacked, batch, queries, keys, random);
    const std::vector<LibraryPlan> plans =
        firstPlans(attentionPlan, data.problem, report.selection.plans);
    if (plans.empty()) return report.refuse(name);
    const std::vector<double> expected = data.expected();
    const double tolerance = shape.type == DataType::kF16 ? 4e-3 : 2e-2;
    for (const LibraryPlan& plan : plans)
      for (const Mode mode : {Mode::kEager, Mode::kRecorded}) {
        if (mode == Mode::kRecorded) forgetWrittenPlans();
        const Step step(kAttentionCudnn, plan.bytes, plan.workspaceBytes);
        if (!report.timed([&] { return step.run(data.args(), data.o.arg(), {}, mode); }))
          return report.fail(name, "operands do not fit");
        report.add(str(name, ", ", plan.name), difference(data.o.download(), expected), tolerance);
      }
    const AttentionData more =
        attentionData(shape, isPacked, batch + 1, queries + 16, keys + 16, random);
    const int64_t* first = &more.problem.sizes.batch;
    if (!Step(kAttentionCudnn, plans[0].bytes, plans[0].workspaceBytes)
             .run(more.args(), more.o.arg(), {first, first + kAttentionSizeCount}, Mode::kRecorded,
                  16 << 20))
      return report.fail(name, "operands of another size do not fit");
    report.add(name + ", another size", difference(more.o.download(), more.expected()), tolerance);
  });
}

void checkAttentions(Report& report) {
  for (const DataType type : {DataType::kF16, DataType::kBF16}) {
    AttentionProblem plain{
        .heads = 4, .keyHeads = 4, .headSize = 64, .valueSize = 64, .type = type, .scale = 0.125f};
    checkAttention(str("attention ", type), plain, false, 2, 128, 128, report);
    checkAttention(str("attention ", type, " packed, odd length"), plain, true, 2, 77, 77, report);
    AttentionProblem p = plain;
    p.causal = CausalMask::kTopLeft;
    checkAttention(str("attention ", type, " causal"), p, true, 2, 96, 96, report);
    p.causal = CausalMask::kBottomRight;
    checkAttention(str("attention ", type, " causal at the end"), p, false, 2, 32, 96, report);
    p = plain, p.keyHeads = 2;
    checkAttention(str("attention ", type, " grouped"), p, false, 2, 64, 96, report);
    p = plain, p.headSize = p.valueSize = 32;
    checkAttention(str("attention ", type, " heads of 32"), p, true, 3, 49, 49, report);
    p.hasBias = p.biasPerHead = true, p.biasType = type;
    checkAttention(str("attention ", type, " heads of 32, bias"), p, false, 3, 49, 49, report);
    p = plain, p.headSize = p.valueSize = 128;
    checkAttention(str("attention ", type, " heads of 128"), p, false, 1, 160, 160, report);
    for (int i = 0; i < 4; ++i) {
      p = plain, p.hasBias = true, p.biasType = i == 3 ? DataType::kF32 : type;
      p.biasPerBatch = i != 0, p.biasPerHead = i != 1, p.biasPerQuery = i != 1;
      checkAttention(str("attention ", type, " bias ", i), p, false, 2, 64, 128, report);
    }
  }
}

// One state per step, launched by four threads at once, each with streams of its own.
void checkThreads(Report& report) {
  Random random(4);
  GemmProblem gemm{.hasBias = true, .activation = GemmActivation::kRelu};
  gemm.sizes = contiguousGemm(gemm, 128, 128, 128);
  ConvProblem conv{.batch = 2,
                   .inChannels = 32,
                   .outChannels = 32,
                   .image = {16, 16},
                   .kernel = {3, 3},
                   .strides = {1, 1},
                   .dilations = {1, 1},
                   .padsBegin = {1, 1},
                   .padsEnd = {1, 1}};
  AttentionProblem attention{.heads = 4, .keyHeads = 4, .scale = 0.125f};
  const AttentionData sample = attentionData(attention, true, 2, 64, 64, random);
  const auto gemms = gemmPlans(gemm, 1), convs = firstPlans(convPlan, conv, 1),
             attentions = firstPlans(attentionPlan, sample.problem, 1);
  if (gemms.empty() || convs.empty() || attentions.empty())
    return report.refuse("the steps of four threads");
  const Step gemmStep(kGemmCublasLt, gemms[0].bytes, gemms[0].workspaceBytes);
  const Step convStep(kConvCudnn, convs[0].bytes, convs[0].workspaceBytes);
  const Step attentionStep(kAttentionCudnn, attentions[0].bytes, attentions[0].workspaceBytes);
  std::vector<Report> reports(4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      reports[t].guard("a thread", [&] {
        currentDevice().makeCurrent();
        Random own(10 + t);
        const GemmData g(gemm, gemm.sizes, own);
        const ConvData c(conv, own);
        const AttentionData a = attentionData(attention, true, 2, 64, 64, own);
        const std::vector<double> wantG = g.expected(), wantC = c.expected(), wantA = a.expected();
        for (int i = 0; i < 20; ++i) {
          const Mode mode = i % 2 ? Mode::kRecorded : Mode::kEager;
          gemmStep.run(g.inputs(), g.d.arg(), {}, mode);
          convStep.run(c.inputs(), c.y.arg(), {}, mode);
          attentionStep.run(a.args(), a.o.arg(), {}, mode);
          reports[t].add("gemm of a thread", difference(g.d.download(), wantG), 2e-3);
          reports[t].add("conv of a thread", difference(c.y.download(), wantC), 2e-3);
          reports[t].add("attention of a thread", difference(a.o.download(), wantA), 4e-3);
        }
      });
    });
  for (std::thread& thread : threads) thread.join();
  for (const Report& each : reports) report.passed += each.passed, report.failed += each.failed;
}

int runAll(const Selection& selection) {
  currentDevice().makeCurrent();
  std::printf("%s, %s\n", currentDevice().describe().c_str(), describeLibraries().c_str());
  Report all;
  const std::pair<const char*, void (*)(Report&)> parts[] = {
      {"gemm", checkGemms},
      {"conv", checkConvs},
      {"attention", checkAttentions},
      {"threads", [](Report& report) { report.guard("threads", [&] { checkThreads(report); }); }}};
  for (const auto& [name, part] : parts) {
    Report report{.selection = selection};
    part(report);
    std::printf(
        "%s: %d passed, %d failed, %d without a plan, %d skipped; %.1f s, slowest first run %.1f "
        "ms\n",
        name, report.passed, report.failed, report.refused, report.skipped,
        report.sinceStart.milliseconds() / 1000, report.slowestFirstRun);
    all.failed += report.failed;
  }
  std::printf("%d recordings, %d launches that could not be recorded\n", Step::recorded.load(),
              Step::unrecordable.load());
  return all.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace camshaft::cuda::library_check

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what a crash would take along
  try {
    camshaft::cuda::library_check::Selection selection;
    if (argc > 1 && std::string_view(argv[1]) != "all") selection.part = argv[1];
    if (argc > 2) selection.plans = std::atoi(argv[2]);
    if (argc > 3) selection.secondsPerPart = std::atof(argv[3]);
    return camshaft::cuda::library_check::runAll(selection);
  } catch (const camshaft::Error& error) {
    std::printf("%s\n", error.what());
    return 2;
  }
}
