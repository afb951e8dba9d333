// Searches a stream of filterbank rows block by block: normalize, dedisperse each segment, filter, cluster, refine.
//
// A block has `block` input samples. Every segment keeps a plane of normalized bytes, channels x (1 + ahead) blocks at
// its sample interval. When the plane is full, pulses that begin in its first block are searched, and the plane is
// shifted by one block. `ahead` blocks hold the longest delay and the widest boxcar.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/host_memory.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "search/stream_state.hpp"

namespace ridge::search {
namespace {

// Samples of smearing within a channel from which on samples are added in pairs.
constexpr double kSmearing = 1, kExactSmearing = 2;

[[noreturn]] void refuse_search(const std::string& message) {
  throw Error(ErrorKind::invalid_argument, "search: " + message);
}

void check_settings(const Band& band, const Settings& settings) {
  check_band(band);
  check_bits(settings.bits, band.channels);
  if (!(settings.threshold >= 3) || !(settings.threshold <= 1e6))
    refuse_search(fmt::format("the threshold must be between 3 and 1e6, got {}", settings.threshold));
  if (settings.widest == 0 || settings.widest > (std::size_t{1} << 20))
    refuse_search(fmt::format("the widest boxcar must have 1 to 2^20 samples, got {}", settings.widest));
}

}  // namespace

// The block holds at least 64 of the widest boxcars, so that subtracting its mean costs at most 1/64 of a pulse, and
// as many samples as the longest delay.
void StreamState::choose_block() {
  const double whole = delay_seconds(1, band.lowest_mhz(), band.highest_mhz());
  std::size_t ahead_samples = 0;
  for (const Segment& segment : segments) {
    const double delay = segment.dms.back() * whole / (band.interval * static_cast<double>(segment.factor));
    if (delay > 5e8)
      refuse_search(fmt::format("DM {} is {:.3g} samples of delay: too long", segment.dms.back(), delay));
    const std::size_t widest = std::max<std::size_t>(1, settings.widest / segment.factor);
    const std::size_t need = static_cast<std::size_t>(std::lround(delay)) + kRoundingMargin + widest;
    ahead_samples = std::max(ahead_samples, need * segment.factor);
  }
  const std::size_t unit = std::max<std::size_t>(segments.back().factor, kPartRows);
  const auto whole_units = [&](std::size_t samples) { return std::max(unit, (samples + unit - 1) / unit * unit); };
  const bool given = settings.block != 0;
  const std::size_t least = given ? whole_units(settings.block) : std::max<std::size_t>(64 * settings.widest, 8192);
  const std::size_t fits = settings.memory / (6 * band.channels);
  if (fits < least && settings.memory < Settings{}.memory)
    refuse_search(fmt::format("a memory limit of {} is too small: a block of {} samples of {} channels needs {}",
                              base::human_bytes(static_cast<double>(settings.memory)), least, band.channels,
                              base::human_bytes(6.0 * static_cast<double>(band.channels * least))));
  block = given ? least : whole_units(std::max(least, std::min(2 * ahead_samples, fits)));
  ahead = (ahead_samples + block - 1) / block;
  check_memory();
}

// Bytes of the planes and series that make_lanes() allocates.
void StreamState::check_memory() const {
  const double samples = static_cast<double>(block) * static_cast<double>(1 + ahead);
  double bytes = static_cast<double>(block) * static_cast<double>(row_bytes());
  for (const Segment& segment : segments) {
    const auto factor = static_cast<double>(segment.factor);
    const double times = static_cast<double>(block + settings.widest) / factor;
    bytes += static_cast<double>(band.channels) * samples / factor +
             sizeof(float) * times * static_cast<double>(segment.dms.size());
  }
  const auto memory = static_cast<double>(base::host_memory());
  if (bytes <= memory) return;
  refuse_search(
      fmt::format("blocks of {} samples for DM {} to {} need {} of memory, but this process may use {}: lower "
                  "--dm, the block or the widest boxcar",
                  block, settings.dm_begin, settings.dm_end, base::human_bytes(bytes), base::human_bytes(memory)));
}

// Least S/N of a detection: that of a pulse at the threshold whose dispersion measure is half a trial away from a
// trial, after the losses of the variant. At least 5: weaker detections are mostly noise, and each one is measured
// again.
float StreamState::detection_limit(const Lane& lane, std::size_t width) const {
  const std::vector<double>& delay = lane.layout.delay;
  const double apart = delay.size() > 1 ? (delay.back() - delay.front()) / static_cast<double>(delay.size() - 1) : 0;
  const double half_trial = std::max(0.5, 1 - apart / 4 / static_cast<double>(width));
  const double kept = std::min(0.97, lane.plan[0].kept(width) * half_trial);
  return static_cast<float>(std::min(settings.threshold, std::max(5.0, settings.threshold * kept)));
}

// Least S/N of a boxcar of added samples that is measured at the finest interval. A pulse shorter than such a sample
// may be divided between two: the shortest in a lane, half a sample times the allowed smearing, then keep sqrt(smearing
// / 4).
float StreamState::weakest_limit(const Lane& lane, std::size_t width) const {
  constexpr double kWeakest = 3.5;  // noise exceeds it in one boxcar of 4,300
  const double sure = static_cast<double>(detection_limit(lane, width));
  if (lane.segment.factor == segments.front().factor || width > 2) return static_cast<float>(sure);
  const double shared = std::sqrt((settings.exact ? kExactSmearing : kSmearing) / 4);
  const double kept = std::min(1.0, lane.plan[0].kept(width));
  return static_cast<float>(std::min(sure, std::max(kWeakest, settings.threshold * kept * shared)));
}

void StreamState::make_lanes(const planner::Options& options) {
  const Band descending{.channels = band.channels,
                        .first_mhz = band.highest_mhz(),
                        .step_mhz = -std::abs(band.step_mhz),
                        .interval = band.interval};
  for (const Segment& segment : segments) {
    Lane lane{.segment = segment, .first_trial = trials};
    trials += segment.dms.size();
    lane.widths = boxcar_widths(std::max<std::size_t>(1, settings.widest / segment.factor));
    Problem problem{.band = descending, .dms = segment.dms, .threads = threads, .exact = settings.exact};
    problem.band.interval *= static_cast<double>(segment.factor);
    problem.times = block / segment.factor + lane.widest();
    problem.row = columns(lane);
    lane.layout = resolve(problem);
    lane.plan.emplace_back(device, problem, options);
    for (const std::size_t width : lane.widths) {
      lane.limits.push_back(weakest_limit(lane, width));
      lane.sure.push_back(detection_limit(lane, width));
    }
    lane.plane = base::AlignedArray<std::uint8_t>(band.channels * columns(lane));
    lane.series = base::AlignedArray<float>(segment.dms.size() * problem.times);
    lane.normals.resize(segment.dms.size());
    constexpr std::size_t kMostGroups = 65535;
    if (!device.is_host() && segment.dms.size() <= kMostGroups && DevicePulses::refusal(device, lane.widest()).empty())
      lane.pulses = std::make_unique<DevicePulses>(lane.plan[0], lane.widths, lane.limits);
    lanes.push_back(std::move(lane));
  }
}

// Normalizes `rows` rows of the block that was read, and appends them to the planes.
void StreamState::take_block(std::size_t rows) {
  const double begin = base::now();
  const RawRows raw_rows{.data = raw.data(),
                         .rows = rows,
                         .channels = band.channels,
                         .bits = settings.bits,
                         .is_signed = settings.is_signed};
  Mask mask(block, band.channels);
  if (has_given) {
    const std::size_t bytes = std::min(given.size(), rows * mask.row_bytes());
    std::memcpy(mask.bits().data(), given.data(), bytes);
    given.erase(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(bytes));
  }
  if (settings.flagging.kurtosis > 0) flag_kurtosis(raw_rows, settings.flagging, threads, mask);
  const PartSums sums = part_sums(raw_rows, mask, threads, report.not_numbers);
  // A short last block has the statistics of the block before it.
  if (rows >= block / 4 || statistics.mean.empty()) statistics = channel_statistics(raw_rows, sums);
  for (const float sigma : statistics.sigma) report.constant_channels += sigma > 0 ? 0 : 1;
  append(rows, mask, raw_rows);
  report.samples += rows;
  report.seconds_input += base::now() - begin;
  if (filled == 1 + ahead) search_block();
}

void StreamState::append(std::size_t rows, const Mask& mask, const RawRows& raw_rows) {
  Lane& base = lanes.front();
  if (settings.flagging.channel_sigma > 0) flag_channels(settings.flagging.channel_sigma, statistics);
  const std::size_t stride = columns(base) * base.segment.factor, at = filled * block;
  // The first segment may begin at a larger factor: then the base plane is temporary.
  base::AlignedArray<std::uint8_t> temporary;
  std::uint8_t* plane = base.plane.data() + at;
  std::size_t plane_stride = stride;
  if (base.segment.factor > 1) {
    temporary = base::AlignedArray<std::uint8_t>(band.channels * block);
    plane = temporary.data();
    plane_stride = block;
  }
  if (!normalizer) normalizer = std::make_unique<Normalizer>(band.channels, plane_stride, band.step_mhz > 0, threads);
  normalizer->run(raw_rows, statistics, mask, plane);
  for (std::size_t c = 0; c < band.channels && rows < block; ++c)
    std::memset(plane + c * plane_stride + rows, kByteMean, block - rows);
  Mask all = mask;
  if (settings.flagging.threshold > 0) {
    const FlagPlane job{.plane = plane, .stride = plane_stride, .channels = band.channels, .rows = rows};
    sum_threshold(job, settings.flagging.threshold, band.step_mhz > 0, threads, all);
  }
  report.flagged += all.count(rows);
  if (on_mask) on_mask(all.bits().first(rows * all.row_bytes()), rows);
  base::parallel(threads, [&](std::size_t thread, std::size_t of) {
    const base::Share mine = base::share(band.channels, thread, of);
    std::vector<std::uint8_t> buffer(block);
    for (std::size_t c = mine.begin; c < mine.end; ++c) {
      const std::uint8_t* from = plane + c * plane_stride;
      std::size_t factor = 1;
      for (Lane& lane : lanes) {
        for (; factor < lane.segment.factor; factor *= 2) {
          row_kernels().halve(from, buffer.data(), block / factor / 2);
          from = buffer.data();
        }
        if (factor == 1) continue;
        std::memcpy(lane.plane.data() + c * columns(lane) + at / factor, from, block / factor);
      }
    }
  });
  arrived += rows;
  ++filled;
}

// Appends a block of mean values after the end of the input.
void StreamState::append_nothing() {
  for (Lane& lane : lanes) {
    const std::size_t stride = columns(lane), length = block / lane.segment.factor;
    for (std::size_t c = 0; c < band.channels; ++c)
      std::memset(lane.plane.data() + c * stride + filled * length, kByteMean, length);
  }
  ++filled;
}

// Samples of a trial's series whose whole sweep is inside the input.
std::size_t StreamState::valid_samples(const Lane& lane, std::size_t trial) const {
  const std::size_t valid = static_cast<std::size_t>(arrived - searched) / lane.segment.factor;
  const auto late = static_cast<std::size_t>(std::lround(lane.layout.delay[trial]));
  return valid <= late ? 0 : std::min(block / lane.segment.factor + lane.widest(), valid - late);
}

// Dedisperses and filters on the device. False if there are too many detections; then the series are on the host.
bool StreamState::search_on_device(std::size_t index, std::vector<Detection>& found) {
  Lane& lane = lanes[index];
  std::vector<std::uint32_t> starts(lane.segment.dms.size()), lengths(starts.size());
  for (std::size_t d = 0; d < starts.size(); ++d) {
    lengths[d] = static_cast<std::uint32_t>(valid_samples(lane, d));
    starts[d] = std::min(lengths[d], static_cast<std::uint32_t>(block / lane.segment.factor));
  }
  const double begin = base::now();
  const bool complete = lane.pulses->find(lane.plane.span(),
                                          {.starts = starts,
                                           .lengths = lengths,
                                           .first = searched,
                                           .factor = lane.segment.factor,
                                           .first_trial = lane.first_trial,
                                           .segment = index},
                                          lane.normals, found);
  if (!complete) lane.pulses->series(lane.series.span());
  report.seconds_dedispersion += base::now() - begin;
  return complete;
}

std::vector<Detection> StreamState::search_lane(std::size_t index) {
  Lane& lane = lanes[index];
  const std::size_t factor = lane.segment.factor, times = block / factor + lane.widest();
  std::vector<Detection> all;
  if (lane.pulses && search_on_device(index, all)) {
    confirm_weak(lane, all);
    return all;
  }
  const double begin = base::now();
  if (!lane.pulses) lane.plan[0].run(lane.plane.span(), lane.series.span());
  report.seconds_dedispersion += base::now() - begin;
  const double middle = base::now();
  std::vector<std::vector<Detection>> found(threads);
  base::parallel(threads, [&](std::size_t thread, std::size_t of) {
    const base::Share mine = base::share(lane.segment.dms.size(), thread, of);
    for (std::size_t d = mine.begin; d < mine.end; ++d) {
      const std::size_t length = valid_samples(lane, d);
      if (length == 0) continue;
      const std::span<const float> series(lane.series.data() + d * times, length);
      lane.normals[d] = robust_normal(series.first(std::min(length, block / factor)));
      find_boxcars({.series = series,
                    .starts = std::min(length, block / factor),
                    .normal = lane.normals[d],
                    .widths = lane.widths,
                    .limits = lane.limits,
                    .first = searched,
                    .factor = factor,
                    .trial = lane.first_trial + d,
                    .segment = index},
                   found[thread]);
    }
  });
  report.seconds_boxcars += base::now() - middle;
  for (const auto& part : found) all.insert(all.end(), part.begin(), part.end());
  confirm_weak(lane, all);
  return all;
}

void StreamState::search_block() {
  std::vector<Detection> detections;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const std::vector<Detection> some = search_lane(i);
    detections.insert(detections.end(), some.begin(), some.end());
  }
  const double begin = base::now();
  constexpr std::size_t kMostDetections = 1'000'000;
  if (detections.size() > kMostDetections) {
    std::nth_element(detections.begin(), detections.begin() + kMostDetections, detections.end(),
                     [](const Detection& a, const Detection& b) { return a.snr > b.snr; });
    detections.resize(kMostDetections);
  }
  std::vector<std::vector<Detection>> groups = friends(std::move(detections));
  if (groups.size() > settings.most_per_block) {
    ++report.crowded_blocks;
    const auto strength = [](const std::vector<Detection>& group) { return cluster_of(group).best.snr; };
    std::nth_element(groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(settings.most_per_block),
                     groups.end(), [&](const auto& a, const auto& b) { return strength(a) > strength(b); });
    groups.resize(settings.most_per_block);
  }
  std::vector<std::vector<Found>> parts(groups.size());
  base::parallel(threads, [&](std::size_t thread, std::size_t of) {
    const base::Share mine = base::share(groups.size(), thread, of);
    for (std::size_t i = mine.begin; i < mine.end; ++i) separate(std::move(groups[i]), parts[i]);
  });
  std::vector<Found> found;
  for (const std::vector<Found>& part : parts) found.insert(found.end(), part.begin(), part.end());
  std::erase_if(found, [&](const Found& one) { return !(one.candidate.snr >= settings.threshold); });
  join_echoes(found);
  keep(std::move(found));
  searched += block;
  for (Lane& lane : lanes) {
    const std::size_t stride = columns(lane), shift = block / lane.segment.factor;
    for (std::size_t c = 0; c < band.channels; ++c) {
      std::uint8_t* row = lane.plane.data() + c * stride;
      std::memmove(row, row + shift, stride - shift);
    }
  }
  --filled;
  report.seconds_boxcars += base::now() - begin;
}

Stream::Stream(const Device& device, const Band& band, const Settings& settings, const planner::Options& options)
    : state_(std::make_unique<StreamState>(StreamState{.device = device, .band = band, .settings = settings})) {
  check_settings(band, settings);
  StreamState& state = *state_;
  state.threads = settings.threads != 0 ? settings.threads : base::hardware_threads();
  state.segments = plan_trials(band, {.dm_begin = settings.dm_begin,
                                      .dm_end = settings.dm_end,
                                      .tolerance = settings.tolerance,
                                      .smear_per_sample = settings.exact ? kExactSmearing : kSmearing});
  state.choose_block();
  state.make_lanes(options);
  state.raw.resize(state.block * state.row_bytes());
}
Stream::~Stream() = default;
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;

void Stream::push(std::span<const std::byte> bytes) {
  StreamState& state = *state_;
  if (state.finished) refuse_search("push() after finish(): make a new stream");
  while (!bytes.empty()) {
    const std::size_t some = std::min(bytes.size(), state.raw.size() - state.raw_bytes);
    std::memcpy(state.raw.data() + state.raw_bytes, bytes.data(), some);
    state.raw_bytes += some;
    bytes = bytes.subspan(some);
    if (state.raw_bytes < state.raw.size()) return;
    state.take_block(state.block);
    state.raw_bytes = 0;
  }
}

void Stream::push_mask(std::span<const std::byte> bits) {
  state_->has_given = true;
  state_->given.insert(state_->given.end(), bits.begin(), bits.end());
}
void Stream::on_mask(std::function<void(std::span<const std::byte>, std::size_t)> take) {
  state_->on_mask = std::move(take);
}

std::vector<Candidate> Stream::take() {
  std::vector<Candidate> taken;
  taken.swap(state_->ready);
  std::stable_sort(taken.begin(), taken.end(), [](const Candidate& a, const Candidate& b) { return a.time < b.time; });
  return taken;
}

std::vector<Candidate> Stream::finish() {
  StreamState& state = *state_;
  if (!state.finished) {
    state.finished = true;
    const std::size_t rows = state.raw_bytes / state.row_bytes();
    if (rows > 1 || (rows == 1 && state.report.samples > 0)) state.take_block(rows);
    while (state.searched < state.arrived) {
      while (state.filled < 1 + state.ahead) state.append_nothing();
      state.search_block();
    }
    for (Found& one : state.pending) state.ready.push_back(one.candidate);
    state.pending.clear();
  }
  return take();
}

const std::vector<Segment>& Stream::segments() const { return state_->segments; }
std::size_t Stream::trials() const { return state_->trials; }
std::size_t Stream::block() const { return state_->block; }
std::vector<Plan> Stream::plans() const {
  std::vector<Plan> plans;
  for (const Lane& lane : state_->lanes) plans.push_back(lane.plan[0]);
  return plans;
}
const Report& Stream::report() const { return state_->report; }

std::string Stream::explain() const {
  const StreamState& state = *state_;
  std::string text = fmt::format("{} trials in {} segments, blocks of {} samples, {} more for delays and boxcars\n",
                                 state.trials, state.segments.size(), state.block, state.ahead * state.block);
  for (const Lane& lane : state.lanes) {
    text += fmt::format(
        "DM {:.2f} to {:.2f}: {} trials of {} sample{} each, {:.0f} samples of delay, widths to {}\n{}\n",
        lane.segment.dms.front(), lane.segment.dms.back(), lane.segment.dms.size(), lane.segment.factor,
        lane.segment.factor == 1 ? "" : "s", lane.layout.delay.back(), lane.widest(), lane.plan[0].explain());
  }
  return text;
}

}  // namespace ridge::search
