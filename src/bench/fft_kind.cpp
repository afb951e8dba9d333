// Times real-to-real transforms on the host against FFTW, and on devices.
#include "bench/fft.hpp"

#include <cmath>
#include <random>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/fft/device_tensor.hpp>

#include "base/aligned.hpp"
#include "base/clock.hpp"
#include "bench/floor.hpp"
#include "device/timing.hpp"

namespace ridge::cli {
namespace {

using fft::RealKind;

fft::TensorProblem tensor_problem(const PeerProblem& problem) {
  fft::TensorProblem result{.kind = fft::TensorKind::real_to_real, .threads = problem.threads};
  std::ptrdiff_t step = 1;
  for (std::size_t axis = problem.shape.size(); axis-- > 0;) {
    result.axes.insert(result.axes.begin(), {problem.shape[axis], step, step});
    result.real_kinds.push_back(*problem.kind);
    step *= static_cast<std::ptrdiff_t>(problem.shape[axis]);
  }
  if (problem.batch > 1) result.loops.push_back({problem.batch, step, step});
  return result;
}

std::size_t points_of(const PeerProblem& problem) {
  std::size_t points = problem.batch;
  for (const std::size_t n : problem.shape) points *= n;
  return points;
}

double usual_flops(const PeerProblem& problem) {
  const auto points = static_cast<double>(points_of(problem));
  return 2.5 * points * std::log2(std::max(2.0, points / static_cast<double>(problem.batch)));
}

report::BenchRow row_of(const Device& device, const PeerProblem& problem, const std::string& variant, double seconds,
                        double bytes) {
  report::BenchRow row;
  row.problem = fft_problem_text(problem);
  row.device = device.id();
  row.variant = variant;
  row.seconds = seconds;
  row.gflops = usual_flops(problem) / seconds * 1e-9;
  row.gbytes_per_s = bytes / seconds * 1e-9;
  row.chosen = true;
  return row;
}

template <class T>
void fill(std::span<T> values) {
  std::mt19937 generator(1);
  std::uniform_real_distribution<T> uniform(T(-0.5), T(0.5));
  for (T& value : values) value = uniform(generator);
}

template <class T>
FftBenchResult on_host(const FftBench& wanted, const std::vector<Peer>& peers) {
  const PeerProblem& problem = wanted.problem;
  const std::size_t points = points_of(problem);
  base::AlignedArray<T> in(points), out(points), kept(points), expected(points);
  FftBenchResult result;
  std::vector<PeerRun> runs;
  std::vector<std::string> names;
  for (const Peer& peer : peers) {
    if (peer.name != "fftw") {
      result.notes.push_back(fmt::format("{}: left out: the only peer of --kind is fftw", peer.name));
      continue;
    }
    runs.push_back(peer.prepare(problem, in.data(), out.data()));
    names.push_back(peer.name);
  }
  const fft::TensorPlan<T> plan(host(), tensor_problem(problem));
  result.explanation = plan.explain();
  fill(kept.span());
  const auto renew = [&] { std::copy(kept.begin(), kept.end(), in.begin()); };
  renew();
  std::vector<std::function<void()>> calls{[&] { plan.run(in.data(), out.data()); }};
  calls.front()();
  std::copy(out.begin(), out.end(), expected.begin());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    renew();
    runs[i]();
    double difference = 0, norm = 0;
    for (std::size_t k = 0; k < points; ++k) {
      const double apart = static_cast<double>(out[k]) - static_cast<double>(expected[k]);
      difference += apart * apart;
      norm += static_cast<double>(expected[k]) * static_cast<double>(expected[k]);
    }
    if (!(std::sqrt(difference / norm) < (sizeof(T) == sizeof(float) ? 1e-5 : 1e-13))) {
      throw Error(ErrorKind::internal, fmt::format("{}: Ridgeline's result and {}'s differ by {:.2g}",
                                                   fft_problem_text(problem), names[i], std::sqrt(difference / norm)));
    }
    calls.push_back(runs[i]);
  }
  const auto seconds = base::best_seconds_interleaved(
      calls, {.seconds = wanted.seconds_each, .at_least = 5, .at_most = 2000, .round = 2e-5}, renew);
  result.flops = usual_flops(problem);
  result.bytes = 2.0 * static_cast<double>(points * sizeof(T));
  report::BenchRow row = row_of(host(), problem, fft::to_string(*problem.kind), seconds[0], result.bytes);
  row.roof_share =
      fft_floor(host(), result.flops, result.bytes, sizeof(T) == sizeof(double), problem.threads).seconds() /
      seconds[0];
  for (std::size_t i = 0; i < names.size(); ++i) row.peers[names[i]] = seconds[1 + i];
  result.rows.push_back(row);
  return result;
}

template <class T>
FftBenchResult on_device(const Device& device, const FftBench& wanted, const std::vector<Peer>& peers) {
  const PeerProblem& problem = wanted.problem;
  FftBenchResult result;
  for (const Peer& peer : peers) {
    result.notes.push_back(fmt::format("{}: left out: no peer supports real-to-real transforms on devices", peer.name));
  }
  const fft::DeviceTensorPlan<T> plan(device, tensor_problem(problem));
  result.explanation = plan.explain();
  std::vector<T> values(points_of(problem));
  fill(std::span<T>(values));
  const std::size_t bytes = values.size() * sizeof(T);
  const Buffer in = device.buffer(bytes, {.name = "bench input"}), out = device.buffer(bytes, {.name = "bench output"});
  Queue queue = device.queue();
  queue.upload(std::span<const T>(values), in);
  queue.finish();
  const std::vector<std::function<void()>> calls{[&] { plan.enqueue(queue, in, out); },
                                                 [&] { queue.copy(in, out, bytes); }};
  const auto seconds = best_device_seconds(
      queue, calls, {.seconds = wanted.seconds_each, .at_least = 5, .at_most = 2000, .round = 2e-3});
  result.flops = usual_flops(problem);
  result.bytes = plan.bytes();
  report::BenchRow row = row_of(device, problem, fft::to_string(*problem.kind), seconds[0], result.bytes);
  row.roof_share = seconds[1] / seconds[0];
  result.rows.push_back(row);
  return result;
}

}  // namespace

RealKind parse_real_kind(const std::string& name) {
  std::vector<std::string> known;
  for (int i = 0; i <= static_cast<int>(RealKind::dst4); ++i) {
    const auto kind = static_cast<RealKind>(i);
    if (fft::to_string(kind) == name) return kind;
    known.emplace_back(fft::to_string(kind));
  }
  throw Error(ErrorKind::invalid_argument,
              fmt::format("no kind \"{}\"; the kinds are {}", name, fmt::join(known, ", ")));
}

FftBenchResult bench_fft_kind(const Device& device, const FftBench& wanted, const std::vector<Peer>& peers) {
  const bool wide = wanted.problem.float64;
  if (device.is_host()) return wide ? on_host<double>(wanted, peers) : on_host<float>(wanted, peers);
  return wide ? on_device<double>(device, wanted, peers) : on_device<float>(device, wanted, peers);
}

}  // namespace ridge::cli
