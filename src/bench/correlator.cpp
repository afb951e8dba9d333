// ridge bench correlator: times the correlator on a device with resident data, after comparison with the host.
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

BenchResult bench_correlator(const Device& device, const CorrelatorCase& wanted, const std::string& name) {
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
  filterbank::Correlation correlation{.times = wanted.times, .arithmetic = filterbank::arithmetic_named(name)};
  if (correlation.arithmetic == Arithmetic::int8) correlation.scale = kByteScale;
  filterbank::Correlator correlator(device, problem, correlation), on_host(problem, correlation);
  std::vector<std::complex<float>> ours(correlator.size()), expected(on_host.size());
  on_host.push(spectra, expected);
  const Buffer out = device.buffer(correlator.size() * sizeof(std::complex<float>), {.name = "bench products"});

  Contest contest{device, fmt::format("correlator {} stations, {} polarizations, {} channels, {} times",
                                      wanted.stations, wanted.polarizations, wanted.channels, wanted.times)};
  // Compares every product: a single wrong one is found among millions.
  const auto add = [&](const std::string& what, const Contest::Call& call, const Buffer& from) {
    queue.fill(out, std::byte{0});
    call();
    queue.download(out, std::span(ours));
    queue.finish();
    const auto values = [](const auto& all) {
      return std::span(reinterpret_cast<const float*>(all.data()), 2 * all.size());
    };
    if (const double far = distance(values(ours), values(expected)); !(far < 3e-5))
      throw Error(ErrorKind::internal, fmt::format("correlator, {}: differs by {:.2g} from the host", what, far));
    contest.ours.push_back({.name = what,
                            .call = call,
                            .flops = correlator.flops() * static_cast<double>(wanted.times),
                            .bytes = static_cast<double>(from.size() + out.size())});
  };
  add(
      name + ", from float spectra", [&] { correlator.enqueue(queue, in, wanted.times, out); }, in);
  Buffer rows;
  if (correlation.arithmetic != Arithmetic::float32) {
    rows = device.buffer(wanted.times * spectrum * 64 / correlator.packed_times(), {.name = "bench rows"});
    correlator.pack(queue, in, wanted.times, rows);
    add(
        name + ", packed", [&] { correlator.enqueue_packed(queue, rows, wanted.times, out); }, rows);
  }
  contest.others.emplace_back([&] { queue.copy(in, copied, in.size()); });
  contest.copied = in.size();
  return {.rows = contest.time([&](const auto& calls) {
    return best_device_seconds(queue, calls, {.seconds = wanted.seconds, .at_least = 3, .at_most = 500});
  })};
}

}  // namespace

Workload bench_of_correlator() {
  auto wanted = std::make_shared<CorrelatorCase>();
  Workload bench{.name = "correlator",
                 .about = "Time the correlation of every pair of stations, in float or on matrix units"};
  bench.footer =
      "\nExamples:\n"
      "  ridge bench correlator --device cuda:0                      64 stations, 256 channels, 1024 times\n"
      "  ridge bench correlator --stations 16 --arithmetic int8\n"
      "\nCounts 8 operations per product; shares are relative to a copy of the same bytes.";
  bench.add_options = [=](Command& command) {
    command.option("--stations", wanted->stations, "Number of stations").shows_default();
    command.option("--polarizations", wanted->polarizations, "Number of polarizations, 1 or 2").shows_default();
    command.option("--channels", wanted->channels, "Number of channels").shows_default();
    command.option("--times", wanted->times, "Spectra per integration, a multiple of 32").shows_default();
    command.option("--arithmetic", wanted->arithmetic, "Number types: float32, float16, int8")
        .separated_by(',')
        .value_name("NAME,...");
    add_seconds(command, wanted->seconds);
  };
  bench.tables = [=](const BenchOptions& options, const mpi::Communicator&) {
    if (wanted->times == 0 || wanted->times % 32 != 0)
      mistake(fmt::format("--times {}: needs a multiple of 32", wanted->times));
    BenchTable table("Correlation of every pair of stations",
                     "Samples are resident on the device; packed ones are already rounded.");
    table.at_end = true;
    for (const Device& device : bench_devices(options)) {
      for (const std::string& name : wanted->arithmetic) {
        if (device.is_host()) continue;
        table.cases.push_back({fmt::format("{} on {}", name, device.id()),
                               [=](const Tell&) { return bench_correlator(device, *wanted, name); }});
      }
    }
    if (table.cases.empty())
      throw Error(ErrorKind::unavailable, "this bench needs an OpenCL or CUDA device: none was found");
    return std::vector{table};
  };
  return bench;
}

}  // namespace ridge::cli
