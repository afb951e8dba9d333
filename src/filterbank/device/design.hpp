// Parameters of a filter-bank kernel on a device.
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
  registers,         // delay line of a channel in registers, renamed instead of shifted; critical sampling only
  gather,            // reads the sample of every tap again, relying on caches; any problem
  matrix,            // 16 times of a channel as a product with a Toeplitz matrix of weights, on the matrix units
  warp_specialized,  // as `matrix`, samples kept as bytes; half of the warps filter, half transform
  stacked,           // bytes; upper and lower float16 parts of the weights are rows of one product; 512 channels
  blocks,            // blocks of spectra from raw rows in registers, for 256 to 4096 channels
  alternating,       // as `blocks`, one polarization after the other; half of the warps transform each
};
const char* to_string(Fir fir);

enum class Factors {
  none,
  channels,
  all
};  // bandpass: one factor per channel, or one per (polarization, station, channel)

struct KernelDesign {
  Geometry geometry{};
  Fir fir = Fir::registers;
  bool transform = true;           // if false, the kernel writes the FIR's branches
  std::size_t items = 256;         // work-items per group
  std::size_t streams = 1;         // stations per group
  std::size_t channel_groups = 1;  // groups that share the channels of a station; only without a transform
  std::size_t parts = 4;     // real numbers of a sample that one work-item filters: 2, or 4 for both polarizations
  std::size_t steps = 8;     // spectra between two barriers
  std::size_t rounds = 0;    // iterations of the loop over time; 0: given at launch
  std::size_t resident = 2;  // groups that should fit one compute unit
  std::vector<std::size_t> radices = {};
  Factors factors = Factors::none;
  bool constant_weights = false;  // stored in the device's constant memory
  std::size_t local_weights = 0;  // `blocks`: channels per work-item whose weights are kept in local memory
  // Power instead of spectra: rows of sums of `summed` times each, [row][station][product][channel]; 0: spectra. The
  // rows of `unit` consecutive times are adjacent. Within a unit, `warp_specialized` and `blocks` may assign any times
  // to any row.
  std::size_t summed = 0, unit = 0;
  Products products = Products::total;
  std::size_t product_count() const {
    return products == Products::total ? 1 : products == Products::powers ? geometry.polarizations : 4;
  }

  bool on_matrix_units() const { return fir == Fir::matrix || fir == Fir::warp_specialized || fir == Fir::stacked; }
  std::size_t numbers() const { return 2 * geometry.polarizations; }  // per sample
  std::size_t split() const { return numbers() / parts; }             // work-items per channel
  std::size_t units() const { return streams * geometry.channels * split(); }
  std::size_t units_each() const { return (units() + items * channel_groups - 1) / (items * channel_groups); }
  std::size_t lines() const { return streams * steps * geometry.polarizations; }
  // Groups per time range: one per `streams` stations, per polarization where `blocks` splits them, and per channel
  // group.
  std::size_t station_groups() const {
    return (geometry.stations + streams - 1) / streams * (fir == Fir::blocks ? split() : 1) * channel_groups;
  }
  // Spectra after which the delay line is back in its initial registers.
  std::size_t period() const;
  // Iterations of the kernel's loop per period.
  std::size_t period_rounds() const { return fir == Fir::registers ? 1 : period() / steps; }
};

inline constexpr const char* kKernelName = "filter_bank";

struct KernelText {
  KernelSource source;
  std::size_t local_bytes = 0;
};

KernelText text_of(const KernelDesign& design);  // dispatches on design.fir

// The same design with power output, summed over divisors of `times`; empty if its kernel cannot write such rows.
std::optional<KernelDesign> as_power(KernelDesign design, Products products, std::size_t times);

// `registers` and `gather`.
KernelText fir_text(const KernelDesign& design);
// `matrix`: 16 * Q channels, Q even and at most 16, two polarizations, integers of up to 16 bits, critical sampling.
KernelText matrix_text(const KernelDesign& design);
// `warp_specialized`: as `matrix`, with 64, 128 or 256 channels; 512 work-items. CUDA only.
KernelText warp_specialized_text(const KernelDesign& design);

// `stacked`: 512 channels, up to 16 taps, two polarizations of bytes, critical sampling; 512 work-items, 16 spectra.
// CUDA only.
KernelText stacked_text(const KernelDesign& design);

// `blocks`: 256 times 1, 2, 4, 8 or 16 channels, two polarizations, critical sampling, whole rows per block,
// Order::time.
KernelText block_text(const KernelDesign& design);
std::vector<std::complex<float>> block_tables(const KernelDesign& design);

// `alternating`: 512 or 1024 channels, up to 16 taps, two polarizations of bytes, critical sampling, no delays, spectra
// only; 512 work-items, 16 or 8 spectra, the twiddle tables of `blocks`. CUDA from Hopper on.
KernelText alternating_text(const KernelDesign& design);

// Power rows per unit that `blocks` and `stacked` write.
std::size_t block_power_rows(const KernelDesign& design);
std::size_t stacked_power_rows(const KernelDesign& design);

// Twiddle factors of the transform's stages, in the order in which the kernel text reads them.
std::vector<std::complex<float>> transform_tables(const KernelDesign& design);

// Name and size of the type that holds `parts` numbers of a sample in memory.
struct RawType {
  std::string name;
  std::size_t bytes;
};
RawType raw_type(Samples samples, std::size_t parts);

// Macros that the dialect lacks: bit reinterpretation, byte permutation, and the conversion of the raw type to float.
std::string conversion_text(Samples samples, std::size_t parts);

}  // namespace ridge::filterbank::on_device
