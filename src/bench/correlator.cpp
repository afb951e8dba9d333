// ridge bench correlator: times the correlator on a device with resident data, after comparison with the host.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <ridge/filterbank.hpp>

#include "bench/bench.hpp"
#include "device/random.hpp"
#include "device/timing.hpp"
#include "filterbank/correlator.hpp"

namespace ridge::cli {
namespace {

using filterbank::Arithmetic;

struct CorrelatorCase {
  std::size_t stations = 64, polarizations = 2, channels = 256, times = 1024;
  std::vector<std::string> arithmetic{"float32", "float16", "int8"};
  double seconds = 0.3;
};

// Scale for values around 1, so that int8 uses its range.
constexpr float kByteScale = 100;

std::vector<std::complex<float>> products_on_host(const filterbank::Problem& problem,
                                                  const filterbank::Correlation& correlation,
                                                  std::span<const std::complex<float>> spectra) {
  filterbank::Correlator reference(problem, correlation);
  std::vector<std::complex<float>> answer(reference.size());
  reference.push(spectra, answer);
  return answer;
}

// Relative distance over all products, of which each is compared: a single wrong one is found among millions.
double products_apart(std::span<const std::complex<float>> ours, std::span<const std::complex<float>> expected) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference += std::norm(std::complex<double>(ours[i]) - std::complex<double>(expected[i]));
    norm += std::norm(std::complex<double>(expected[i]));
  }
  return std::sqrt(difference / norm);
}

void bench_correlator(const Device& device, const CorrelatorCase& wanted, report::Bench& result) {
  const filterbank::Problem problem{.channels = wanted.channels,
                                    .taps = 1,
                                    .stations = wanted.stations,
                                    .polarizations = wanted.polarizations,
                                    .order = filterbank::Order::channel,
                                    .output_times = 16};
  const std::size_t spectrum = wanted.stations * wanted.polarizations * wanted.channels;
  std::vector<std::complex<float>> spectra(wanted.times * spectrum);
  fill_random(std::as_writable_bytes(std::span(spectra)), Numbers::float32, 3);
  Queue queue = device.queue();
  const Buffer in = device.buffer(spectra.size() * sizeof spectra[0], {.name = "bench spectra"});
  queue.upload(spectra.data(), in, in.size());
  const Buffer copied = device.buffer(in.size(), {.name = "bench copy"});
  for (const std::string& name : wanted.arithmetic) {
    filterbank::Correlation correlation{.times = wanted.times, .arithmetic = filterbank::arithmetic_named(name)};
    if (correlation.arithmetic == Arithmetic::int8) correlation.scale = kByteScale;
    filterbank::Correlator correlator(device, problem, correlation);
    const Buffer out = device.buffer(correlator.size() * sizeof(std::complex<float>), {.name = "bench products"});
    std::vector<std::complex<float>> ours(correlator.size());
    const std::vector<std::complex<float>> expected = products_on_host(problem, correlation, spectra);
    const auto compare = [&](const std::string& what) {
      queue.download(out, std::span(ours));
      queue.finish();
      const double far = products_apart(ours, expected);
      if (!(far < 3e-5))
        throw Error(ErrorKind::internal, fmt::format("correlator, {}: differs by {:.2g} from the host", what, far));
    };
    std::vector<std::function<void()>> calls{[&] { correlator.enqueue(queue, in, wanted.times, out); }};
    std::vector<std::string> names{name + ", from float spectra"};
    calls.front()();
    compare(names.front());
    Buffer rows;
    if (correlation.arithmetic != Arithmetic::float32) {
      rows = device.buffer(wanted.times * spectrum * 64 / correlator.packed_times(), {.name = "bench rows"});
      correlator.pack(queue, in, wanted.times, rows);
      calls.emplace_back([&] { correlator.enqueue_packed(queue, rows, wanted.times, out); });
      names.push_back(name + ", packed");
      queue.fill(out, std::byte{0});
      calls.back()();
      compare(names.back());
    }
    calls.emplace_back([&] { queue.copy(in, copied, in.size()); });
    const auto seconds = best_device_seconds(queue, calls, {.seconds = wanted.seconds, .at_least = 3, .at_most = 500});
    const double rate = 2 * static_cast<double>(in.size()) / seconds.back();
    for (std::size_t i = 0; i < names.size(); ++i) {
      report::BenchRow row;
      row.problem = fmt::format("correlator {} stations, {} polarizations, {} channels, {} times", wanted.stations,
                                wanted.polarizations, wanted.channels, wanted.times);
      row.device = device.id();
      row.variant = names[i];
      row.seconds = seconds[i];
      row.gflops = correlator.flops() * static_cast<double>(wanted.times) / seconds[i] * 1e-9;
      const double bytes = static_cast<double>((i == 0 ? in : rows).size() + out.size());
      row.gbytes_per_s = bytes / seconds[i] * 1e-9;
      row.roof_share = bytes / seconds[i] / rate;
      result.rows.push_back(row);
    }
  }
}

}  // namespace

void add_bench_correlator(Command& bench) {
  Command& command =
      bench.subcommand("correlator", "Correlation of every pair of stations, in float or on matrix units");
  command.footer(
      "\nExamples:\n"
      "  ridge bench correlator --device cuda:0                      64 stations, 256 channels, 1024 times\n"
      "  ridge bench correlator --stations 16 --arithmetic int8\n"
      "\nCounts 8 operations per product; shares are relative to a copy of the same bytes.");
  auto options = add_bench_options(command, "none");
  auto wanted = std::make_shared<CorrelatorCase>();
  command.option("--stations", wanted->stations, "Number of stations").shows_default();
  command.option("--polarizations", wanted->polarizations, "Number of polarizations, 1 or 2").shows_default();
  command.option("--channels", wanted->channels, "Number of channels").shows_default();
  command.option("--times", wanted->times, "Spectra per integration, a multiple of 32").shows_default();
  command.option("--arithmetic", wanted->arithmetic, "Number types: float32, float16, int8")
      .separated_by(',')
      .value_name("NAME,...");
  command.option("--seconds", wanted->seconds, "Time per measurement, in seconds").shows_default().between(0.0, 60.0);
  command.runs([options, wanted] {
    if (wanted->times == 0 || wanted->times % 32 != 0) {
      throw Error(ErrorKind::invalid_argument, fmt::format("--times {}: needs a multiple of 32", wanted->times));
    }
    report::Bench result;
    result.title = "Correlation of every pair of stations";
    result.note = "Samples are resident on the device; packed ones are already rounded.";
    for (const Device& device : bench_devices(*options)) {
      if (!device.is_host()) bench_correlator(device, *wanted, result);
    }
    if (result.rows.empty())
      throw Error(ErrorKind::unavailable, "this bench needs an OpenCL or CUDA device: none was found");
    finish_bench(result, *options);
  });
}

}  // namespace ridge::cli
