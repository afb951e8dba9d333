// ridge bench search: times every variant of dedispersion.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <ridge/search.hpp>

#include "base/log.hpp"
#include "bench/bench.hpp"
#include "device/random.hpp"
#include "device/timing.hpp"

namespace ridge::cli {
namespace {

struct SearchCase {
  std::size_t channels = 4096, trials = 1024, times = 16384;
  double seconds = 0.3;
};

// A band from 1600 to 1200 MHz at 64 microseconds, trials one sample of delay apart.
search::Problem bench_problem(const SearchCase& wanted) {
  const double channels = static_cast<double>(wanted.channels);
  search::Problem problem{
      .band = {.channels = wanted.channels, .first_mhz = 1600, .step_mhz = -400 / channels, .interval = 64e-6},
      .times = wanted.times};
  const double whole = search::delay_seconds(1, problem.band.lowest_mhz(), 1600);
  for (std::size_t i = 0; i < wanted.trials; ++i)
    problem.dms.push_back(whole > 0 ? static_cast<double>(i) * problem.band.interval / whole : 0);
  return problem;
}

std::vector<report::BenchRow> bench_search(const Device& device, const SearchCase& wanted, const std::string& variant,
                                           std::string* explanation) {
  const search::Problem problem = bench_problem(wanted);
  planner::Options planning{.most_seconds = 10, .variant = variant};
  const search::Plan chosen(device, problem, planning);
  if (explanation != nullptr) *explanation = chosen.explain();
  const auto candidates = search::candidates(device, problem);
  const std::string chosen_name = candidates[chosen.decisions().front().winner].name();
  const Buffer in = device.buffer(wanted.channels * chosen.row(), {.name = "power"});
  const Buffer out = device.buffer(wanted.trials * wanted.times * sizeof(float), {.name = "series"});
  Queue queue = device.queue();
  fill_random(queue, in, Numbers::bits);
  std::vector<report::BenchRow> rows;
  for (const planner::Candidate& candidate : candidates) {
    if (!candidate.refusal.empty() ||
        (!variant.empty() && candidate.variant != variant && candidate.name() != variant)) {
      continue;
    }
    const search::Plan plan(
        device, problem,
        {.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false, .variant = candidate.name()});
    const double seconds = best_device_seconds(queue, {[&] { plan.enqueue(queue, in, out); }},
                                               {.seconds = wanted.seconds, .at_least = 2, .at_most = 200})
                               .front();
    report::BenchRow row;
    row.problem = fmt::format("search {} channels, {} trials, {} times", wanted.channels, wanted.trials, wanted.times);
    row.device = device.id();
    row.variant = candidate.name();
    row.seconds = seconds;
    row.gflops = plan.flops() / seconds * 1e-9;
    row.gbytes_per_s = plan.bytes() / seconds * 1e-9;
    row.chosen = candidate.name() == chosen_name;
    row.more = {{"times_real_time", static_cast<double>(wanted.times) * problem.band.interval / seconds},
                {"kept_1", plan.kept(1)},
                {"kept_4", plan.kept(4)}};
    rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return rows;
}

}  // namespace

void add_bench_search(Command& bench) {
  Command& command = bench.subcommand("search", "Time dedispersion of bytes: brute force and trees");
  command.footer(
      "\nExamples:\n"
      "  ridge bench search --device host --trials 256\n"
      "  ridge bench search --device cuda:0 --trials 4096 --times 65536\n"
      "\nThe band is 1600 to 1200 MHz at 64 microseconds, trials are one sample of delay apart. GFLOP/s counts the\n"
      "additions of brute force, whatever the variant executes.");
  auto options = add_bench_options(command, "none");
  auto wanted = std::make_shared<SearchCase>();
  command.option("--channels", wanted->channels, "Channels").shows_default().between(1, 65536);
  command.option("--trials", wanted->trials, "Trial dispersion measures").shows_default().between(1, 1 << 20);
  command.option("--times", wanted->times, "Samples of each series").shows_default().between(1, 1e8);
  command.option("--seconds", wanted->seconds, "Time per variant, in seconds").shows_default().between(0.0, 60.0);
  command.runs([options, wanted] {
    if (!options->against.empty()) mistake("bench search: there are no other libraries to time");
    report::Bench result;
    result.title = "Dedispersion";
    result.note = "Sums of bytes over all channels for many dispersion measures; GFLOP/s as brute force.";
    for (const Device& device : bench_devices(*options)) {
      std::string explanation;
      for (report::BenchRow& row :
           bench_search(device, *wanted, options->variant, options->explain ? &explanation : nullptr)) {
        fmt::print("{} {}: {:.2f} times real time, keeps {:.2f} of the S/N of pulses of one sample\n", device.id(),
                   row.variant, row.more["times_real_time"], row.more["kept_1"]);
        result.rows.push_back(std::move(row));
      }
      if (options->explain) fmt::print("{}\n", explanation);
    }
    finish_bench(result, *options);
  });
}

}  // namespace ridge::cli
