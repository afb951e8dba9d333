// Every refusal that a registry gives names a quantity (a number) or a property of the problem or the device, in plain
// words. The test lists all variants of all workloads for awkward problems, on the host and on devices that exist only
// as a description.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <ridge/fft.hpp>
#include <ridge/filterbank.hpp>
#include <ridge/image.hpp>
#include <ridge/nufft.hpp>
#include <ridge/sar.hpp>
#include <ridge/search.hpp>
#include <ridge/stencil.hpp>
#include <ridge/stencil/problems.hpp>
#include <ridge/transpose.hpp>

#include "fft/device/route.hpp"
#include "fft/device/routes/l2_ring/l2_ring.hpp"
#include "fft/variant.hpp"
#include "support/hopper.hpp"

namespace ridge {
namespace {

// Regular expressions of tests/scripts/plain_words.py for whole words; those for comments do not apply to refusals.
std::vector<std::regex> forbidden_words(const std::string& script) {
  const std::regex units_line(R"re(UNITS = \("([^"]*)"\s*"([^"]*)"\))re");
  const std::regex phrase(R"re(\n    \("[^"]+", rf?"([^"]+)", )re");
  const std::regex links_line(R"re(LINKS = \("([^"]*)"\))re");
  std::smatch units, links;
  std::vector<std::regex> words;
  if (!std::regex_search(script, units, units_line) || !std::regex_search(script, links, links_line)) return words;
  const std::string unit = units[1].str() + units[2].str(), link = links[1].str();
  for (std::sregex_iterator at(script.begin(), script.end(), phrase), end; at != end; ++at) {
    const std::string pattern = std::regex_replace(std::regex_replace((*at)[1].str(), std::regex(R"(\{UNITS\})"), unit),
                                                   std::regex(R"(\{LINKS\})"), link);
    if (pattern.find("//") == std::string::npos) words.emplace_back(pattern, std::regex::icase);
  }
  return words;
}

const std::vector<std::regex>& forbidden() {
  static const std::vector<std::regex> words = [] {
    std::ostringstream text;
    text << std::ifstream(RIDGE_PLAIN_WORDS).rdbuf();
    return forbidden_words(text.str());
  }();
  return words;
}

// Nothing if a user can act on the text; else what is wrong with it.
std::string fault_of(const std::string& refusal) {
  static const std::regex quantity("[0-9]");
  static const std::regex property(
      "\\b(strides?|batch|lengths?|powers? of two|prime|factors?|butterfly|contiguous|adjacent columns|in[- "
      "]place|out[- "
      "]of[- ]place|separate arrays|forward|inverse|complex|real|double|float|floats|integers?|storage|"
      "borders?|periodic|radius|fields?|coefficients|weights|time levels?|linear|grid|taps|polarizations|channels|"
      "sampling|window|image|rotation|method|local memory|registers|work-groups?|CUDA|device|TMA|L2|matrix "
      "instructions)"
      "\\b",
      std::regex::icase);
  if (!std::regex_search(refusal, quantity) && !std::regex_search(refusal, property))
    return "names no quantity and no property of the problem";
  for (const std::regex& word : forbidden()) {
    if (std::regex_search(refusal, word)) return "has words that tests/scripts/plain_words.py forbids";
  }
  return {};
}

TEST(RefusalText, OfTheStyleGuideIsAccepted) {
  EXPECT_EQ(fault_of("needs a single batch dimension, got 3"), "");
  EXPECT_EQ(fault_of("needs batch stride >= point stride in input and output (got 1 < 4096)"), "");
  EXPECT_EQ(fault_of("periodic borders read the opposite side of the grid: not available with tiles"), "");
  EXPECT_EQ(fault_of("needs a power of two"), "");
}

TEST(RefusalText, WithoutPropertyOrInPrivateWordsIsNoticed) {
  ASSERT_GE(forbidden().size(), 10U) << "the expressions of plain_words.py were not read";
  EXPECT_NE(fault_of("takes lines of one digit"), "");
  EXPECT_NE(fault_of("takes neighbours on one side of the points only"), "");
  EXPECT_NE(fault_of("of lines this short several fit a compute unit"), "");
  EXPECT_NE(fault_of("planes have no such pieces"), "");
  EXPECT_NE(fault_of("needs 3 slots in "
                     "turn"),
            "");
  EXPECT_NE(fault_of("2 weights are numbers that "
                     "are none"),
            "");
}

// A device with the smallest limits that OpenCL allows.
struct Small : test::Hopper {
  Small() {
    info.id = "opencl:0";
    info.backend = Backend::opencl;
    info.isa = "small";
    info.limits = {};
    info.limits.work_group = 16;
    info.limits.work_group_sides = {16, 16, 16};
    info.limits.local_memory = 1024;
    info.limits.memory = std::size_t{1} << 24;
    info.limits.allocation = std::size_t{1} << 20;
    info.limits.registers = 1024;
    info.limits.float64 = false;
    info.limits.private_arrays_in_registers = false;
  }
};
// A GPU with ordinary limits and none of NVIDIA's instructions.
struct Plain : Small {
  Plain() {
    info.limits.work_group = 256;
    info.limits.work_group_sides = {256, 256, 256};
    info.limits.local_memory = 32 << 10;
    info.limits.memory = info.limits.allocation = std::size_t{16} << 30;
    info.limits.registers = 65536;
    info.limits.float64 = true;
    info.limits.private_arrays_in_registers = true;
  }
};

std::vector<Device> accelerators() {
  return {test::hopper(), Device(std::make_shared<Small>()), Device(std::make_shared<Plain>())};
}
std::vector<Device> all_devices() {
  std::vector<Device> all = accelerators();
  all.push_back(host());
  return all;
}

// Distinct refusals, each with the variant that gave it first.
class Refusals {
 public:
  void add(const std::string& variant, const std::string& text) {
    if (!text.empty()) texts_.emplace(text, variant);
  }
  void add(const std::vector<planner::Candidate>& candidates) {
    for (const planner::Candidate& one : candidates) add(one.name(), one.refusal);
  }
  template <class Problems>
  void of_error(const std::string& name, const Problems& rejected) {
    try {
      rejected();
      ADD_FAILURE() << name << ": an impossible problem was accepted";
    } catch (const Error& error) {
      add(name, error.what());
    }
  }
  void expect_plain(std::size_t at_least) const {
    for (const auto& [text, variant] : texts_) EXPECT_EQ(fault_of(text), "") << variant << ": " << text;
    EXPECT_GE(texts_.size(), at_least) << "the problems provoke fewer refusals than before";
  }

 private:
  std::map<std::string, std::string> texts_;
};

TEST(Refusals, OfSearchArePlain) {
  const search::Band band{.channels = 64, .first_mhz = 1500, .step_mhz = -4, .interval = 1e-3};
  Refusals refusals;
  for (const Device& device : all_devices()) {
    refusals.add(search::candidates(device, {.band = band, .dms = {0, 1, 2}, .times = 1000}));
    refusals.add(search::candidates(device, {.band = band, .dms = {0, 1e5}, .times = 1000}));
  }
  refusals.of_error("no trials", [&] { search::candidates(host(), {.band = band, .times = 10}); });
  refusals.expect_plain(5);
}

TEST(Refusals, OfTransposeArePlain) {
  const std::vector<transpose::Problem> problems = {
      {.rows = 64, .columns = 64},
      {.rows = 63, .columns = 65, .batch = 3},
      {.rows = 64, .columns = 64, .input = {.row = 130, .column = 2}},
      {.rows = 64, .columns = 64, .output = {.row = 200, .column = 3}},
      {.rows = 64, .columns = 64, .batch = 2, .input = {.row = 65, .batch = 5001}},
      {.rows = 64, .columns = 64, .in_place = true},
      {.rows = 1, .columns = std::size_t{1} << 33},
      {.rows = std::size_t{1} << 22, .columns = 2, .batch = 1 << 22},
  };
  Refusals refusals;
  for (const Device& device : all_devices()) {
    for (const transpose::Problem& problem : problems) {
      for (const std::size_t bytes : {1, 2, 4, 8, 16}) refusals.add(transpose::candidates(device, problem, bytes));
    }
  }
  refusals.expect_plain(20);
}

TEST(Refusals, OfNonuniformTransformsArePlain) {
  const std::vector<nufft::Problem> problems = {
      {.modes = {64}},
      {.modes = {64, 64}, .epsilon = 1e-12, .upsampling = 1.25},
      {.modes = {16, 16, 16}, .epsilon = 1e-13},
      {.modes = {1 << 20, 1 << 20}},
  };
  Refusals refusals;
  for (const Device& device : all_devices()) {
    for (const nufft::Problem& problem : problems) refusals.add(nufft::candidates<double>(device, problem));
  }
  refusals.expect_plain(8);
}

TEST(Refusals, OfHostLinesArePlain) {
  Refusals refusals;
  for (const std::size_t n : {1, 2, 7, 12, 64, 97, 101, 1009, 2310, 4096, 65537, 1 << 20, 3 << 20, 1000003}) {
    for (const auto& choice : fft::line_choices<float>(n)) refusals.add(choice.name, choice.refusal);
    for (const auto& choice : fft::line_choices<double>(n)) refusals.add(choice.name, choice.refusal);
  }
  refusals.expect_plain(1);
}

using fft::on_device::AxisProblem;

AxisProblem axis(std::size_t n, std::uint64_t batch) {
  AxisProblem problem;
  problem.length = n;
  problem.counts = {batch};
  problem.in.line = problem.out.line = {n};
  return problem;
}

// Variations of a batch of lines, each of which some route does not support.
std::vector<AxisProblem> axis_problems(std::size_t n) {
  std::vector<AxisProblem> problems;
  const auto add = [&](const auto& change) {
    AxisProblem problem = axis(n, 60);
    change(problem);
    problems.push_back(std::move(problem));
  };
  add([](AxisProblem&) {});
  add([](AxisProblem& p) { p.float64 = true; });
  add([](AxisProblem& p) { p.in_place = true; });
  add([](AxisProblem& p) { p.samples = Samples::int8; });
  add([](AxisProblem& p) { p.load_storage = p.store_storage = fft::Storage::float16; });
  add([](AxisProblem& p) { p.direction = fft::Direction::inverse; });
  add([&](AxisProblem& p) { p.load.real = std::vector<double>(n, 0.5); });
  add([&](AxisProblem& p) { p.store.complex = std::vector<std::complex<double>>(n, {0, 1}); });
  add([](AxisProblem& p) {  // adjacent columns
    p.in.point = p.out.point = 60;
    p.in.line = p.out.line = {1};
  });
  add([](AxisProblem& p) {  // columns of a wider array, from which few are transformed
    p.in.point = p.out.point = 100;
    p.in.line = p.out.line = {3};
  });
  add([](AxisProblem& p) {  // columns in, rows out
    p.in.point = 60;
    p.in.line = {1};
  });
  add([&](AxisProblem& p) {  // three batch dimensions that cannot be merged
    p.counts = {3, 4, 5};
    p.in.point = p.out.point = 2;
    p.in.line = p.out.line = {2 * n + 1, 7 * n, 31 * n};
  });
  for (const auto direction : {fft::Direction::forward, fft::Direction::inverse}) {
    const bool forward = direction == fft::Direction::forward;
    const auto add_real = [&](const auto& change) {
      add([&](AxisProblem& p) {
        p.kind = fft::Kind::real;
        p.direction = direction;
        (forward ? p.out : p.in).line = {n / 2 + 1};
        change(p);
      });
    };
    add_real([](AxisProblem&) {});
    add_real([](AxisProblem& p) { p.float64 = true; });
    add_real([](AxisProblem& p) { p.load_storage = p.store_storage = fft::Storage::bfloat16; });
    add_real([&](AxisProblem& p) { p.load.real = std::vector<double>(n, 0.5); });
    add_real([&](AxisProblem& p) { p.store.complex = std::vector<std::complex<double>>(n / 2 + 1, {0, 1}); });
    add_real([](AxisProblem& p) {
      p.in.point = p.out.point = 60;
      p.in.line = p.out.line = {1};
    });
    add_real([&](AxisProblem& p) { (p.direction == fft::Direction::forward ? p.in : p.out).line = {n + 3}; });
  }
  return problems;
}

void add_routes(const std::vector<fft::on_device::Route>& routes, Refusals& refusals) {
  for (const auto& route : routes) refusals.add(route.candidate.name(), route.candidate.refusal);
}

TEST(Refusals, OfDeviceFftRoutesArePlain) {
  Refusals refusals;
  for (const Device& device : accelerators()) {
    for (const std::size_t n : {97, 4096, 65536, 1 << 20}) {
      for (const AxisProblem& problem : axis_problems(n)) {
        add_routes(list_routes(device, problem), refusals);
        if (n != 4096) continue;
        for (const char* paper : {"burtsev/", "bergach/"}) add_routes(list_routes(device, problem, paper), refusals);
      }
    }
  }
  refusals.expect_plain(60);
}

TEST(Refusals, OfFftPlanesArePlain) {
  using fft::on_device::PlaneProblem;
  const auto plane = [](std::size_t rows, std::size_t columns, bool real, std::uint64_t point) {
    PlaneProblem problem{.real = real, .rows = rows, .columns = columns, .in_point = point, .out_point = point};
    problem.in_row = problem.out_row = columns * point;
    problem.counts = {8};
    problem.in_chunk = problem.out_chunk = {rows * columns * point};
    return problem;
  };
  std::vector<PlaneProblem> problems = {plane(512, 512, false, 1), plane(100, 512, false, 1), plane(512, 512, false, 2),
                                        plane(2, 8, true, 1), plane(1 << 13, 1 << 13, false, 1)};
  problems.push_back(plane(512, 512, false, 1));
  problems.back().in_row = 1;
  Refusals refusals;
  for (const Device& device : accelerators()) {
    for (const PlaneProblem& problem : problems) add_routes(list_planes(device, problem), refusals);
  }
  refusals.expect_plain(4);
}

template <class T>
void add_stencils(const Device& device, const stencil::Update<T>& update, const std::vector<std::size_t>& shape,
                  Refusals& refusals) {
  using stencil::Border;
  stencil::Problem problem{.shape = shape};
  for (const Border border : {Border::fixed, Border::mirror, Border::periodic}) {
    problem.borders = stencil::Borders::all(border);
    refusals.add(candidates(device, update, problem));
  }
  problem.borders.low[shape.size() - 1] = problem.borders.high[shape.size() - 1] = Border::mirror;
  refusals.add(candidates(device, update, problem));
}

TEST(Refusals, OfStencilsArePlain) {
  Refusals refusals;
  for (const Device& device : all_devices()) {
    for (const int accuracy : {2, 8}) {
      const auto heat = [&](std::size_t axes) {
        return stencil::Heat{.dt = 0.01, .spacing = std::vector<double>(axes, 1), .accuracy = accuracy};
      };
      add_stencils(device, stencil::heat<float>(heat(1)), {1000}, refusals);
      add_stencils(device, stencil::heat<float>(heat(2)), {40, 9}, refusals);
      add_stencils(device, stencil::heat<double>(heat(2)), {1000, 1000}, refusals);
      add_stencils(device, stencil::heat<float>(heat(3)), {20, 30, 500}, refusals);
      add_stencils(device, stencil::heat<float>(heat(3)), {300, 300, 300}, refusals);
      add_stencils(device, stencil::heat<float>(heat(1)), {(std::size_t{1} << 31) + 8}, refusals);
      for (const std::size_t axes : {2, 3}) {
        const std::vector<std::size_t> shape(axes, 60);
        add_stencils(
            device,
            stencil::acoustic<float>(
                {.dt = 0.01, .spacing = std::vector<double>(axes, 1), .accuracy = accuracy, .absorbing = axes == 2}),
            shape, refusals);
      }
    }
    add_stencils(device, stencil::wave<float>({.dt = 0.01, .spacing = {1, 1}}), {100, 200}, refusals);
    add_stencils(device, stencil::wave<double>({.dt = 0.01, .spacing = {1, 1, 1}}), {50, 60, 70}, refusals);
    add_stencils(device, stencil::maxwell<float>({.dt = 0.01}), {100, 200}, refusals);
    add_stencils(device, stencil::euler<float>({.dt = 0.01}), {100, 200}, refusals);
    add_stencils(device, stencil::life<std::uint8_t>(), {100, 200}, refusals);
  }
  refusals.expect_plain(40);
}

TEST(Refusals, OfFilterBanksArePlain) {
  using filterbank::Problem;
  std::vector<Problem> problems = {
      {.stations = 16},
      {.channels = 1009, .taps = 5, .polarizations = 1},
      {.channels = 64, .taps = 100},
      {.channels = 64, .taps = 40},
      {.channels = 1 << 16, .taps = 4},
      {.channels = 128, .taps = 8, .samples = Samples::int4, .oversampling = {.numerator = 4, .denominator = 3}},
      {.channels = 256, .taps = 8, .samples = Samples::float32, .order = filterbank::Order::channel},
  };
  problems[5].channels = 96;
  problems.push_back({.channels = 2048, .taps = 16, .delays = {.wanted = true, .longest = 100}});
  Refusals refusals;
  for (const Device& device : all_devices()) {
    for (const Problem& problem : problems) refusals.add(candidates(device, problem));
  }
  refusals.expect_plain(8);
}

TEST(Refusals, OfImagesArePlain) {
  using namespace image;
  const std::vector<std::string> chains = {
      "gauss 2",
      "gauss 40",
      "box 5",
      "box 201",
      "median 1",
      "median 5",
      "bilateral 4 3 25",
      "resize 0.5",
      "resize 0.31",
      "resize 3.7",
      "resize 2.5 bicubic",
      "resize 0.1 area",
      "integral",
      "pyramid 3",
      "gray | gradient sobel",
      "transpose",
      "rotate 90",
      "rotate 33",
      "gauss 2 | rotate 20",
      "gray",
  };
  Refusals refusals;
  for (const Device& device : all_devices()) {
    for (const std::string& chain : chains) {
      for (const Depth depth : {Depth::u8, Depth::u16, Depth::f32}) {
        for (const std::size_t channels : {1, 3, 4}) {
          if (channels == 1 && chain.find("gray") != std::string::npos) continue;
          try {
            refusals.add(
                candidates(device, OperatorProblem{.input = {301, 403, channels, depth}, .chain = parse_chain(chain)}));
          } catch (const Error& error) {  // a device without any variant
            refusals.add(chain, error.what());
          }
        }
      }
    }
    for (const std::size_t side : {3, 9, 27, 301}) {
      for (const Depth depth : {Depth::u8, Depth::u16}) {
        for (const auto method : {VarianceMethod::exact, VarianceMethod::three_wise, VarianceMethod::online}) {
          refusals.add(candidates(device, VarianceProblem{.rows = 600,
                                                          .columns = 700,
                                                          .depth = depth,
                                                          .method = method,
                                                          .window_rows = side,
                                                          .window_columns = side + (side == 3 ? 100 : 0)}));
        }
      }
    }
    for (const int radius : {1, 2, 9}) {
      FlowProblem problem{.rows = 480, .columns = 640};
      problem.parameters.averaging_radius = radius;
      problem.parameters.postprocess_window = problem.parameters.upscale_averaging_radius = 4 * radius;
      refusals.add(candidates(device, problem));
    }
  }
  refusals.expect_plain(40);
}

// Radar has one implementation per device: it refuses problems, not variants.
TEST(Refusals, OfRadarProblemsArePlain) {
  Refusals refusals;
  const auto rejected = [&](const auto& change) {
    sar::Problem problem;
    change(problem);
    refusals.of_error("sar", [&] { sar::check(problem); });
  };
  rejected([](sar::Problem& p) { p.radar.carrier_hz = 0; });
  rejected([](sar::Problem& p) { p.radar.beam_rad = 2; });
  rejected([](sar::Problem& p) { p.pulses = 3; });
  rejected([](sar::Problem& p) { p.samples = std::size_t{1} << 30; });
  rejected([](sar::Problem& p) { p.doppler_share = 2; });
  rejected([](sar::Problem& p) { p.radar.sample_rate_hz = 1e6; });
  rejected([](sar::Problem& p) { p.radar.pulse_s = 1; });
  rejected([](sar::Problem& p) { p.radar.pulse_rate_hz = 1; });
  refusals.expect_plain(8);
}

}  // namespace
}  // namespace ridge
