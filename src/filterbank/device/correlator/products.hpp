// Methods to sum the products of all pairs of signals on a device, over consecutive ranges of times.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <ridge/filterbank.hpp>

#include "filterbank/geometry.hpp"

namespace ridge::filterbank::on_device {

// Times of one signal and channel in a packed row of 64 bytes.
inline std::size_t row_times(Arithmetic arithmetic) { return arithmetic == Arithmetic::int8 ? 32 : 16; }

// Times per float16 sum: the matrix units truncate the low bits of a sum, with an error of 1e-8 per time.
inline constexpr std::size_t kFloat16Stretch = 1024;

struct ProductsWanted {
  Device device;
  const Geometry& geometry;
  const Correlation& correlation;
  std::size_t baselines = 0;
  bool direct = false;  // each integration is one sum and is written to the output directly
};

struct SummedTimes {
  Buffer samples{};  // spectra, or packed rows
  std::size_t first = 0, times = 0;
  bool begins = true;  // first sum of an integration
  Buffer to{};         // double-float totals [channel][baseline][polarizations], or the output if `direct`
  std::size_t offset = 0;
  float factor = 1;
};

class ProductSums {
 public:
  virtual ~ProductSums() = default;
  virtual void add(Queue& queue, const SummedTimes& summed) = 0;
};

std::unique_ptr<ProductSums> register_products(const ProductsWanted& wanted);
std::unique_ptr<ProductSums> matrix_products(const ProductsWanted& wanted);
std::vector<KernelSource> matrix_products_kernels(const ProductsWanted& wanted);
bool supports_warp_groups(const ProductsWanted& wanted);
std::unique_ptr<ProductSums> warp_group_products(const ProductsWanted& wanted);
KernelSource warp_group_kernel(const ProductsWanted& wanted);

using Defines = std::vector<std::pair<std::string, std::string>>;
Defines correlator_defines(const ProductsWanted& wanted);
// Text of PLACE_OF(time, signal): the position of a value of `channel` in spectra that begin with an output block.
std::string place_of_value(const Geometry& geometry);
// Functions on packed values. `items` is the group size of a kernel that multiplies matrices.
std::string packed_text(std::size_t items);

}  // namespace ridge::filterbank::on_device
