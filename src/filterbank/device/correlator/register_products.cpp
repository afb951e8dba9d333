// Correlator kernel without matrix units: a group has one channel and a tile of signals x signals, whose values are
// staged in local memory; a work-item sums a square of products in registers.
#include <fmt/format.h>

#include "codegen/text.hpp"
#include "device/kernel_text.hpp"
#include "filterbank/device/compiled_bank.hpp"
#include "filterbank/device/correlator/products.hpp"

namespace ridge::filterbank::on_device {
namespace {

constexpr std::size_t kSide = 16;    // a group has kSide x kSide work-items
constexpr std::size_t kStaged = 16;  // times in local memory

class RegisterProducts final : public ProductSums {
 public:
  explicit RegisterProducts(const ProductsWanted& wanted) {
    const Geometry& g = wanted.geometry;
    const std::size_t signals = g.stations * g.polarizations, each = signals > 2 * kSide ? 4 : 2;
    const std::size_t tile = kSide * each, tiles = (signals + tile - 1) / tile;
    std::vector<std::int32_t> list;
    for (std::size_t column = 0; column < tiles; ++column) {
      for (std::size_t row = 0; row <= column; ++row) {
        list.push_back(static_cast<std::int32_t>(row));
        list.push_back(static_cast<std::int32_t>(column));
      }
    }
    groups_ = list.size() / 2 * g.channels;
    tiles_ = uploaded(wanted.device, std::span<const std::int32_t>(list), "correlator tiles");
    Defines defines = correlator_defines(wanted);
    defines.insert(defines.end(), {{"SIDE", fmt::format("{}", kSide)},
                                   {"EACH", fmt::format("{}", each)},
                                   {"STAGED", fmt::format("{}", kStaged)}});
    std::string text;
    if (wanted.correlation.arithmetic == Arithmetic::float32) {
      defines.emplace_back("VALUES", "float2");
      defines.emplace_back("VALUE_OF(time, signal)", fmt::format("LOAD_CACHED(in + {})", place_of_value(g)));
    } else {
      defines.emplace_back("VALUES", "uint");
      defines.emplace_back("VALUE_OF(time, signal)",
                           "unpacked(in, ((ulong)((time) / ROW_TIMES) * CHANNELS + channel) * SIGNAL_COUNT + (signal), "
                           "(time) % ROW_TIMES)");
      text = packed_text(1);
    }
    text += ridge::detail::kernel_text("filterbank/totals") + ridge::detail::kernel_text("filterbank/correlate");
    kernel_ =
        wanted.device.compile({.name = "filter bank correlator", .text = text, .defines = defines}).kernel("correlate");
  }

  void add(Queue& queue, const SummedTimes& summed) override {
    queue.launch(kernel_, {.groups = {groups_}, .items = {kSide * kSide}},
                 {summed.samples, summed.to, tiles_, static_cast<std::int32_t>(summed.first),
                  static_cast<std::int32_t>(summed.times), static_cast<std::int32_t>(summed.begins ? 1 : 0)});
  }

 private:
  Kernel kernel_;
  Buffer tiles_;
  std::size_t groups_ = 0;
};

}  // namespace

std::unique_ptr<ProductSums> register_products(const ProductsWanted& wanted) {
  return std::make_unique<RegisterProducts>(wanted);
}

}  // namespace ridge::filterbank::on_device
