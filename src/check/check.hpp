// Random problems over everything the public headers allow, each compared with an independent reference in wider
// precision (`ridge check`). The same seed and case number give the same problem on every machine.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/plan.hpp>

#include "check/random.hpp"

namespace ridge::check {

// Input of a workload's generator. Sizes are drawn last and scaled, so that a smaller `points` gives a smaller version
// of the same problem.
struct Draw {
  const Device& device;
  Random random;
  std::size_t points;     // largest number of elements of the problem
  std::string problem{};  // description with the variant; set as soon as it is known
  // For tests of the checks: changes an answer before it is compared, or the input that a run must not change.
  std::function<void(std::span<std::byte> answer)> tamper{};
  std::function<void(std::span<std::byte> input)> tamper_input{};
  void answered(std::span<std::byte> answer, std::span<std::byte> input = {}) const {
    if (tamper) tamper(answer);
    if (tamper_input && !input.empty()) tamper_input(input);
  }
};

struct Outcome {
  std::string wrong{};    // the error and its position; empty: the answer is right
  std::string refused{};  // the library's refusal; nothing was computed
  bool broken = false;    // the device failed: later results on it are meaningless
};

// Runs a check and turns the library's refusals and failures into outcomes.
Outcome guarded(const std::function<Outcome()>& check);

struct Workload {
  const char* name;
  Outcome (*check)(Draw& draw);
};
Outcome check_transpose(Draw& draw);
Outcome check_fft(Draw& draw);  // includes convolutions, tensors and boxes
Outcome check_boxes(Draw& draw);
Outcome check_convolution(Draw& draw);
Outcome check_tensor(Draw& draw);
Outcome check_stencil(Draw& draw);  // includes leaps over many steps
Outcome check_leap(Draw& draw);
Outcome check_filterbank(Draw& draw);  // includes correlators and detectors
Outcome check_correlator(Draw& draw);
Outcome check_nufft(Draw& draw);
Outcome check_sar(Draw& draw);
Outcome check_search(Draw& draw);
Outcome check_image(Draw& draw);  // operators, variances, flows
Outcome check_adjoint(Draw& draw);
const std::vector<Workload>& workloads();

struct Failure {
  std::string workload{};
  std::uint64_t number = 0;  // case number
  std::size_t shrunk = 0;    // number of times the size was halved while the case still failed
  std::string problem{};     // description of the shrunk problem
  Outcome outcome{};
};

struct Options {
  std::vector<std::string> workloads{};  // empty: all
  double seconds = 10;
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> only{};  // run this case only, its size halved `shrink` times
  std::size_t shrink = 0;
  // For several processes that draw the same cases: decides for all of them whether to continue, given this process's
  // own view. Empty: uses that view.
  std::function<bool(bool in_time)> go_on{};
  std::size_t most_points = 0;  // 0: a size that suits the device; a few problems have this size, most are small
  double large = 0.03;          // fraction of problems of that size
  bool spoil = false;           // changes 16 bytes of every answer before it is compared
  // Called before each problem, including the smaller ones tried while a failure is shrunk.
  std::function<void(const std::string& workload, std::uint64_t number, std::size_t shrink)> before{};
  std::function<void(const std::string& workload, std::uint64_t number, const std::string& problem,
                     const Outcome& outcome)>
      each{};
};

struct Report {
  std::size_t cases = 0, refused = 0;
  std::vector<Failure> failures{};
};

// Runs the workloads alternately until the time is over; shrinks a failing problem as long as it still fails.
Report run(const Device& device, std::span<const Workload> workloads, const Options& options);

// Draws the variant of a case: half of the cases run a random one, the others that of a quick plan.

planner::Options some_variant(const std::vector<planner::Candidate>& candidates, std::uint64_t by_chance);

std::string chosen_by(const std::vector<planner::Decision>& decisions);  // "tile(side=32), simd"

}  // namespace ridge::check
