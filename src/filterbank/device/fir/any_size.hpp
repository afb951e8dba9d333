// FIR kernels for any number of channels: the sums go through local memory to a Stockham transform. `registers` and
// `gather` differ in how they filter.
#pragma once
#include <complex>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "codegen/text.hpp"
#include "filterbank/device/fir/fir.hpp"

namespace ridge::filterbank::on_device {

// Writes the kernel around filter(): conversion, loads, transform, bandpass and stores.
class AnySizeWriter {
 public:
  explicit AnySizeWriter(const KernelDesign& design);
  virtual ~AnySizeWriter() = default;
  KernelText write();

 protected:
  // Writes the loop over time: for each block of `steps` spectra, put() of all sums, and transform().
  virtual void filter() = 0;

  // Units of a work-item: channel, part of the sample, station.
  std::size_t each() const { return d_.units_each(); }
  std::size_t stride() const { return g_.stations * g_.channels * d_.split(); }
  // Rows by which the unit's station is delayed.
  std::string later(std::size_t j) const { return g_.delayed ? fmt::format(" + later{}", j) : std::string(); }

  // Loads the raw value of unit j in row `row`, counted from the oldest row of the first spectrum. `row` is an
  // expression plus a constant; `condition` tells that the row exists.
  void load(const std::string& to, std::size_t j, const std::string& row, const std::string& condition);
  // Declares pointers to the units' values in row `row`.
  void row_pointers(const std::string& row);
  void open_rounds();  // the loop over time
  // Writes the sums of one step to local memory, or to the output.
  void put(std::size_t j, std::size_t step);
  void transform();  // nothing if the design has no transform

  const KernelDesign& d_;
  const Geometry& g_;
  codegen::Text text_;

 private:
  void head();
  std::string arguments() const;
  void units();
  // The unit's position in a row, in samples.
  std::string place(std::size_t j) const {
    return g_.delayed ? fmt::format("moved{} % {}", j, g_.channels) : fmt::format("channel{}", j);
  }
  bool in_place() const { return g_.by_channel || d_.summed > 0; }
  void store_power();
  void store_by_channel();

  std::size_t pitch_ = 1;
};

// Twiddle factors of the transform's stages, in the order in which the kernel text reads them.
std::vector<std::complex<float>> transform_tables(const KernelDesign& design);

bool sum_any_size(KernelDesign& design, std::size_t times);

// Reduces a number of spectra between two barriers to one that the method supports.
using LimitSteps = std::size_t(const Geometry& geometry, std::size_t steps);

// Designs with or without a transform that fit the device, the most promising first.
std::vector<KernelDesign> any_size_designs(const Device& device, const Problem& problem, const Geometry& geometry,
                                           const Fir& fir, LimitSteps& limit, bool transform, std::size_t parts);

// The first design without a transform. Its output is in Order::time for any order of the problem.
KernelDesign any_size_alone(const Device& device, const Problem& problem, Geometry geometry, const Fir& fir,
                            LimitSteps& limit, std::size_t parts);

// The `gather` FIR without a transform.
// `parts`: real numbers of a sample per work-item.
KernelDesign gather_alone(const Device& device, const Problem& problem, const Geometry& geometry, std::size_t parts);

// The `registers` FIR without a transform.
// `parts`: real numbers of a sample per work-item. Critical sampling and at most 64 taps.
KernelDesign registers_alone(const Device& device, const Problem& problem, const Geometry& geometry, std::size_t parts);

}  // namespace ridge::filterbank::on_device
