#include "sar/device/backproject.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "sar/tables.hpp"

namespace ridge::sar {
namespace {

// Work-items of a group are kColumns x kLines for pixels, of which the direct method sums kKeptRows per work-item, and
// kPoints for points of polar grids.
constexpr std::size_t kColumns = 32, kLines = 8, kKeptRows = 4, kPoints = 128;

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

KernelSource factorized_source() {
  return {.name = "sar_factorized",
          .text = ridge::detail::kernel_text("codegen/quick_functions") + ridge::detail::kernel_text("sar/factorized"),
          .defines = {{"ITEMS_PER_GROUP", fmt::format("{}", kPoints)},
                      {"COLUMNS", fmt::format("{}", kColumns)},
                      {"LINES", fmt::format("{}", kLines)},
                      {"MERGED", fmt::format("{}", kMerged)},
                      {"RANGE_RATE", fmt::format("{}", kRangeRate)},
                      {"FRACTIONS", fmt::format("{}", kPolarFractions)},
                      {"WEIGHTS", fmt::format("{}", kWeightTerms)}}};
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

Argument number(std::size_t value) { return Argument(static_cast<std::int32_t>(value)); }
Argument real(double value) { return Argument(static_cast<float>(value)); }
std::size_t tiles(std::size_t cells, std::size_t each) { return (cells + each - 1) / each; }
Launch pixels(std::size_t columns, std::size_t rows, std::size_t rows_per_item) {
  return {.groups = {tiles(columns, kColumns), tiles(rows, kLines * rows_per_item)}, .items = {kColumns, kLines}};
}

}  // namespace

DeviceBackprojection::DeviceBackprojection(const Device& device, const BackprojectionProblem& problem,
                                           const Geometry& geometry, const std::vector<float>& weights,
                                           const std::vector<float>& norms, Factorization factorization,
                                           const planner::Options& options)
    : frame_(problem.frame),
      geometry_(geometry),
      factorization_(std::move(factorization)),
      compress_(device, compression_problem(problem.frame), options),
      refine_(device, refinement_problem(problem.frame), options),
      staging_(device, "sar") {
  const Problem& frame = problem.frame;
  Queue queue = device.queue();
  if (factorization_.levels.empty()) {
    kernel_ = device.compile(backproject_source()).kernel("backproject");
  } else {
    const Program program = device.compile(factorized_source());
    kernel_ = program.kernel("polar_pixels");
    fill_ = program.kernel("polar_fill");
    merge_ = program.kernel("polar_merge");
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
  const auto& levels = factorization_.levels;
  if (levels.empty()) return;
  taps_ = uploaded(device, queue, factorization_.taps, "sar taps");
  const PolarGrid& last = levels.back().grid;
  at_once_ = std::clamp<std::size_t>(problem.most_sums / last.size(), 1, levels.back().groups.size());
  std::array<std::size_t, 2> most{};
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const std::size_t groups = std::min(at_once_ * (levels.back().pulses / levels[l].pulses), levels[l].groups.size());
    most[l % 2] = std::max(most[l % 2], groups * levels[l].grid.size());
    std::vector<float> apart;
    const std::size_t parts = l == 0 ? frame.pulses : levels[l - 1].groups.size();
    for (std::size_t part = 0; part < parts; ++part) {
      const PulseGroup& group = levels[l].groups[part / (l == 0 ? levels[0].pulses : kMerged)];
      const Offset at = l == 0 ? factorization_.platform[part]
                               : Offset{levels[l - 1].groups[part].along, levels[l - 1].groups[part].range};
      apart.push_back(static_cast<float>(group.along - at.along_m));
      apart.push_back(static_cast<float>(group.range - at.range_m));
    }
    apart_.push_back(uploaded(device, queue, apart, "sar groups"));
  }
  std::vector<float> centres;
  for (const PulseGroup& group : levels.back().groups) {
    const double column = std::floor(group.along / geometry.along);
    for (const double value : {column, group.along - column * geometry.along, group.range, 0.0})
      centres.push_back(static_cast<float>(value));
  }
  centres_ = uploaded(device, queue, centres, "sar centres of groups");
  const double sine = last.edge(frame.radar.near_range_m) + last.sine_step;
  const double range = frame.radar.near_range_m + geometry.cell * static_cast<double>(frame.samples) + farthest;
  reach_ =
      static_cast<std::size_t>(std::ceil((range * sine / std::sqrt(1 - sine * sine) + farthest) / geometry.along)) + 1;
  for (std::size_t k = 0; k < std::min<std::size_t>(2, levels.size()); ++k)
    sums_[k] = device.buffer(most[k] * sizeof(Complex), {.name = "sar sums of groups"});
}

// The groups of a level that the groups [begin, end) of the last level consist of.
void DeviceBackprojection::sum_level(Queue& queue, std::size_t l, std::size_t begin, std::size_t end) const {
  const auto& levels = factorization_.levels;
  const Factorization::Level& level = levels[l];
  const PolarGrid& grid = level.grid;
  const std::size_t each = levels.back().pulses / level.pulses, first = begin * each;
  const std::size_t groups = std::min(end * each, level.groups.size()) - first;
  const Launch launch{.groups = {tiles(grid.size(), kPoints), groups}, .items = {kPoints}};
  const Argument turns = real(geometry_.turns_per_metre), widest = real(geometry_.widest_sine);
  if (l == 0) {
    queue.launch(fill_, launch,
                 {profiles_,
                  apart_[0],
                  weights_,
                  sums_[0],
                  number(first * level.pulses),
                  number(frame_.pulses),
                  number(level.pulses),
                  number(grid.ranges),
                  number(grid.angles),
                  number(kFine * frame_.samples),
                  real(grid.first_range),
                  real(grid.range_step),
                  real(grid.first_sine),
                  real(grid.sine_step),
                  real(grid.half_length),
                  real(grid.first_range - frame_.radar.near_range_m),
                  real(kFine / geometry_.cell),
                  turns,
                  widest,
                  number(levels.size() == 1 ? 1 : 0)});
    return;
  }
  const PolarGrid& from = levels[l - 1].grid;
  const std::size_t first_part = first * kMerged, parts = levels[l - 1].groups.size() - first_part;
  queue.launch(merge_, launch,
               {sums_[(l - 1) % 2],
                apart_[l],
                weights_,
                taps_,
                sums_[l % 2],
                number(first_part),
                number(parts),
                number(grid.ranges),
                number(grid.angles),
                number(from.ranges),
                number(from.angles),
                real(grid.first_range),
                real(grid.range_step),
                real(grid.first_sine),
                real(grid.sine_step),
                real(grid.half_length),
                real(grid.first_range - from.first_range),
                real(from.first_sine),
                real(from.sine_step),
                turns,
                widest,
                number(l == 1 ? 1 : 0)});
}

void DeviceBackprojection::add_groups(Queue& queue, const Buffer& image) const {
  const auto& levels = factorization_.levels;
  const PolarGrid& grid = levels.back().grid;
  const std::size_t groups = levels.back().groups.size(), each = levels.back().pulses;
  queue.fill(image, std::byte{0});
  for (std::size_t begin = 0; begin < groups; begin += at_once_) {
    const std::size_t end = std::min(begin + at_once_, groups);
    for (std::size_t l = 0; l < levels.size(); ++l) sum_level(queue, l, begin, end);
    const std::size_t first = begin * each > reach_ ? begin * each - reach_ : 0;
    const std::size_t columns = std::min(end * each + reach_, frame_.pulses) - first;
    queue.launch(kernel_, pixels(columns, frame_.samples, 1),
                 {sums_[(levels.size() - 1) % 2],
                  centres_,
                  taps_,
                  norms_,
                  image,
                  number(begin),
                  number(end - begin),
                  number(each),
                  number(reach_),
                  number(first),
                  number(columns),
                  number(frame_.pulses),
                  number(frame_.samples),
                  real(frame_.radar.near_range_m),
                  real(geometry_.cell),
                  real(geometry_.along),
                  number(grid.ranges),
                  number(grid.angles),
                  real(frame_.radar.near_range_m - grid.first_range),
                  real(grid.range_step),
                  real(grid.first_sine),
                  real(grid.sine_step),
                  real(grid.half_length),
                  real(geometry_.widest_sine),
                  real(geometry_.turns_per_metre)});
  }
}

void DeviceBackprojection::run(std::span<const Complex> echoes, std::span<Complex> image) const {
  staging_.run(
      {.in = echoes.data(), .in_bytes = image.size_bytes(), .out = image.data(), .out_bytes = image.size_bytes()},
      [this](Queue& queue, const Buffer& in, const Buffer& out) {
        compress_.enqueue_forward(queue, in, spectra_);
        refine_.enqueue_inverse(queue, spectra_, profiles_);
        if (!factorization_.levels.empty()) return add_groups(queue, out);
        std::vector<Argument> arguments{profiles_, track_, weights_, norms_, out};
        arguments.insert(arguments.end(), numbers_.begin(), numbers_.end());
        queue.launch(kernel_, pixels(frame_.pulses, frame_.samples, kKeptRows), arguments);
      });
}

}  // namespace ridge::sar
