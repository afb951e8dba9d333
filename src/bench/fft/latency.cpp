// ridge bench fft --latency: time of one call of a planned transform, compared with an empty kernel and other
// libraries.
#include <algorithm>
#include <complex>
#include <limits>

#include <fmt/format.h>
#include <ridge/fft.hpp>
#include <ridge/recording.hpp>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "bench/fft/fft.hpp"

namespace ridge::cli {
namespace {

struct CallTimes {
  double enqueue;   // until the call returns
  double complete;  // until the result is complete
};

// Least times of several. Calls are enqueued in short bursts, so that the device's queue never fills.
CallTimes times_of(Queue& queue, const std::function<void()>& call) {
  constexpr int kBurst = 32, kRounds = 60;
  CallTimes best{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  call();
  queue.finish();
  for (int round = 0; round < kRounds; ++round) {
    const double start = base::now();
    for (int i = 0; i < kBurst; ++i) call();
    best.enqueue = std::min(best.enqueue, (base::now() - start) / kBurst);
    queue.finish();
    const double single = base::now();
    call();
    queue.finish();
    best.complete = std::min(best.complete, base::now() - single);
  }
  return best;
}

template <class T>
void add_rows(const Device& device, const FftBench& wanted, const std::vector<Peer>& peers,
              std::vector<std::vector<std::string>>& rows) {
  const PeerProblem& problem = wanted.problem;
  const fft::Plan<T> plan(
      device,
      {.shape = problem.shape, .batch = problem.batch, .kind = problem.real ? fft::Kind::real : fft::Kind::complex},
      {.variant = wanted.variant});
  Queue queue = device.queue();
  const Buffer in = device.buffer(plan.input_size() * sizeof(T) * (problem.real ? 1 : 2), {.name = "latency input"});
  const Buffer out = device.buffer(plan.output_size() * sizeof(std::complex<T>), {.name = "latency output"});
  queue.fill(in, std::byte{0});
  const Kernel empty = device
                           .compile({.name = "empty kernel",
                                     .text = "KERNEL WORK_GROUP(32, 1, 1) void empty_kernel(GLOBAL float* out) {\n"
                                             "  if (GROUP_ID(0) > 0) out[0] = 0;\n}\n"})
                           .kernel("empty_kernel");
  const CallTimes floor = times_of(queue, [&] { queue.launch(empty, {.groups = {1}, .items = {32}}, {out}); });
  const auto add = [&](const std::string& name, const CallTimes& times) {
    const auto above = [](double seconds, double least) {
      return fmt::format("{} (+{})", base::human_seconds(seconds), base::human_seconds(std::max(seconds - least, 0.0)));
    };
    rows.push_back({fft_problem_text(problem), device.id(), name, above(times.enqueue, floor.enqueue),
                    above(times.complete, floor.complete)});
  };
  add("empty kernel", floor);
  add("ridge", times_of(queue, [&] { plan.enqueue_forward(queue, in, out); }));
  const Recording recorded(device, [&](Queue& recorder) { plan.enqueue_forward(recorder, in, out); });
  add("ridge, recorded", times_of(queue, [&] { recorded.enqueue(queue); }));
  for (const Peer& peer : peers) {
    if (!peer.prepare_on_device) continue;
    add(peer.name, times_of(queue, peer.prepare_on_device(problem, in, out, queue)));
  }
}

}  // namespace

std::string latency_table(const std::vector<FftBench>& problems, const std::vector<Device>& devices,
                          const std::vector<Peer>& peers) {
  std::vector<std::vector<std::string>> rows{{"problem", "device", "call", "enqueue", "call and wait"}};
  for (const FftBench& wanted : problems) {
    for (const Device& device : devices) {
      if (device.is_host()) {
        throw Error(ErrorKind::invalid_argument,
                    "--latency needs an OpenCL or CUDA device, got host: give --device cuda:0");
      }
      wanted.problem.float64 ? add_rows<double>(device, wanted, peers, rows)
                             : add_rows<float>(device, wanted, peers, rows);
    }
  }
  return base::table(rows) + "Least times per call by the host's clock; in brackets: beyond an empty kernel.\n";
}

namespace {

double points_per_transform(const PeerProblem& problem) {
  double points = 1;
  for (const std::size_t side : problem.shape) points *= static_cast<double>(side);
  return points;
}

}  // namespace

std::string peer_of_device(const Device& device) {
  const Backend backend = device.info().backend;
  return backend == Backend::cuda ? "cufft" : backend == Backend::opencl ? "clfft" : "fftw";
}

bool is_sweep_cell(const Device& device, const PeerProblem& problem) {
  constexpr double kArrays = 6;  // input, output and intermediate data of two plans
  const double most = device.is_host() ? 0x1p22 : 0x1p26, memory = static_cast<double>(device.limits().memory);
  const double points = points_per_transform(problem) * static_cast<double>(problem.batch);
  return points <= most && (memory == 0 || points * (problem.float64 ? 16 : 8) * kArrays <= memory);
}

void add_sweep_members(const PeerProblem& problem, report::BenchRow& row) {
  row.more["length"] = points_per_transform(problem);
  row.more["batch"] = static_cast<double>(problem.batch);
  for (const auto& [peer, seconds] : row.peers) row.more["vs_" + peer] = seconds / row.seconds;
}

}  // namespace ridge::cli
