// Compiles the launches of a stage plan, fills its tables, and runs them.
#include "papers/fft/device/compiled_stages.hpp"

#include <complex>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "fft/host/power2/tables.hpp"
#include "papers/fft/device/stage_plan.hpp"

namespace ridge::fft::papers {
namespace {

template <class Value>
Buffer uploaded(const Device& device, const std::vector<Value>& values, const char* name) {
  Queue queue = device.queue();
  const Buffer buffer = device.buffer(values.size() * sizeof(Value), {.name = name});
  queue.upload(std::span<const Value>(values), buffer);
  queue.finish();  // the source array is about to be freed
  return buffer;
}

std::uint64_t groups_for(std::uint64_t count, std::size_t items) { return (count + items - 1) / items; }

}  // namespace

Kernel SharedKernels::kernel(const KernelSource& source, const std::string& name) {
  const auto found = kernels_.find(source.text);
  if (found != kernels_.end()) return found->second;
  return kernels_[source.text] = device_.compile(source).kernel(name);
}

Buffer SharedKernels::twiddles(int log_n, Direction direction) {
  Buffer& buffer = tables_[fmt::format("roots {} {}", log_n, direction == Direction::forward)];
  if (buffer) return buffer;
  const std::size_t n = std::size_t{1} << log_n;
  const power2::Roots<float> exact(n);
  std::vector<std::complex<float>> table(std::max<std::size_t>(n / 2, 1));
  for (std::size_t k = 0; k < table.size(); ++k) {
    table[k] = direction == Direction::forward ? exact.at(k) : std::conj(exact.at(k));
  }
  return buffer = uploaded(device_, table, "fft twiddles");
}

Buffer SharedKernels::reversed(int log_n) {
  Buffer& buffer = tables_[fmt::format("reversed {}", log_n)];
  if (buffer) return buffer;
  const std::size_t n = std::size_t{1} << log_n;
  std::vector<std::uint32_t> table(n);
  for (std::size_t i = 1; i < n; ++i) {
    table[i] = static_cast<std::uint32_t>(table[i / 2] / 2 + (i % 2 == 1 ? n / 2 : 0));
  }
  return buffer = uploaded(device_, table, "fft bit reversal");
}

Buffer SharedKernels::unused() {
  Buffer& buffer = tables_["nothing"];
  if (!buffer) buffer = uploaded(device_, std::vector<std::uint32_t>{0}, "fft unused");
  return buffer;
}

CompiledStages::CompiledStages(SharedKernels& shared, const StagePlan& plan) : plan_(plan) {
  if (!plan.refusal.empty()) {
    throw Error(ErrorKind::invalid_argument, fmt::format("{}/{}: {}", kFamily, plan.variant, plan.refusal));
  }
  reverse_ = shared.kernel(reversal_text(plan), kReversalKernel);
  for (const StageRun& run : plan.runs) kernels_.push_back(shared.kernel(run_text(plan, run), kernel_name(run)));
  twiddles_ = shared.twiddles(plan.log_n, plan.direction);
  reversed_ = plan.reversal == Reversal::table ? shared.reversed(plan.log_n) : shared.unused();
}

CompiledStages::CompiledStages(const Device& device, const StagePlan& plan)
    : CompiledStages(*std::make_unique<SharedKernels>(device), plan) {}

void CompiledStages::enqueue_reversal(Queue& queue, const Buffer& in, std::uint64_t in_offset, const Buffer& out,
                                      std::uint64_t out_offset, std::uint64_t lines) const {
  const std::uint64_t points = lines << plan_.log_n;
  constexpr std::size_t kSide = std::size_t{1} << kTileBits;
  const std::size_t per_group = plan_.in_tiles() ? kSide * kSide : plan_.plain_items;
  queue.launch(reverse_,
               {.groups = {groups_for(points, per_group)},
                .items = {plan_.plain_items},
                .local_bytes = plan_.in_tiles() ? kSide * (kSide + 1) * kPoint : 0},
               {in, out, reversed_, in_offset, out_offset, static_cast<std::uint32_t>(plan_.log_n),
                static_cast<std::uint32_t>(points)});
}

void CompiledStages::enqueue_run(Queue& queue, std::size_t index, const Buffer& out, std::uint64_t offset,
                                 std::uint64_t lines) const {
  const StageRun& run = plan_.runs[index];
  const std::uint64_t points = lines << plan_.log_n;
  const bool shared = run.work == Work::group_global || run.work == Work::group_local;
  const std::uint64_t count = shared ? points / 2 : run.work == Work::one_stage ? points / 2 : points >> run.last;
  const std::size_t items = shared ? run.items : plan_.plain_items;
  queue.launch(kernels_[index],
               {.groups = {groups_for(count, items)}, .items = {items}, .local_bytes = run.local_bytes()},
               {out, twiddles_, offset, static_cast<std::uint32_t>(plan_.log_n), static_cast<std::uint32_t>(run.first),
                static_cast<std::uint32_t>(count)});
}

void CompiledStages::enqueue(Queue& queue, const Buffer& in, std::uint64_t in_offset, const Buffer& out,
                             std::uint64_t out_offset, std::uint64_t lines) const {
  enqueue_reversal(queue, in, in_offset, out, out_offset, lines);
  for (std::size_t i = 0; i < kernels_.size(); ++i) enqueue_run(queue, i, out, out_offset, lines);
}

void CompiledStages::enqueue_first(Queue& queue, const Buffer& in, const Buffer& out, std::size_t runs) const {
  enqueue_reversal(queue, in, 0, out, 0, 1);
  for (std::size_t i = 0; i < std::min(runs, kernels_.size()); ++i) enqueue_run(queue, i, out, 0, 1);
}

std::string CompiledStages::describe() const {
  return fmt::format("{} points, bit reversal {}, stages {}", plan_.points(), to_string(plan_.reversal),
                     plan_.stages_text());
}

}  // namespace ridge::fft::papers
