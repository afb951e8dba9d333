// Correlator kernel on the matrix units: rounded values, float or integer sums. Signals are divided into blocks of up
// to 128; a group computes the products of a block with itself, or of two blocks, for one channel
// (correlate_matrix.cl).
#include <algorithm>

#include <fmt/format.h>

#include "codegen/text.hpp"
#include "device/kernel_text.hpp"
#include "filterbank/device/compiled_bank.hpp"
#include "filterbank/device/correlator/products.hpp"

namespace ridge::filterbank::on_device {
namespace {

constexpr std::size_t kTile = 32;  // signals per side of a warp's tile
constexpr std::size_t kMostTiles = 4;
constexpr std::size_t kRowBytes = 64;
constexpr std::size_t kStages = 3, kMostStageBlocks = 4;

struct BlockShape {
  std::size_t side, blocks;  // signals per block, number of blocks
};

BlockShape block_shape(const Geometry& g) {
  const std::size_t tiles = (g.stations * g.polarizations + kTile - 1) / kTile;
  const std::size_t side = std::min(tiles, kMostTiles);
  return {side * kTile, (tiles + side - 1) / side};
}

std::size_t warps_of(const BlockShape& shape, bool diagonal) {
  const std::size_t tiles = shape.side / kTile;
  return diagonal ? tiles * (tiles + 1) / 2 : tiles * tiles;
}

struct MatrixKernel {
  KernelSource source;
  std::size_t local_bytes;
};

MatrixKernel matrix_kernel(const ProductsWanted& wanted, bool diagonal) {
  const BlockShape shape = block_shape(wanted.geometry);
  const std::size_t warps = warps_of(shape, diagonal), rows = (diagonal ? 1 : 2) * shape.side;
  const Limits& limits = wanted.device.info().limits;
  const std::size_t emulation = limits.matrix_units ? 0 : 6 * 4 * 32 * warps;
  const std::size_t room = limits.local_memory > emulation ? limits.local_memory - emulation : 0;
  const std::size_t resident = warps * 32 * 2 * 100 <= limits.registers ? 2 : 1;
  // As many row blocks per barrier as local memory holds three times; between barriers the warps run independently.
  const std::size_t stage_blocks =
      std::clamp<std::size_t>(room / resident / (rows * kRowBytes * kStages), 1, kMostStageBlocks);
  const std::size_t stages = std::clamp<std::size_t>(room / (stage_blocks * rows * kRowBytes), 2, kStages);
  Defines defines = correlator_defines(wanted);
  const auto define = [&](const char* name, std::size_t value) {
    defines.emplace_back(name, fmt::format("{}", value));
  };
  define("SIDE", shape.side);
  define("DIAGONAL", diagonal ? 1 : 0);
  define("WARPS", warps);
  define("RESIDENT", resident);
  define("STAGES", stages);
  define("STAGE_BLOCKS", stage_blocks);
  define("DIRECT", wanted.direct ? 1 : 0);
  return {{.name = fmt::format("filter bank correlator, matrix units{}", diagonal ? "" : ", two blocks"),
           .text = packed_text(warps * 32) + ridge::detail::kernel_text("filterbank/totals") +
                   ridge::detail::kernel_text("filterbank/correlate_write") +
                   ridge::detail::kernel_text("filterbank/correlate_matrix"),
           .defines = defines},
          stages * stage_blocks * rows * kRowBytes + emulation};
}

class MatrixProducts final : public ProductSums {
 public:
  explicit MatrixProducts(const ProductsWanted& wanted) : row_times_(row_times(wanted.correlation.arithmetic)) {
    const Geometry& g = wanted.geometry;
    const BlockShape shape = block_shape(g);
    for (const bool diagonal : {true, false}) {
      std::vector<std::int32_t> blocks;
      for (std::size_t column = 0; column < shape.blocks; ++column) {
        for (std::size_t row = diagonal ? column : 0; row < column + (diagonal ? 1 : 0); ++row) {
          blocks.push_back(static_cast<std::int32_t>(row));
          blocks.push_back(static_cast<std::int32_t>(column));
        }
      }
      if (blocks.empty()) continue;
      const MatrixKernel one = matrix_kernel(wanted, diagonal);
      parts_.push_back({.kernel = wanted.device.compile(one.source).kernel("correlate"),
                        .blocks = uploaded(wanted.device, std::span<const std::int32_t>(blocks), "correlator blocks"),
                        .groups = blocks.size() / 2 * g.channels,
                        .items = warps_of(shape, diagonal) * 32,
                        .local_bytes = one.local_bytes});
    }
  }

  void add(Queue& queue, const SummedTimes& summed) override {
    for (const Part& part : parts_) {
      queue.launch(
          part.kernel, {.groups = {part.groups}, .items = {part.items}, .local_bytes = part.local_bytes},
          {summed.samples, summed.to, summed.to, part.blocks, static_cast<std::uint64_t>(summed.first / row_times_),
           static_cast<std::int32_t>((summed.times + row_times_ - 1) / row_times_),
           static_cast<std::int32_t>(summed.begins ? 1 : 0), static_cast<std::uint64_t>(summed.offset), summed.factor});
    }
  }

 private:
  struct Part {
    Kernel kernel;
    Buffer blocks;
    std::size_t groups, items, local_bytes;
  };
  std::size_t row_times_;
  std::vector<Part> parts_;
};

}  // namespace

std::unique_ptr<ProductSums> matrix_products(const ProductsWanted& wanted) {
  return std::make_unique<MatrixProducts>(wanted);
}

std::vector<KernelSource> matrix_products_kernels(const ProductsWanted& wanted) {
  return {matrix_kernel(wanted, true).source, matrix_kernel(wanted, false).source};
}

}  // namespace ridge::filterbank::on_device
