// Kernels of every workload compile for AMD's processors by clang; variants that the planner chooses there spill no
// registers to memory that NVIDIA's compiler keeps. No work-item returns before a barrier. RIDGE_SLOW=1: each allowed
// variant, on three described devices.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/device.hpp>
#include <ridge/fft.hpp>
#include <ridge/fft/device_tensor.hpp>
#include <ridge/filterbank.hpp>
#include <ridge/image.hpp>
#include <ridge/nufft.hpp>
#include <ridge/sar.hpp>
#include <ridge/search.hpp>
#include <ridge/search/beams.hpp>
#include <ridge/search/coherent.hpp>
#include <ridge/stencil.hpp>
#include <ridge/stencil/problems.hpp>
#include <ridge/transpose.hpp>

#include "base/files.hpp"
#include "device/cuda/nvrtc.hpp"
#include "device/dialect.hpp"
#include "device/registry.hpp"
#include "filterbank/geometry.hpp"
#include "support/amd_builtins.hpp"
#include "support/scratch.hpp"

namespace ridge {
namespace {

bool slow() { return std::getenv("RIDGE_SLOW") != nullptr; }

struct Planned {
  std::string plan;
  bool chosen;  // by the planner
  KernelSource source;
};

// Kernels of plans on one recorded device.
struct Plans {
  explicit Plans(Device planned) : device(std::move(planned)) {}

  // An empty variant: the planner chooses.
  void add(const std::string& name, const std::function<void(const planner::Options&)>& plan,
           const std::string& variant = "") {
    SCOPED_TRACE(name + " " + variant);
    EXPECT_NO_THROW(plan({.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false, .variant = variant}));
    for (KernelSource& source : detail::take_kernels(device))
      kernels.push_back({name + " " + variant, variant.empty(), std::move(source)});
  }

  // The chosen variant; RIDGE_SLOW=1: also every other one that is allowed, with its first parameters.
  void add_each(const std::string& name, const std::vector<planner::Candidate>& candidates,
                const std::function<void(const planner::Options&)>& plan) {
    add(name, plan);
    std::set<std::string> planned;
    for (const planner::Candidate& one : candidates) {
      if (one.refusal.empty() && planned.insert(one.variant).second && slow()) add(name, plan, one.name());
    }
    EXPECT_FALSE(planned.empty()) << name;
  }

  Device device;
  std::vector<Planned> kernels{};
};

void plan_transforms(Plans& plans) {
  const Device& device = plans.device;
  for (const std::size_t n : {std::size_t{1024}, std::size_t{1009}, std::size_t{1} << 16}) {
    plans.add_each(
        fmt::format("{} points", n), fft::candidates<float>(device, n), [&](const planner::Options& options) {
          fft::Plan<float>(device, {.shape = {n}, .batch = std::max<std::size_t>((1 << 20) / n, 1)}, options);
        });
  }
  const auto add = [&]<class T>(T, const char* name, const fft::Problem& problem) {
    plans.add(name, [&](const planner::Options& options) { fft::Plan<T>(device, problem, options); });
  };
  add(0.0, "4096 points, double", {.shape = {4096}});
  add(0.0F, "real planes", {.shape = {256, 384}, .kind = fft::Kind::real});
  add(0.0, "three axes, double", {.shape = {64, 48, 80}});
  if (!slow()) return;
  add(0.0, "3025003 points, double", {.shape = {3'025'003}});
  add(0.0F, "float16", {.shape = {4096}, .batch = 64, .storage = fft::Storage::float16});
  add(0.0F, "boxes", {.shape = {128, 128, 128}, .given = {.count = {64, 64, 64}}});
  for (const fft::RealKind kind : {fft::RealKind::dct2, fft::RealKind::dst4, fft::RealKind::hartley}) {
    const fft::TensorProblem problem{
        .kind = fft::TensorKind::real_to_real,
        .axes = {{.length = 512, .input = 512, .output = 512}, {.length = 512, .input = 1, .output = 1}},
        .real_kinds = {kind, kind}};
    plans.add(fft::to_string(kind),
              [&](const planner::Options& options) { fft::DeviceTensorPlan<float>(device, problem, options); });
  }
}

void plan_transposes(Plans& plans) {
  const transpose::Problem problem{.rows = 1000, .columns = 768};
  for (const std::size_t bytes : {1, 4, 8, 16}) {
    plans.add_each(fmt::format("{} bytes", bytes), transpose::candidates(plans.device, problem, bytes),
                   [&](const planner::Options& options) { transpose::AnyPlan(plans.device, problem, bytes, options); });
  }
}

template <class T>
void plan_updates(Plans& plans, const char* name, const stencil::Update<T>& update,
                  const std::vector<std::size_t>& shape) {
  const stencil::Problem problem{.shape = shape};
  plans.add_each(name, stencil::candidates(plans.device, update, problem),
                 [&](const planner::Options& options) { stencil::Plan<T>(plans.device, update, problem, options); });
}

void plan_stencils(Plans& plans) {
  using namespace stencil;
  plan_updates(plans, "heat", heat<float>({.alpha = 1, .dt = 0.1, .spacing = {1, 1}}), {1000, 1024});
  plan_updates(plans, "life", life<std::uint8_t>(), {512, 512});
  const Acoustic acoustic{.dt = 1e-3, .spacing = {10, 10, 10}};
  plan_updates(plans, "acoustic", stencil::acoustic<float>(acoustic), {128, 128, 128});
  plan_updates(plans, "acoustic with layers",
               stencil::acoustic<float>(acoustic, {.cells = 8, .fastest = 3000, .frequency = 20}), {128, 128, 128});
  plan_updates(plans, "euler", euler<float>({.dt = 1e-3}), {256, 256});
  plan_updates(plans, "elastic", elastic<float>({.dt = 1e-3, .spacing = 10}), {256, 256});
}

void plan_banks(Plans& plans) {
  using namespace filterbank;
  const Device& device = plans.device;
  for (const auto& [channels, samples] :
       {std::pair<std::size_t, Samples>{256, Samples::int8}, {1024, Samples::int4}, {96, Samples::float32}}) {
    const Problem problem{.channels = channels, .taps = 8, .stations = 16, .samples = samples};
    plans.add_each(fmt::format("{} channels", channels), candidates(device, problem),
                   [&](const planner::Options& options) { Plan(device, problem, options); });
  }
  Problem tracked{.channels = 256, .stations = 16, .order = Order::channel};
  tracked.delays = {.wanted = true, .frequency = 10, .longest = 64};
  plans.add("delays", [&](const planner::Options& options) { Plan(device, tracked, options); });
  for (const Arithmetic arithmetic : {Arithmetic::float32, Arithmetic::float16, Arithmetic::int8}) {
    plans.add("correlator",
              [&](const planner::Options&) { Correlator(device, complete(tracked), {.arithmetic = arithmetic}); });
  }
}

void plan_images(Plans& plans) {
  using namespace image;
  const Device& device = plans.device;
  std::vector<std::string> chains{"cross-bilateral 4 3 25"};
  for (const OperatorInfo& one : operators()) {
    if (!one.examples.empty()) chains.push_back(one.examples.front());
  }
  for (const std::string& chain : chains) {
    for (const Depth depth : {Depth::u8, Depth::f32}) {
      if (!slow() && depth == Depth::f32) continue;
      const std::size_t channels = chain == "gradient" ? 1 : 3;
      const OperatorProblem problem{.input = {.rows = 480, .columns = 640, .channels = channels, .depth = depth},
                                    .chain = parse_chain(chain)};
      plans.add_each(chain, candidates(device, problem),
                     [&](const planner::Options& options) { OperatorPlan(device, problem, options); });
    }
  }
  for (const VarianceMethod method : {VarianceMethod::exact, VarianceMethod::three_wise, VarianceMethod::two_pass}) {
    const VarianceProblem problem{.rows = 480, .columns = 640, .method = method};
    plans.add_each(to_string(method), candidates(device, problem),
                   [&](const planner::Options& options) { VariancePlan(device, problem, options); });
  }
  const FlowProblem flow{.rows = 240, .columns = 320};
  plans.add_each("flow", candidates(device, flow),
                 [&](const planner::Options& options) { FlowPlan(device, flow, options); });
}

template <class T>
void plan_nonuniform(Plans& plans) {
  for (const std::vector<std::size_t>& modes : {std::vector<std::size_t>{1 << 16}, {256, 200}, {64, 64, 64}}) {
    if (!slow() && modes.size() != (sizeof(T) == 4 ? 2u : 3u)) continue;
    for (const nufft::Type type : {nufft::Type::to_modes, nufft::Type::to_points}) {
      const nufft::Problem problem{
          .type = type, .modes = modes, .points = 100'000, .epsilon = sizeof(T) == 4 ? 1e-5 : 1e-9};
      plans.add_each(fmt::format("type {}, {} axes", static_cast<int>(type), modes.size()),
                     nufft::candidates<T>(plans.device, problem),
                     [&](const planner::Options& options) { nufft::Plan<T>(plans.device, problem, options); });
    }
  }
}

void plan_searches(Plans& plans) {
  using namespace search;
  const Device& device = plans.device;
  const Problem problem{.band = {.channels = 256, .first_mhz = 1500, .step_mhz = -1, .interval = 1e-4},
                        .dms = {0, 10, 20, 30},
                        .times = 4096};
  plans.add_each("trials", candidates(device, problem),
                 [&](const planner::Options& options) { Plan(device, problem, options); });
  for (const bool bytes : {false, true}) {
    plans.add("coherent", [&](const planner::Options& options) {
      CoherentPlan(device, {.centre_mhz = 1400, .rate_mhz = 6.25, .dm = 40, .bytes = bytes}, options);
    });
  }
  plans.add("beams", [&](const planner::Options&) {
    Beamformer(device, {.stations = 64, .beams = 128, .times = 4096, .integrate = 16});
  });
}

void plan_radar(Plans& plans) {
  plans.add("range-Doppler", [&](const planner::Options& options) { sar::Plan(plans.device, {}, options); });
}

struct Workload {
  const char* name;
  void (*plan)(Plans& plans);
};
void PrintTo(const Workload& workload, std::ostream* to) { *to << workload.name; }

constexpr Workload kWorkloads[] = {
    {"Transforms", plan_transforms},
    {"Transposes", plan_transposes},
    {"Stencils", plan_stencils},
    {"Banks", plan_banks},
    {"Images", plan_images},
    {"NonuniformFloat", plan_nonuniform<float>},
    {"NonuniformDouble", plan_nonuniform<double>},
    {"Searches", plan_searches},
    {"Radar", plan_radar},
};

std::string found_compiler() {
  for (const char* name : {"clang-19", "clang-20", "clang-21"}) {
    if (std::system(
            fmt::format("command -v {0} >/dev/null && {0} -x cl -target amdgcn-amd-amdhsa -mcpu=gfx942 -nogpulib -S "
                        "/dev/null -o /dev/null 2>/dev/null",
                        name)
                .c_str()) == 0)
      return name;
  }
  return "";
}
// A clang with the functions that amd_builtins.hpp uses, which compiles for AMD; empty if there is none.
const std::string& compiler() {
  static const std::string name = found_compiler();
  return name;
}

// The numbers after a key of the compiler's report, one per kernel.
std::vector<std::size_t> reported(const std::string& report, const std::string& key) {
  std::vector<std::size_t> values;
  for (std::size_t at = report.find(key); at != std::string::npos; at = report.find(key, at + 1)) {
    values.push_back(std::strtoul(report.c_str() + at + key.size(), nullptr, 10));
  }
  return values;
}

struct Totals {
  std::size_t kernels = 0, registers = 0, local_bytes = 0, waves = 1000;  // waves: the smallest number on a SIMD unit
};

class AmdKernels : public testing::TestWithParam<Workload> {
 protected:
  void compile(const Device& device, const Planned& planned) {
    const KernelSource& source = planned.source;
    const std::string where = fmt::format("{} {}: {}", device.id(), planned.plan, source.name);
    int first_line = 0;
    const std::string text =
        std::string(test::kAmdBuiltins) + detail::assemble(detail::opencl_prelude(device.info()), source, first_line);
    if (!seen_.insert(device.id() + text).second) return;
    const std::string in = scratch_.path() / "kernel.cl", out = scratch_.path() / "kernel.s",
                      log = scratch_.path() / "log";
    std::ofstream(in) << text;
    std::filesystem::create_directories(texts());
    std::ofstream(texts() / fmt::format("{}.cl", seen_.size())) << source.text;
    const std::string command = fmt::format(
        "{} -x cl -cl-std=CL2.0 -Xclang -fdeclare-opencl-builtins -Xclang -finclude-default-header -target "
        "amdgcn-amd-amdhsa -mcpu={} -nogpulib -D__OPENCL_VERSION__=200 -O3 {} -w -S {} -o {} >{} 2>&1",
        compiler(), device.info().isa, source.relaxed_math ? "-cl-fast-relaxed-math" : "", in, out, log);
    ASSERT_EQ(std::system(command.c_str()), 0) << where << " " << base::read_file(log, 1 << 20).value_or("");
    const std::string report = base::read_file(out, 1 << 28).value_or("");
    EXPECT_EQ(called(report), "") << where
                                  << ": tests/support/amd_builtins.hpp lacks these functions, so the registers "
                                     "are those of unknown ones";
    const auto registers = reported(report, ".vgpr_count:"), local = reported(report, ".group_segment_fixed_size:"),
               spills = reported(report, ".vgpr_spill_count:"), waves = reported(report, "; Occupancy: ");
    if (std::ranges::any_of(spills, [](std::size_t count) { return count > 0; })) {
      fmt::print("{}: {} registers spilled\n", where, fmt::join(spills, ", "));
      EXPECT_TRUE(!planned.chosen || spills_on_nvidia(source)) << where << ": NVIDIA's build spills none";
    }
    ASSERT_FALSE(registers.empty()) << where;
    totals_.kernels += registers.size();
    totals_.registers = std::max(totals_.registers, std::ranges::max(registers));
    totals_.local_bytes = std::max(totals_.local_bytes, std::ranges::max(local));
    totals_.waves = std::min(totals_.waves, std::ranges::min(waves));
    EXPECT_LE(std::ranges::max(local), device.info().limits.local_memory) << where;
  }

  std::filesystem::path texts() const { return scratch_.path() / "texts"; }
  // Generated texts follow the rule of files: no work-item returns before a barrier.
  void expect_no_early_returns() const {
    const auto rule = std::filesystem::path(__FILE__).parent_path().parent_path() / "scripts/barrier_rule.py";
    const auto log = scratch_.path() / "log";
    const std::string command =
        fmt::format("python3 -B '{}' --texts '{}' >'{}' 2>&1", rule.string(), texts().string(), log.string());
    EXPECT_EQ(std::system(command.c_str()), 0) << base::read_file(log.string(), 1 << 20).value_or("");
  }

  // True, too, without NVRTC: then nothing is known.
  static bool spills_on_nvidia(const KernelSource& source) {
#ifdef RIDGE_HAVE_CUDA
    if (!detail::nvrtc_available()) return true;
    const auto kernels = detail::resources_for(source, "sm_90");
    return std::ranges::any_of(kernels, [](const auto& kernel) { return kernel.spilled_bytes > 0; });
#else
    return true;
#endif
  }

  // Functions that are called and not defined in the text.
  static std::string called(const std::string& report) {
    std::set<std::string> names;
    const std::regex call(R"((\w+)@(?:gotpcrel|rel)32@lo)");
    for (std::sregex_iterator one(report.begin(), report.end(), call), end; one != end; ++one) {
      if (report.find(fmt::format("\n{}:", (*one)[1].str())) == std::string::npos) names.insert((*one)[1]);
    }
    return fmt::format("{}", fmt::join(names, ", "));
  }

  Totals totals_{};
  std::set<std::string> seen_{};
  test::ScratchFolder scratch_{};
};

TEST_P(AmdKernels, CompileWithoutSpills) {
  if (compiler().empty()) GTEST_SKIP() << "no clang for AMD's gfx942 on this machine";
  for (const char* id : {"recorded:mi300x", "recorded:rx7900", "recorded:mi250x"}) {
    if (!slow() && std::string(id) != "recorded:mi300x") continue;
    const Device device = ridge::device(id);
    totals_ = {};
    Plans plans(device);
    GetParam().plan(plans);
    for (const Planned& planned : plans.kernels) compile(device, planned);
    EXPECT_GT(totals_.kernels, 0u) << id;
    expect_no_early_returns();
    fmt::print(
        "{}: {} kernels, at most {} vector registers and {} bytes of local memory, at least {} waves per SIMD unit\n",
        id, totals_.kernels, totals_.registers, totals_.local_bytes, totals_.waves);
  }
}

INSTANTIATE_TEST_SUITE_P(Workloads, AmdKernels, testing::ValuesIn(kWorkloads),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace ridge
