// Times distributed transforms and FFTW's MPI transforms.
#include "bench/fft/fft.hpp"

#include <cmath>

#include <fmt/format.h>
#include <ridge/mpi/fft.hpp>

#include "base/aligned.hpp"
#include "base/clock.hpp"
#include "bench/peers/fftw_mpi.hpp"
#include "command/process.hpp"

namespace ridge::cli {
namespace {

// Pseudo-random number in [-0.5, 0.5) for a point of the whole grid, the same in every process.
double point_value(std::size_t point) {
  std::uint64_t bits = (point + 1) * 0x9E3779B97F4A7C15u;
  bits = (bits ^ (bits >> 31)) * 0xD6E8FEB86659FD93u;
  return static_cast<double>(bits >> 40) / (1 << 24) - 0.5;
}

// Calls use(element in memory, point of the whole grid); rows of the last axis are `row` elements apart if it is the
// fastest.
template <class Use>
void for_box_points(const mpi::Box& box, const mpi::Shape& shape, std::size_t row, const Use& use) {
  const auto strides = box.strides();
  const auto at = [&](std::size_t axis) { return axis < shape.size() ? shape[axis] : 1; };
  const std::size_t last = shape.size() - 1, n = box.extent(last);
  for (std::size_t a = box.begin[0]; a < box.end[0]; ++a) {
    for (std::size_t b = box.begin[1]; b < box.end[1]; ++b) {
      for (std::size_t c = box.begin[2]; c < box.end[2]; ++c) {
        const std::size_t memory =
            (a - box.begin[0]) * strides[0] + (b - box.begin[1]) * strides[1] + (c - box.begin[2]) * strides[2];
        use(row == 0 ? memory : memory / n * row + memory % n, (a * at(1) + b) * at(2) + c);
      }
    }
  }
}

// Compensated summation: plain sums of 2^27 doubles in different orders would differ by more than the transforms.
class LongSum {
 public:
  void add(double value) {
    const double corrected = value - lost_, sum = sum_ + corrected;
    lost_ = (sum - sum_) - corrected;
    sum_ = sum;
  }
  double value() const { return sum_; }

 private:
  double sum_ = 0, lost_ = 0;
};

// Two checksums of the distributed spectrum: projections onto pseudo-random vectors, which any difference changes.
template <class T>
std::pair<std::complex<double>, double> distributed_projection(const mpi::Communicator& all, const mpi::Box& box,
                                                               const mpi::Shape& shape, const std::complex<T>* values) {
  LongSum real, imaginary, norm;
  for_box_points(box, shape, 0, [&](std::size_t memory, std::size_t point) {
    const std::complex<double> value(values[memory]);
    const std::complex<double> turned = value * std::polar(1.0, 100 * point_value(point));
    real.add(turned.real());
    imaginary.add(turned.imag());
    norm.add(std::norm(value));
  });
  const double re = all.sum(real.value()), im = all.sum(imaginary.value());
  return {{re, im}, std::sqrt(all.sum(norm.value()))};
}

// Writes the samples of a process's box, complex or real; real rows may be `row` samples apart.
template <class T>
void fill_box(const PeerProblem& problem, const mpi::Box& box, std::size_t row, void* to) {
  for_box_points(box, problem.shape, row, [&](std::size_t memory, std::size_t point) {
    if (problem.real) {
      static_cast<T*>(to)[memory] = static_cast<T>(point_value(point));
    } else {
      static_cast<std::complex<T>*>(to)[memory] = {static_cast<T>(point_value(2 * point)),
                                                   static_cast<T>(point_value(2 * point + 1))};
    }
  });
}

// Throws if the projections of two spectra of the same samples differ.
template <class T, class Projection>
void compare_projections(const PeerProblem& problem, const Projection& ours, const Projection& theirs) {
  const double difference =
      (std::abs(ours.first - theirs.first) + std::abs(ours.second - theirs.second)) / theirs.second;
  if (!(difference < (sizeof(T) == sizeof(float) ? 1e-5 : 1e-13))) {
    throw Error(ErrorKind::internal, fmt::format("{}: Ridgeline's result and fftw-mpi's differ by {:.2g}",
                                                 fft_problem_text(problem), difference));
  }
}

// Least times of our call and of the peer's, in alternating rounds; the time of a round is that of the slowest process.
template <class Ours, class Refill>
std::pair<double, double> best_of_rounds(const mpi::Communicator& all, double seconds, const Ours& ours,
                                         DistributedPeer* peer, const Refill& refill) {
  double best = INFINITY, peers_best = INFINITY, spent = 0;
  const auto timed = [&](const auto& call) {
    all.barrier();
    const double start = base::now();
    call();
    return all.largest(base::now() - start);
  };
  for (int round = 0; round < 5 || (spent < seconds && round < 1000); ++round) {
    const double now = timed(ours);
    spent += now;
    best = std::min(best, now);
    for (std::size_t way = 0; peer != nullptr && way < peer->ways(); ++way) {
      refill();
      peers_best = std::min(peers_best, timed([&] { peer->run(way); }));
    }
  }
  return {best, peers_best};
}

template <class T>
BenchResult bench_mpi_typed(const mpi::Communicator& all, const FftBench& wanted, bool against) {
  using Complex = std::complex<T>;
  const PeerProblem& problem = wanted.problem;
  BenchResult result;
  std::unique_ptr<DistributedPeer> peer;
  if (against) {
    try {
      peer = fftw_mpi_peer(problem);
    } catch (const Error& error) {
      result.notes.push_back(fmt::format("fftw-mpi: left out of {}: {}", fft_problem_text(problem), error.what()));
    }
  }
  const mpi::fft::Plan<T> plan(all,
                               {.shape = problem.shape,
                                .batch = problem.batch,
                                .kind = problem.real ? fft::Kind::real : fft::Kind::complex,
                                .threads = problem.threads},
                               {.variant = wanted.variant});
  const mpi::Box in_box = plan.input(), out_box = plan.output();
  base::AlignedArray<Complex> in, out;
  all.agree([&] {
    in = base::AlignedArray<Complex>(in_box.size() * problem.batch);
    out = base::AlignedArray<Complex>(out_box.size() * problem.batch);
  });
  mpi::Shape half = problem.shape;
  if (problem.real) half.back() = half.back() / 2 + 1;
  const auto fill = [&](const mpi::Box& box, std::size_t row, void* to) { fill_box<T>(problem, box, row, to); };
  const auto ours = [&] {
    const std::size_t samples = in.size(), spectrum = out.size();
    if (problem.inverse && problem.real) {
      plan.inverse(std::span<const Complex>(out.data(), spectrum), std::span(reinterpret_cast<T*>(in.data()), samples));
    } else if (problem.inverse) {
      plan.inverse(std::span<const Complex>(out.data(), spectrum), in.span());
    } else if (problem.real) {
      plan.forward(std::span<const T>(reinterpret_cast<const T*>(in.data()), samples), out.span());
    } else {
      plan.forward(std::span<const Complex>(in.data(), samples), out.span());
    }
  };
  std::fill(out.begin(), out.end(), Complex{});
  for (std::size_t b = 0; b < problem.batch; ++b) {
    auto* numbers = reinterpret_cast<T*>(in.data()) + b * in_box.size() * (problem.real ? 1 : 2);
    fill(in_box, 0, numbers);
  }
  ours();
  const std::size_t padded = problem.real ? 2 * half.back() : 0;
  if (peer) {
    const auto ours_projected = distributed_projection(all, out_box, half, out.data());
    for (std::size_t way = 0; way < peer->ways(); ++way) {
      fill(peer->input(), padded, peer->samples());
      peer->run(way);
      compare_projections<T>(
          problem, ours_projected,
          distributed_projection(all, peer->output(), half, static_cast<const Complex*>(peer->spectrum(way))));
    }
  }
  const auto [best, peers_best] =
      best_of_rounds(all, wanted.seconds_each, ours, peer.get(), [&] { fill(peer->input(), padded, peer->samples()); });
  double points = static_cast<double>(problem.batch), half_points = points;
  for (const std::size_t n : problem.shape) points *= static_cast<double>(n);
  for (const std::size_t n : half) half_points *= static_cast<double>(n);
  report::BenchRow row = row_of(host(), fft_problem_text(problem), plan.variant(), best, plan.flops(),
                                points * (problem.real ? sizeof(T) : sizeof(Complex)) + half_points * sizeof(Complex));
  row.device = fmt::format("{} processes", all.count());
  if (peer) row.peers["fftw-mpi"] = peers_best;
  row.more["bytes_sent_a_process"] = static_cast<double>(plan.bytes_sent());
  row.chosen = true;
  result.rows.push_back(row);
  result.explanation = plan.explain();
  return result;
}

}  // namespace

bool have_fftw_mpi() { return mpi_function("ridge_fftw_mpi_peer") != nullptr; }

std::unique_ptr<DistributedPeer> fftw_mpi_peer(const PeerProblem& problem) {
  using Entry = void (*)(const PeerProblem*, std::unique_ptr<DistributedPeer>*);
  std::unique_ptr<DistributedPeer> peer;
  reinterpret_cast<Entry>(mpi_function("ridge_fftw_mpi_peer"))(&problem, &peer);
  return peer;
}

BenchResult bench_fft_mpi(const mpi::Communicator& all, const FftBench& wanted, bool against_fftw_mpi) {
  return wanted.problem.float64 ? bench_mpi_typed<double>(all, wanted, against_fftw_mpi)
                                : bench_mpi_typed<float>(all, wanted, against_fftw_mpi);
}

}  // namespace ridge::cli
