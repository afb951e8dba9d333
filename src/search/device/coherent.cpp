// Fills the tables of coherent dedispersion, and launches its kernel or its transforms.
#include "search/device/coherent.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "device/kernel_text.hpp"

namespace ridge::search {
namespace {

using Value = std::complex<float>;
constexpr std::size_t kPointsAtOnce = std::size_t{1} << 22;   // per batch of transforms
constexpr std::size_t kSamplesAtOnce = std::size_t{1} << 24;  // copied from the host

// Sizes of the fused kernel: see coherent_passes.cl.
struct FusedDesign {
  std::size_t r0 = 16, r1 = 16, r2 = 16;  // radices of the passes
  std::size_t each = 16;                  // points per work-item
  std::size_t resident = 1;               // work-groups per compute unit
  std::size_t groups = 1;                 // of a cluster

  std::size_t group_points() const { return r0 * r1 * r2; }
  std::size_t points() const { return group_points() * groups; }
  std::size_t items() const { return group_points() / each; }
  std::size_t sub_items() const { return r1 * r2 / each; }  // work-items of a block of r1 * r2 points
  // One work-group per compute unit copies the bytes of its next block while it transforms one.
  bool staged(bool bytes) const { return bytes && resident == 1; }
  std::size_t local_bytes(bool bytes) const {
    const std::size_t padding = group_points() / r2 + (sub_items() < 16 && groups == 1 ? r0 * sub_items() : 0);
    return (group_points() + padding) * sizeof(Value) + (staged(bytes) ? 2 * group_points() + 16 : 0);
  }
};

constexpr std::array<FusedDesign, 5> kFusedDesigns{{
    {.r0 = 16, .r1 = 16, .r2 = 16, .each = 16, .resident = 4},
    {.r0 = 32, .r1 = 16, .r2 = 16, .each = 32, .resident = 2},
    {.r0 = 32, .r1 = 32, .r2 = 16, .each = 32, .resident = 1},
    {.r0 = 32, .r1 = 16, .r2 = 16, .each = 32, .resident = 2, .groups = 4},
    {.r0 = 32, .r1 = 16, .r2 = 16, .each = 32, .resident = 2, .groups = 8},
}};

const FusedDesign* fused_design(std::size_t length) {
  const auto* found = std::ranges::find(kFusedDesigns, length, &FusedDesign::points);
  return found == kFusedDesigns.end() ? nullptr : found;
}

std::string why_not_fused(const Device& device, std::size_t length, bool bytes) {
  const Limits& limits = device.limits();
  const FusedDesign* design = fused_design(length);
  if (design == nullptr) return fmt::format("needs 4096, 8192, 16384, 32768 or 65536 points, got {}", length);
  if (design->groups > 1 && !limits.clusters)
    return fmt::format("{} points need clusters of work-groups, which the device does not have", length);
  if (limits.work_group < design->items())
    return fmt::format("needs work-groups of {} work-items, the device has {}", design->items(), limits.work_group);
  if (limits.local_memory < design->local_bytes(bytes)) {
    return fmt::format("needs {} bytes of local memory, the device has {}", design->local_bytes(bytes),
                       limits.local_memory);
  }
  return "";
}

// Appends the powers of w by which a pass multiplies, as (cosine, tangent). `angles`: the angle of each w of the pass.
void append_turns(std::vector<Value>& turns, std::size_t radix, int sign, std::span<const double> angles) {
  const std::size_t first = turns.size(), count = angles.size();
  turns.resize(first + radix / 2 * count);
  for (std::size_t span = 1; span < radix; span *= 2) {
    for (std::size_t k = 0; k < (span + 1) / 2; ++k) {
      const double own = sign * std::numbers::pi * static_cast<double>(k) / static_cast<double>(span);
      for (std::size_t i = 0; i < count; ++i) {
        const double angle = angles[i] * static_cast<double>(radix / (2 * span)) + own;
        turns[first + (span / 2 + k) * count + i] = Value(std::complex(std::cos(angle), std::tan(angle)));
      }
    }
  }
}

std::vector<double> angles_of(std::size_t count, std::size_t whole, int sign, auto numerator) {
  std::vector<double> angles(count);
  for (std::size_t i = 0; i < count; ++i)
    angles[i] = sign * 2 * std::numbers::pi * static_cast<double>(numerator(i)) / static_cast<double>(whole);
  return angles;
}

// The tables of all passes, in the order of coherent_passes.cl.
std::vector<Value> turns_of(const FusedDesign& d) {
  std::vector<Value> turns;
  const auto forward = [&](std::size_t radix, std::size_t count, std::size_t whole, auto frequency) {
    append_turns(turns, radix, -1, angles_of(count, whole, -1, frequency));
  };
  const auto inverse = [&](std::size_t radix, std::size_t count, std::size_t whole) {
    append_turns(turns, radix, 1, angles_of(count, whole, 1, [](std::size_t i) { return i; }));
  };
  // `frequency` maps an index in storage order to the digits of the frequency that the earlier passes have computed.
  const std::size_t g = d.groups, first = g * d.r0, second = first * d.r1;
  if (g > 1) forward(d.r0, g, first, [](std::size_t i) { return i; });
  forward(d.r1, first, second, [&](std::size_t i) { return i / d.r0 + g * (i % d.r0); });
  forward(d.r2, second, d.points(),
          [&](std::size_t i) { return i / (d.r0 * d.r1) + g * (i / d.r1 % d.r0 + d.r0 * (i % d.r1)); });
  inverse(d.r0, d.r1 * d.r2, d.group_points());
  inverse(d.r1, d.r2, d.r1 * d.r2);
  if (g > 1) inverse(g, d.group_points(), d.points());
  return turns;
}

// The frequency of an entry of the filter's table, ordered by work-group of a cluster, point of a work-item, work-item.
std::size_t frequency_at(std::size_t index, const FusedDesign& d) {
  const std::size_t group = index / d.group_points(), within = index % d.group_points();
  const std::size_t point = within / d.items(), item = within % d.items();
  const std::size_t butterfly = item / d.sub_items() * d.r1 + item % d.sub_items() + point / d.r2 * d.sub_items();
  const std::size_t at = butterfly * d.r2 + point % d.r2;
  const std::size_t digits = at / (d.r1 * d.r2) + d.r0 * (at / d.r2 % d.r1) + d.r0 * d.r1 * (at % d.r2);
  return group + d.groups * digits;
}

Buffer uploaded(const Device& device, const std::vector<Value>& values, const char* name) {
  Buffer buffer = device.buffer(values.size() * sizeof(Value), {.name = name});
  Queue queue = device.queue();
  queue.upload(std::span<const Value>(values), buffer);
  queue.finish();
  return buffer;
}

}  // namespace

KernelSource DeviceCoherent::fused_source(std::size_t length, bool bytes) {
  const FusedDesign& design = *fused_design(length);
  return {.name = fmt::format("coherent dedispersion {}", length),
          .text = ridge::detail::kernel_text("search/coherent_passes") +
                  ridge::detail::kernel_text(design.groups > 1 ? "search/coherent_cluster" : "search/coherent_block"),
          .defines = {{"R0", std::to_string(design.r0)},
                      {"R1", std::to_string(design.r1)},
                      {"R2", std::to_string(design.r2)},
                      {"EACH", std::to_string(design.each)},
                      {"GROUPS_EACH", std::to_string(design.groups)},
                      {"RESIDENT", std::to_string(design.resident)},
                      {"STAGED", design.staged(bytes) ? "1" : "0"},
                      {"SAMPLE_BYTES", bytes ? "1" : "0"}}};
}

DeviceCoherent::DeviceCoherent(const Device& device, const CoherentShape& shape,
                               std::vector<std::complex<double>> filter, const planner::Options& options)
    : device_(device), shape_(shape) {
  const std::string refusal = why_not_fused(device, shape.length, shape.bytes);
  if (options.variant == "fused" && !refusal.empty())
    throw Error(ErrorKind::invalid_argument, "coherent dedispersion in one kernel: " + refusal);
  if (refusal.empty() && options.variant != "transforms") {
    prepare_fused(filter);
    return;
  }
  planner::Options inner = options;
  if (inner.variant == "transforms") inner.variant.clear();
  prepare_transforms(std::move(filter), inner);
}

void DeviceCoherent::prepare_fused(std::span<const std::complex<double>> filter) {
  const FusedDesign& design = *fused_design(shape_.length);
  std::vector<Value> table(shape_.length);
  for (std::size_t i = 0; i < table.size(); ++i)
    table[i] = Value(filter[frequency_at(i, design)] / static_cast<double>(shape_.length));
  filter_ = uploaded(device_, table, "dedispersion filter");
  turns_ = uploaded(device_, turns_of(design), "dedispersion turns");
  fused_ = device_.compile(fused_source(shape_.length, shape_.bytes))
               .kernel(design.groups > 1 ? "dedisperse_cluster" : "dedisperse_block");
}

void DeviceCoherent::prepare_transforms(std::vector<std::complex<double>> filter, const planner::Options& options) {
  const std::size_t n = shape_.length, batch = std::clamp<std::size_t>(kPointsAtOnce / n, 1, 1024);
  fft::Problem transform{.shape = {n}, .batch = batch, .scale_inverse = 1 / static_cast<double>(n)};
  transform.store_forward.multiply = std::move(filter);
  const Program program = device_.compile({.name = "coherent dedispersion blocks",
                                           .text = ridge::detail::kernel_text("search/coherent_blocks"),
                                           .defines = {{"SAMPLE_BYTES", shape_.bytes ? "1" : "0"}}});
  work_.reset(new Work{.plan = fft::Plan<float>(device_, transform, options),
                       .batch = batch,
                       .gather = program.kernel("gather_blocks"),
                       .scatter = program.kernel("scatter_blocks"),
                       .blocks = device_.buffer(n * batch * sizeof(Value), {.name = "dedispersion blocks"}),
                       .spectra = device_.buffer(n * batch * sizeof(Value), {.name = "dedispersion spectra"})});
}

void DeviceCoherent::enqueue(Queue& queue, const Buffer& in, std::size_t samples, std::size_t offset, const Buffer& out,
                             std::size_t outputs) const {
  if (outputs == 0) return;
  const std::size_t hop = shape_.hop(), blocks = (outputs + hop - 1) / hop, n = shape_.length;
  const auto before = static_cast<std::uint32_t>(shape_.before), step = static_cast<std::uint32_t>(hop);
  if (!work_) {
    const FusedDesign& design = *fused_design(n);
    const std::size_t units = std::max<std::size_t>(device_.limits().compute_units, 1);
    const std::size_t at_once = design.staged(shape_.bytes) ? std::min(blocks, units) : blocks;
    queue.launch(fused_,
                 {.groups = {at_once * design.groups},
                  .items = {design.items()},
                  .local_bytes = design.local_bytes(shape_.bytes)},
                 {in, out, filter_, turns_, std::uint64_t{samples}, std::uint64_t{outputs}, std::uint64_t{offset},
                  before, step});
    return;
  }
  const std::lock_guard lock(mutex_);  // the buffers are the plan's: queues must not run concurrently
  const Work& work = *work_;
  for (std::size_t first = 0; first < blocks; first += work.batch) {
    const Launch launch{.groups = {(n + 255) / 256, work.batch}, .items = {256}};
    queue.launch(work.gather, launch,
                 {in, work.blocks, std::uint64_t{samples}, std::uint64_t{offset}, std::uint64_t{first}, before, step,
                  static_cast<std::uint32_t>(n)});
    work.plan.enqueue_forward(queue, work.blocks, work.spectra);
    work.plan.enqueue_inverse(queue, work.spectra, work.blocks);
    queue.launch(
        work.scatter, launch,
        {work.blocks, out, std::uint64_t{outputs}, std::uint64_t{first}, before, step, static_cast<std::uint32_t>(n)});
  }
}

void DeviceCoherent::run(std::span<const Value> in, std::span<Value> out) const {
  const std::size_t most = std::min(in.size(), kSamplesAtOnce + shape_.before + shape_.after);
  const Buffer from = device_.buffer(most * sizeof(Value), {.name = "voltages"});
  const Buffer to = device_.buffer(std::min(in.size(), kSamplesAtOnce) * sizeof(Value), {.name = "dedispersed"});
  Queue queue = device_.queue();
  for (std::size_t begin = 0; begin < in.size(); begin += kSamplesAtOnce) {
    const std::size_t count = std::min(kSamplesAtOnce, in.size() - begin);
    const std::size_t first = begin - std::min(begin, shape_.before);
    const std::size_t end = std::min(in.size(), begin + count + shape_.after);
    queue.upload(in.data() + first, from, (end - first) * sizeof(Value));
    enqueue(queue, from, end - first, begin - first, to, count);
    queue.download(to, out.data() + begin, count * sizeof(Value));
    queue.finish();
  }
}

std::string DeviceCoherent::explain() const {
  if (work_) return work_->plan.explain();
  const std::size_t groups = fused_design(shape_.length)->groups;
  return groups == 1 ? "fused: both transforms and the filter in one kernel"
                     : fmt::format("fused: both transforms and the filter in one kernel, by clusters of {} work-groups",
                                   groups);
}

std::vector<planner::Decision> DeviceCoherent::decisions() const {
  return work_ ? work_->plan.decisions() : std::vector<planner::Decision>{};
}

}  // namespace ridge::search
