// Real-to-real transforms within a pass: which sample a point of the transform in the middle is loaded from, and which
// values are stored of a value of its spectrum.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "fft/device/pass/design.hpp"

namespace ridge::fft::on_device {

// The roots of unity that loads or stores multiply with.
struct KindRoots {
  std::size_t order = 1, count = 0;
  std::size_t turned = 0;  // type IV: so many by quarters of a step first
  std::size_t exponent(std::size_t k) const { return turned == 0 ? k : k < turned ? 4 * k + 1 : 4 * (k - turned); }
};
KindRoots real_kind_roots(RealKind kind, std::size_t n);

// Rows whose samples are better moved four at a time through local memory.
bool real_kind_quads(const PassDesign& design, bool load);

// Whether values of two points opposite each other are made together: turned(), opposite() and put_pair() are there.
bool real_kind_turned(const PassDesign& design);

// Reals from a line to the next where values are stored through local memory: work-items of several lines that write
// the same value of each then meet no other in its bank.
std::size_t real_kind_pitch(const PassDesign& design);

// sample_at, value_at or point_at, put_sample or put_value.
std::string real_kind_functions(const PassDesign& design);

// A point of the transform, `index` (below `butterflies`) and a constant away; `table` is where the roots are.
std::string real_kind_fetched(const PassDesign& design, std::size_t table, const std::string& index,
                              std::uint64_t constant, std::size_t butterflies);
std::string real_kind_stored(const PassDesign& design, std::size_t table, const std::string& value,
                             const std::string& place);

}  // namespace ridge::fft::on_device
