// Times one transform and its peers, on the host or with data resident on a device: complex, real or real-to-real.
#include <algorithm>
#include <complex>

#include <fmt/format.h>
#include <ridge/fft.hpp>
#include <ridge/fft/device_tensor.hpp>

#include "base/aligned.hpp"
#include "base/clock.hpp"
#include "bench/fft/fft.hpp"
#include "device/random.hpp"
#include "device/timing.hpp"

namespace ridge::cli {
namespace {

// Number of compared values: enough to detect a wrong result, few enough to download.
constexpr std::size_t kCompared = std::size_t{1} << 23;

template <class T>
constexpr double kTolerance = sizeof(T) == sizeof(float) ? 1e-5 : 1e-13;
template <class T>
constexpr Numbers kRandom = sizeof(T) == sizeof(float) ? Numbers::float32 : Numbers::float64;

std::size_t product(std::size_t batch, const std::vector<std::size_t>& shape) {
  for (const std::size_t n : shape) batch *= n;
  return batch;
}

fft::Problem plain_problem(const PeerProblem& problem) {
  return {.shape = problem.shape,
          .batch = problem.batch,
          .kind = problem.real ? fft::Kind::real : fft::Kind::complex,
          .threads = problem.threads};
}

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

// 2.5 n log2 n per real-to-real transform.
double real_flops(const PeerProblem& problem) {
  const auto points = static_cast<double>(product(1, problem.shape));
  return 2.5 * points * static_cast<double>(problem.batch) * std::log2(std::max(2.0, points));
}

void check_result(double far, double tolerance, const PeerProblem& problem, const std::string& peer) {
  if (far < tolerance) return;
  throw Error(ErrorKind::internal,
              fmt::format("{}: Ridgeline's result and {}'s differ by {:.2g}", fft_problem_text(problem), peer, far));
}

std::string left_out(const std::string& name, const PeerProblem& problem, const char* why) {
  return fmt::format("{}: left out of {}: {}", name, fft_problem_text(problem), why);
}

template <class T>
class HostCase {
 public:
  HostCase(const FftBench& wanted, const std::vector<Peer>& peers)
      : wanted_(wanted),
        points_(product(problem_.batch, problem_.shape)),
        spectrum_(problem_.real ? points_ / problem_.shape.back() * (problem_.shape.back() / 2 + 1) : points_),
        in_(problem_.kind ? points_ : 2 * std::max(points_, spectrum_)),
        out_(in_.size()),
        contest_{host(), fft_problem_text(problem_)} {
    std::fill(out_.begin(), out_.end(), T{});
    for (const Peer& peer : peers) prepare(peer);
    problem_.kind ? plan_kind() : plan_all();
  }

  BenchResult run() {
    base::AlignedArray<T> kept(in_.size()), expected(in_.size());
    // The peers' planning has overwritten the input. The input of a real inverse must be the spectrum of real samples.
    fill_random(std::as_writable_bytes(kept.span()), kRandom<T>);
    const bool rotates = !(problem_.real && problem_.inverse);
    if (!rotates) {
      const fft::Plan<T> plan(host(), plain_problem(problem_), {.effort = Effort::quick});
      plan.forward(std::span<const T>(kept.data(), points_), std::span(complex(in_), spectrum_));
      std::copy(in_.begin(), in_.end(), kept.begin());
    }
    // Fresh data before each round: a peer may overwrite its input, and no contender starts with cached data.
    std::size_t rotation = 0;
    const auto restore = [&] {
      const auto middle = kept.begin() + static_cast<std::ptrdiff_t>(rotation);
      std::copy(kept.begin(), middle, std::copy(middle, kept.end(), in_.begin()));
    };
    const auto renew = [&] {
      if (rotates) rotation = (rotation + 2 * 97) % in_.size();
      restore();
    };
    restore();
    contest_.ours.front().call();
    std::copy(out_.begin(), out_.end(), expected.begin());
    for (const Contest::Entry& peer : contest_.peers) {
      restore();
      peer.call();
      check_result(distance<T>(out_.span(), expected.span()), kTolerance<T>, problem_, peer.name);
    }
    result_.rows = contest_.time([&](const auto& calls) {
      return base::best_seconds_interleaved(
          calls, {.seconds = wanted_.seconds_each, .at_least = 5, .at_most = 2000, .round = 2e-5}, renew);
    });
    const Contest::Entry& first = contest_.ours.front();
    if (wanted_.power && !problem_.kind) {
      result_.notes.push_back(fmt::format("{} {}: {}", contest_.problem, first.name,
                                          power_of(host(), first.call, first.flops, 0, nullptr)));
    }
    return std::move(result_);
  }

 private:
  static std::complex<T>* complex(base::AlignedArray<T>& numbers) {
    return reinterpret_cast<std::complex<T>*>(numbers.data());
  }

  void prepare(const Peer& peer) {
    if (problem_.kind && peer.name != "fftw" && peer.name != "pocketfft") {
      result_.notes.push_back(fmt::format("{}: left out: the peers of --kind are fftw and pocketfft", peer.name));
    } else if (!peer.prepare) {
      result_.notes.push_back(fmt::format("{}: left out: it does not run on the host", peer.name));
    } else {
      try {
        contest_.peers.push_back({peer.name, peer.prepare(problem_, in_.data(), out_.data())});
      } catch (const Error& error) {
        result_.notes.push_back(left_out(peer.name, problem_, error.what()));
      }
    }
  }

  void add(const std::string& name, double flops, double bytes, const Contest::Call& call) {
    const double floor = floor_of(host(), flops, bytes, sizeof(T) == sizeof(double), problem_.threads).seconds();
    contest_.ours.push_back({name, call, flops, bytes, floor, contest_.ours.empty()});
  }

  void plan_kind() {
    const auto plan = std::make_shared<const fft::TensorPlan<T>>(host(), tensor_problem(problem_));
    result_.explanation = plan->explain();
    add(std::string(fft::to_string(*problem_.kind)), real_flops(problem_),
        2.0 * static_cast<double>(points_ * sizeof(T)), [this, plan] { plan->run(in_.data(), out_.data()); });
  }

  void plan_all() {
    plan_one({.variant = wanted_.variant});
    for (const std::string& variant : wanted_.also) {
      try {
        plan_one(only(variant));
      } catch (const Error& error) {
        result_.notes.push_back(left_out(variant, problem_, error.what()));
      }
    }
  }

  void plan_one(const planner::Options& options) {
    const auto plan = std::make_shared<const fft::Plan<T>>(host(), plain_problem(problem_), options);
    if (result_.explanation.empty()) result_.explanation = plan->explain();
    std::string name = options.variant.empty() ? winners(plan->decisions()) : options.variant;
    if (name.empty()) name = problem_.real ? "real codelet" : "copy";
    const std::span<const T> samples(in_.data(), points_);
    const std::span<const std::complex<T>> from(complex(in_), problem_.inverse ? spectrum_ : points_);
    const std::span<std::complex<T>> to(complex(out_), spectrum_);
    add(name, plan->flops(), plan->bytes(), [this, plan, samples, from, to] {
      if (problem_.real && problem_.inverse) {
        plan->inverse(from, std::span(out_.data(), points_));
      } else if (problem_.real) {
        plan->forward(samples, to);
      } else {
        problem_.inverse ? plan->inverse(from, to) : plan->forward(from, to);
      }
    });
  }

  const FftBench& wanted_;
  const PeerProblem& problem_ = wanted_.problem;
  const std::size_t points_, spectrum_;
  base::AlignedArray<T> in_, out_;
  Contest contest_;
  BenchResult result_;
};

// A planned transform on a device.
struct Resident {
  std::function<void(Queue&, const Buffer&, const Buffer&)> enqueue;
  std::size_t in_bytes = 0, out_bytes = 0;
  double flops = 0, bytes = 0;
  std::string name, explanation;
};

template <class T>
Resident plan_on_device(const Device& device, const FftBench& wanted) {
  const PeerProblem& problem = wanted.problem;
  if (problem.kind) {
    const auto plan = std::make_shared<const fft::DeviceTensorPlan<T>>(device, tensor_problem(problem));
    const std::size_t bytes = product(problem.batch, problem.shape) * sizeof(T);
    return {[plan](Queue& queue, const Buffer& in, const Buffer& out) { plan->enqueue(queue, in, out); },
            bytes,
            bytes,
            real_flops(problem),
            plan->bytes(),
            std::string(fft::to_string(*problem.kind)),
            plan->explain()};
  }
  fft::Problem ours = plain_problem(problem);
  ours.threads = 0;
  if (!wanted.stored.empty()) ours.storage = wanted.stored == "f16" ? fft::Storage::float16 : fft::Storage::bfloat16;
  if (wanted.window) {
    std::vector<double>& window = (problem.inverse ? ours.load_inverse : ours.load_forward).window;
    for (std::size_t i = 0; i < product(1, problem.shape); ++i)
      window.push_back(1 + 0.5 * std::cos(static_cast<double>(i)));
  }
  planner::Options options{.variant = wanted.variant};
  if (wanted.trials > 0) options.most_trials = wanted.trials;
  const auto plan = std::make_shared<const fft::Plan<T>>(device, ours, options);
  const std::size_t number = wanted.stored.empty() ? sizeof(std::complex<T>) : 2;
  return {[plan, inverse = problem.inverse](Queue& queue, const Buffer& in, const Buffer& out) {
            inverse ? plan->enqueue_inverse(queue, in, out) : plan->enqueue_forward(queue, in, out);
          },
          plan->input_size() * (problem.real && wanted.stored.empty() ? sizeof(T) : number),
          plan->output_size() * number,
          plan->flops(),
          plan->bytes(),
          wanted.variant.empty() ? winners(plan->decisions()) : wanted.variant,
          plan->explain()};
}

// Downloads the first and the last values of an array.
template <class T>
std::vector<T> fetched(Queue& queue, const Buffer& buffer) {
  const std::size_t part = std::min(buffer.size() / sizeof(T), kCompared / 2), bytes = part * sizeof(T);
  std::vector<T> values(2 * part);
  queue.download(buffer, values.data(), bytes);
  queue.download(buffer, values.data() + part, bytes, buffer.size() - bytes);
  queue.finish();
  return values;
}

// The same calls after an upload of all input and before a download of all output, as in the tables of
// the papers. The roofline share is relative to the transfers alone.
report::BenchRow with_transfers(Queue& queue, Contest contest, const Buffer& in, const Buffer& out) {
  const Mapping from = contest.device.buffer(in.size(), {.kind = MemoryKind::pinned, .name = "bench host input"}).map();
  const Mapping to = contest.device.buffer(out.size(), {.kind = MemoryKind::pinned, .name = "bench host output"}).map();
  queue.download(in, from.data(), in.size());
  queue.finish();
  const auto transfer = [&](const Contest::Call& call) -> Contest::Call {
    return [&, call] {
      queue.upload(from.data(), in, in.size());
      if (call) call();
      queue.download(out, to.data(), out.size());
    };
  };
  contest.problem += " with transfers";
  for (auto* entries : {&contest.ours, &contest.peers}) {
    for (Contest::Entry& one : *entries) one.call = transfer(one.call);
  }
  contest.ours.front().bytes = static_cast<double>(in.size() + out.size());
  contest.ours.front().chosen = false;
  contest.others = {transfer({})};
  contest.copied = 0;
  report::BenchRow row =
      contest
          .time([&](const auto& calls) {
            return best_device_seconds(queue, calls, {.seconds = 0.2, .at_least = 5, .at_most = 500, .round = 2e-3});
          })
          .front();
  row.roof_share = contest.other_seconds.front() / row.seconds;
  return row;
}

template <class T>
void add_device_peer(const Peer& peer, const FftBench& wanted, Queue& queue, const Buffer& in, const Buffer& out,
                     const std::vector<T>& expected, Contest& contest, BenchResult& result) {
  const PeerProblem& problem = wanted.problem;
  if (problem.kind) {
    return result.notes.push_back(
        fmt::format("{}: left out: no peer supports real-to-real transforms on devices", peer.name));
  }
  try {
    if (!wanted.stored.empty()) throw Error(ErrorKind::unavailable, "16-bit storage is not supported by peers");
    if (wanted.window) throw Error(ErrorKind::unavailable, "windows on load are not supported by peers");
    if (!peer.prepare_on_device) throw Error(ErrorKind::unavailable, "it runs on the host only");
    PeerRun run = peer.prepare_on_device(problem, in, out, queue);
    queue.fill(out, std::byte{0});
    run();
    check_result(distance<T>(fetched<T>(queue, out), expected), kTolerance<T>, problem, peer.name);
    contest.peers.push_back({peer.name, std::move(run)});
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) return result.disagreements.push_back(error.what());
    if (error.kind() != ErrorKind::unavailable) throw;
    result.notes.push_back(left_out(peer.name, problem, error.what()));
  }
}

template <class T>
BenchResult on_device(const Device& device, const FftBench& wanted, const std::vector<Peer>& peers) {
  const Resident plan = plan_on_device<T>(device, wanted);
  Queue queue = device.queue();
  const Buffer in = device.buffer(plan.in_bytes, {.name = "bench input"});
  const Buffer out = device.buffer(plan.out_bytes, {.name = "bench output"});
  fill_random(queue, in, kRandom<T>);
  BenchResult result{.explanation = plan.explanation};
  Contest contest{device, fft_problem_text(wanted.problem) +
                              (wanted.stored.empty() ? "" : " stored as " + wanted.stored) +
                              (wanted.window ? " windowed" : "")};
  contest.ours.push_back({.name = plan.name,
                          .call = [&] { plan.enqueue(queue, in, out); },
                          .flops = plan.flops,
                          .bytes = plan.bytes,
                          .chosen = true});
  contest.copied = std::min(in.size(), out.size());
  contest.others.emplace_back([&] { queue.copy(in, out, contest.copied); });
  contest.ours.front().call();
  const std::vector<T> expected = fetched<T>(queue, out);
  for (const Peer& peer : peers) add_device_peer(peer, wanted, queue, in, out, expected, contest, result);
  result.rows = contest.time([&](const auto& calls) {
    return best_device_seconds(queue, calls,
                               {.seconds = wanted.seconds_each, .at_least = 5, .at_most = 2000, .round = 2e-3});
  });
  if (wanted.transfers) result.rows.push_back(with_transfers(queue, contest, in, out));
  if (wanted.power && !wanted.problem.kind) {
    result.notes.push_back(
        fmt::format("{}: {}", contest.problem,
                    power_of(device, contest.ours.front().call, plan.flops, result.rows.front().seconds, &queue)));
  }
  return result;
}

// Input and output of HostCase, and the copies it compares and renews them with. In double: the product may overflow.
double bytes_of_host_case(const PeerProblem& problem) {
  double points = static_cast<double>(problem.batch);
  for (const std::size_t n : problem.shape) points *= static_cast<double>(n);
  return 4 * points * (problem.kind ? 1 : 2) * (problem.float64 ? sizeof(double) : sizeof(float));
}

}  // namespace

BenchResult bench_fft(const Device& device, const FftBench& wanted, const std::vector<Peer>& peers) {
  const bool plain = wanted.problem.kind || device.is_host();
  if (wanted.transfers && plain) mistake("bench fft: --transfers needs --device with an OpenCL or CUDA device");
  if (wanted.window && plain) mistake("bench fft: --window needs --device with an OpenCL or CUDA device");
  if (!wanted.stored.empty() && plain)
    mistake("--type f16 and bf16 need complex or real transforms on an OpenCL or CUDA device");
  const bool wide = wanted.problem.float64;
  if (device.is_host()) check_host_memory(bytes_of_host_case(wanted.problem));
  if (device.is_host()) return wide ? HostCase<double>(wanted, peers).run() : HostCase<float>(wanted, peers).run();
  return wide ? on_device<double>(device, wanted, peers) : on_device<float>(device, wanted, peers);
}

}  // namespace ridge::cli
