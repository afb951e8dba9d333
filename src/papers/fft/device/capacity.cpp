// The capacity model of Bergach's thesis, rounded down to sizes for which a kernel exists.
#include <algorithm>
#include <bit>
#include <limits>

#include "papers/fft/device/unit.hpp"

namespace ridge::fft::papers {

std::size_t registers_per_item(const UnitCapacity& unit) {
  const std::size_t each = unit.registers / std::max<std::size_t>(unit.lanes * unit.threads, 1);
  return unit.most_registers > 0 ? std::min(each, unit.most_registers) : each;
}

std::size_t points_per_item(const UnitCapacity& unit) {
  const std::size_t registers = registers_per_item(unit);
  if (registers <= 4) return 0;
  return std::bit_floor((registers - 1) / 4);
}

std::size_t longest_in_local_memory(const UnitCapacity& unit) {
  return std::bit_floor(unit.local_memory / (8 * std::max<std::size_t>(unit.units, 1)));
}

std::size_t local_memory_share(const UnitCapacity& unit, std::size_t group) {
  return unit.local_memory * group / std::max<std::size_t>(unit.lanes * unit.threads * unit.units, 1);
}

double compute_to_communication(int log_n, std::size_t passes) {
  if (passes < 2) return std::numeric_limits<double>::infinity();
  // 6 * N/2 * log2 N operations over two words written and two read per point, between two passes.
  return 3.0 * log_n / (4.0 * static_cast<double>(passes - 1));
}

}  // namespace ridge::fft::papers
