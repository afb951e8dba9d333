// Columns and large transforms of double with Armv8.3 complex arithmetic; see fcma_double.cpp about its flags.
#if defined(__aarch64__)
#include "fft/host/power2/engines.hpp"
#include "fft/host/power2/fcma/fcma.hpp"

namespace ridge::fft::power2::fcma {
namespace {

// Each header builds on the previous one.
// clang-format off
#include "fft/host/power2/butterflies-inl.hpp"
#include "fft/host/power2/lines-inl.hpp"
#include "fft/host/power2/levels-inl.hpp"
#include "fft/host/power2/columns-inl.hpp"
#include "fft/host/power2/fcma/fcma_large-inl.hpp"
// clang-format on

constexpr Level<double> kLevels[] = {level_of<Double, 4>(), level_of<Double, 8>(), level_of<Double, 16>()};
constexpr ColumnLine<double> kColumnLines[] = {
    column_line<Double, 2>(),     column_line<Double, 4>(),      column_line<Double, 8>(),
    column_line<Double, 16>(),    column_line<Double, 8, 4>(),   column_line<Double, 8, 8>(),
    column_line<Double, 16, 8>(), column_line<Double, 16, 16>(), column_line<Double, 8, 8, 8>(),
};
constexpr ColumnLevel<double> kColumnLevels[] = {column_level_of<Double, 4>(), column_level_of<Double, 8>(),
                                                 column_level_of<Double, 16>()};

}  // namespace

const Engine<double>& double_engine() {
  using P = Double<false>;
  static const Engine<double> engine{"fcma",
                                     P::kLanes,
                                     false,
                                     256,
                                     true,
                                     P::kSame / 2,
                                     P::kStrip,
                                     64 / sizeof(double) / 2,
                                     double_lines(),
                                     items(kLevels),
                                     items(kColumnLines),
                                     items(kColumnLevels),
                                     {nullptr, 0},
                                     reorder<P>};
  return engine;
}

}  // namespace ridge::fft::power2::fcma
#endif
