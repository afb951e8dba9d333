// Real-to-real transforms within a pass: the mapping from samples to points of the inner complex transform, and from
// its spectrum to the stored values.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "fft/device/pass/design.hpp"

namespace ridge::fft::on_device {

// The roots of unity that loads or stores multiply with.
struct KindRoots {
  std::size_t order = 1, count = 0;
  std::size_t quarter_roots = 0;  // type IV: number of roots at quarter steps, which come first
  std::size_t exponent(std::size_t k) const {
    return quarter_roots == 0 ? k : k < quarter_roots ? 4 * k + 1 : 4 * (k - quarter_roots);
  }
};

inline bool is_sine(RealKind kind) {
  return kind == RealKind::dst1 || kind == RealKind::dst2 || kind == RealKind::dst3 || kind == RealKind::dst4;
}

KindRoots real_kind_roots(RealKind kind, std::size_t n);

// True if samples should move four at a time through local memory.
bool real_kind_quads(const PassDesign& design, bool load);

// True if the values of points k and n - k are computed together by rotated(), opposite() and put_pair().
bool real_kind_in_pairs(const PassDesign& design);

// Distance of lines in local memory, in reals, without bank conflicts when work-items of several lines write the same
// value.
std::size_t real_kind_pitch(const PassDesign& design);

// Text of the helper functions: sample_at, value_at or point_at, put_sample or put_value.
std::string real_kind_functions(const PassDesign& design);

// Expression for the point `index` + constant of the inner transform; `table` is the offset of the roots.
std::string real_kind_fetched(const PassDesign& design, std::size_t table, const std::string& index,
                              std::uint64_t constant, std::size_t butterflies);
std::string real_kind_stored(const PassDesign& design, std::size_t table, const std::string& value,
                             const std::string& place);

}  // namespace ridge::fft::on_device
