// Plain loops over tiles whose input and output cache lines fit the L1 cache.
#include <string>

#include "transpose/host/tile_variant.hpp"

namespace ridge::transpose {
namespace {

template <std::size_t kBytes>
void swap_tile(std::byte* a, std::byte* b, std::size_t rows, std::size_t columns, const Strides& strides,
               bool diagonal) {
  swap_plainly<kBytes>(a, b, rows, columns, strides, diagonal);
}

class CacheBlocked final : public TileVariant {
 public:
  CacheBlocked(const Layout& layout, const Tiling& tiling)
      : TileVariant(layout, tiling),
        transpose_(with_element(layout.element_bytes, [](auto bytes) { return &transpose_plainly<bytes()>; })),
        swap_(with_element(layout.element_bytes, [](auto bytes) { return &swap_tile<bytes()>; })) {}

 private:
  void transpose_tile(const MatrixBlock& block) const override { transpose_(block); }
  void swap(std::byte* a, std::byte* b, std::size_t rows, std::size_t columns, bool diagonal) const override {
    swap_(a, b, rows, columns, layout().input, diagonal);
  }
  void (*transpose_)(const MatrixBlock&);
  void (*swap_)(std::byte*, std::byte*, std::size_t, std::size_t, const Strides&, bool);
};

}  // namespace

void list_host_cache_blocked(const Device&, const Layout& layout, std::vector<Entry>& entries) {
  for (const std::size_t side : {16, 64}) {
    for (const std::size_t threads : thread_counts(layout)) {
      const Tiling tiling{.rows = side, .columns = side, .threads = threads};
      entries.push_back(
          {.candidate = planner::Candidate{.variant = "cache_blocked",
                                           .parameters = {{"tile", std::to_string(side) + "x" + std::to_string(side)},
                                                          {"threads", std::to_string(threads)}},
                                           .refusal = {},
                                           .cost = host_cost(layout, threads, side == 16 ? 0.2 : 0.18)},
           .build = [layout, tiling] { return std::make_shared<CacheBlocked>(layout, tiling); }});
    }
  }
}

}  // namespace ridge::transpose
