// Times dedispersion variants and compares some of their sums with plain loops.
#include "search/trials.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "device/random.hpp"
#include "device/timing.hpp"
#include "search/reference.hpp"

namespace ridge::search {
namespace {

constexpr base::Repeat kTrial{.seconds = 0.06, .at_least = 2, .at_most = 1000, .round = 2e-4};
constexpr std::size_t kComparedTrials = 16, kComparedTimes = 64;

}  // namespace

void Trials::fill() {
  if (in_.size() != 0) return;
  in_ = base::AlignedArray<std::uint8_t>(layout_.input_bytes());
  fill_random(std::as_writable_bytes(in_.span()), Numbers::bits);
  out_ = base::AlignedArray<float>(layout_.trials * layout_.times);
}

double Trials::seconds(const Variant& variant) {
  if (device_.is_host()) {
    fill();
    return base::best_seconds([&] { variant.run(in_.data(), out_.data()); }, kTrial);
  }
  if (!queue_) {
    queue_ = device_.queue();
    device_in_ = device_.buffer(layout_.input_bytes(), {.name = "search trial input"});
    device_out_ = device_.buffer(layout_.output_bytes(), {.name = "search trial output"});
    fill_random(*queue_, device_in_, Numbers::bits);
  }
  return best_device_seconds(*queue_, {[&] { variant.enqueue(*queue_, device_in_, device_out_); }}, kTrial).front();
}

// Sums are whole numbers: every compared one must be equal. Interpolated ones are compared with a share of the noise.
planner::Comparison Trials::compare(const Variant& variant) {
  fill();
  std::fill(out_.begin(), out_.end(), std::numeric_limits<float>::quiet_NaN());
  variant.run(in_.data(), out_.data());
  std::vector<float> got, expected;
  std::vector<std::pair<std::size_t, std::size_t>> places;
  const std::size_t period = variant.interpolates();
  const std::size_t trials = std::min(layout_.trials, period > 0 ? 3 : kComparedTrials);
  const std::size_t times = std::min(layout_.times, period > 0 ? 3 : kComparedTimes);
  for (std::size_t i = 0; i < trials; ++i) {
    const std::size_t trial = trials == 1 ? 0 : i * (layout_.trials - 1) / (trials - 1);
    const std::vector<std::int32_t> delays = variant.delays(trial);
    for (std::size_t k = 0; k < times; ++k) {
      const std::size_t time = times == 1 ? 0 : k * (layout_.times - 1) / (times - 1);
      places.emplace_back(trial, time);
      got.push_back(out_[trial * layout_.times + time]);
      expected.push_back(static_cast<float>(period > 0 ? interpolated_sum(layout_, period, in_.data(), trial, time)
                                                       : reference_sum(layout_, delays, in_.data(), time)));
    }
  }
  // Both without their common offset, which is large compared with the noise.
  const float offset = period > 0 ? static_cast<float>(127.5 * static_cast<double>(layout_.channels)) : 0;
  for (std::size_t i = 0; i < got.size(); ++i) got[i] -= offset, expected[i] -= offset;
  return planner::compare(got, expected, period > 0 ? 1e-4 : 0, [places](std::size_t i) {
    return fmt::format("trial {}, time {}", places[i].first, places[i].second);
  });
}

}  // namespace ridge::search
