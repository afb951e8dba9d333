// Base of the host variants that work on tiles: the base divides the tiles among threads, a variant transposes one.
#pragma once
#include <cstddef>

#include "transpose/host/host_variant.hpp"

namespace ridge::transpose {

// Order of a thread's tiles: along the input's rows (long reads, scattered writes) or along the output's rows.
enum class TileOrder { input_rows, output_rows };

struct Tiling {
  std::size_t rows = 64, columns = 64;  // of a tile, in elements; in place needs them equal
  std::size_t threads = 1;
  TileOrder order = TileOrder::input_rows;
};

class TileVariant : public HostVariant {
 public:
  TileVariant(const Layout& layout, const Tiling& tiling);
  void run(const std::byte* in, std::byte* out) const final;

 protected:
  const Layout& layout() const { return layout_; }
  const Tiling& tiling() const { return tiling_; }

 private:
  virtual void transpose_tile(const MatrixBlock& block) const = 0;
  // Exchanges tile `a` (rows x columns) with the transpose of its mirror `b`; on the diagonal both are the same tile.
  virtual void swap(std::byte* a, std::byte* b, std::size_t rows, std::size_t columns, bool diagonal) const = 0;
  virtual void thread_done() const {}  // called by each thread after its last tile

  void transpose_tiles(const std::byte* in, std::byte* out, std::size_t begin, std::size_t end) const;
  void swap_tiles(std::byte* data, std::size_t begin, std::size_t end) const;

  Layout layout_;
  Tiling tiling_;
  std::size_t tiles_down_, tiles_across_, work_;  // work_: number of tiles, or of tile pairs, of all matrices
};

}  // namespace ridge::transpose
