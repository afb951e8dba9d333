// The host's share of a batch that several devices transform together.
#include <optional>

#include "fft/multi_device/worker.hpp"

namespace ridge::fft {
namespace {

template <class T>
class HostWorker : public Worker {
 public:
  HostWorker(const Device& device, const Problem& problem, const HybridOptions& options)
      : device_(device), problem_(problem), planning_(options.planning) {}

  void assign(std::size_t count, const Cores& cores) override {
    count_ = count;
    problem_.batch = count;
    problem_.threads = cores.count;
    if (count > 0) plan_.emplace(device_, problem_, planning_);
  }

  void run(Direction direction, const std::byte* in, std::byte* out, std::size_t first) const override {
    if (count_ == 0) return;
    using Complex = std::complex<T>;
    const auto [from, to] = batch_bytes<T>(problem_, direction);
    in += first * from;
    out += first * to;
    const bool forward = direction == Direction::forward;
    const std::size_t in_size = forward ? plan_->input_size() : plan_->output_size();
    const std::size_t out_size = forward ? plan_->output_size() : plan_->input_size();
    const auto complex_in = std::span(reinterpret_cast<const Complex*>(in), in_size);
    const auto complex_out = std::span(reinterpret_cast<Complex*>(out), out_size);
    if (problem_.kind == Kind::complex) {
      forward ? plan_->forward(complex_in, complex_out) : plan_->inverse(complex_in, complex_out);
    } else if (forward) {
      plan_->forward(std::span(reinterpret_cast<const T*>(in), in_size), complex_out);
    } else {
      plan_->inverse(complex_in, std::span(reinterpret_cast<T*>(out), out_size));
    }
  }

 private:
  Device device_;
  Problem problem_;
  planner::Options planning_;
  std::size_t count_ = 0;
  std::optional<Plan<T>> plan_;
};

}  // namespace

template <class T>
BatchBytes batch_bytes(const Problem& problem, Direction direction) {
  Problem one = problem;
  one.batch = 2;  // gives a packed batch its stride
  const Layout layout = resolve(one);
  const std::size_t samples = layout.samples.batch * (problem.kind == Kind::real ? sizeof(T) : 2 * sizeof(T));
  const std::size_t spectrum = layout.spectrum.batch * 2 * sizeof(T);
  return direction == Direction::forward ? BatchBytes{samples, spectrum} : BatchBytes{spectrum, samples};
}

template <class T>
std::unique_ptr<Worker> host_worker(const Device& device, const Problem& problem, const HybridOptions& options) {
  return std::make_unique<HostWorker<T>>(device, problem, options);
}

template BatchBytes batch_bytes<float>(const Problem&, Direction);
template BatchBytes batch_bytes<double>(const Problem&, Direction);
template std::unique_ptr<Worker> host_worker<float>(const Device&, const Problem&, const HybridOptions&);
template std::unique_ptr<Worker> host_worker<double>(const Device&, const Problem&, const HybridOptions&);

}  // namespace ridge::fft
