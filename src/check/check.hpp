// Random problems over everything the public headers allow, each against an independent reference in wider precision:
// what `ridge check` runs. A case is a number: the same seed and number make the same problem on every machine.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <ridge/device.hpp>

#include "check/random.hpp"

namespace ridge::check {

// What a workload makes a problem from. Sizes are drawn last and scaled, so that a smaller `points` gives the same
// problem in small.
struct Draw {
  const Device& device;
  Random random;
  std::size_t points;     // elements the problem may have
  std::string problem{};  // in words, with the variant: said as soon as it is known
  // Tests of the checks: changes an answer before it is compared, or the input that a run must leave alone.
  std::function<void(std::span<std::byte> answer)> tamper{};
  std::function<void(std::span<std::byte> input)> tamper_input{};
  void answered(std::span<std::byte> answer, std::span<std::byte> input = {}) const {
    if (tamper) tamper(answer);
    if (tamper_input && !input.empty()) tamper_input(input);
  }
};

struct Outcome {
  std::string wrong{};    // what and where; empty: right
  std::string refused{};  // the library's words; nothing was computed
  bool broken = false;    // the device failed: what runs on it afterwards says nothing
};

// What a check finds; the library's refusals and failures are outcomes too.
Outcome guarded(const std::function<Outcome()>& check);

struct Workload {
  const char* name;
  Outcome (*check)(Draw& draw);
};
Outcome check_transpose(Draw& draw);
Outcome check_fft(Draw& draw);  // and convolutions
Outcome check_convolution(Draw& draw);
Outcome check_tensor(Draw& draw);
Outcome check_stencil(Draw& draw);  // and leaps over many steps
Outcome check_leap(Draw& draw);
Outcome check_filterbank(Draw& draw);  // and what stands behind a bank
Outcome check_correlator(Draw& draw);
Outcome check_sar(Draw& draw);
Outcome check_image(Draw& draw);  // operators, variances, flows
const std::vector<Workload>& workloads();

struct Failure {
  std::string workload{};
  std::uint64_t number = 0;  // of the case
  std::size_t shrunk = 0;    // halvings of the size under which it still fails
  std::string problem{};     // the shrunk one, in words
  Outcome outcome{};
};

struct Options {
  std::vector<std::string> workloads{};  // empty: all
  double seconds = 10;
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> only{};  // this case, `shrink` times halved
  std::size_t shrink = 0;
  // Several processes that draw together: whether they go on, from what this one thinks. Empty: as it thinks.
  std::function<bool(bool in_time)> go_on{};
  std::size_t most_points = 0;  // 0: what suits the device; a few problems have this size, most are small
  double large = 0.03;          // the share of problems of that size
  bool spoil = false;           // changes 16 bytes of every answer before it is compared
  // Before a problem is begun, those included that are tried while a failure is made smaller.
  std::function<void(const std::string& workload, std::uint64_t number, std::size_t shrink)> before{};
  std::function<void(const std::string& workload, std::uint64_t number, const std::string& problem,
                     const Outcome& outcome)>
      each{};
};

struct Report {
  std::size_t cases = 0, refused = 0;
  std::vector<Failure> failures{};
};

// Workloads take turns until the time is over; a failure is made smaller as long as it stays one.
Report run(const Device& device, std::span<const Workload> workloads, const Options& options);

}  // namespace ridge::check
