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
constexpr std::size_t kPassPoints = 4096;                     // of the passes of 16, 16 and 16
constexpr std::size_t kPointsAtOnce = std::size_t{1} << 22;   // by transforms
constexpr std::size_t kSamplesAtOnce = std::size_t{1} << 24;  // copied from the host

std::size_t local_bytes(std::size_t length) { return (length + length / 16) * sizeof(Value); }

std::string why_not_fused(const Device& device, std::size_t length) {
  const Limits& limits = device.limits();
  if (length != kPassPoints && length != 2 * kPassPoints && length != 4 * kPassPoints)
    return fmt::format("needs 4096, 8192 or 16384 points, got {}", length);
  if (limits.work_group < length / 16)
    return fmt::format("needs work-groups of {} work-items, the device has {}", length / 16, limits.work_group);
  if (limits.local_memory < local_bytes(length))
    return fmt::format("needs {} bytes of local memory, the device has {}", local_bytes(length), limits.local_memory);
  return "";
}

// The position of frequency k in the filter's table: digits of 16, 16, 16 and `last` in reversed order, then by points
// of a work-item.
std::size_t place_of(std::size_t k, std::size_t length) {
  const std::size_t last = length / kPassPoints;
  const std::size_t reversed = k % 16 * (length / 16) + k / 16 % 16 * (length / 256) + k / 256 % 16 * last + k / 4096;
  return reversed % 16 * (length / 16) + reversed / 16;
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
  return {.name = fmt::format("coherent dedispersion {}", length),
          .text = ridge::detail::kernel_text("search/coherent"),
          .defines = {{"LAST", std::to_string(length / kPassPoints)},
                      {"SAMPLE_BYTES", bytes ? "1" : "0"},
                      {"RESIDENT", length == kPassPoints ? "2" : "1"}}};
}

DeviceCoherent::DeviceCoherent(const Device& device, const CoherentShape& shape,
                               std::vector<std::complex<double>> filter, const planner::Options& options)
    : device_(device), shape_(shape) {
  const std::string refusal = why_not_fused(device, shape.length);
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
  const std::size_t n = shape_.length;
  std::vector<Value> table(n), roots(n);
  for (std::size_t k = 0; k < n; ++k) {
    const auto count = static_cast<double>(n);
    table[place_of(k, n)] = Value(filter[k] / count);
    roots[k] = Value(std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(k) / count));
  }
  filter_ = uploaded(device_, table, "dedispersion filter");
  roots_ = uploaded(device_, roots, "dedispersion roots");
  fused_ = device_.compile(fused_source(n, shape_.bytes)).kernel("dedisperse_block");
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
    queue.launch(fused_, {.groups = {blocks}, .items = {n / 16}, .local_bytes = local_bytes(n)},
                 {in, out, filter_, roots_, std::uint64_t{samples}, std::uint64_t{outputs}, std::uint64_t{offset},
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
  return work_ ? work_->plan.explain() : "fused: both transforms and the filter in one kernel";
}

std::vector<planner::Decision> DeviceCoherent::decisions() const {
  return work_ ? work_->plan.decisions() : std::vector<planner::Decision>{};
}

}  // namespace ridge::search
