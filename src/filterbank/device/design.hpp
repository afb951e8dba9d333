// What a kernel of the filter bank on a device is made of, in numbers.
#pragma once
#include <complex>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <ridge/device.hpp>

#include "filterbank/geometry.hpp"

namespace ridge::filterbank::on_device {

enum class Fir {
  registers,  // the delay line of a channel in the registers of a work-item, renamed instead of shifted; critical only
  gather,     // every tap's sample read again, from a cache if it is there; anything
  matrix,     // 16 times of a channel as a product with a Toeplitz matrix of weights, on the matrix units
  warp_specialized,  // the same, samples kept as bytes; half of the warps filter, half transform
  stacked,           // bytes, upper and lower halves of the weights as rows of one product; 512 channels
  blocks,            // spectra in blocks from raw rows in registers, for 256 to 4096 channels
  alternating,       // the same, one polarization after the other; half of the warps transform each
};
const char* to_string(Fir fir);

enum class Factors { none, channels, all };  // the bandpass: one a channel, or one a (polarization, station, channel)

struct KernelDesign {
  Geometry geometry{};
  Fir fir = Fir::registers;
  bool transform = true;     // else the branches are written as they are
  std::size_t items = 256;   // of a group
  std::size_t streams = 1;   // stations of a group
  std::size_t pieces = 1;    // groups that share the channels of a station; without a transform only
  std::size_t parts = 4;     // real numbers of a sample that one item filters: 2, or 4 of both polarizations
  std::size_t steps = 8;     // spectra from a barrier to the next
  std::size_t rounds = 0;    // turns of the loop over time; 0: the launch says it
  std::size_t resident = 2;  // groups that should fit a compute unit
  std::vector<std::size_t> radices = {};
  Factors factors = Factors::none;
  bool constant_weights = false;  // in the device's constant memory
  std::size_t local_weights = 0;  // channels of an item whose weights are copied to local memory once; `blocks`
  // Power instead of spectra: rows of sums of so many times each, [row][station][product][channel]; 0: none. The rows
  // of `unit` times lie together; within them `warp_specialized` and `blocks` share the times out among them as they
  // like.
  std::size_t summed = 0, unit = 0;
  Products products = Products::total;
  std::size_t product_count() const {
    return products == Products::total ? 1 : products == Products::powers ? geometry.polarizations : 4;
  }

  bool on_matrix_units() const { return fir == Fir::matrix || fir == Fir::warp_specialized || fir == Fir::stacked; }
  std::size_t numbers() const { return 2 * geometry.polarizations; }  // of one sample
  std::size_t split() const { return numbers() / parts; }             // items a channel
  std::size_t units() const { return streams * geometry.channels * split(); }
  std::size_t units_each() const { return (units() + items * pieces - 1) / (items * pieces); }
  std::size_t lines() const { return streams * steps * geometry.polarizations; }
  // Groups side by side: stations, and polarizations where a group of `blocks` has one.
  std::size_t station_groups() const {
    return (geometry.stations + streams - 1) / streams * (fir == Fir::blocks ? split() : 1) * pieces;
  }
  // Spectra of one turn of the loop: the delay line is back where it was.
  std::size_t period() const;
  // Turns of the kernel's loop in it.
  std::size_t period_rounds() const { return fir == Fir::registers ? 1 : period() / steps; }
};

inline constexpr const char* kKernelName = "filter_bank";

struct KernelText {
  KernelSource source;
  std::size_t local_bytes = 0;
};

KernelText text_of(const KernelDesign& design);  // whatever its FIR is

// The same as power, summed over times; nothing where its kernel has no such rows.
std::optional<KernelDesign> as_power(KernelDesign design, Products products, std::size_t times);

// `registers` and `gather`.
KernelText fir_text(const KernelDesign& design);
// `matrix`: 16 * Q channels, Q even and at most 16, two polarizations, integers of up to 16 bits, critical.
KernelText matrix_text(const KernelDesign& design);
// `warp_specialized`: those with 64, 128 or 256 channels; 512 items. CUDA only.
KernelText warp_specialized_text(const KernelDesign& design);

// `stacked`: 512 channels, up to 16 taps, two polarizations of bytes, critical; 512 items, 16 spectra. CUDA only.
KernelText stacked_text(const KernelDesign& design);

// `blocks`: 256 times 1, 2, 4, 8 or 16 channels, two polarizations, critical, whole rows in a block, order of time.
KernelText block_text(const KernelDesign& design);
std::vector<std::complex<float>> block_tables(const KernelDesign& design);

// `alternating`: 512 or 1024 channels, up to 16 taps, two polarizations of bytes, critical, no delays, spectra only;
// 512 items, 16 or 8 spectra, roots as `blocks` has them. CUDA from Hopper on.
KernelText alternating_text(const KernelDesign& design);

// Rows of power of a unit that `blocks` and `stacked` write.
std::size_t block_power_rows(const KernelDesign& design);
std::size_t stacked_power_rows(const KernelDesign& design);

// Roots for the stages of the transform, in the order the text expects them.
std::vector<std::complex<float>> transform_tables(const KernelDesign& design);

// The name of the type that holds `parts` numbers of a sample in memory, and the bytes it has.
struct RawType {
  std::string name;
  std::size_t bytes;
};
RawType raw_type(Samples samples, std::size_t parts);

// Words the dialect does not have: reinterpretation, byte permutation, conversion of every raw type.
std::string conversion_text(Samples samples, std::size_t parts);

}  // namespace ridge::filterbank::on_device
