// Products by warp groups out of local memory: blocks of 128 signals, a group on every unit that goes from channel to
// channel (kernels/correlate_warp_groups.cl).
#include <algorithm>

#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "device/traits.hpp"
#include "filterbank/device/compiled_bank.hpp"
#include "filterbank/device/products.hpp"

namespace ridge::filterbank::on_device {
namespace {

constexpr std::size_t kBlockSide = 128, kBlockBytes = kBlockSide * 64, kMostStages = 8, kBarrierBytes = 1024;

struct WarpGroupKernel {
  KernelSource source;
  std::size_t items, local_bytes;
};

WarpGroupKernel warp_group_kernel(const ProductsWanted& wanted, bool diagonal) {
  const std::size_t at_once = diagonal ? 2 : 1;  // blocks of times; more items have fewer registers
  const std::size_t turn = 2 * kBlockBytes, aligned = 1024;
  const std::size_t room = wanted.device.info().limits.local_memory - aligned - kBarrierBytes;
  const std::size_t stages = std::min(room / turn, kMostStages);
  Defines defines = correlator_defines(wanted);
  defines.insert(defines.end(), {{"DIAGONAL", diagonal ? "1" : "0"},
                                 {"TURN", fmt::format("{}", at_once)},
                                 {"STAGES", fmt::format("{}", stages)},
                                 {"DIRECT", wanted.direct ? "1" : "0"}});
  return {.source = {.name = fmt::format("filter bank correlator, warp groups{}", diagonal ? "" : ", two blocks"),
                     .text = packed_text(1) + ridge::detail::kernel_text("filterbank/totals") +
                             ridge::detail::kernel_text("filterbank/correlate_write") +
                             ridge::detail::kernel_text("filterbank/correlate_warp_groups"),
                     .defines = defines},
          .items = std::size_t{diagonal ? 4u : 5u} * 128,
          .local_bytes = stages * turn + aligned};
}

class WarpGroupProducts final : public ProductSums {
 public:
  explicit WarpGroupProducts(const ProductsWanted& wanted)
      : row_times_(row_times(wanted.correlation.arithmetic)), units_(wanted.device.info().limits.compute_units) {
    const Geometry& g = wanted.geometry;
    const std::size_t blocks = (g.stations * g.polarizations + kBlockSide - 1) / kBlockSide;
    for (const bool diagonal : {true, false}) {
      std::vector<std::int32_t> pairs;
      for (std::size_t column = 0; column < blocks; ++column) {
        for (std::size_t row = diagonal ? column : 0; row < column + (diagonal ? 1 : 0); ++row) {
          pairs.push_back(static_cast<std::int32_t>(row));
          pairs.push_back(static_cast<std::int32_t>(column));
        }
      }
      if (pairs.empty()) continue;
      const WarpGroupKernel one = warp_group_kernel(wanted, diagonal);
      parts_.push_back({.kernel = wanted.device.compile(one.source).kernel("correlate"),
                        .blocks = uploaded(wanted.device, std::span<const std::int32_t>(pairs), "correlator blocks"),
                        .works = pairs.size() / 2 * g.channels,
                        .items = one.items,
                        .local_bytes = one.local_bytes});
    }
  }

  void add(Queue& queue, const SummedTimes& summed) override {
    for (const Part& part : parts_) {
      queue.launch(
          part.kernel,
          {.groups = {std::min(part.works, units_)}, .items = {part.items}, .local_bytes = part.local_bytes},
          {summed.samples, summed.to, summed.to, part.blocks, static_cast<std::uint64_t>(summed.first / row_times_),
           static_cast<std::int32_t>((summed.times + row_times_ - 1) / row_times_),
           static_cast<std::int32_t>(summed.begins ? 1 : 0), static_cast<std::uint64_t>(summed.offset), summed.factor,
           static_cast<std::int32_t>(part.works)});
    }
  }

 private:
  struct Part {
    Kernel kernel;
    Buffer blocks;
    std::size_t works, items, local_bytes;
  };
  std::size_t row_times_, units_;
  std::vector<Part> parts_;
};

}  // namespace

bool takes_warp_groups(const ProductsWanted& wanted) {
  return ridge::detail::has_warp_group_products(wanted.device.info().limits) &&
         wanted.geometry.stations * wanted.geometry.polarizations > kBlockSide / 2;
}

std::unique_ptr<ProductSums> warp_group_products(const ProductsWanted& wanted) {
  return std::make_unique<WarpGroupProducts>(wanted);
}

std::vector<KernelSource> warp_group_kernels(const ProductsWanted& wanted) {
  return {warp_group_kernel(wanted, true).source, warp_group_kernel(wanted, false).source};
}

}  // namespace ridge::filterbank::on_device
