// Stage of a tile kernel that rotates by any angle.
#include <cmath>

#include "image/methods/device/stages.hpp"
#include "image/operators/rotate/places.hpp"

namespace ridge::image {
namespace on_device {
namespace {

// A coordinate of cv::warpAffine in units of 2^-40 pixel: the row's start and the column's offset are rounded to
// 1/1024 pixel, their sum to 1/32 pixel (whole pixels for nearest). Each factor is split into two integers, so that
// products keep 2^-43 pixel and fit 64 bits for up to a million rows or columns.
void write_opencv_place(StageText& text, char axis, const RotatedPlaces::Line& place, bool nearest) {
  const auto rounded = [](const char* index, double factor, double origin) {
    const long long scaled = std::llround(factor * 1024 * 0x1p43), high = scaled >> 12, low = scaled & 4095;
    return fmt::format("(({0} * {1}L + (({0} * {2}L) >> 12) + {3}L) >> 31)", index, high, low,
                       std::llround(origin * 1024 * 0x1p31) + 0x40000000LL);
  };
  text.line("  const long q{} = {} + {} + {}L;", axis, rounded("c0", place.across, 0),
            rounded("r", place.down, place.origin), nearest ? 512 : 16);
  text.line("  const long p{0} = (q{0} >> {1}) << {2};", axis, nearest ? 10 : 5, nearest ? 40 : 35);
}

// Coordinates are 64-bit integers in units of 2^-40 pixel: as exact as double, also on devices without it.
void write_rotation(StageText& text, const Rotate& rotate) {
  const std::size_t k = text.number;
  const RotatedPlaces places(rotate, text.stage.in);
  const auto fixed = [](double value) { return std::llround(value * 1099511627776.0); };
  text.line("  const long r = o[{}] + y, c0 = o[{}] + x;", 2 * k, 2 * k + 1);
  for (const auto& [axis, place] : {std::pair{'x', places.x_line()}, std::pair{'y', places.y_line()}}) {
    if (rotate.like == Like::ridge) {
      text.line("  const long p{} = {}L + c0 * {}L + r * {}L;", axis, fixed(place.origin), fixed(place.across),
                fixed(place.down));
    } else {
      write_opencv_place(text, axis, place, rotate.interpolation == Interpolation::nearest);
    }
  }
  if (rotate.interpolation == Interpolation::nearest) {
    text.line("  const long middle = {}L;", fixed(0.5));
    text.line("  {}", text.read("(int)((py + middle) >> 40)", "(int)((px + middle) >> 40)", "v"));
    return;
  }
  text.line("  const int wy = (int)(py >> 40), wx = (int)(px >> 40);");
  text.line("  const float fy = (float)(py & 0xffffffffffL) * 9.094947017729282e-13f;");
  text.line("  const float fx = (float)(px & 0xffffffffffL) * 9.094947017729282e-13f;");
  const bool cubic = rotate.interpolation == Interpolation::bicubic;
  const int taps = cubic ? 4 : 2, before = cubic ? 1 : 0;
  if (cubic) {
    for (const char axis : {'y', 'x'}) {
      text.line("  const float g{0} = 1.0f - f{0};", axis);
      text.line(
          "  const float a{0}[4] = {{-0.75f * f{0} * g{0} * g{0}, FMA(FMA(1.25f, f{0}, -2.25f), f{0} * f{0}, 1.0f), "
          "FMA(FMA(1.25f, g{0}, -2.25f), g{0} * g{0}, 1.0f), -0.75f * g{0} * f{0} * f{0}}};",
          axis);
    }
  } else {
    text.line("  const float ay[2] = {{1.0f - fy, fy}}, ax[2] = {{1.0f - fx, fx}};");
  }
  text.clear();
  text.line("  UNROLL\n  for (int i = 0; i < {}; ++i) {{\n    UNROLL\n    for (int j = 0; j < {}; ++j) {{", taps, taps);
  text.line("      {}", text.read(fmt::format("wy + i - {}", before), fmt::format("wx + j - {}", before), "s"));
  text.line("      UNROLL\n      for (int c = 0; c < {}; ++c) v[c] = FMA(ay[i] * ax[j], s[c], v[c]);\n    }}\n  }}",
            text.channels);
}

}  // namespace
}  // namespace on_device

bool rotate_tile(const Rotate& o, on_device::StageList& stages) {
  if (quarter_turns(o)) return false;
  on_device::TileStage made =
      stages.stage(stages.in(), [o](on_device::StageText& text) { on_device::write_rotation(text, o); });
  made.reads = on_device::Reads::anywhere;
  made.has_border = true;
  return stages.add(std::move(made));
}

}  // namespace ridge::image
