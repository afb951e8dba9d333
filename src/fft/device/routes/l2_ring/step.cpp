// Compiles and launches the L2-resident ring; owns the ring, its counters and the table of L2 partitions.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "device/tile_map.hpp"
#include "fft/device/pass/partition_blocks.hpp"
#include "fft/device/pass/step.hpp"
#include "fft/device/routes/l2_ring/l2_ring.hpp"

namespace ridge::fft::on_device {
namespace {

PassText text_of(const RingDesign& design) {
  return design.warp_specialized ? warp_specialized_text(design) : ring_text(design);
}

// Tensor map of the columns of all chunks.
detail::TileMap source_map(const RingDesign& design, const Buffer& in, std::uint64_t offset, std::uint64_t chunks) {
  const PassDesign& columns = design.first;
  const std::uint64_t element = columns.float64 ? 16 : 8;
  const std::uint64_t counted =
      columns.load.values == Values::pairs ? element / 2 : element;  // unit of the line and chunk strides
  return detail::tile_map(in, {.float64 = columns.float64,
                               .offset = offset * counted,
                               .columns = 2 * columns.load.at.point,
                               .rows = columns.points,
                               .row = columns.load.at.point * element,
                               .arrays = chunks,
                               .array = design.load.front() * counted,
                               .box_columns = static_cast<std::uint32_t>(2 * columns.lines),
                               .box_rows = static_cast<std::uint32_t>(tile_rows(columns.points))});
}

class CompiledRing final : public CompiledStep {
 public:
  CompiledRing(const Device& device, const RingDesign& design, const Step& step) : design_(design) {
    const PassText text = text_of(design);
    kernel_ = device.compile(text.source).kernel(kKernelName);
    local_bytes_ = text.local_bytes;
    tables_ = uploaded_factors(device, design.first.float64, step);
    tables_.insert(tables_.begin(), uploaded_tables(device, std::array{&design.first, &design.second}));
    const std::size_t element = design.first.float64 ? 16 : 8;
    std::uint64_t ring_bytes = design.slot * design.slots * design.l2_partitions * element;
    if (design.partition_local) ring_bytes = (ring_bytes + kPartitionPage - 1) / kPartitionPage * kPartitionPage;
    ring_ = device.buffer(static_cast<std::size_t>(ring_bytes), {.name = "fft ring"});
    control_ =
        device.buffer(design.l2_partitions * design.counters() * sizeof(std::uint32_t), {.name = "fft ring counters"});
    Queue queue = device.queue();
    if (design.needs_unit_table()) {
      std::vector<std::uint32_t> units = unit_partitions(device);
      if (design.partition_local) {
        const auto pages = partition_pages(device, ring_, design.slot_step() * element, design.slots);
        units.insert(units.end(), pages.begin(), pages.end());
      }
      units_ = device.buffer(units.size() * sizeof(std::uint32_t), {.name = "fft units"});
      queue.upload(std::span<const std::uint32_t>(units), units_);
      queue.finish();
    }
    queue.fill(control_, std::byte{0});
    queue.finish();
  }

  void enqueue(Queue& queue, const Buffer& in, std::uint64_t in_offset, const Buffer& out, std::uint64_t out_offset,
               std::uint64_t chunks) const override {
    const std::uint64_t first = design_.first_tiles(), both = first + design_.second_tiles();
    std::uint64_t lead = std::min<std::uint64_t>(design_.lead, first * chunks);
    // With a larger lead a tile would wait for tiles with larger tickets.
    if (chunks > design_.slots || design_.l2_partitions > 1)
      lead = std::min<std::uint64_t>(lead, (design_.slots - 1) * first);
    const std::uint64_t groups = std::min<std::uint64_t>(design_.groups, lead + chunks * both);
    std::vector<Argument> arguments{in, out};
    for (const Buffer& table : tables_) arguments.emplace_back(table);
    arguments.insert(arguments.end(), {ring_, control_});
    if (design_.needs_unit_table()) arguments.emplace_back(units_);
    arguments.insert(arguments.end(), {in_offset, out_offset, static_cast<std::uint32_t>(chunks),
                                       static_cast<std::uint32_t>(design_.slots), static_cast<std::uint32_t>(lead)});
    std::size_t items = design_.first.items();
    if (design_.warp_specialized) {
      items += kProducerItems;
      const detail::TileMap map = source_map(design_, in, in_offset, chunks);
      arguments.insert(arguments.end(), {map.first, map.rest});
    }
    queue.launch(kernel_, {.groups = {groups}, .items = {items}, .local_bytes = local_bytes_}, arguments);
  }

  std::string describe() const override {
    std::string text = fmt::format(
        "{} points by {} and {} points by {} in one launch of {} groups of {} work-items, through a ring of {} "
        "chunks of {} points",
        design_.first.length, radices_text(design_.first), design_.second.length, radices_text(design_.second),
        design_.groups, design_.first.items(), design_.slots, design_.slot);
    if (kernel_.registers() > 0) text += fmt::format(", {} registers", kernel_.registers());
    if (kernel_.private_bytes() > 0) text += fmt::format(", {} bytes spilled", kernel_.private_bytes());
    return text;
  }

  bool writes_own_arrays() const override { return true; }

 private:
  RingDesign design_;
  Kernel kernel_;
  std::size_t local_bytes_ = 0;
  std::vector<Buffer> tables_;
  Buffer ring_, control_, units_;
};

class RingStep final : public StepDesign {
 public:
  explicit RingStep(const RingDesign& design) : design_(design) {}
  std::vector<KernelSource> kernels() const override {
    std::vector<KernelSource> sources{text_of(design_).source};
    if (design_.needs_unit_table()) sources.push_back(unit_partitions_source());
    if (design_.partition_local) sources.push_back(partition_pages_source());
    return sources;
  }
  std::unique_ptr<const CompiledStep> compile(const Device& device, const Step& step) const override {
    return std::make_unique<CompiledRing>(device, design_, step);
  }
  double groups(double chunks) const override {  // number of tickets
    return chunks * static_cast<double>(2 * (design_.first_tiles() + design_.second_tiles()));
  }
  double concurrent_groups(double chunks) const override {
    return chunks * static_cast<double>(std::min(design_.first_tiles(), design_.second_tiles()));
  }
  double efficiency_in_cache() const override { return 0.4; }
  const RingDesign& design() const { return design_; }

 private:
  RingDesign design_;
};

}  // namespace

std::shared_ptr<const StepDesign> ring_step(const RingDesign& design) {
  return std::make_shared<const RingStep>(design);
}

const RingDesign* ring_of(const Step& step) {
  const auto* persistent = dynamic_cast<const RingStep*>(step.design.get());
  return persistent == nullptr ? nullptr : &persistent->design();
}

}  // namespace ridge::fft::on_device
