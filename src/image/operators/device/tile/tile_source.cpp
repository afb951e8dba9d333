// Generates a kernel that computes stages one after another on a tile. For every stage k it contains
//   at_k(y, x)     the value at a position of its input region: from local memory, or computed on demand;
//   stage_k(y, x)  the result at a position of its output region.
// Region k is the output of stage k; region 0 is the image. o[] holds the regions' origins, n[] the full sizes.
#include <cmath>

#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "image/operators/device/stages.hpp"
#include "image/operators/median_network.hpp"

namespace ridge::image::on_device {
namespace {

const char* border_name(Border border) {
  constexpr const char* kNames[] = {"bordered_101", "bordered_reflect", "bordered_replicate", "bordered_constant",
                                    "bordered_wrap"};
  return kNames[static_cast<std::size_t>(border)];
}

class Writer {
 public:
  Writer(const std::vector<TileStage>& stages, const TileLayout& layout, const Shape& guide, const Limits& limits)
      : stages_(stages), layout_(layout), guide_(guide), registers_(limits.private_arrays_in_registers) {
    for (const TileStage& stage : stages) {
      guided_ = guided_ || stage.guided;
      tables_ = tables_ || !stage.down.from.empty() || !stage.across.from.empty();
    }
  }

  KernelSource write() {
    text_ = detail::kernel_text("image/operator_common");
    arguments();
    load_function("image_at", "in", "in_pitch", stages_.front().in);
    if (guided_) guide_function();
    for (std::size_t k = 1; k <= stages_.size(); ++k) {
      computed_function(k);
      if (layout_.kept[k - 1]) kept_function(k);
      stage_function(k);
    }
    kernel();
    return {.name = "image_tile", .text = text_};
  }

 private:
  template <class... Parts>
  void line(fmt::format_string<Parts...> format, Parts&&... parts) {
    text_ += fmt::format(format, std::forward<Parts>(parts)...) + "\n";
  }
  std::size_t channels(std::size_t region) const {
    return region == 0 ? stages_.front().in.channels : stages_[region - 1].out.channels;
  }
  const char* kept_type(std::size_t region) const {
    if (region == 0) return element_type(stages_.front().in.depth);
    return stages_[region - 1].rounded ? element_type(stages_[region - 1].out.depth) : "float";
  }

  void arguments() {
    line("#define IMAGE {}", element_type(stages_.front().in.depth));
    line(
        "#define ARGUMENTS GLOBAL const IMAGE* RESTRICT in, ulong in_pitch{}, const int* n, const int* o, LOCAL uchar* "
        "area{}",
        guided_ ? ", GLOBAL const GUIDE* RESTRICT guide, ulong guide_pitch" : "",
        tables_ ? ", GLOBAL const int* RESTRICT places, GLOBAL const float* RESTRICT weights" : "");
    if (guided_) line("#define GUIDE {}", element_type(guide_.depth));
    line("#define PASSED in, in_pitch{}, n, o, area{}", guided_ ? ", guide, guide_pitch" : "",
         tables_ ? ", places, weights" : "");
  }

  void load_function(const char* name, const char* from, const char* pitch, const Shape& shape) {
    line("FUNCTION void {}(ARGUMENTS, int y, int x, float* v) {{", name);
    line("  GLOBAL const {}* p = {} + (ulong)y * {} + (ulong)(x * {});", element_type(shape.depth), from, pitch,
         shape.channels);
    line("  UNROLL\n  for (int c = 0; c < {}; ++c) v[c] = (float)p[c];\n}}", shape.channels);
  }

  // Reads the guide from global memory with the stage's border.
  void guide_function() {
    load_function("guide_inside", "guide", "guide_pitch", guide_);
    const TileStage* stage = nullptr;
    for (const TileStage& each : stages_) stage = each.guided ? &each : stage;
    line("FUNCTION void guide_at(ARGUMENTS, int y, int x, float* v) {{");
    line("  y = {}(y, {});", border_name(stage->border), guide_.rows);
    line("  x = {}(x, {});", border_name(stage->border), guide_.columns);
    if (stage->border == Border::constant) {
      line("  if (y < 0 || x < 0) {{\n    for (int c = 0; c < {}; ++c) v[c] = {};\n    return;\n  }}", guide_.channels,
           literal(stage->constant));
    }
    line("  guide_inside(PASSED, y, x, v);\n}}");
  }

  void computed_function(std::size_t k) {
    const TileStage& stage = stages_[k - 1];
    line("FUNCTION void computed_{}(ARGUMENTS, int y, int x, float* v) {{", k);
    if (stage.has_border) {
      line("  y = {}(o[{}] + y, n[{}]);", border_name(stage.border), 2 * k - 2, 2 * k - 2);
      line("  x = {}(o[{}] + x, n[{}]);", border_name(stage.border), 2 * k - 1, 2 * k - 1);
      if (stage.border == Border::constant) {
        line("  if (y < 0 || x < 0) {{\n    for (int c = 0; c < {}; ++c) v[c] = {};\n    return;\n  }}",
             channels(k - 1), literal(stage.constant));
      }
      if (k == 1) {
        line("  image_at(PASSED, y, x, v);\n}}");
      } else {
        line("  stage_{}(PASSED, y - o[{}], x - o[{}], v);\n}}", k - 1, 2 * k - 2, 2 * k - 1);
      }
    } else if (k == 1) {
      line("  image_at(PASSED, o[0] + y, o[1] + x, v);\n}}");
    } else {
      line("  stage_{}(PASSED, y, x, v);\n}}", k - 1);
    }
    if (!layout_.kept[k - 1]) line("#define at_{} computed_{}", k, k);
  }

  void kept_function(std::size_t k) {
    line("FUNCTION void at_{}(ARGUMENTS, int y, int x, float* v) {{", k);
    line("  LOCAL const {}* p = (LOCAL const {}*)(area + {}) + (y * {} + x) * {};", kept_type(k - 1), kept_type(k - 1),
         layout_.offsets[k - 1], layout_.widths[k - 1], channels(k - 1));
    line("  UNROLL\n  for (int c = 0; c < {}; ++c) v[c] = (float)p[c];\n}}", channels(k - 1));
  }

  void stage_function(std::size_t k) {
    const TileStage& stage = stages_[k - 1];
    const std::size_t in = channels(k - 1), out = channels(k);
    if (!stage.weights.empty()) text_ += float_table(fmt::format("weights_{}", k).c_str(), stage.weights);
    line("FUNCTION void stage_{}(ARGUMENTS, int y, int x, float* v) {{", k);
    line("  float s[{}];", in);
    switch (stage.kind) {
      case StageKind::gray:
        line("  at_{}(PASSED, y, x, s);", k);
        line("  v[0] = FMA({}, s[0], FMA({}, s[1], {} * s[2]));", literal(kGrayWeights[0]), literal(kGrayWeights[1]),
             literal(kGrayWeights[2]));
        break;
      case StageKind::convolve:
        window(k, in, fmt::format("weights_{}[i * {} + j]", k, stage.across.before + stage.across.after + 1));
        break;
      case StageKind::down:
      case StageKind::across:
      case StageKind::resize_down:
      case StageKind::resize_across:
        along(k, in);
        break;
      case StageKind::gradient:
        gradient(k, stage);
        break;
      case StageKind::median:
        median(k, in, stage);
        break;
      case StageKind::bilateral:
        bilateral(k, in, stage);
        break;
      case StageKind::rotate:
        rotate(k, in, stage);
        break;
    }
    if (stage.rounded) {
      line("  UNROLL\n  for (int c = 0; c < {}; ++c) v[c] = whole_number(v[c], {});", out,
           stage.out.depth == Depth::u8 ? "255.0f" : "65535.0f");
    }
    line("}}");
  }

  void cleared(std::size_t count) { line("  UNROLL\n  for (int c = 0; c < {}; ++c) v[c] = 0.0f;", count); }

  void window(std::size_t k, std::size_t in, const std::string& weight) {
    const TileStage& stage = stages_[k - 1];
    const int rows = stage.down.before + stage.down.after + 1, columns = stage.across.before + stage.across.after + 1;
    cleared(in);
    line("  for (int i = 0; i < {}; ++i) {{", rows);
    if (columns <= 32) line("    UNROLL");
    line("    for (int j = 0; j < {}; ++j) {{", columns);
    line("      at_{}(PASSED, y + i, x + j, s);", k);
    line("      UNROLL\n      for (int c = 0; c < {}; ++c) v[c] = FMA({}, s[c], v[c]);\n    }}\n  }}", in, weight);
  }

  // Weighted sum down a column or along a row; positions come from a table or have a constant step.
  void along(std::size_t k, std::size_t in) {
    const TileStage& stage = stages_[k - 1];
    const bool down = stage.kind == StageKind::down || stage.kind == StageKind::resize_down;
    const AxisTaps& axis_taps = down ? stage.down : stage.across;
    const int taps = axis_taps.from.empty() ? axis_taps.before + axis_taps.after + 1 : axis_taps.taps;
    const char* axis = down ? "y" : "x";
    std::string place = fmt::format("{} * {}", axis_taps.step, axis), weight = fmt::format("weights_{}[i]", k);
    if (!axis_taps.from.empty()) {
      const std::size_t o = 2 * k + (down ? 0 : 1);
      // Positions outside the image are not used, but the table must not be read beyond its ends.
      line("  const int wanted = o[{}] + {}, place = wanted < 0 ? 0 : wanted < n[{}] ? wanted : n[{}] - 1;", o, axis, o,
           o);
      place = fmt::format("places[{} + place] - o[{}]", table_places(k), o - 2);
      weight = fmt::format("weights[{} + place * {} + i]", table_weights(k), taps);
    }
    cleared(in);
    // A nested stage unrolls its own taps. Unrolling both would keep hundreds of loads in flight.
    const bool nested = k > 1 && !layout_.kept[k - 1] && stages_[k - 2].many();
    if (taps <= (nested ? 8 : 64)) line("  UNROLL");
    line("  for (int i = 0; i < {}; ++i) {{", taps);
    line("    at_{}(PASSED, {}{} + i{}, s);", k, down ? "" : "y, ", place, down ? ", x" : "");
    line("    const float w = {};", weight);
    line("    UNROLL\n    for (int c = 0; c < {}; ++c) v[c] = FMA(w, s[c], v[c]);\n  }}", in);
  }

  void gradient(std::size_t k, const TileStage& stage) {
    const GradientWeights weights = gradient_weights(stage.gradient);
    line("  v[0] = 0.0f;\n  v[1] = 0.0f;");
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        if (i == 1 && j == 1) continue;
        line("  at_{}(PASSED, y + {}, x + {}, s);", k, i, j);
        line("  v[0] = FMA({}, s[0], v[0]);\n  v[1] = FMA({}, s[0], v[1]);",
             literal(weights.beside[i] * weights.along[j]), literal(weights.along[i] * weights.beside[j]));
      }
    }
  }

  // Uses a selection network for up to 25 values; for more, finds the median bit by bit by counting smaller values.
  void median(std::size_t k, std::size_t in, const TileStage& stage) {
    const int side = 2 * stage.radius + 1, count = side * side;
    if (count <= 25) {
      if (registers_) line("  UNROLL");  // LLVM 15, and thus PoCL, computes zeros for 25 values with unrolled channels
      line("  for (int c = 0; c < {}; ++c) {{\n    float m[{}];", in, count);
      line("    UNROLL\n    for (int i = 0; i < {}; ++i) {{", count);
      line("      at_{}(PASSED, y + i / {}, x + i % {}, s);\n      m[i] = s[c];\n    }}", k, side, side);
      line("    float low;");
      for (const Exchange& each : median_network(static_cast<std::size_t>(count))) {
        const std::size_t a = each.low, b = each.high;
        if (each.keeps_low && each.keeps_high) {
          line("    low = fmin(m[{}], m[{}]);\n    m[{}] = fmax(m[{}], m[{}]);\n    m[{}] = low;", a, b, b, a, b, a);
        } else if (each.keeps_low) {
          line("    m[{}] = fmin(m[{}], m[{}]);", a, a, b);
        } else {
          line("    m[{}] = fmax(m[{}], m[{}]);", b, a, b);
        }
      }
      line("    v[c] = m[{}];\n  }}", count / 2);
      return;
    }
    const bool floats = stage.out.depth == Depth::f32;
    const int bits = floats ? 32 : stage.out.depth == Depth::u8 ? 8 : 16;
    line("  uint found[{}], below[{}];", in, in);
    line("  UNROLL\n  for (int c = 0; c < {}; ++c) found[c] = 0u;", in);
    line("  for (int bit = {}; bit >= 0; --bit) {{", bits - 1);
    line("    UNROLL\n    for (int c = 0; c < {}; ++c) below[c] = 0u;", in);
    line("    for (int i = 0; i < {}; ++i) {{\n      for (int j = 0; j < {}; ++j) {{", side, side);
    line("        at_{}(PASSED, y + i, x + j, s);", k);
    line("        UNROLL\n        for (int c = 0; c < {}; ++c) {{", in);
    if (floats) {
      line("          const uint b = BITS_OF(s[c]), key = b ^ (b >> 31 ? 0xffffffffu : 0x80000000u);");
    } else {
      line("          const uint key = (uint)s[c];");
    }
    line("          below[c] += key < (found[c] | 1u << bit) ? 1u : 0u;\n        }}\n      }}\n    }}");
    line("    UNROLL\n    for (int c = 0; c < {}; ++c) {{", in);
    line("      if (below[c] <= {}u) found[c] |= 1u << bit;\n    }}\n  }}", count / 2);
    line("  UNROLL\n  for (int c = 0; c < {}; ++c) {{", in);
    line("    v[c] = {};\n  }}",
         floats ? "FLOAT_OF(found[c] ^ (found[c] >> 31 ? 0x80000000u : 0xffffffffu))" : "(float)found[c]");
  }

  void bilateral(std::size_t k, std::size_t in, const TileStage& stage) {
    const int side = 2 * stage.radius + 1;
    const std::size_t colors = stage.guided ? guide_.channels : in;
    line("  float own[{}], other[{}], total = 0.0f;", colors, colors);
    if (stage.guided) {
      line("  guide_at(PASSED, o[{}] + y, o[{}] + x, own);", 2 * k, 2 * k + 1);
    } else {
      line("  at_{}(PASSED, y + {}, x + {}, own);", k, stage.radius, stage.radius);
    }
    cleared(in);
    line("  for (int i = 0; i < {}; ++i) {{", side);
    if (side <= 16) line("    UNROLL");
    line("    for (int j = 0; j < {}; ++j) {{", side);
    line("      const int far = (i - {0}) * (i - {0}) + (j - {0}) * (j - {0});", stage.radius);
    line("      if (far > {}) continue;\n      at_{}(PASSED, y + i, x + j, s);", stage.radius * stage.radius, k);
    if (stage.guided) {
      line("      guide_at(PASSED, o[{}] + y + i - {}, o[{}] + x + j - {}, other);", 2 * k, stage.radius, 2 * k + 1,
           stage.radius);
    } else {
      line("      UNROLL\n      for (int c = 0; c < {}; ++c) other[c] = s[c];", in);
    }
    line("      float apart = 0.0f;\n      UNROLL\n      for (int c = 0; c < {}; ++c) {{", colors);
    line("        const float d = own[c] - other[c];");
    if (stage.absolute) {
      line("        apart += fabs(d);\n      }}\n      apart *= apart;");
    } else {
      line("        apart = FMA(d, d, apart);\n      }}");
    }
    line("      const float w = EXP2_FAST(FMA(apart, {}, (float)far * {}));", literal(stage.color),
         literal(stage.space));
    line("      total += w;\n      UNROLL\n      for (int c = 0; c < {}; ++c) v[c] = FMA(w, s[c], v[c]);\n    }}\n  }}",
         in);
    line("  UNROLL\n  for (int c = 0; c < {}; ++c) v[c] = v[c] / total;", in);
  }

  // Coordinates are 64-bit integers in units of 2^-40 pixel: as exact as double, also on devices without it.
  void rotate(std::size_t k, std::size_t in, const TileStage& stage) {
    const RotatedPlaces places(stage.rotate, stage.in);
    const auto fixed = [](double value) { return std::llround(value * 1099511627776.0); };
    line("  const long r = o[{}] + y, c0 = o[{}] + x;", 2 * k, 2 * k + 1);
    for (const auto& [axis, place] : {std::pair{'x', places.x_line()}, std::pair{'y', places.y_line()}}) {
      if (stage.rotate.like == Like::ridge) {
        line("  const long p{} = {}L + c0 * {}L + r * {}L;", axis, fixed(place.origin), fixed(place.across),
             fixed(place.down));
      } else {
        opencv_place(axis, place, stage.rotate.interpolation == Interpolation::nearest);
      }
    }
    if (stage.rotate.interpolation == Interpolation::nearest) {
      line("  const long middle = {}L;", fixed(0.5));
      line("  at_{}(PASSED, (int)((py + middle) >> 40), (int)((px + middle) >> 40), v);", k);
      return;
    }
    line("  const int wy = (int)(py >> 40), wx = (int)(px >> 40);");
    line("  const float fy = (float)(py & 0xffffffffffL) * 9.094947017729282e-13f;");
    line("  const float fx = (float)(px & 0xffffffffffL) * 9.094947017729282e-13f;");
    const bool cubic = stage.rotate.interpolation == Interpolation::bicubic;
    const int taps = cubic ? 4 : 2, before = cubic ? 1 : 0;
    if (cubic) {
      for (const char axis : {'y', 'x'}) {
        line("  const float g{0} = 1.0f - f{0};", axis);
        line(
            "  const float a{0}[4] = {{-0.75f * f{0} * g{0} * g{0}, FMA(FMA(1.25f, f{0}, -2.25f), f{0} * f{0}, 1.0f), "
            "FMA(FMA(1.25f, g{0}, -2.25f), g{0} * g{0}, 1.0f), -0.75f * g{0} * f{0} * f{0}}};",
            axis);
      }
    } else {
      line("  const float ay[2] = {{1.0f - fy, fy}}, ax[2] = {{1.0f - fx, fx}};");
    }
    cleared(in);
    line("  UNROLL\n  for (int i = 0; i < {}; ++i) {{\n    UNROLL\n    for (int j = 0; j < {}; ++j) {{", taps, taps);
    line("      at_{}(PASSED, wy + i - {}, wx + j - {}, s);", k, before, before);
    line("      UNROLL\n      for (int c = 0; c < {}; ++c) v[c] = FMA(ay[i] * ax[j], s[c], v[c]);\n    }}\n  }}", in);
  }

  // A coordinate of cv::warpAffine in units of 2^-40 pixel: the row's start and the column's offset are rounded to
  // 1/1024 pixel, their sum to 1/32 pixel (whole pixels for nearest). Each factor is split into two integers, so that
  // products keep 2^-43 pixel and fit 64 bits for up to a million rows or columns.
  void opencv_place(char axis, const RotatedPlaces::Line& place, bool nearest) {
    const auto rounded = [](const char* index, double factor, double origin) {
      const long long scaled = std::llround(factor * 1024 * 0x1p43), high = scaled >> 12, low = scaled & 4095;
      return fmt::format("(({0} * {1}L + (({0} * {2}L) >> 12) + {3}L) >> 31)", index, high, low,
                         std::llround(origin * 1024 * 0x1p31) + 0x40000000LL);
    };
    line("  const long q{} = {} + {} + {}L;", axis, rounded("c0", place.across, 0),
         rounded("r", place.down, place.origin), nearest ? 512 : 16);
    line("  const long p{0} = (q{0} >> {1}) << {2};", axis, nearest ? 10 : 5, nearest ? 40 : 35);
  }

  // Offsets of a stage's tables; the positions of all stages are concatenated, and so are the weights.
  std::size_t table_places(std::size_t k) const {
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < k; ++i) at += stages_[i].down.from.size() + stages_[i].across.from.size();
    return at;
  }
  std::size_t table_weights(std::size_t k) const {
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < k; ++i) at += stages_[i].down.weights.size() + stages_[i].across.weights.size();
    return at;
  }

  // Writes the origin o[] and size s[] of region k - 1, derived from region k.
  void region(std::size_t k, bool down) {
    const TileStage& stage = stages_[k - 1];
    const AxisTaps& axis_taps = down ? stage.down : stage.across;
    const std::size_t to = 2 * k + (down ? 0 : 1), from = to - 2;
    if (stage.kind == StageKind::rotate) {
      line("  o[{}] = 0;\n  s[{}] = n[{}];", from, from, from);
    } else if (axis_taps.from.empty()) {
      line("  o[{}] = {} * o[{}] - {};", from, axis_taps.step, to, axis_taps.before);
      line("  s[{}] = {} * (s[{}] - 1) + {};", from, axis_taps.step, to, axis_taps.before + axis_taps.after + 1);
    } else {
      line("  first = o[{}] > 0 ? o[{}] : 0;", to, to);
      line("  last = o[{}] + s[{}] < n[{}] ? o[{}] + s[{}] - 1 : n[{}] - 1;", to, to, to, to, to, to);
      line("  o[{}] = places[{} + first];", from, table_places(k));
      line("  s[{}] = places[{} + last] + {} - o[{}];", from, table_places(k), axis_taps.taps, from);
    }
  }

  void kernel() {
    const std::size_t count = stages_.size();
    const Shape& out = stages_.back().out;
    line("KERNEL WORK_GROUP(32, 8, 1)\nvoid tile(GLOBAL const IMAGE* RESTRICT image, ulong in_offset, ulong in_pitch,");
    if (guided_) line("          GLOBAL const GUIDE* RESTRICT guides, ulong guide_offset, ulong guide_pitch,");
    line("          GLOBAL {}* RESTRICT result, ulong out_offset, ulong out_pitch", element_type(out.depth));
    for (std::size_t k = 0; k <= count; ++k) line("          , int rows_{}, int columns_{}", k, k);
    if (tables_) line("          , GLOBAL const int* RESTRICT places, GLOBAL const float* RESTRICT weights");
    line(") {{");
    if (layout_.bytes > 0) {
      line("  LOCAL_BLOCK(uchar, area, {});", layout_.bytes);
    } else {
      line("  LOCAL uchar* area = 0;");
    }
    line("  GLOBAL const IMAGE* in = image + in_offset;");
    if (guided_) line("  GLOBAL const GUIDE* guide = guides + guide_offset;");
    std::string sizes;
    for (std::size_t k = 0; k <= count; ++k) sizes += fmt::format("{}rows_{}, columns_{}", k == 0 ? "" : ", ", k, k);
    line("  const int n[{}] = {{{}}};\n  int o[{}], s[{}];", 2 * count + 2, sizes, 2 * count + 2, 2 * count + 2);
    if (tables_) line("  int first, last;");
    line("  const int item = LOCAL_ID(1) * 32 + LOCAL_ID(0);");
    line("  o[{}] = (int)GROUP_ID(1) * {};\n  o[{}] = (int)GROUP_ID(0) * {};", 2 * count, layout_.rows, 2 * count + 1,
         layout_.columns);
    line("  s[{0}] = n[{0}] - o[{0}] < {1} ? n[{0}] - o[{0}] : {1};", 2 * count, layout_.rows);
    line("  s[{0}] = n[{0}] - o[{0}] < {1} ? n[{0}] - o[{0}] : {1};", 2 * count + 1, layout_.columns);
    for (std::size_t k = count; k > 0; --k) {
      region(k, true);
      region(k, false);
    }
    for (std::size_t k = 1; k <= count; ++k) {
      if (!layout_.kept[k - 1]) continue;
      const int wide = layout_.widths[k - 1];
      const std::size_t c = channels(k - 1);
      line("  for (int i = item; i < {}; i += 256) {{", layout_.heights[k - 1] * wide);
      line("    const int y = i / {}, x = i % {};", wide, wide);
      line("    if (y < s[{}] && x < s[{}]) {{\n      float v[{}];", 2 * k - 2, 2 * k - 1, c);
      line("      computed_{}(PASSED, y, x, v);", k);
      line("      LOCAL {0}* p = (LOCAL {0}*)(area + {1}) + i * {2};", kept_type(k - 1), layout_.offsets[k - 1], c);
      line("      UNROLL\n      for (int c = 0; c < {}; ++c) p[c] = ({})v[c];\n    }}\n  }}\n  BARRIER();", c,
           kept_type(k - 1));
    }
    line("  for (int i = item; i < {}; i += 256) {{", layout_.rows * layout_.columns);
    line("    const int y = i / {0}, x = i % {0};", layout_.columns);
    line("    if (y < s[{}] && x < s[{}]) {{\n      float v[{}];", 2 * count, 2 * count + 1, out.channels);
    line("      stage_{}(PASSED, y, x, v);", count);
    line("      GLOBAL {}* p = result + out_offset + (ulong)(o[{}] + y) * out_pitch + (ulong)((o[{}] + x) * {});",
         element_type(out.depth), 2 * count, 2 * count + 1, out.channels);
    line("      UNROLL\n      for (int c = 0; c < {}; ++c) p[c] = ({})v[c];\n    }}\n  }}\n}}", out.channels,
         element_type(out.depth));
  }

  const std::vector<TileStage>& stages_;
  const TileLayout& layout_;
  Shape guide_;
  bool registers_, guided_ = false, tables_ = false;
  std::string text_;
};

}  // namespace

KernelSource tile_source(const std::vector<TileStage>& stages, const TileLayout& layout, const Shape& guide,
                         const Limits& limits) {
  return Writer(stages, layout, guide, limits).write();
}

}  // namespace ridge::image::on_device
