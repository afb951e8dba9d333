// Times transforms and peers with data resident on a device, against a copy.
#include "bench/fft.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <random>

#include <fmt/format.h>
#include <ridge/fft.hpp>

#include "device/timing.hpp"
#include "machine/energy.hpp"

namespace ridge::cli {
namespace {

// Number of compared values: enough to detect a wrong result, few enough to download.
constexpr std::size_t kCompared = std::size_t{1} << 22;

template <class T>
void fill(Queue& queue, const Buffer& buffer) {
  std::vector<T> values(std::min<std::size_t>(buffer.size() / sizeof(T), std::size_t{1} << 22));
  std::mt19937 generator(1);
  std::uniform_real_distribution<T> uniform(T(-0.5), T(0.5));
  for (T& value : values) value = uniform(generator);
  for (std::size_t at = 0; at < buffer.size();) {
    const std::size_t bytes = std::min(buffer.size() - at, values.size() * sizeof(T));
    queue.upload(values.data(), buffer, bytes, at);
    at += bytes;
  }
  queue.finish();
}

// Downloads the first and the last values of an array.
template <class T>
std::vector<std::complex<T>> fetched(Queue& queue, const Buffer& buffer) {
  const std::size_t all = buffer.size() / sizeof(std::complex<T>), part = std::min(all, kCompared / 2);
  std::vector<std::complex<T>> values(2 * part);
  const std::size_t bytes = part * sizeof(std::complex<T>);
  queue.download(buffer, values.data(), bytes);
  queue.download(buffer, values.data() + part, bytes, buffer.size() - bytes);
  queue.finish();
  return values;
}

template <class T>
double distance(const std::vector<std::complex<T>>& a, const std::vector<std::complex<T>>& b) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::norm(std::complex<double>(a[i]) - std::complex<double>(b[i]));
    norm += std::norm(std::complex<double>(b[i]));
  }
  return norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
}

std::string winners(const std::vector<planner::Decision>& decisions) {
  std::string text;
  for (const planner::Decision& decision : decisions) {
    text += (text.empty() ? "" : " / ") + decision.trials.at(decision.winner).name;
  }
  return text;
}

struct Transferred {
  const Buffer &in, &out;
  const report::BenchRow& row;                      // without transfers
  const std::vector<std::function<void()>>& calls;  // Ridgeline, a copy, the peers
  const std::vector<std::string>& names;            // of the peers
};

// The same calls after an upload of all input and before a download of all output, as the study of the papers counts
// them. The roofline share is relative to the transfers alone.
report::BenchRow with_transfers(Queue& queue, const Transferred& of) {
  const Device device = queue.device();
  const Mapping from = device.buffer(of.in.size(), {.kind = MemoryKind::pinned, .name = "bench host input"}).map();
  const Mapping to = device.buffer(of.out.size(), {.kind = MemoryKind::pinned, .name = "bench host output"}).map();
  queue.download(of.in, from.data(), of.in.size());
  queue.finish();
  std::vector<std::function<void()>> calls;
  for (std::size_t i = 0; i < of.calls.size(); ++i) {
    calls.emplace_back([&, i] {
      queue.upload(from.data(), of.in, of.in.size());
      if (i != 1) of.calls[i]();
      queue.download(of.out, to.data(), of.out.size());
    });
  }
  const auto seconds =
      best_device_seconds(queue, calls, {.seconds = 0.2, .at_least = 5, .at_most = 500, .round = 2e-3});
  report::BenchRow row = of.row;
  row.problem += " with transfers";
  row.chosen = false;
  row.gflops *= row.seconds / seconds[0];
  row.gbytes_per_s = static_cast<double>(of.in.size() + of.out.size()) / seconds[0] * 1e-9;
  row.roof_share = seconds[1] / seconds[0];
  row.seconds = seconds[0];
  for (std::size_t p = 0; p < of.names.size(); ++p) row.peers[of.names[p]] = seconds[2 + p];
  return row;
}

template <class T>
FftBenchResult bench_on_device(const Device& device, const FftBench& wanted, const std::vector<Peer>& peers) {
  const PeerProblem& problem = wanted.problem;
  const bool storage16 = !wanted.stored.empty();
  fft::Problem ours{.shape = problem.shape,
                    .batch = problem.batch,
                    .kind = problem.real ? fft::Kind::real : fft::Kind::complex,
                    .storage = !storage16               ? fft::Storage::same
                               : wanted.stored == "f16" ? fft::Storage::float16
                                                        : fft::Storage::bfloat16};
  if (wanted.window) {
    std::vector<double>& window = (problem.inverse ? ours.load_inverse : ours.load_forward).window;
    std::size_t points = 1;
    for (const std::size_t side : problem.shape) points *= side;
    for (std::size_t i = 0; i < points; ++i) window.push_back(1 + 0.5 * std::cos(static_cast<double>(i)));
  }
  FftBenchResult result;
  planner::Options options{.variant = wanted.variant};
  if (wanted.trials > 0) options.most_trials = wanted.trials;
  const fft::Plan<T> plan(device, ours, options);
  result.explanation = plan.explain();
  Queue queue = device.queue();
  const std::size_t in_bytes = plan.input_size() * (storage16 ? 2 : sizeof(T) * (problem.real ? 1 : 2));
  const Buffer in = device.buffer(in_bytes, {.name = "bench input"});
  const Buffer out =
      device.buffer(plan.output_size() * (storage16 ? 2 : sizeof(std::complex<T>)), {.name = "bench output"});
  fill<T>(queue, in);

  std::vector<std::function<void()>> calls;
  calls.emplace_back(
      [&] { problem.inverse ? plan.enqueue_inverse(queue, in, out) : plan.enqueue_forward(queue, in, out); });
  calls.emplace_back([&] { queue.copy(in, out, std::min(in.size(), out.size())); });
  calls.front()();
  const auto expected = fetched<T>(queue, out);
  const double tolerance = sizeof(T) == sizeof(float) ? 1e-5 : 1e-13;
  std::vector<std::string> names;
  for (const Peer& peer : peers) {
    try {
      if (storage16) throw Error(ErrorKind::unavailable, "16-bit storage is not supported by peers");
      if (wanted.window) throw Error(ErrorKind::unavailable, "windows on load are not supported by peers");
      if (!peer.prepare_on_device) throw Error(ErrorKind::unavailable, "it runs on the host only");
      PeerRun run = peer.prepare_on_device(problem, in, out, queue);
      queue.fill(out, std::byte{0});
      run();
      if (const double far = distance(fetched<T>(queue, out), expected); !(far < tolerance)) {
        result.disagreements.push_back(
            fmt::format("{}: Ridgeline's result and {}'s differ by {:.2g}", fft_problem_text(problem), peer.name, far));
        continue;
      }
      calls.push_back(std::move(run));
      names.push_back(peer.name);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::unavailable) throw;
      result.notes.push_back(fmt::format("{}: left out of {}: {}", peer.name, fft_problem_text(problem), error.what()));
    }
  }
  const auto seconds = best_device_seconds(
      queue, calls, {.seconds = wanted.seconds_each, .at_least = 5, .at_most = 2000, .round = 2e-3});
  const double copy_rate = 2 * static_cast<double>(std::min(in.size(), out.size())) / seconds[1];
  result.flops = plan.flops();
  result.bytes = plan.bytes();
  report::BenchRow row;
  row.problem =
      fft_problem_text(problem) + (storage16 ? " stored as " + wanted.stored : "") + (wanted.window ? " windowed" : "");
  row.device = device.id();
  row.variant = wanted.variant.empty() ? winners(plan.decisions()) : wanted.variant;
  row.seconds = seconds[0];
  row.gflops = result.flops / seconds[0] * 1e-9;
  row.gbytes_per_s = result.bytes / seconds[0] * 1e-9;
  row.roof_share = result.bytes / copy_rate / seconds[0];
  for (std::size_t p = 0; p < names.size(); ++p) row.peers[names[p]] = seconds[2 + p];
  row.chosen = true;
  result.rows.push_back(row);
  if (wanted.transfers) result.rows.push_back(with_transfers(queue, {in, out, row, calls, names}));
  if (wanted.power) {
    auto counter = machine::EnergyCounter::open(device);
    const auto times = static_cast<std::size_t>(std::ceil(0.02 / seconds[0]));  // per wait
    const auto run = [&] {
      for (std::size_t i = 0; i < times; ++i) calls.front()();
      queue.finish();
    };
    result.notes.push_back(fmt::format("{}: {}", row.problem,
                                       machine::power_text(counter, run, result.flops * static_cast<double>(times))));
  }
  return result;
}

}  // namespace

FftBenchResult bench_fft_on_device(const Device& device, const FftBench& wanted, const std::vector<Peer>& peers) {
  return wanted.problem.float64 ? bench_on_device<double>(device, wanted, peers)
                                : bench_on_device<float>(device, wanted, peers);
}

}  // namespace ridge::cli
