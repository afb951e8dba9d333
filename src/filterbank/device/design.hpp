// Parameters of a filter-bank kernel on a device.
#pragma once
#include <cstddef>
#include <vector>

#include <ridge/device.hpp>

#include "filterbank/geometry.hpp"

namespace ridge::filterbank::on_device {

struct Fir;

enum class Factors {
  none,
  channels,
  all
};  // bandpass: one factor per channel, or one per (polarization, station, channel)

struct KernelDesign {
  Geometry geometry{};
  const Fir* fir = nullptr;
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
  std::size_t local_squares = 0;  // moments: sums of squares per work-item in local memory instead of registers
  bool bytes = false;             // spectra as pairs of signed bytes, rounded to -127 .. 127
  std::size_t product_count() const { return filterbank::product_count(products, geometry.polarizations); }

  std::size_t numbers() const { return 2 * geometry.polarizations; }  // per sample
  std::size_t split() const { return numbers() / parts; }             // work-items per channel
  std::size_t units() const { return streams * geometry.channels * split(); }
  std::size_t units_each() const { return (units() + items * channel_groups - 1) / (items * channel_groups); }
  std::size_t lines() const { return streams * steps * geometry.polarizations; }
  // Groups per time range: one per `streams` stations, per polarization if the method splits them, and per channel
  // group.
  std::size_t station_groups() const;
  std::size_t iteration() const;  // spectra per iteration of the kernel's loop over time
  // Spectra after which the registers of the delay line and the units of power repeat.
  std::size_t period() const;
  std::size_t period_rounds() const { return period() / iteration(); }
};

inline constexpr const char* kKernelName = "filter_bank";
// Kernels with split barriers at which one work-item per warp arrives: racecheck does not follow them, so that
// bench/gpu_machine.sh excludes this name (bench/race_barriers.cu shows it).
inline constexpr const char* kSplitKernelName = "filter_bank_split";

struct KernelText {
  KernelSource source;
  std::size_t local_bytes = 0;
  const char* kernel = kKernelName;
};

KernelText text_of(const KernelDesign& design);  // of the design's FIR method

}  // namespace ridge::filterbank::on_device
