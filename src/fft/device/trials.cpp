#include "fft/device/trials.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "device/random.hpp"
#include "device/timing.hpp"
#include "fft/halves.hpp"
#include "fft/host/rounding.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::uint64_t kComparedPoints = std::uint64_t{1} << 20;
constexpr std::byte kUnstored{0xff};  // no number

std::size_t side_bytes(const AxisProblem& problem, bool input) {
  return static_cast<std::size_t>(side_extent(problem, input)) * element_bytes(problem, input);
}

Numbers numbers_of(const AxisProblem& problem) {
  if (problem.samples != Samples::same) return Numbers::bits;
  return problem.float64 ? Numbers::float64 : Numbers::float32;
}

}  // namespace

void AxisTrials::make_arrays() {
  if (queue_) return;
  queue_ = device_.queue();
  std::size_t in = side_bytes(problem_, true);
  // In place a real line's samples and spectrum share the longer of the two.
  if (problem_.in_place) in = std::max(in, side_bytes(problem_, false));
  in_ = device_.buffer(in, {.name = "fft trial input"});
  out_ = problem_.in_place ? in_ : device_.buffer(side_bytes(problem_, false), {.name = "fft trial output"});
  fill_random(*queue_, in_, numbers_of(problem_));
}

double AxisTrials::seconds(const CompiledRoute& route) {
  make_arrays();
  return best_device_seconds(*queue_, {[&] { route.enqueue(*queue_, in_, out_); }}, kTrial).front();
}

// All of them, or so many that the host is soon done, the first and the last among them.
void AxisTrials::choose_lines() {
  const std::uint64_t all = problem_.lines();
  const std::uint64_t most = std::max<std::uint64_t>(4, kComparedPoints / problem_.length);
  const std::uint64_t count = std::min(all, most);
  for (std::uint64_t i = 0; i < count; ++i) lines_.push_back(count == 1 ? 0 : i * (all - 1) / (count - 1));
}

template <class T>
planner::Comparison AxisTrials::judged(const std::vector<std::byte>& answer) const {
  const bool real = problem_.real_kind || (problem_.kind == Kind::real && problem_.direction == Direction::inverse);
  const std::uint64_t points = side_points(problem_, false), numbers = real ? 1 : 2;
  const auto value = [&](std::uint64_t line, std::uint64_t i, std::uint64_t part) {
    const std::uint64_t element = value_place(problem_, false, line, i) * numbers + part;
    if (problem_.store_storage != Storage::same) {
      std::uint16_t bits;
      std::memcpy(&bits, answer.data() + element * sizeof(bits), sizeof(bits));
      return static_cast<T>(from_stored(problem_.store_storage, bits));
    }
    T number;
    std::memcpy(&number, answer.data() + element * sizeof(T), sizeof(T));
    return number;
  };
  std::vector<T> got, wanted;
  for (std::size_t l = 0; l < lines_.size(); ++l) {
    for (std::uint64_t i = 0; i < points; ++i) {
      for (std::uint64_t part = 0; part < numbers; ++part) {
        got.push_back(value(lines_[l], i, part));
        wanted.push_back(static_cast<T>(part == 0 ? expected_[l][i].real() : expected_[l][i].imag()));
      }
    }
  }
  // Halves are rounded to the nearest, in units of values that are a few times the root mean square.
  constexpr double kLargest = 8;
  const double stored = problem_.store_storage == Storage::float16    ? kLargest * 0x1p-11
                        : problem_.store_storage == Storage::bfloat16 ? kLargest * 0x1p-8
                                                                      : 0;
  // Factors may make some values far larger than the root mean square: their errors grow with them.
  double largest = 0, squares = 0;
  for (const T each : wanted) {
    largest = std::max(largest, std::abs(static_cast<double>(each)));
    squares += static_cast<double>(each) * static_cast<double>(each);
  }
  const bool uneven = problem_.store.kind() != FactorKind::none && squares > 0;
  const double growth =
      uneven ? std::max(1.0, largest / (4 * std::sqrt(squares / static_cast<double>(wanted.size())))) : 1;
  const double allowed = growth * largest_rounding(problem_.length, problem_.float64) + stored;
  planner::Comparison result = planner::compare(got, wanted, allowed, [&](std::size_t element) {
    return fmt::format("line {}, point {}", lines_[element / (points * numbers)], element / numbers % points);
  });
  if (!result.right() || lines_.size() == problem_.lines()) return result;
  // Of the other lines at least that all of them were stored.
  for (std::uint64_t line = 0; line < problem_.lines(); ++line) {
    for (std::uint64_t i = 0; i < points; ++i) {
      if (std::isnan(value(line, i, 0))) {
        return {std::numeric_limits<double>::quiet_NaN(), allowed, fmt::format("line {}, point {}", line, i)};
      }
    }
  }
  return result;
}

planner::Comparison AxisTrials::compare(const CompiledRoute& route) {
  make_arrays();
  if (input_.empty()) {
    input_.resize(in_.size());
    fill_random(std::span(input_), numbers_of(problem_), 2);
    if (problem_.load_storage != Storage::same) {
      std::vector<float> wide(input_.size() / 2);
      fill_random(std::as_writable_bytes(std::span(wide)), Numbers::float32, 2);
      for (std::size_t i = 0; i < wide.size(); ++i) {
        const std::uint16_t bits = to_stored(problem_.load_storage, wide[i]);
        std::memcpy(input_.data() + i * sizeof(bits), &bits, sizeof(bits));
      }
    }
    choose_lines();
    const AxisReference reference(problem_);
    for (const std::uint64_t line : lines_) expected_.push_back(reference.line(input_.data(), line));
  }
  queue_->upload(input_.data(), in_, input_.size());
  if (!problem_.in_place) queue_->fill(out_, kUnstored);
  route.enqueue(*queue_, in_, out_);
  std::vector<std::byte> answer(out_.size());
  queue_->download(out_, answer.data(), answer.size());
  queue_->finish();
  return problem_.float64 ? judged<double>(answer) : judged<float>(answer);
}

}  // namespace ridge::fft::on_device
