// Times the routes of an axis on random data, and compares lines with the reference.
#include "fft/device/trials.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <fmt/format.h>

#include "device/random.hpp"
#include "device/timing.hpp"
#include "fft/device/answers.hpp"
#include "fft/device/line_sums.hpp"
#include "fft/float16.hpp"
#include "fft/host/rounding.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::uint64_t kComparedPoints = std::uint64_t{1} << 20;
constexpr std::uint64_t kFewestValues = 64;                       // compared of a long line
constexpr std::uint64_t kComparedTerms = std::uint64_t{1} << 34;  // of their sums, unless the fewest have more
constexpr std::byte kUnstored{0xff};                              // NaN as float and double
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::size_t side_bytes(const AxisProblem& problem, bool input) {
  return static_cast<std::size_t>(side_extent(problem, input)) * element_bytes(problem, input);
}

Numbers numbers_of(const AxisProblem& problem) {
  if (problem.samples != Samples::same) return Numbers::bits;
  return problem.float64 ? Numbers::float64 : Numbers::float32;
}

NumberFormat format_of(const AxisProblem& problem) {
  if (problem.store_storage == Storage::float16) return NumberFormat::float16;
  if (problem.store_storage == Storage::bfloat16) return NumberFormat::bfloat16;
  return problem.float64 ? NumberFormat::float64 : NumberFormat::float32;
}

bool stores_reals(const AxisProblem& problem) {
  return problem.real_kind || (problem.kind == Kind::real && problem.direction == Direction::inverse);
}

// Elements that an answer stores, for all lines. Two self-mirrored rows count as one half of two lines each.
std::uint64_t stored_elements(const AxisProblem& problem) {
  const std::uint64_t points = side_points(problem, false);
  if (problem.folded == 0) return points * problem.lines();
  return points / 2 * problem.folded * (problem.lines() / problem.counts.front());
}

}  // namespace

void AxisTrials::make_arrays() {
  if (queue_) return;
  queue_ = device_.queue();
  std::size_t in = side_bytes(problem_, true);
  // In place, samples and spectrum of a real line share the longer of the two.
  if (problem_.in_place) in = std::max(in, side_bytes(problem_, false));
  in_ = device_.buffer(in, {.name = "fft trial input"});
  out_ = problem_.in_place ? in_ : device_.buffer(side_bytes(problem_, false), {.name = "fft trial output"});
  fill_random(*queue_, in_, numbers_of(problem_));
}

double AxisTrials::seconds(const CompiledRoute& route) {
  make_arrays();
  return best_device_seconds(*queue_, {[&] { route.enqueue(*queue_, in_, out_); }}, kTrial).front();
}

// All lines, or a sample that the host can compute quickly, including the first and the last.
void AxisTrials::choose_lines() {
  const std::uint64_t all = problem_.lines();
  const std::uint64_t most = values_.empty() ? std::max<std::uint64_t>(4, kComparedPoints / problem_.length) : 2;
  const std::uint64_t count = std::min(all, most);
  for (std::uint64_t i = 0; i < count; ++i) lines_.push_back(count == 1 ? 0 : i * (all - 1) / (count - 1));
}

// The first and the last two values of a long line, and one at random in each of equal parts.
void AxisTrials::choose_values() {
  const std::uint64_t all = side_points(problem_, false);
  if (problem_.length <= longest_whole_ || problem_.real_kind || problem_.folded > 0 || all < 8 * kFewestValues) return;
  const std::uint64_t count = std::clamp(kComparedTerms / problem_.length, kFewestValues, all / 8);
  values_ = {0, 1};
  std::mt19937_64 generator(problem_.length);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t first = i * all / count, end = (i + 1) * all / count;
    const std::uint64_t value = first + generator() % (end - first);
    if (value > 1 && value + 2 < all) values_.push_back(value);
  }
  values_.insert(values_.end(), {all - 2, all - 1});
}

std::uint64_t AxisTrials::compared_points() const {
  return values_.empty() ? side_points(problem_, false) : values_.size();
}

// Compared values of the compared lines, one line after another.
std::vector<std::byte> AxisTrials::compared_numbers() {
  const std::uint64_t points = compared_points();
  const std::size_t each = element_bytes(problem_, false);
  const bool folded = problem_.folded > 0;
  Runs runs{.points = folded            ? points / 2
                      : values_.empty() ? points
                                        : 1,
            .step = problem_.out.point,
            .numbers = stores_reals(problem_) ? std::size_t{1} : std::size_t{2}};
  for (const std::uint64_t line : lines_) {
    for (const std::uint64_t value : values_) runs.starts.push_back(value_place(problem_, false, line, value));
    if (values_.empty()) runs.starts.push_back(value_place(problem_, false, line, 0));
    if (folded) runs.starts.push_back(value_place(problem_, false, line, points / 2));
  }
  if (out_.size() > kLargeAnswer) return gathered_runs(*queue_, out_, format_of(problem_), runs);
  std::vector<std::byte> answer(out_.size()), numbers(lines_.size() * points * each);
  queue_->download(out_, answer.data(), answer.size());
  queue_->finish();
  std::byte* to = numbers.data();
  for (const std::uint64_t start : runs.starts) {
    for (std::uint64_t i = 0; i < runs.points; ++i, to += each) {
      std::memcpy(to, answer.data() + (start + i * runs.step) * each, each);
    }
  }
  return numbers;
}

template <class T>
planner::Comparison AxisTrials::compared(const std::vector<std::byte>& numbers) const {
  const std::uint64_t points = compared_points(), parts = stores_reals(problem_) ? 1 : 2;
  std::vector<T> got, wanted;
  got.reserve(lines_.size() * points * parts);
  wanted.reserve(got.capacity());
  const auto number = [&](std::size_t i) {
    if (problem_.store_storage != Storage::same) {
      std::uint16_t bits;
      std::memcpy(&bits, numbers.data() + i * sizeof(bits), sizeof(bits));
      return static_cast<T>(from_stored(problem_.store_storage, bits));
    }
    T value;
    std::memcpy(&value, numbers.data() + i * sizeof(T), sizeof(T));
    return value;
  };
  for (const std::vector<std::complex<double>>& line : expected_) {
    for (const std::complex<double>& value : line) {
      for (std::uint64_t part = 0; part < parts; ++part) {
        got.push_back(number(got.size()));
        wanted.push_back(static_cast<T>(part == 0 ? value.real() : value.imag()));
      }
    }
  }
  // 16-bit floats are rounded to nearest, relative to values that are a few times the root mean square.
  constexpr double kLargest = 8;
  const double stored = problem_.store_storage == Storage::float16    ? kLargest * 0x1p-11
                        : problem_.store_storage == Storage::bfloat16 ? kLargest * 0x1p-8
                                                                      : 0;
  // Factors can make some values much larger than the root mean square; their errors grow in proportion.
  double largest = 0, squares = 0;
  for (const T each : wanted) {
    largest = std::max(largest, std::abs(static_cast<double>(each)));
    squares += static_cast<double>(each) * static_cast<double>(each);
  }
  const bool uneven = problem_.store.kind() != FactorKind::none && squares > 0;
  const double growth =
      uneven ? std::max(1.0, largest / (4 * std::sqrt(squares / static_cast<double>(wanted.size())))) : 1;
  const double allowed = growth * largest_rounding(problem_.length, problem_.float64) + stored;
  return planner::compare(got, wanted, allowed, [&](std::size_t element) {
    const std::uint64_t point = element / parts % points;
    return fmt::format("line {}, point {}", lines_[element / (points * parts)],
                       values_.empty() ? point : values_[point]);
  });
}

// For values that are not compared: checks that all of them were stored, and nothing between them.
std::string AxisTrials::unstored_text() {
  if (lines_.size() == problem_.lines() && values_.empty()) return {};
  // In place the array already holds numbers, except if integers or 16-bit floats were loaded.
  if (problem_.in_place && (problem_.samples != Samples::same || problem_.float16())) return {};
  const std::size_t each = element_bytes(problem_, false), parts = stores_reals(problem_) ? 1 : 2;
  const std::uint64_t gaps =
      problem_.in_place ? 0 : (out_.size() / each - stored_elements(problem_)) * static_cast<std::uint64_t>(parts);
  const std::uint64_t found = count_nan(*queue_, out_, format_of(problem_));
  if (found == gaps) return {};
  return found > gaps ? fmt::format("{} values of all lines", found - gaps)
                      : fmt::format("{} values between the lines, which were stored", gaps - found);
}

// The reference needs the input on the host, except of long lines.
void AxisTrials::make_input() {
  choose_values();
  choose_lines();
  if (!values_.empty() && has_line_sums(device_, problem_)) return;
  input_.resize(in_.size());
  fill_random(std::span(input_), numbers_of(problem_), 2);
  if (problem_.load_storage == Storage::same) return;
  std::vector<float> wide(input_.size() / 2);
  fill_random(std::as_writable_bytes(std::span(wide)), Numbers::float32, 2);
  for (std::size_t i = 0; i < wide.size(); ++i) {
    const std::uint16_t bits = to_stored(problem_.load_storage, wide[i]);
    std::memcpy(input_.data() + i * sizeof(bits), &bits, sizeof(bits));
  }
}

// Once the input is on the device.
void AxisTrials::make_expected() {
  const AxisReference reference(problem_);
  for (const std::uint64_t line : lines_) {
    if (input_.empty()) {
      expected_.push_back(values_by_sums(*queue_, problem_, in_, true, std::vector(values_.size(), line), values_));
      for (std::complex<double>& value : expected_.back()) value *= problem_.scale;
    } else {
      expected_.push_back(values_.empty() ? reference.line(input_.data(), line)
                                          : reference.values(input_.data(), line, values_));
    }
  }
}

planner::Comparison AxisTrials::compare(const CompiledRoute& route) {
  make_arrays();
  if (lines_.empty()) make_input();
  refresh_input();
  if (expected_.empty()) make_expected();
  if (!problem_.in_place) queue_->fill(out_, kUnstored);
  route.enqueue(*queue_, in_, out_);
  const std::vector<std::byte> numbers = compared_numbers();
  planner::Comparison result = problem_.float64 ? compared<double>(numbers) : compared<float>(numbers);
  if (result.right()) {
    const std::string where = unstored_text();
    if (!where.empty()) result = {kNaN, result.allowed, where};
  }
  const bool all_compared = lines_.size() == problem_.lines() && values_.empty();
  if (result.right() && !all_compared && has_line_sums(device_, problem_)) {
    const planner::Comparison by_sums = compare_by_sums(*queue_, problem_, kept_ ? kept_ : in_, out_);
    if (!by_sums.right()) result = by_sums;
  }
  uploaded_ = uploaded_ && result.right();  // after a wrong answer the input may be damaged too
  return result;
}

// Out of place a route must not change its input; in place the input is kept on the device.
void AxisTrials::refresh_input() {
  if (!uploaded_) {
    if (input_.empty()) {
      fill_random(*queue_, in_, numbers_of(problem_), 2);
    } else {
      queue_->upload(input_.data(), in_, input_.size());
    }
    if (problem_.in_place && !kept_) kept_ = device_.buffer(in_.size(), {.name = "fft trial input kept"});
    if (kept_) queue_->copy(in_, kept_, in_.size());
    uploaded_ = true;
  } else if (kept_) {
    queue_->copy(kept_, in_, in_.size());
  }
}

}  // namespace ridge::fft::on_device
