// Correlator kernel for 128 signals by warp-group products (wgmma) from shared memory: one persistent group per
// multiprocessor, which iterates over channels (correlate_warp_groups.cl).
#include <algorithm>

#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "device/traits.hpp"
#include "filterbank/device/correlator/products.hpp"

namespace ridge::filterbank::on_device {
namespace {

constexpr std::size_t kBlockSignals = 128, kStageBlocks = 2, kRingStages = 8, kWarpGroupItems = 512;
constexpr std::size_t kRingBytes = kRingStages * kStageBlocks * kBlockSignals * 64 + 1024;  // plus alignment
constexpr std::size_t kSumBytes = 3 * 64 * 64 * 2 * sizeof(float);                          // of three tiles

std::size_t warp_group_bytes(Arithmetic arithmetic) {
  return kRingBytes + (arithmetic == Arithmetic::float16 ? kSumBytes : 0);
}

class WarpGroupProducts final : public ProductSums {
 public:
  explicit WarpGroupProducts(const ProductsWanted& wanted)
      : kernel_(wanted.device.compile(warp_group_kernel(wanted)).kernel("correlate")),
        row_times_(row_times(wanted.correlation.arithmetic)),
        local_bytes_(warp_group_bytes(wanted.correlation.arithmetic)),
        groups_(std::min(wanted.geometry.channels, wanted.device.info().limits.compute_units)) {}

  void add(Queue& queue, const SummedTimes& summed) override {
    queue.launch(
        kernel_, {.groups = {groups_}, .items = {kWarpGroupItems}, .local_bytes = local_bytes_},
        {summed.samples, summed.to, summed.to, static_cast<std::uint64_t>(summed.first / row_times_),
         static_cast<std::int32_t>((summed.times + row_times_ - 1) / row_times_),
         static_cast<std::int32_t>(summed.begins ? 1 : 0), static_cast<std::uint64_t>(summed.offset), summed.factor});
  }

 private:
  Kernel kernel_;
  std::size_t row_times_, local_bytes_, groups_;
};

}  // namespace

bool supports_warp_groups(const ProductsWanted& wanted) {
  const Limits& limits = wanted.device.info().limits;
  return ridge::detail::has_warp_group_products(limits) &&
         limits.local_memory >= warp_group_bytes(wanted.correlation.arithmetic) + 1024 &&
         wanted.geometry.stations * wanted.geometry.polarizations == kBlockSignals;
}

std::unique_ptr<ProductSums> warp_group_products(const ProductsWanted& wanted) {
  return std::make_unique<WarpGroupProducts>(wanted);
}

KernelSource warp_group_kernel(const ProductsWanted& wanted) {
  Defines defines = correlator_defines(wanted);
  defines.insert(defines.end(), {{"STAGE_BLOCKS", fmt::format("{}", kStageBlocks)},
                                 {"STAGES", fmt::format("{}", kRingStages)},
                                 {"SEGMENT", fmt::format("{}", kFloat16Stretch / row_times(Arithmetic::float16))},
                                 {"DIRECT", wanted.direct ? "1" : "0"}});
  return {.name = "filter bank correlator, warp groups",
          .text = packed_text(1) + ridge::detail::kernel_text("filterbank/totals") +
                  ridge::detail::kernel_text("filterbank/correlate_write") +
                  ridge::detail::kernel_text("codegen/warp_groups") +
                  ridge::detail::kernel_text("filterbank/correlate_warp_groups"),
          .defines = defines};
}

}  // namespace ridge::filterbank::on_device
