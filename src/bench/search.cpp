// ridge bench search: times every variant of dedispersion.
#include <algorithm>

#include <fmt/format.h>
#include <ridge/search.hpp>
#include <ridge/search/coherent.hpp>

#include "bench/bench.hpp"
#include "device/random.hpp"

namespace ridge::cli {
namespace {

struct SearchCase {
  std::size_t channels = 4096, trials = 1024, times = 16384;
  std::size_t coherent = 0;  // points per transform; 0: dedispersion of power
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

BenchResult bench_search(const Device& device, const SearchCase& wanted, const std::string& variant) {
  const search::Problem problem = bench_problem(wanted);
  const search::Plan chosen(device, problem, {.most_seconds = 10, .variant = variant});
  BenchResult result{.explanation = chosen.explain()};
  const auto candidates = search::candidates(device, problem);
  const Buffer in = device.buffer(wanted.channels * chosen.row(), {.name = "power"});
  const Buffer out = device.buffer(wanted.trials * wanted.times * sizeof(float), {.name = "series"});
  Queue queue = device.queue();
  fill_random(queue, in, Numbers::bits);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!is_wanted(candidates[i], variant)) continue;
    const search::Plan plan(device, problem, only(candidates[i].name()));
    report::BenchRow row =  // one by one: several plans might not fit
        timed_row(queue, device,
                  fmt::format("search {} channels, {} trials, {} times", wanted.channels, wanted.trials, wanted.times),
                  {.name = candidates[i].name(),
                   .call = [&] { plan.enqueue(queue, in, out); },
                   .flops = plan.flops(),
                   .bytes = plan.bytes(),
                   .chosen = i == chosen.decisions().front().winner},
                  wanted.seconds);
    row.more = {{"times_real_time", static_cast<double>(wanted.times) * problem.band.interval / row.seconds},
                {"kept_1", plan.kept(1)},
                {"kept_4", plan.kept(4)}};
    result.rows.push_back(row);
  }
  std::sort(result.rows.begin(), result.rows.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  for (report::BenchRow& row : result.rows) {
    result.notes.push_back(fmt::format("{} {}: {:.2f} times real time, keeps {:.2f} of the S/N of pulses of one sample",
                                       device.id(), row.variant, row.more["times_real_time"], row.more["kept_1"]));
  }
  return result;
}

// Coherent dedispersion in device memory, samples of bytes and of floats, with an overlap of about an eighth of the
// points.
BenchResult bench_coherent(const Device& device, const SearchCase& wanted, const std::string& variant) {
  if (device.is_host()) throw Error(ErrorKind::invalid_argument, "--coherent times devices: give --device cuda:0");
  const std::size_t samples = std::size_t{1} << 26;
  const Buffer in = device.buffer(samples * sizeof(std::complex<float>), {.name = "voltages"});
  const Buffer out = device.buffer(samples * sizeof(std::complex<float>), {.name = "dedispersed"});
  Queue queue = device.queue();
  BenchResult result;
  for (const bool bytes : {true, false}) {
    search::CoherentProblem problem{.centre_mhz = 1403, .rate_mhz = 6.25, .length = wanted.coherent, .bytes = bytes};
    // Samples of sweep per DM, at the default margin.
    const double sweep = search::delay_seconds(1, 1403 - 3.125, 1403 + 3.125) * 6.25e6 * problem.margin;
    problem.dm = (static_cast<double>(wanted.coherent) / 8 - 6) / sweep;
    fill_random(queue, in, bytes ? Numbers::bits : Numbers::float32);
    for (const char* route : {"fused", "transforms"}) {
      if (!variant.empty() && variant != route) continue;
      if (std::string_view(route) == "fused" && (wanted.coherent < 4096 || wanted.coherent > 65536)) continue;
      const search::CoherentPlan plan(device, problem, {.effort = Effort::quick, .variant = route});
      result.explanation += plan.explain() + "\n";
      const report::BenchRow row = timed_row(
          queue, device, fmt::format("coherent {} points, complex {}", plan.length(), bytes ? "int8" : "float"),
          {.name = route,
           .call = [&] { plan.enqueue(queue, in, samples, out); },
           .flops = 0,
           .bytes = static_cast<double>(samples) * (bytes ? 10 : 16),
           .chosen = true},
          wanted.seconds);
      result.rows.push_back(row);
      result.notes.push_back(fmt::format("{} {} {}: {:.1f} Gsample/s, {} of {} points overlap", device.id(), route,
                                         bytes ? "int8" : "float", 1e-9 * static_cast<double>(samples) / row.seconds,
                                         plan.before() + plan.after(), plan.length()));
    }
  }
  return result;
}

}  // namespace

Workload bench_of_search() {
  auto wanted = std::make_shared<SearchCase>();
  Workload bench{.name = "search", .about = "Time dedispersion of bytes: brute force, trees and the Fourier domain"};
  bench.footer =
      "\nExamples:\n"
      "  ridge bench search --device host --trials 256\n"
      "  ridge bench search --device cuda:0 --trials 4096 --times 65536\n"
      "  ridge bench search --device cuda:0 --coherent 16384\n"
      "\nThe band is 1600 to 1200 MHz at 64 microseconds, trials are one sample of delay apart. GFLOP/s counts the\n"
      "additions of brute force, whatever the variant executes.";
  bench.add_options = [=](Command& command) {
    command.option("--channels", wanted->channels, "Channels").shows_default().between(1, 65536);
    command.option("--trials", wanted->trials, "Trial dispersion measures").shows_default().between(1, 1 << 20);
    command.option("--times", wanted->times, "Samples of each series").shows_default().between(1, 1e8);
    command.option("--coherent", wanted->coherent,
                   "Time coherent dedispersion of voltages with this many points per transform instead (devices)");
    add_seconds(command, wanted->seconds, "Time per variant, in seconds");
  };
  bench.tables = [=](const BenchOptions& options, const mpi::Communicator&) {
    BenchTable table("Dedispersion",
                     "Sums of bytes over all channels for many dispersion measures; GFLOP/s as brute force.");
    table.at_end = table.notes_first = true;
    for (const Device& device : bench_devices(options)) {
      table.cases.push_back({fmt::format("dedispersion on {}", device.id()), [=](const Tell&) {
                               return wanted->coherent > 0 ? bench_coherent(device, *wanted, options.variant)
                                                           : bench_search(device, *wanted, options.variant);
                             }});
    }
    return std::vector{table};
  };
  return bench;
}

}  // namespace ridge::cli
