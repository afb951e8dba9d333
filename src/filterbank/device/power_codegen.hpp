// Power in the registers of the work-items that have the last butterflies.
#pragma once
#include <cstddef>
#include <string>

#include "codegen/text.hpp"
#include "filterbank/device/design.hpp"

namespace ridge::filterbank::on_device {

// Sums of `count` channels, `step` apart, that an item has from turn to turn.
class PowerWriter {
 public:
  PowerWriter(codegen::Text& text, const KernelDesign& design, std::size_t count, std::size_t step)
      : text_(text), d_(design), count_(count), step_(step) {}

  void declare(const std::string& name = "power");
  void clear(const std::string& name = "power");
  // `v[k]` with what stands behind a spectrum; `k` of the first channel in words.
  void add(const std::string& first, const std::string& name = "power");
  // The polarizations of a time are in the halves of a sub-group (pol says which); crossed products too.
  void add_crossed(const std::string& first);
  // To row `row` (words), as it is.
  void store(const std::string& row, const std::string& product, const std::string& first,
             const std::string& name = "power");
  // The same where the other polarization is 16 lanes away.
  void store_crossed(const std::string& row, const std::string& first);

 private:
  void target(const std::string& row, const std::string& first);
  codegen::Text& text_;
  const KernelDesign& d_;
  std::size_t count_, step_;
};

}  // namespace ridge::filterbank::on_device
