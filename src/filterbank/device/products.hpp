// Ways to sum the products of all pairs of signals on a device, stretch after stretch of times.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <ridge/filterbank.hpp>

#include "filterbank/geometry.hpp"

namespace ridge::filterbank::on_device {

// Of rounded values: 64 bytes hold so many times of one signal and channel.
inline std::size_t row_times(Arithmetic arithmetic) { return arithmetic == Arithmetic::int8 ? 32 : 16; }

// Times of one sum of products of halves: matrix units cut off what it cannot hold, 1e-8 a time.
inline constexpr std::size_t kHalvesStretch = 1024;

struct ProductsWanted {
  Device device;
  const Geometry& geometry;
  const Correlation& correlation;
  std::size_t baselines = 0;
  bool direct = false;  // whole integrations come at once and go to the output as they are
};

struct SummedTimes {
  Buffer samples{};  // spectra, or rows of rounded values
  std::size_t first = 0, times = 0;
  bool begins = true;  // an integration
  Buffer to{};         // totals of two floats: [channel][baseline][polarizations], or the output where `direct`
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
bool takes_warp_groups(const ProductsWanted& wanted);
std::unique_ptr<ProductSums> warp_group_products(const ProductsWanted& wanted);
KernelSource warp_group_kernel(const ProductsWanted& wanted);

using Defines = std::vector<std::pair<std::string, std::string>>;
Defines correlator_defines(const ProductsWanted& wanted);
// Where a value of `channel` is among spectra that begin an output block: text of PLACE_OF(time, signal).
std::string place_of_value(const Geometry& geometry);
// The words of rounded values, with how many times a row has; `items` of a group may multiply matrices.
std::string packed_text(std::size_t items);

}  // namespace ridge::filterbank::on_device
