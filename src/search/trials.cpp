// Times dedispersion variants and compares some of their sums with plain loops.
#include "search/trials.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numbers>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/threads.hpp"
#include "device/random.hpp"
#include "device/timing.hpp"
#include "search/fourier_plan.hpp"

namespace ridge::search {
namespace {

constexpr base::Repeat kTrial{.seconds = 0.06, .at_least = 2, .at_most = 1000, .round = 2e-4};
constexpr double kMostOperations = 1e9;  // of the reference of interpolated sums

// `count` numbers from 0 to all - 1, the last one first.
std::vector<std::size_t> spaced(std::size_t count, std::size_t all) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = count; i-- > 0;) numbers.push_back(count == 1 ? all - 1 : i * (all - 1) / (count - 1));
  return numbers;
}

}  // namespace

std::vector<SeriesPlace> compared_places(const Layout& layout, bool interpolated) {
  const double each = static_cast<double>(layout.channels) * static_cast<double>(layout.row);
  const auto most = static_cast<std::size_t>(std::clamp(kMostOperations / each, 1.0, 9.0));
  const std::size_t trials = interpolated ? std::min<std::size_t>(most, 3) : 16,
                    times = interpolated ? most / trials : 64;
  std::vector<SeriesPlace> places;
  for (const std::size_t trial : spaced(std::min(trials, layout.trials), layout.trials)) {
    for (const std::size_t time : spaced(std::min(times, layout.times), layout.times)) places.push_back({trial, time});
  }
  return places;
}

void Trials::fill() {
  if (in_.size() != 0) return;
  in_ = base::AlignedArray<std::uint8_t>(layout_.input_bytes());
  fill_random(std::as_writable_bytes(in_.span()), Numbers::bits);
  if (device_.is_host()) out_ = base::AlignedArray<float>(layout_.trials * layout_.times);
}

void Trials::allocate_on_device() {
  if (queue_) return;
  queue_ = device_.queue();
  device_in_ = device_.buffer(layout_.input_bytes(), {.name = "search trial input"});
  device_out_ = device_.buffer(layout_.output_bytes(), {.name = "search trial output"});
  fill_random(*queue_, device_in_, Numbers::bits);
}

// The compared sums of a run on random bytes; the output is NaN before. Of a device's series only these are downloaded.
std::vector<float> Trials::sums(const Variant& variant, std::span<const SeriesPlace> places) {
  fill();
  std::vector<float> got(places.size());
  const auto index = [&](const SeriesPlace& place) { return place.trial * layout_.times + place.time; };
  if (device_.is_host()) {
    std::fill(out_.begin(), out_.end(), std::numeric_limits<float>::quiet_NaN());
    variant.run(in_.data(), out_.data());
    std::transform(places.begin(), places.end(), got.begin(), [&](const auto& place) { return out_[index(place)]; });
    return got;
  }
  allocate_on_device();
  queue_->upload(in_.data(), device_in_, layout_.input_bytes());
  queue_->fill(device_out_, std::byte{0xff});
  variant.enqueue(*queue_, device_in_, device_out_);
  for (std::size_t i = 0; i < places.size(); ++i)
    queue_->download(device_out_, &got[i], sizeof(float), index(places[i]) * sizeof(float));
  queue_->finish();
  return got;
}

double Trials::seconds(const Variant& variant) {
  if (device_.is_host()) {
    fill();
    return base::best_seconds([&] { variant.run(in_.data(), out_.data()); }, kTrial);
  }
  allocate_on_device();
  return best_device_seconds(*queue_, {[&] { variant.enqueue(*queue_, device_in_, device_out_); }}, kTrial).front();
}

// Sums are whole numbers: every compared one must be equal. Interpolated ones are compared with a share of the noise.
planner::Comparison Trials::compare(const Variant& variant) {
  const std::size_t period = variant.interpolates();
  const std::vector<SeriesPlace> places = compared_places(layout_, period > 0);
  std::vector<float> got = sums(variant, places), expected;
  if (period > 0) {
    for (const double sum : interpolated_sums(layout_, period, in_.data(), places))
      expected.push_back(static_cast<float>(sum));
  }
  std::vector<std::int32_t> delays;
  for (std::size_t i = 0; period == 0 && i < places.size(); ++i) {
    if (i == 0 || places[i].trial != places[i - 1].trial) delays = variant.delays(places[i].trial);
    expected.push_back(static_cast<float>(reference_sum(layout_, delays, in_.data(), places[i].time)));
  }
  // Both without their common offset, which is large compared with the noise.
  const float offset = period > 0 ? static_cast<float>(127.5 * static_cast<double>(layout_.channels)) : 0;
  for (std::size_t i = 0; i < got.size(); ++i) got[i] -= offset, expected[i] -= offset;
  // The noise of a sum of random bytes: a few sums may all be close to zero.
  const double noise = std::sqrt(static_cast<double>(layout_.channels) * (256.0 * 256.0 - 1) / 12);
  double squares = 0;
  for (const float value : expected) squares += double{value} * double{value};
  const double mean = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, expected.size())));
  const double allowed = period > 0 ? 1e-4 * (mean > 0 ? std::max(1.0, noise / mean) : 1) : 0;
  return planner::compare(got, expected, allowed, [places](std::size_t i) {
    return fmt::format("trial {}, time {}", places[i].trial, places[i].time);
  });
}

namespace {

constexpr std::size_t kLanes = 8;  // independent sums, so that the loop is vectorized

}  // namespace

double reference_sum(const Layout& layout, std::span<const std::int32_t> delays, const std::uint8_t* in,
                     std::size_t time) {
  double sum = 0;
  for (std::size_t c = 0; c < layout.channels; ++c) {
    sum += in[c * layout.row + time + static_cast<std::size_t>(delays[c])];
  }
  return sum;
}

std::vector<double> interpolated_sums(const Layout& layout, std::size_t period, const std::uint8_t* in,
                                      std::span<const SeriesPlace> places) {
  const double turn = std::numbers::pi / static_cast<double>(period);
  // cot(a - t turn) by the addition formula from tables of sin and cos(t turn): one division per sample, no tangent.
  const std::size_t padded = (layout.row + kLanes - 1) / kLanes * kLanes;
  std::vector<double> cosine(padded), sine(padded);
  for (std::size_t t = 0; t < padded; ++t) {
    cosine[t] = std::cos(turn * static_cast<double>(t)), sine[t] = std::sin(turn * static_cast<double>(t));
  }
  std::vector<double> sums(places.size(), 0);
  std::mutex mutex;
  base::parallel(layout.threads, [&](std::size_t thread, std::size_t threads) {
    const base::Share share = base::share(layout.channels, thread, threads);
    std::vector<double> mine(places.size(), 0), values(padded, 0.0);
    for (std::size_t c = share.begin; c < share.end; ++c) {
      const double mean = row_mean(in + c * layout.row, layout.row);
      for (std::size_t t = 0; t < layout.row; ++t) values[t] = in[c * layout.row + t] - mean;
      for (std::size_t i = 0; i < places.size(); ++i) {
        const double at = static_cast<double>(places[i].time) + layout.delay[places[i].trial] * layout.slope[c];
        const double whole = std::round(at), part = at - whole;
        mine[i] += mean;
        if (std::abs(part) < 1e-7) {
          mine[i] += values[static_cast<std::size_t>(whole)];
          continue;
        }
        const double c0 = std::cos(turn * at), s0 = std::sin(turn * at);
        double lanes[kLanes] = {};
        for (std::size_t t = 0; t < padded; t += kLanes) {
          for (std::size_t k = 0; k < kLanes; ++k) {
            lanes[k] +=
                values[t + k] * (c0 * cosine[t + k] + s0 * sine[t + k]) / (s0 * cosine[t + k] - c0 * sine[t + k]);
          }
        }
        double sum = 0;
        for (std::size_t k = 0; k < kLanes; ++k) sum += k % 2 == 0 ? lanes[k] : -lanes[k];
        const double sign = std::fmod(whole, 2) == 0 ? 1 : -1;
        mine[i] += sign * sum * std::sin(std::numbers::pi * part) / static_cast<double>(period);
      }
    }
    const std::lock_guard lock(mutex);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += mine[i];
  });
  return sums;
}

}  // namespace ridge::search
