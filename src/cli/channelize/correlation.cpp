// Filter bank and correlator on one device, in batches of whole integrations.
#include "cli/channelize/correlation.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace ridge::cli {
namespace {

constexpr std::size_t kMostBytes = std::size_t{512} << 20;  // per integration, of spectra and of samples
constexpr std::size_t kUsualBytes = std::size_t{64} << 20;  // of spectra of several integrations
constexpr std::size_t kTimes = 16;  // times per block, if an integration consists of whole blocks

// The correlator is fastest with blocks of consecutive times; the order of spectra is internal.
filterbank::Problem in_its_order(filterbank::Problem problem, const filterbank::Correlation& correlation) {
  const bool blocks = correlation.times % kTimes == 0;
  problem.order = blocks ? filterbank::Order::channel : filterbank::Order::time;
  problem.output_times = kTimes;
  return problem;
}

}  // namespace

std::unique_ptr<DeviceCorrelation> DeviceCorrelation::make(const Device& device, const filterbank::Problem& problem,
                                                           const filterbank::Correlation& correlation,
                                                           const planner::Options& options) {
  if (device.is_host() || problem.delays.wanted || correlation.times == 0) return nullptr;
  const filterbank::Geometry g = filterbank::resolve(problem);
  const std::size_t most = std::min(kMostBytes, device.info().limits.memory / 8);
  const std::size_t sample = g.frame_bytes() / g.block;
  if (correlation.times > most / (g.spectrum_size() * sizeof(std::complex<float>)) ||
      correlation.times > most / (g.hop * sample)) {
    return nullptr;
  }
  return std::unique_ptr<DeviceCorrelation>(new DeviceCorrelation(device, problem, correlation, options));
}

DeviceCorrelation::DeviceCorrelation(const Device& device, const filterbank::Problem& problem,
                                     const filterbank::Correlation& correlation, const planner::Options& options)
    : device_(device),
      queue_(device.queue()),
      plan_(device, in_its_order(problem, correlation), options),
      correlator_(device, plan_.problem(), correlation),
      geometry_(filterbank::resolve(plan_.problem())),
      times_(correlation.times),
      window_(device) {
  const std::size_t each = times_ * geometry_.spectrum_size() * sizeof(std::complex<float>);
  at_once_ = std::max<std::size_t>(1, kUsualBytes / each);
  values_ = device.buffer(at_once_ * each, {.name = "spectra to correlate"});
  sums_ = device.buffer(at_once_ * correlator_.size() * sizeof(std::complex<float>), {.name = "correlations"});
}

std::uint64_t DeviceCorrelation::start_at(std::uint64_t spectrum) {
  const filterbank::Geometry& g = geometry_;
  if (spectrum % times_ != 0) {
    throw Error(ErrorKind::internal, fmt::format("spectrum {} does not begin an integration of {}", spectrum, times_));
  }
  spectra_ = spectrum;
  window_ = filterbank::on_device::SampleWindow(
      device_, g.frame_start(g.oldest_row(spectrum) * static_cast<std::int64_t>(g.channels)));
  return window_.from() / g.frame_bytes() * g.block;
}

std::size_t DeviceCorrelation::most_times(std::size_t bytes) const {
  const filterbank::Geometry& g = geometry_;
  const std::size_t sample = g.frame_bytes() / g.block;
  return (bytes / (g.hop * sample) + std::max(g.block, g.channels) / g.hop + 3) / times_ + 1;
}

// Sets the excluded ones among the next `count` spectra to zero.
void DeviceCorrelation::clear_excluded(std::size_t count) {
  const filterbank::Geometry& g = geometry_;
  const std::size_t value = sizeof(std::complex<float>), block = g.times * g.spectrum_size() * value;
  for (const auto& range : excluded_) {
    const std::uint64_t end = std::min(range.end, spectra_ + count);
    for (std::uint64_t t = std::max(range.first, spectra_); t < end;) {
      if (!zeros_) {
        zeros_ = device_.buffer(block, {.name = "excluded spectra"});
        queue_.fill(zeros_, std::byte{0});
      }
      // Consecutive times of a block, of every channel, station and polarization; or one spectrum.
      const auto within = static_cast<std::size_t>(t % g.times);
      const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(g.times - within, end - t));
      const std::size_t row = g.times * value, at = static_cast<std::size_t>((t - spectra_) / g.times) * block;
      if (now == g.times) {
        queue_.copy(zeros_, values_, block, 0, at);
      } else {
        queue_.copy(zeros_, {.row = row}, values_, {.offset = at + within * value, .row = row},
                    {.bytes = now * value, .rows = g.spectrum_size()});
      }
      t += now;
    }
  }
}

std::size_t DeviceCorrelation::push(std::span<const std::byte> in, std::span<float> out, bool) {
  const filterbank::Geometry& g = geometry_;
  window_.append(queue_, in);
  std::size_t made = 0;
  const std::uint64_t whole = g.spectra_in(window_.end()) / times_;
  while (spectra_ / times_ < whole) {
    const std::size_t now = static_cast<std::size_t>(std::min<std::uint64_t>(at_once_, whole - spectra_ / times_));
    plan_.enqueue(queue_, {.samples = window_.bytes(),
                           .start = window_.from() / g.frame_bytes() * g.block,
                           .spectra = values_,
                           .first = spectra_,
                           .count = now * times_});
    clear_excluded(now * times_);
    correlator_.enqueue(queue_, values_, now * times_, sums_);
    queue_.download(sums_, out.data() + made * time_size(), now * time_size() * sizeof(float));
    spectra_ += now * times_;
    made += now;
  }
  window_.forget_before(
      queue_, std::max(window_.from(), g.frame_start(g.oldest_row(spectra_) * static_cast<std::int64_t>(g.channels))));
  queue_.finish();  // the caller may reuse its memory
  return made;
}

}  // namespace ridge::cli
