// Columns and large transforms of float with Armv8.3 complex arithmetic; see fcma_float.cpp about its flags.
#if defined(__aarch64__)
#include "fft/host/power2/engines.hpp"
#include "fft/host/power2/fcma/fcma.hpp"

namespace ridge::fft::power2::fcma {
namespace {

// Each header builds on the previous one.
// clang-format off
#include "fft/host/power2/butterflies-inl.hpp"
#include "fft/host/power2/lines-inl.hpp"
#include "fft/host/power2/short_lines-inl.hpp"
#include "fft/host/power2/levels-inl.hpp"
#include "fft/host/power2/columns-inl.hpp"
#include "fft/host/power2/fcma/fcma_large-inl.hpp"
// clang-format on

constexpr Level<float> kLevels[] = {level_of<Float, 4>(), level_of<Float, 8>(), level_of<Float, 16>()};
constexpr ColumnLine<float> kColumnLines[] = {
    column_line<Float, 2>(),     column_line<Float, 4>(),      column_line<Float, 8>(),
    column_line<Float, 16>(),    column_line<Float, 8, 4>(),   column_line<Float, 8, 8>(),
    column_line<Float, 16, 8>(), column_line<Float, 16, 16>(), column_line<Float, 8, 8, 8>(),
};
constexpr ColumnLevel<float> kColumnLevels[] = {column_level_of<Float, 4>(), column_level_of<Float, 8>(),
                                                column_level_of<Float, 16>()};

// Two adjacent transforms need no twiddles that differ by lane.
constexpr Batch<float> kBatches[] = {
    {16,
     {16, 0, 0, 0},
     {ShortBatch<Float<false>, FloatOne<false>, 16>::run, ShortBatch<Float<true>, FloatOne<true>, 16>::run}}};

}  // namespace

const Engine<float>& float_engine() {
  using P = Float<false>;
  static const Engine<float> engine{"fcma",
                                    P::kLanes,
                                    false,
                                    1024,
                                    true,
                                    P::kSame / 2,
                                    P::kStrip,
                                    64 / sizeof(float) / 2,
                                    float_lines(),
                                    items(kLevels),
                                    items(kColumnLines),
                                    items(kColumnLevels),
                                    items(kBatches),
                                    reorder<P>};
  return engine;
}

}  // namespace ridge::fft::power2::fcma
#endif
