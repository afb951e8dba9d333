// Tiles transposed in vector registers, directly or through a padded buffer: behind simd and non_temporal.
#include "transpose/host/simd_tiles.hpp"

#include <fmt/format.h>

#include "base/aligned.hpp"

namespace ridge::transpose {
namespace {

// Buffer of the calling thread, allocated at its first tile and kept. It is not on the stack: a buffer for the L2 cache
// is larger than some threads' stacks.
std::byte* thread_buffer(std::size_t bytes) {
  thread_local base::AlignedArray<std::byte> buffer;
  if (buffer.size() < bytes) buffer = base::AlignedArray<std::byte>(bytes);
  return buffer.data();
}

class SimdTiles final : public TileVariant {
 public:
  SimdTiles(const Layout& layout, const SimdOptions& options)
      : TileVariant(layout, options.tiling),
        options_(options),
        to_output_(simd_transpose(layout.element_bytes, options.stores)),
        to_buffer_(simd_transpose(layout.element_bytes, Stores::ordinary)),
        copy_(simd_copy_rows(options.stores)) {}

 private:
  void transpose_tile(const MatrixBlock& block) const override {
    if (!options_.buffered) return to_output_(block);
    std::byte* buffer = thread_buffer(buffer_bytes());
    transpose_into(buffer, block.in, block.rows, block.columns);
    RowCopy copy = out_of(buffer, block.out, layout().output.row, block.rows, block.columns);
    if (options_.ahead && block.next != nullptr) {
      copy.next = block.next;
      copy.next_stride = layout().input.row * layout().element_bytes;
      copy.next_bytes = block.columns * layout().element_bytes;
    }
    copy_(copy);
  }

  void swap(std::byte* a, std::byte* b, std::size_t rows, std::size_t columns, bool diagonal) const override {
    std::byte* buffer = thread_buffer(buffer_bytes());
    transpose_into(buffer, a, rows, columns);
    if (!diagonal) {
      to_output_(
          {.in = b, .out = a, .rows = columns, .columns = rows, .input = layout().input, .output = layout().input});
    }
    copy_(out_of(buffer, b, layout().input.row, rows, columns));
  }

  // Rows of the buffer are padded by one cache line, so that the elements of a column do not map to the same cache set.
  std::size_t buffer_bytes() const { return buffer_row() * tiling().columns * layout().element_bytes; }
  std::size_t buffer_row() const { return tiling().rows + kLine / layout().element_bytes; }

  void transpose_into(std::byte* buffer, const std::byte* in, std::size_t rows, std::size_t columns) const {
    to_buffer_({.in = in,
                .out = buffer,
                .rows = rows,
                .columns = columns,
                .input = layout().input,
                .output = {.row = buffer_row(), .column = 1, .batch = 0}});
  }

  RowCopy out_of(const std::byte* buffer, std::byte* out, std::size_t out_row, std::size_t rows,
                 std::size_t columns) const {
    const std::size_t bytes = layout().element_bytes;
    return {.from = buffer,
            .from_stride = buffer_row() * bytes,
            .to = out,
            .to_stride = out_row * bytes,
            .rows = columns,
            .bytes = rows * bytes};
  }

  void thread_done() const override {
    if (options_.stores == Stores::streaming) finish_streaming();
  }

  SimdOptions options_;
  TransposeBlock to_output_, to_buffer_;
  CopyRows copy_;
};

std::string refusal(const Layout& layout) {
  if (layout.unit_columns()) return {};
  return fmt::format("needs column strides of 1, got a column stride of {} in the input and {} in the output",
                     layout.input.column, layout.output.column);
}

}  // namespace

std::size_t square_side(std::size_t element_bytes) {
  switch (element_bytes) {
    case 1:
    case 2:
      return 128;
    case 16:
      return 32;
    default:
      return 64;
  }
}

std::vector<DirectTile> direct_tiles(const Layout& layout) {
  const std::size_t bytes = layout.element_bytes;
  if (layout.in_place) return {{square_side(bytes), square_side(bytes), 0.6}};
  std::vector<DirectTile> tiles{{2048 / bytes, 512 / bytes, 0.66}, {512 / bytes, 512 / bytes, 0.64}};
  // Small elements give many output rows per tile width, and each row is a separate write stream.
  tiles.push_back(bytes < 8 ? DirectTile{1024 / bytes, 256 / bytes, 0.65}
                            : DirectTile{8192 / bytes, 512 / bytes, 0.62});
  return tiles;
}

Entry simd_entry(const std::string& variant, const Layout& layout, const SimdOptions& options, double efficiency) {
  Entry entry{.candidate =
                  planner::Candidate{
                      .variant = variant,
                      .parameters = {{"tile", fmt::format("{}x{}", options.tiling.rows, options.tiling.columns)}},
                      .refusal = refusal(layout),
                      .cost = host_cost(layout, options.tiling.threads, efficiency)},
              .build = [layout, options] { return std::make_shared<SimdTiles>(layout, options); }};
  if (options.stores == Stores::streaming) {
    entry.candidate.parameters.emplace_back("path", options.ahead      ? "buffered, next tile ahead"
                                                    : options.buffered ? "buffered"
                                                                       : "direct");
  }
  entry.candidate.parameters.emplace_back("threads", std::to_string(options.tiling.threads));
  return entry;
}

// Tiles transposed in vector registers and stored directly, one whole cache line of an output row at a time.

void list_host_simd(const Device&, const Layout& layout, std::vector<Entry>& entries) {
  for (const DirectTile& tile : direct_tiles(layout)) {
    for (const std::size_t threads : thread_counts(layout)) {
      const Tiling tiling{.rows = tile.rows, .columns = tile.columns, .threads = threads};
      entries.push_back(simd_entry("simd", layout, {.tiling = tiling}, tile.efficiency - 0.05));
    }
  }
}

}  // namespace ridge::transpose
