// Creates tensor maps for TMA.
#include <bit>

#include <fmt/format.h>

#include "device/cuda/state.hpp"

namespace ridge::detail {

TileMap CudaDevice::tile_map(MemoryState& array, const TileMapShape& shape) {
  if (driver.tensor_map_encode == nullptr) {
    throw Error(ErrorKind::unavailable, fmt::format("{}: TMA needs a CUDA driver 12.0 or later", label()));
  }
  make_current();
  CUtensorMap map{};
  const CUtensorMapDataType type = shape.float64 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT64 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  const std::array<cuuint64_t, 3> counts{shape.columns, shape.rows, shape.arrays};
  const std::array<cuuint64_t, 2> steps{shape.row, shape.array};
  const std::array<cuuint32_t, 3> box{shape.box_columns, shape.box_rows, 1}, each{1, 1, 1};
  auto* const start = reinterpret_cast<void*>(array.allocation->native() + shape.offset);  // NOLINT: an address
  const CUresult result = driver.tensor_map_encode(
      &map, type, 3, start, counts.data(), steps.data(), box.data(), each.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
      CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    fail(result, fmt::format("creating a tensor map: boxes of {} x {}, {} arrays of {} rows of {} numbers",
                             shape.box_rows, shape.box_columns, shape.arrays, shape.rows, shape.columns));
  }
  static_assert(sizeof(TileMap) == sizeof(CUtensorMap));
  return std::bit_cast<TileMap>(map);
}

}  // namespace ridge::detail
