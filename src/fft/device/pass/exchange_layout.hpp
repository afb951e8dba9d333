// Layout of points in local memory during the exchange between two stages.
#pragma once
#include <cstddef>
#include <string>

#include "fft/device/pass/design.hpp"

namespace ridge::fft::on_device {

// Point p of line c is at place(p) * lines + c if lines are interleaved, else at c * pitch + place(p), where
// place(p) = p + p / period * extra.
struct ExchangeLayout {
  bool interleaved_lines = false;
  std::size_t lines = 1;
  std::size_t period = 0, extra = 0;  // period 0: no padding
  std::size_t pitch = 0;
  std::size_t elements = 0;  // of the whole work-group

  std::size_t place(std::size_t point) const { return period == 0 ? point : point + point / period * extra; }
  std::size_t at(std::size_t point, std::size_t line) const {
    return interleaved_lines ? place(point) * lines + line : line * pitch + place(point);
  }
  std::size_t step() const { return interleaved_lines ? lines : 1; }
};

// The layout with the fewest bank conflicts between the stages `from` and `to`, and the least memory among those.
// `element_bytes` are moved by each access: a complex number, or half of one where the exchange is split.
ExchangeLayout exchange_layout(const PassDesign& design, const StageDesign& from, const StageDesign& to,
                               std::size_t element_bytes);

// Serialized local memory accesses of the first sub-group; for tests and explain().
std::size_t bank_accesses(const PassDesign& design, const StageDesign& from, const StageDesign& to,
                          const ExchangeLayout& layout, std::size_t element_bytes);

// Local memory accesses of all exchanges, relative to conflict-free ones.
double conflicts(const PassDesign& design);

}  // namespace ridge::fft::on_device
