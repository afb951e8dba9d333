// Plan of a distributed transform: checks the boxes, lets all processes choose one variant, allocates memory, runs.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/mpi/fft.hpp>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "mpi/fft/boxed.hpp"
#include "mpi/fft/layouts.hpp"
#include "mpi/fft/on_device.hpp"
#include "mpi/fft/variant.hpp"
#include "mpi/scaling.hpp"

namespace ridge::mpi::fft {
namespace {

[[noreturn]] void mistake(const std::string& what) {
  throw Error(ErrorKind::invalid_argument, fmt::format("fft: {}", what));
}

std::string shape_text(const Shape& shape) {
  std::string text;
  for (const std::size_t extent : shape) text += fmt::format("{}{}", text.empty() ? "" : "x", extent);
  return text;
}

bool is_real(const Problem& problem) { return problem.kind == ridge::fft::Kind::real; }

std::string words(const Problem& problem, bool float64) {
  return fmt::format("{} {} {}, batch {}", is_real(problem) ? "real" : "complex", float64 ? "double" : "float",
                     shape_text(problem.shape), problem.batch);
}

void check(const Problem& problem) {
  if (problem.shape.empty() || problem.shape.size() > 3) {
    mistake(fmt::format("needs one to three axes, got {}", problem.shape.size()));
  }
  std::size_t bytes = 4 * sizeof(std::complex<double>);
  for (const std::size_t extent : problem.shape) {
    if (extent == 0) mistake(fmt::format("needs axes of at least 1 point, got {}", shape_text(problem.shape)));
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      mistake(fmt::format("{}: too many bytes for the address space", shape_text(problem.shape)));
  }
  if (problem.batch == 0) mistake("needs a batch of at least 1 transform, got 0");
}

bool has_boxes(const Problem& problem) { return !problem.given.whole() || !problem.wanted.whole(); }

std::string box_text(const ridge::fft::Box& box) {
  return box.whole() ? "all" : fmt::format("{} from {}", shape_text(box.count), shape_text(box.first));
}

// Commands from the root to the other processes while it chooses.
enum class Step : std::uint64_t { measure, chosen, failed };
struct Order {
  Step step = Step::failed;
  std::uint64_t candidate = 0;
};

}  // namespace

template <class T>
class Plan<T>::Impl {
 public:
  Impl(const Communicator& all, const Problem& given, const planner::Options& options, const Device& device)
      : all_(all), problem_(given), device_(device), options_(options) {
    all.agree([&] { check(given); });
    all.must_be_equal(fmt::format("{}, scales {} and {}, {} input, {} output, boxes {} and {}, variant \"{}\", {}",
                                  words(given, sizeof(T) == sizeof(double)), given.scale_forward, given.scale_inverse,
                                  given.input ? "given" : "any", given.output ? "given" : "any", box_text(given.given),
                                  box_text(given.wanted), options.variant,
                                  options.effort == Effort::quick ? "quick" : "measured"));
    if (has_boxes(given)) {
      planner::Options local = options;
      local.variant.clear();
      threads_ = given.threads == 0 ? all.threads() : given.threads;
      boxed_ = std::make_unique<Boxed<T>>(all, given, threads_, device, local);
      variant_ = "boxes";
      return;
    }
    Shape half = given.shape;
    if (is_real(given)) half.back() = half.back() / 2 + 1;
    const std::size_t axes = given.shape.size();
    Distribution distributed{.samples = embed(given.shape),
                             .spectrum = embed(half),
                             .axes = axes,
                             .real = is_real(given),
                             .scale_forward = given.scale_forward,
                             .scale_inverse = given.scale_inverse};
    const auto boxes = [&](const std::optional<Box>& mine, const Shape& shape, const char* what) {
      std::vector<Box> all_boxes;
      if (!mine) return all_boxes;
      for (const Box& box : gather_boxes(all, shape, *mine, what)) all_boxes.push_back(embed(box, axes));
      return all_boxes;
    };
    distributed.input = boxes(given.input, given.shape, "input");
    distributed.output = boxes(given.output, half, "output");
    distributed.threads = given.threads == 0 ? all.threads() : given.threads;
    local_ = options;
    local_.variant.clear();
    const bool own_boxes = !given.input && !given.output;
    if (!device.is_host() && axes > 1 && own_boxes && given.batch == 1 && all.count() > 1 && options.variant.empty()) {
      const auto build = [&] {
        on_device_ =
            std::make_unique<OnDevice<T>>(all,
                                          OnDeviceProblem{distributed.samples, distributed.spectrum, distributed.real,
                                                          distributed.scale_forward, distributed.scale_inverse},
                                          device, local_);
      };
      root_first(build);
      all.must_be_equal(on_device_->name());
      variant_ = on_device_->name();
      if (options.effort == Effort::measured) network_ = measure_network(all);
      return;
    }
    variants_ = list_variants(all, distributed, device);
    choose(distributed);
  }

  void run(bool inverse, Queue& queue, const Buffer& in, const Buffer& out) const {
    const std::size_t sample_bytes = is_real(problem_) ? sizeof(T) : sizeof(Complex);
    const std::size_t samples = input().size() * sample_bytes, spectrum = output().size() * sizeof(Complex);
    all_.agree([&] {
      if (!on_device_ && !(running_ && running_->alone())) {
        mistake("memory of a device is for plans of two or three axes on a device, without boxes or a batch");
      }
      if (device_.is_host()) mistake("a plan on the host takes spans, not buffers");
      const std::size_t in_bytes = in ? in.size() : 0, out_bytes = out ? out.size() : 0;
      if (in_bytes < (inverse ? spectrum : samples) || out_bytes < (inverse ? samples : spectrum)) {
        mistake(fmt::format("the buffers have {} and {} bytes, the boxes need {} and {}", in_bytes, out_bytes,
                            inverse ? spectrum : samples, inverse ? samples : spectrum));
      }
    });
    if (on_device_) return on_device_->run(inverse, queue, in, out);
    inverse ? running_->alone()->enqueue_inverse(queue, in, out) : running_->alone()->enqueue_forward(queue, in, out);
  }

  void forward(const void* in, std::size_t in_size, void* out, std::size_t out_size, bool real) const {
    run(false, real, in, in_size, out, out_size);
  }
  void inverse(const void* in, std::size_t in_size, void* out, std::size_t out_size, bool real) const {
    run(true, real, in, in_size, out, out_size);
  }

  Box input() const { return unembed(own_input(), problem_.shape.size()); }
  Box output() const { return unembed(own_output(), problem_.shape.size()); }
  std::size_t bytes_sent() const {
    if (on_device_) return on_device_->bytes_sent();
    return (boxed_ ? boxed_->bytes_sent() : running_->bytes_sent()) * problem_.batch;
  }
  double flops() const {
    double points = 1;
    for (const std::size_t extent : problem_.shape) points *= static_cast<double>(extent);
    return (is_real(problem_) ? 2.5 : 5) * points * std::log2(std::max(2.0, points)) *
           static_cast<double>(problem_.batch);
  }
  const std::string& variant() const { return variant_; }
  const Problem& problem() const { return problem_; }
  const Communicator& all() const { return all_; }

  std::string explain() const {
    std::string text = fmt::format("{} over {} processes on {} machine{}, {} thread{} each: {}\n",
                                   words(problem_, sizeof(T) == sizeof(double)), all_.count(), all_.machines(),
                                   all_.machines() == 1 ? "" : "s", threads_, threads_ == 1 ? "" : "s", variant_);
    text += fmt::format("  rank {} has {} of the samples and {} of the spectrum\n", all_.rank(), to_string(input()),
                        to_string(output()));
    text += on_device_ ? on_device_->explain() : boxed_ ? boxed_->explain() : running_->explain();
    if (all_.count() > 1) {
      const auto sent = static_cast<double>(bytes_sent());
      text += fmt::format("  rank {} sends {} each run", all_.rank(), base::human_bytes(sent));
      if (network_.bytes_per_second > 0) {
        text += fmt::format("; network floor {} ({} per process measured, {} per message)",
                            base::human_seconds(sent / network_.bytes_per_second + network_.latency),
                            base::human_rate(network_.bytes_per_second, "B/s"), base::human_seconds(network_.latency));
      }
      text += "\n";
    }
    return text + decision_;
  }

 private:
  Box own_input() const {
    return on_device_ ? on_device_->samples()
           : boxed_   ? embed(boxed_->samples(), problem_.shape.size())
                      : running_->input();
  }
  Box own_output() const {
    return on_device_ ? on_device_->spectrum()
           : boxed_   ? embed(boxed_->spectrum(), problem_.shape.size())
                      : running_->output();
  }

  void choose(const Distribution& distributed) {
    threads_ = distributed.threads;
    std::size_t winner = 0;
    if (variants_.size() > 1) {
      if (options_.effort == Effort::measured) network_ = measure_network(all_);
      winner = decide(distributed);
    } else if (!options_.variant.empty() && options_.variant != variants_[0].name() &&
               options_.variant != variants_[0].short_name()) {
      mistake(
          fmt::format("no variant \"{}\" for one process; the only one is {}", options_.variant, variants_[0].name()));
    }
    variant_ = variants_[winner].name();
    running_ = make(distributed, winner, true);
  }

  // The root plans first; the others then reuse its measurements and compiled kernels if they share its cache.
  void root_first(const std::function<void()>& build) const {
    all_.agree([&] {
      if (all_.root()) build();
    });
    all_.agree([&] {
      if (!all_.root()) build();
    });
  }

  std::unique_ptr<Running<T>> make(const Distribution& distributed, std::size_t candidate, bool both) {
    std::unique_ptr<Running<T>> running;
    const auto build = [&] {
      running = std::make_unique<Running<T>>(all_, distributed, variants_[candidate], both, device_, local_);
    };
    root_first(build);
    running->take_memory();
    return running;
  }

  double seconds(const Distribution& distributed, std::size_t candidate) {
    const auto running = make(distributed, candidate, false);
    const std::size_t in = running->input().size(), out = running->output().size();
    base::AlignedArray<Complex> samples, spectrum;
    all_.agree([&] {
      samples = base::AlignedArray<Complex>(in);
      spectrum = base::AlignedArray<Complex>(out);
      for (std::size_t i = 0; i < in; ++i) samples[i] = Complex(static_cast<T>(i % 17) - 8, static_cast<T>(i % 13) - 6);
    });
    double best = INFINITY, spent = 0;
    for (int round = 0; round < 4 && (round < 2 || spent < 1); ++round) {
      all_.barrier();
      const double start = base::now();
      running->run(false, samples.data(), spectrum.data());
      const double now = all_.largest(base::now() - start);
      spent += now;
      if (round > 0) best = std::min(best, now);
    }
    return best;
  }

  std::size_t decide(const Distribution& distributed) {
    std::vector<planner::Candidate> candidates;
    for (const Variant& variant : variants_)
      candidates.push_back(variant.candidate(flops() / static_cast<double>(all_.count())));
    Order order;
    if (!all_.root()) {
      for (;;) {
        all_.broadcast(&order, sizeof order);
        if (order.step != Step::measure) break;
        try {
          seconds(distributed, order.candidate);
        } catch (const Error&) {  // the root fails too and drops the candidate
        }
      }
    }
    std::string text;
    all_.agree([&] {
      if (!all_.root()) return;
      const planner::Problem problem{
          .workload = "mpi-fft",
          .key = fmt::format("mpi-fft {} on {} processes of {} machines, {} threads, {} input, {} output",
                             words(problem_, sizeof(T) == sizeof(double)), all_.count(), all_.machines(),
                             distributed.threads, distributed.input.empty() ? "any" : "given",
                             distributed.output.empty() ? "any" : "given"),
          .flops = flops() / static_cast<double>(all_.count()),
          .bytes = variants_[0].local_bytes};
      try {
        const planner::Decision decision =
            planner::decide(host(), problem, candidates, options_, [&](std::size_t candidate) {
              order = {Step::measure, candidate};
              all_.broadcast(&order, sizeof order);
              return seconds(distributed, candidate);
            });
        order = {Step::chosen, decision.winner};
        text = decision.explain();
      } catch (...) {
        order.step = Step::failed;
        all_.broadcast(&order, sizeof order);
        throw;
      }
      all_.broadcast(&order, sizeof order);
    });
    std::uint64_t length = text.size();
    all_.broadcast(&length, sizeof length);
    text.resize(length);
    all_.broadcast(text.data(), length);
    decision_ = text;
    return order.candidate;
  }

  void run(bool inverse, bool real, const void* in, std::size_t in_size, void* out, std::size_t out_size) const {
    const std::size_t samples = own_input().size() * problem_.batch;
    const std::size_t spectrum = own_output().size() * problem_.batch;
    const std::size_t in_needed = inverse ? spectrum : samples, out_needed = inverse ? samples : spectrum;
    // Also the barrier before a process stores into another's memory.
    all_.agree([&] {
      if (real != is_real(problem_)) {
        mistake(real ? "this plan has complex samples: pass complex arrays"
                     : "this plan has real samples: pass real arrays for them");
      }
      if (in_size < in_needed || out_size < out_needed) {
        mistake(fmt::format("the arrays have {} and {} elements, the boxes need {} and {}", in_size, out_size,
                            in_needed, out_needed));
      }
      if (in_needed > 0 && in == out) mistake("needs separate input and output arrays, got the same memory");
    });
    const std::size_t sample_bytes = is_real(problem_) ? sizeof(T) : sizeof(Complex);
    const std::size_t in_bytes = in_needed / problem_.batch * (inverse ? sizeof(Complex) : sample_bytes);
    const std::size_t out_bytes = out_needed / problem_.batch * (inverse ? sample_bytes : sizeof(Complex));
    if (on_device_) return on_device_->run(inverse, in, in_bytes, out, out_bytes);
    for (std::size_t b = 0; b < problem_.batch; ++b) {
      if (b > 0) all_.barrier();
      const std::byte* const from = static_cast<const std::byte*>(in) + b * in_bytes;
      std::byte* const to = static_cast<std::byte*>(out) + b * out_bytes;
      boxed_ ? boxed_->run(inverse, from, to) : running_->run(inverse, from, to);
    }
  }

  Communicator all_;
  Problem problem_;
  Device device_;
  planner::Options options_, local_;
  std::vector<Variant> variants_;
  std::unique_ptr<Running<T>> running_;  // exactly one of the three is set
  std::unique_ptr<OnDevice<T>> on_device_;
  std::unique_ptr<Boxed<T>> boxed_;
  std::string variant_, decision_;
  std::size_t threads_ = 1;
  Network network_;
};

template <class T>
Plan<T>::Plan(const Communicator& communicator, const Problem& problem, const planner::Options& options,
              const Device& device)
    : impl_(std::make_shared<const Impl>(communicator, problem, options, device)) {}

template <class T>
void Plan<T>::forward(std::span<const Complex> in, std::span<Complex> out) const {
  impl_->forward(in.data(), in.size(), out.data(), out.size(), false);
}
template <class T>
void Plan<T>::inverse(std::span<const Complex> in, std::span<Complex> out) const {
  impl_->inverse(in.data(), in.size(), out.data(), out.size(), false);
}
template <class T>
void Plan<T>::forward(std::span<const Real> in, std::span<Complex> out) const {
  impl_->forward(in.data(), in.size(), out.data(), out.size(), true);
}
template <class T>
void Plan<T>::inverse(std::span<const Complex> in, std::span<Real> out) const {
  impl_->inverse(in.data(), in.size(), out.data(), out.size(), true);
}
template <class T>
void Plan<T>::forward(Queue& queue, const Buffer& in, const Buffer& out) const {
  impl_->run(false, queue, in, out);
}
template <class T>
void Plan<T>::inverse(Queue& queue, const Buffer& in, const Buffer& out) const {
  impl_->run(true, queue, in, out);
}
template <class T>
Box Plan<T>::input() const {
  return impl_->input();
}
template <class T>
Box Plan<T>::output() const {
  return impl_->output();
}
template <class T>
std::size_t Plan<T>::bytes_sent() const {
  return impl_->bytes_sent();
}
template <class T>
double Plan<T>::flops() const {
  return impl_->flops();
}
template <class T>
std::string Plan<T>::variant() const {
  return impl_->variant();
}
template <class T>
std::string Plan<T>::explain() const {
  return impl_->explain();
}
template <class T>
const Problem& Plan<T>::problem() const {
  return impl_->problem();
}
template <class T>
const Communicator& Plan<T>::communicator() const {
  return impl_->all();
}

template class Plan<float>;
template class Plan<double>;

}  // namespace ridge::mpi::fft
