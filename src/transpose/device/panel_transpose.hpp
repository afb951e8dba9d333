// Transposes host arrays that are larger than the memory of a device: tiles are uploaded, transposed and downloaded at
// the same time.
#pragma once
#include <memory>

#include "device/panels.hpp"
#include "transpose/variant.hpp"

namespace ridge::transpose {

// The problem of one panel if the arrays exceed the memory that may be used: a tile, two tiles to be exchanged (in
// place), or several small matrices. Rows = 0: no panels are needed, or strides between columns forbid them.
Problem panel_problem(const Device& device, const Layout& layout);

class PanelTranspose final : public Variant {
 public:
  // `tile` transposes a panel.
  PanelTranspose(const Device& device, const Layout& layout, const Problem& panel, std::shared_ptr<const Variant> tile);
  void run(const std::byte* in, std::byte* out) const override;
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out) const override;

 private:
  struct Tile {
    std::size_t row, column;  // in tiles
  };
  PanelRows rows_of(std::byte* data, const Strides& strides, std::size_t matrix, const Tile& tile, bool output) const;
  void run_batch(std::byte* in, std::byte* out) const;
  void run_tiles(std::byte* in, std::byte* out) const;
  void run_in_place(std::byte* data) const;
  void stream(PanelWork& work) const;

  Device device_;
  Layout layout_;
  Problem panel_;
  std::shared_ptr<const Variant> tile_;
  PanelStream stream_;
};

}  // namespace ridge::transpose
