// Kernel text for power sums, kept in the registers of the work-items that compute the last butterflies.
#pragma once
#include <cstddef>
#include <string>

#include "codegen/text.hpp"
#include "filterbank/device/design.hpp"

namespace ridge::filterbank::on_device {

// Number of loop iterations over which a work-item sums power in registers. An iteration computes design.steps spectra,
// and `times` spectra make one output sum. 0 if `times` is not a multiple of design.steps.
std::size_t power_iterations(const KernelDesign& design, std::size_t times);

// Sets design.unit, the spectra per work unit, to whole iterations, and design.summed for `rows` output rows per unit.
// False if `times` or the products do not allow it.
bool sum_whole_iterations(KernelDesign& design, std::size_t times, std::size_t rows);

// Sums of squares per work-item that `local` bytes of local memory per compute unit hold beside the kernel's own data;
// 0 if the registers hold all. A multiple of 4.
std::size_t local_squares(const KernelDesign& design, std::size_t local);

// Emits the power sums of `count` channels, `step` apart, that a work-item keeps in registers over its loop.
class PowerWriter {
 public:
  PowerWriter(codegen::Text& text, const KernelDesign& design, std::size_t count, std::size_t step)
      : text_(text), d_(design), count_(count), step_(step) {}

  // Declares `squares`, the item's sums of squares in local memory, at `place`, an address aligned to 16 bytes. Nothing
  // if design.local_squares is 0.
  void declare_local(const std::string& place);
  void declare(const std::string& name = "power");
  void clear(const std::string& name = "power");
  // Adds the power of the finished values `v[k]`. `first` is the expression for the first channel.
  void add(const std::string& first, const std::string& name = "power");
  // Adds power and cross products. The two polarizations of a spectrum are in the two halves of a sub-group (`pol`).
  void add_crossed(const std::string& first);
  // Stores the sums to row `row` (an expression).
  void store(const std::string& row, const std::string& product, const std::string& first,
             const std::string& name = "power");
  // As store(), with the other polarization 16 lanes away.
  void store_crossed(const std::string& row, const std::string& first);

 private:
  std::size_t vector_at(std::size_t k) const;  // index in `squares` of the vector that holds channel number k
  void target(const std::string& row, const std::string& first);
  bool second_sums() const { return d_.products == Products::stokes || d_.products == Products::moments; }
  codegen::Text& text_;
  const KernelDesign& d_;
  std::size_t count_, step_;
};

}  // namespace ridge::filterbank::on_device
