#include "fft/device/trials.hpp"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>

#include "device/timing.hpp"

namespace ridge::fft::on_device {
namespace {

// Kernels that differ by less than the noise of so short a run are as good as each other.
constexpr base::Repeat kTrial{.seconds = 0.006, .at_least = 3, .at_most = 100, .round = 2e-4};

std::uint64_t extent(const Address& at, const std::vector<std::uint64_t>& counts, std::uint64_t points) {
  std::uint64_t last = (points - 1) * at.point;
  for (std::size_t digit = 0; digit < counts.size(); ++digit) last += (counts[digit] - 1) * at.line[digit];
  return last + 1;
}

std::size_t element_bytes(const AxisProblem& problem, bool input) {
  const std::size_t number = problem.float64 ? 8 : 4;
  const bool samples_side = input == (problem.direction == Direction::forward);
  const std::size_t each = input && problem.samples == Samples::int8    ? 1
                           : input && problem.samples == Samples::int16 ? 2
                                                                        : number;
  return problem.kind == Kind::real && samples_side ? each : 2 * each;
}

std::uint64_t side_points(const AxisProblem& problem, bool input) {
  const bool samples_side = input == (problem.direction == Direction::forward);
  return problem.kind == Kind::real && !samples_side ? problem.length / 2 + 1 : problem.length;
}

}  // namespace

double Trials::seconds(const CompiledRoute& route) {
  if (!queue_) {
    queue_ = device_.queue();
    in_ = array(problem_.in, true);
    out_ = problem_.in_place ? in_ : array(problem_.out, false);
    queue_->fill(in_, std::byte{0x3f});
  }
  return best_device_seconds(*queue_, {[&] { route.enqueue(*queue_, in_, out_); }}, kTrial).front();
}

Buffer Trials::array(const Address& at, bool input) {
  std::size_t bytes = static_cast<std::size_t>(extent(at, problem_.counts, side_points(problem_, input))) *
                      element_bytes(problem_, input);
  // In place a real line's samples and spectrum share the longer of the two.
  if (problem_.in_place) {
    bytes =
        std::max(bytes, static_cast<std::size_t>(extent(problem_.out, problem_.counts, side_points(problem_, false))) *
                            element_bytes(problem_, false));
  }
  return device_.buffer(bytes, {.name = input ? "fft trial input" : "fft trial output"});
}

void compile_side_by_side(const Device& device, std::vector<KernelSource> sources) {
  if (device.info().backend != Backend::cuda) return;
  // The longest first; equal ones once.
  std::sort(sources.begin(), sources.end(), [](const KernelSource& a, const KernelSource& b) {
    return a.text.size() != b.text.size() ? a.text.size() > b.text.size() : a.text < b.text;
  });
  const auto same = [](const KernelSource& a, const KernelSource& b) { return a.text == b.text; };
  sources.erase(std::unique(sources.begin(), sources.end(), same), sources.end());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < sources.size(); i = next++) {
      try {
        device.compile(sources[i]);
      } catch (...) {  // NOLINT(bugprone-empty-catch): said when the route itself is built
      }
    }
  };
  std::vector<std::thread> threads;
  const std::size_t count = std::min<std::size_t>(sources.size(), std::max(1U, std::thread::hardware_concurrency()));
  threads.reserve(count);
  try {
    for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work);
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): fewer threads do the same
  }
  work();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace ridge::fft::on_device
