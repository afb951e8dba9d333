// Runs random cases within a time limit, prints each failure with the command that repeats it, and shrinks cases.
#include "check/check.hpp"

#include <algorithm>
#include <exception>
#include <limits>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/clock.hpp"
#include "check/laws.hpp"

namespace ridge::check {
namespace {

constexpr std::size_t kMostFailures = 20;  // one defect fails often: more failures add no information

std::uint64_t seed_of(const std::string& workload, std::uint64_t seed, std::uint64_t number) {
  std::uint64_t mixed = Random(seed).bits() ^ (number * 0xd1342543de82ef95U);
  for (const char letter : workload) mixed = Random(mixed + static_cast<unsigned char>(letter)).bits();
  return mixed;
}

// Kernels are compiled per shape, and an OpenCL device that is a CPU is slow at compiling and at running them.
std::size_t points_for(const Device& device) {
  if (device.is_host()) return std::size_t{1} << 22;
  return device.info().shares_host_memory ? std::size_t{1} << 14 : std::size_t{1} << 24;
}

// Writes a NaN into floats, another number into integers.
void spoil(std::span<std::byte> answer) {
  if (answer.size() < 16) return;
  for (std::byte& byte : answer.subspan(answer.size() / 3 / 16 * 16, 16)) byte ^= std::byte{0xff};
}

struct Ran {
  std::string problem;
  Outcome outcome;
};

Ran run_case(const Device& device, const Workload& workload, const Options& options, std::uint64_t number,
             std::size_t shrink) {
  if (options.before) options.before(workload.name, number, shrink);
  Draw draw{device, Random(seed_of(workload.name, options.seed, number)), 0};
  const std::size_t most = options.most_points > 0 ? options.most_points : points_for(device);
  const bool large = draw.random.chance(options.large);
  const std::size_t usual = std::max<std::size_t>(64, std::min<std::size_t>(most, 64 + draw.random.magnitude(1 << 16)));
  draw.points = std::max<std::size_t>(1, (large ? most : usual) >> std::min<std::size_t>(shrink, 60));
  if (options.spoil) draw.tamper = spoil;
  Outcome outcome = guarded([&] { return workload.check(draw); });
  return {std::move(draw.problem), std::move(outcome)};
}

// Halves the size as long as the case still fails.
Failure shrunk(const Device& device, const Workload& workload, const Options& options, std::uint64_t number, Ran ran) {
  Failure failure{workload.name, number, options.shrink, std::move(ran.problem), std::move(ran.outcome)};
  for (std::size_t shrink = options.shrink + 1; shrink <= 24; ++shrink) {
    Ran smaller = run_case(device, workload, options, number, shrink);
    if (smaller.outcome.wrong.empty()) break;
    failure.shrunk = shrink;
    failure.problem = std::move(smaller.problem);
    failure.outcome = std::move(smaller.outcome);
  }
  return failure;
}

}  // namespace

Outcome guarded(const std::function<Outcome()>& check) {
  try {
    return check();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::invalid_argument || error.kind() == ErrorKind::out_of_memory ||
        error.kind() == ErrorKind::unavailable) {
      return {.refused = error.what()};
    }
    return {.wrong = error.what(), .broken = error.kind() == ErrorKind::device};
  } catch (const std::exception& error) {
    return {.wrong = fmt::format("an exception: {}", error.what())};
  }
}

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all{
      {"transpose", check_transpose},   {"fft", check_fft},     {"stencil", check_stencil},
      {"filterbank", check_filterbank}, {"nufft", check_nufft}, {"sar", check_sar},
      {"search", check_search},         {"image", check_image}, {"adjoint", check_adjoint}};
  return all;
}

const std::vector<Workload>& laws() {
  static const std::vector<Workload> all{
      {"transpose", transpose_laws}, {"fft", fft_laws}, {"stencil", stencil_laws}, {"filterbank", filterbank_laws},
      {"nufft", nufft_laws},         {"sar", sar_laws}, {"search", search_laws},   {"image", image_laws}};
  return all;
}

Report run(const Device& device, std::span<const Workload> workloads, const Options& options) {
  std::vector<const Workload*> chosen;
  for (const Workload& workload : workloads) {
    const auto& names = options.workloads;
    if (names.empty() || std::find(names.begin(), names.end(), workload.name) != names.end())
      chosen.push_back(&workload);
  }
  Report report;
  const double end = base::now() + options.seconds;
  for (std::uint64_t number = options.only.value_or(0);; ++number) {
    for (const Workload* workload : chosen) {
      const bool in_time = base::now() < end;
      if (!options.only && number > 0 && !(options.go_on ? options.go_on(in_time) : in_time)) return report;
      Ran ran = run_case(device, *workload, options, number, options.shrink);
      ++report.cases;
      if (!ran.outcome.refused.empty()) ++report.refused;
      if (options.each) options.each(workload->name, number, ran.problem, ran.outcome);
      if (ran.outcome.wrong.empty()) continue;
      const bool broken = ran.outcome.broken;
      report.failures.push_back(options.only || broken
                                    ? Failure{workload->name, number, options.shrink, ran.problem, ran.outcome}
                                    : shrunk(device, *workload, options, number, std::move(ran)));
      if (broken || report.failures.size() >= kMostFailures) return report;
    }
    if (options.only) return report;
  }
}

namespace {

// Variants that evaluate the definition, with O(n^2) operations, would take a minute on a large problem. A variant is
// not drawn if it exceeds both limits: a number of operations, and a multiple of the cheapest variant's operations.
constexpr double kMuch = 1e9, kManyTimes = 1000;

double work_of(const planner::Candidate& candidate) {
  return candidate.cost.flops / std::max(candidate.cost.efficiency, 1e-6);
}

}  // namespace

planner::Options some_variant(const std::vector<planner::Candidate>& candidates, std::uint64_t by_chance) {
  planner::Options options{.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false};
  Random random(by_chance);
  std::vector<std::string> allowed;
  double least = std::numeric_limits<double>::infinity();
  for (const planner::Candidate& candidate : candidates) {
    if (candidate.refusal.empty()) least = std::min(least, work_of(candidate));
  }
  for (const planner::Candidate& candidate : candidates) {
    const double work = work_of(candidate);
    if (candidate.refusal.empty() && !(work > kMuch && work > kManyTimes * least)) allowed.push_back(candidate.name());
  }
  if (!allowed.empty() && random.chance(0.5)) options.variant = random.one_of(allowed);
  return options;
}

std::string chosen_by(const std::vector<planner::Decision>& decisions) {
  std::string names;
  for (const planner::Decision& decision : decisions) {
    if (decision.winner >= decision.trials.size()) continue;
    if (!names.empty()) names += ", ";
    names += decision.trials[decision.winner].name;
  }
  return names;
}

}  // namespace ridge::check
