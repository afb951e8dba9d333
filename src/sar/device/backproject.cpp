// Chooses tiles, compiles and launches the kernels of back-projection.
#include "sar/device/backproject.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "sar/geometry.hpp"
#include "sar/tables.hpp"

namespace ridge::sar {
namespace {

// Pixels: kColumns x kLines work-items per work-group, each with kKeptRows pixels in the direct method, kKeptColumns in
// the factorized one. Sums of groups: kRowItems work-items per work-group for kRows rows.
constexpr std::size_t kColumns = 32, kLines = 8, kKeptRows = 4, kKeptColumns = 8, kRowItems = 256, kRows = 8;
constexpr double kSeriesTurns = 2e-3;  // largest error of a phase by leaving out the third term of a distance's series
constexpr std::size_t kRounding = 2;   // more points per grid: kernels compute the number of points in float
constexpr std::size_t kResident = 3;   // work-groups of kRowItems per compute unit: limits registers
constexpr std::size_t kSegment = 256;  // pulses per work-group of sum_rows, unless a last group has more

template <class T>
Buffer uploaded(const Device& device, Queue& queue, const std::vector<T>& values, const char* name) {
  Buffer buffer = device.buffer(values.size() * sizeof(T), {.name = name});
  queue.upload(std::span<const T>(values), buffer);
  queue.finish();
  return buffer;
}

}  // namespace

KernelSource backproject_source() {
  return {.name = "sar_backproject",
          .text = ridge::detail::kernel_text("codegen/quick_functions") + ridge::detail::kernel_text("sar/backproject"),
          .defines = {{"COLUMNS", fmt::format("{}", kColumns)},
                      {"LINES", fmt::format("{}", kLines)},
                      {"KEPT_ROWS", fmt::format("{}", kKeptRows)},
                      {"FINE", fmt::format("{}", kFine)},
                      {"WEIGHTS", fmt::format("{}", kWeightTerms)}}};
}

KernelSource factorized_source(const FactorizedShape& shape) {
  KernelSource source{
      .name = "sar_factorized",
      .text = ridge::detail::kernel_text("codegen/quick_functions") + ridge::detail::kernel_text("sar/factorized"),
      .defines = {{"ITEMS", fmt::format("{}", kRowItems)},
                  {"RESIDENT", fmt::format("{}", kResident)},
                  {"ROWS", fmt::format("{}", kRows)},
                  {"COLUMNS", fmt::format("{}", kColumns)},
                  {"LINES", fmt::format("{}", kLines)},
                  {"MERGED", fmt::format("{}", kMerged)},
                  {"FINE", fmt::format("{}", kFine)},
                  {"TAPS", fmt::format("{}", kNeighbours)},
                  {"KEPT_COLUMNS", fmt::format("{}", kKeptColumns)},
                  {"FIRST_WEIGHTED", shape.first_weighted ? "1" : "0"},
                  {"SERIES", shape.series ? "1" : "0"},
                  {"EVEN", fmt::format("{}", shape.even)},
                  {"ODD", fmt::format("{}", shape.odd)},
                  {"WEIGHTS", fmt::format("{}", kWeightTerms)}}};
  const TapPolynomials polynomials = tap_polynomials();
  for (std::size_t k = 0; k < polynomials.size(); ++k) {
    for (std::size_t t = 0; t < kTapTerms; ++t)
      source.defines.emplace_back(fmt::format("TAP{}_{}", k, t), fmt::format("({:.9g}f)", double{polynomials[k][t]}));
  }
  return source;
}

fft::Problem compression_problem(const Problem& frame) {
  const std::size_t negative = frame.samples / 2;
  fft::Problem range{.shape = {frame.samples},
                     .batch = frame.pulses,
                     .threads = frame.threads,
                     .directions = fft::Directions::forward,
                     .wanted = {.first = {frame.samples - negative}, .count = {frame.samples}}};
  range.wanted.first[0] %= frame.samples;
  range.store_forward.multiply = range_compression(frame);
  // Values between refined points are linear interpolations, which attenuate a frequency by a squared sinc in the mean.
  for (std::size_t k = 0; k < frame.samples; ++k) {
    const double angle = kPi / kFine * bin_frequency(k, frame.samples, 1), sinc = k == 0 ? 1 : std::sin(angle) / angle;
    range.store_forward.multiply[k] /= sinc * sinc;
  }
  std::rotate(range.store_forward.multiply.begin(), range.store_forward.multiply.end() - static_cast<long>(negative),
              range.store_forward.multiply.end());
  return range;
}

fft::Problem refinement_problem(const Problem& frame) {
  const std::size_t n = kFine * frame.samples;
  return {.shape = {n},
          .batch = frame.pulses,
          .threads = frame.threads,
          .directions = fft::Directions::inverse,
          .wanted = {.first = {n - frame.samples / 2}, .count = {frame.samples}}};
}

namespace {

// The factorized method's points: a transform per whole or fractional sample; see shift_samples.
fft::Problem shifted_problem(const Problem& frame) {
  return {.shape = {frame.samples},
          .batch = kFine * frame.pulses,
          .in_place = true,
          .directions = fft::Directions::inverse};
}

Argument number(std::size_t value) { return Argument(static_cast<std::int32_t>(value)); }
Argument real(double value) { return Argument(static_cast<float>(value)); }
std::size_t tiles(std::size_t cells, std::size_t each) { return (cells + each - 1) / each; }

}  // namespace

DeviceBackprojection::DeviceBackprojection(const Device& device, const BackprojectionProblem& problem,
                                           const Geometry& geometry, const std::vector<float>& weights,
                                           const std::vector<float>& norms, Factorization factorization,
                                           const planner::Options& options)
    : frame_(problem.frame),
      geometry_(geometry),
      factorization_(std::move(factorization)),
      compress_(device, compression_problem(problem.frame), options),
      refine_(device, factorization_.levels.empty() ? refinement_problem(frame_) : shifted_problem(frame_), options),
      staging_(device, "sar") {
  const Problem& frame = problem.frame;
  Queue queue = device.queue();
  if (factorization_.levels.empty()) {
    kernel_ = device.compile(backproject_source()).kernel("backproject");
  } else {
    set_groups(device, queue, problem);
  }
  spectra_ = device.buffer(frame.pulses * frame.samples * sizeof(Complex), {.name = "sar spectra"});
  profiles_ = device.buffer(kFine * frame.pulses * frame.samples * sizeof(Complex), {.name = "sar profiles"});
  std::vector<float> track(2 * frame.pulses);
  float farthest = 0;
  for (std::size_t i = 0; i < problem.track.size(); ++i) {
    track[2 * i] = static_cast<float>(problem.track[i].along_m);
    track[2 * i + 1] = static_cast<float>(problem.track[i].range_m);
    farthest = std::max({farthest, std::abs(track[2 * i]), std::abs(track[2 * i + 1])});
  }
  track_ = uploaded(device, queue, track, "sar track");
  weights_ = uploaded(device, queue, weights, "sar weights");
  norms_ = uploaded(device, queue, norms, "sar norms");
  numbers_ = {static_cast<std::int32_t>(frame.pulses),
              static_cast<std::int32_t>(frame.samples),
              static_cast<std::int32_t>(kFine * frame.samples),
              static_cast<float>(frame.radar.near_range_m),
              static_cast<float>(geometry.cell),
              static_cast<float>(geometry.along),
              static_cast<float>(geometry.turns_per_metre),
              static_cast<float>(geometry.widest_sine),
              static_cast<float>(geometry.widest_tangent),
              farthest};
}

namespace {

// Points in local memory for the groups of `segment` pulses: of even and of odd levels. The last level is stored in
// global memory.
std::array<std::size_t, 2> local_points(const Factorization& factorization, std::size_t segment, double near_range) {
  constexpr std::size_t kUnit = 256;  // rounds up, so that few programs are compiled
  std::array<std::size_t, 2> points{kUnit, kUnit};
  for (std::size_t l = 0; l + 1 < factorization.levels.size(); ++l) {
    const GroupLevel& level = factorization.levels[l];
    const std::size_t all =
        (kRows + 1) * tiles(segment, level.pulses) * (factorization.points(level, near_range) + kRounding);
    points[l % 2] = std::max(points[l % 2], tiles(all, kUnit) * kUnit);
  }
  return points;
}
bool fits_local(const Device& device, const std::array<std::size_t, 2>& points) {
  return (points[0] + points[1]) * sizeof(Complex) <= device.limits().local_memory;
}

}  // namespace

bool DeviceBackprojection::fits(const Device& device, const Factorization& factorization, double near_range) {
  return fits_local(device, local_points(factorization, factorization.levels.back().pulses, near_range));
}

void DeviceBackprojection::set_groups(const Device& device, Queue& queue, const BackprojectionProblem& problem) {
  const auto& levels = factorization_.levels;
  const double near_range = frame_.radar.near_range_m;
  const std::size_t last = levels.back().pulses;
  segment_ = std::max(last, kSegment / last * last);
  while (segment_ > last && !fits_local(device, local_points(factorization_, segment_, near_range))) segment_ -= last;
  const auto points = local_points(factorization_, segment_, near_range);
  // Metres from a pulse to the centre of its group of the first level, at most.
  double reach = 0;
  for (const PulseGroup& group : levels[0].groups) {
    for (std::size_t i = group.first; i < group.end; ++i) {
      const Offset& at = factorization_.platform[i];
      reach = std::max(reach, std::abs(at.along_m - group.along) + std::abs(at.range_m - group.range));
    }
  }
  margin_ = static_cast<std::size_t>(std::ceil(reach * kFine / geometry_.cell)) + 2;
  const double third_term = std::pow(reach, 3) / (2 * std::pow(near_range - factorization_.away, 2));
  const Program program =
      device.compile(factorized_source({.even = points[0],
                                        .odd = points[1],
                                        .series = third_term * geometry_.turns_per_metre < kSeriesTurns,
                                        .first_weighted = levels.size() == 1}));
  kernel_ = program.kernel("add_rows");
  sum_ = program.kernel("sum_rows");
  shift_ = program.kernel("shift_samples");
  most_ = factorization_.points(levels.back(), near_range) + kRounding;
  at_once_ = std::clamp<std::size_t>(problem.most_sums / (most_ * levels.back().groups.size()), 1, frame_.samples);
  at_once_ = tiles(at_once_, kRows) * kRows;
  local_bytes_ = (points[0] + points[1]) * sizeof(Complex);
  std::vector<float> parts, lengths;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const std::size_t count = l == 0 ? frame_.pulses : levels[l - 1].groups.size();
    for (std::size_t part = 0; part < count; ++part) {
      const PulseGroup& group = levels[l].groups[part / (l == 0 ? levels[0].pulses : kMerged)];
      const Offset at = l == 0 ? factorization_.platform[part]
                               : Offset{levels[l - 1].groups[part].along, levels[l - 1].groups[part].range};
      const double along = group.along - at.along_m, across = group.range - at.range_m;
      for (const double value : {along, across, group.range, along * along + across * across})
        parts.push_back(static_cast<float>(value));
    }
    lengths.push_back(static_cast<float>(levels[l].length));
  }
  parts_ = uploaded(device, queue, parts, "sar groups");
  lengths_ = uploaded(device, queue, lengths, "sar lengths of groups");
  sums_ =
      device.buffer(at_once_ * levels.back().groups.size() * most_ * sizeof(Complex), {.name = "sar sums of groups"});
}

void DeviceBackprojection::add_rows(Queue& queue, const Buffer& image) const {
  const auto& levels = factorization_.levels;
  const Radar& radar = frame_.radar;
  const std::size_t groups = levels.back().groups.size(), each = levels.back().pulses;
  const std::size_t stride = tiles(kColumns, each) * each;  // columns between those of a work-item
  const PulseGroup& first = levels.back().groups.front();
  for (std::size_t begin = 0; begin < frame_.samples; begin += at_once_) {
    const std::size_t rows = std::min(at_once_, frame_.samples - begin);
    queue.launch(sum_,
                 {.groups = {tiles(rows, kRows), tiles(frame_.pulses, segment_)},
                  .items = {kRowItems},
                  .local_bytes = local_bytes_},
                 {profiles_,
                  parts_,
                  lengths_,
                  weights_,
                  sums_,
                  number(begin),
                  number(frame_.pulses),
                  number(levels[0].pulses),
                  number(levels.size()),
                  number(segment_),
                  number(frame_.samples),
                  number(most_),
                  number(groups),
                  real(radar.near_range_m),
                  real(geometry_.cell),
                  real(levels[0].step),
                  real(geometry_.widest_tangent),
                  real(factorization_.away),
                  real(kFine / geometry_.cell),
                  real(geometry_.turns_per_metre),
                  real(1 / geometry_.widest_sine),
                  number(margin_)});
    queue.launch(
        kernel_,
        {.groups = {tiles(stride, kColumns) * tiles(frame_.pulses, stride * kKeptColumns), tiles(rows, kLines)},
         .items = {kColumns, kLines}},
        {sums_,
         norms_,
         image,
         number(begin),
         number(rows),
         number(frame_.pulses),
         number(groups),
         number(each),
         number(stride),
         number(most_),
         real(first.along / geometry_.along),
         real(first.range),
         real(radar.near_range_m),
         real(geometry_.cell),
         real(geometry_.along),
         real(levels.back().step),
         real(levels.back().length),
         real(geometry_.widest_tangent),
         real(factorization_.away),
         real(geometry_.turns_per_metre)});
  }
}

void DeviceBackprojection::run(std::span<const Complex> echoes, std::span<Complex> image) const {
  staging_.run(
      {.in = echoes.data(), .in_bytes = image.size_bytes(), .out = image.data(), .out_bytes = image.size_bytes()},
      [this](Queue& queue, const Buffer& in, const Buffer& out) {
        compress_.enqueue_forward(queue, in, spectra_);
        if (!factorization_.levels.empty()) {
          queue.launch(
              shift_, {.groups = {tiles(frame_.samples, kRowItems), frame_.pulses}, .items = {kRowItems}},
              {spectra_, profiles_, number(frame_.samples), real(1.0 / static_cast<double>(kFine * frame_.samples))});
          refine_.enqueue_inverse(queue, profiles_, profiles_);
          return add_rows(queue, out);
        }
        refine_.enqueue_inverse(queue, spectra_, profiles_);
        std::vector<Argument> arguments{profiles_, track_, weights_, norms_, out};
        arguments.insert(arguments.end(), numbers_.begin(), numbers_.end());
        queue.launch(kernel_,
                     {.groups = {tiles(frame_.pulses, kColumns), tiles(frame_.samples, kLines * kKeptRows)},
                      .items = {kColumns, kLines}},
                     arguments);
      });
}

}  // namespace ridge::sar
