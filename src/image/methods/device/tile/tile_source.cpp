// Generates a kernel that computes stages one after another on a tile. For every stage k it contains
//   at_k(y, x)     the value at a position of its input region: from local memory, or computed on demand;
//   stage_k(y, x)  the result at a position of its output region.
// Region k is the output of stage k; region 0 is the image. o[] holds the regions' origins, n[] the full sizes.
#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "image/methods/device/stages.hpp"

namespace ridge::image::on_device {
namespace {

const char* border_name(Border border) {
  constexpr const char* kNames[] = {"bordered_101", "bordered_reflect", "bordered_replicate", "bordered_constant",
                                    "bordered_wrap"};
  return kNames[static_cast<std::size_t>(border)];
}

// Weighted sum down a column (`down`) or along a row.
void write_along(StageText& text, bool down) {
  const AxisTaps& axis_taps = down ? text.stage.down : text.stage.across;
  const std::size_t k = text.number;
  const int taps = axis_taps.from.empty() ? axis_taps.before + axis_taps.after + 1 : axis_taps.taps;
  const char* axis = down ? "y" : "x";
  std::string place = fmt::format("{} * {}", axis_taps.step, axis), weight = fmt::format("weights_{}[i]", k);
  if (!axis_taps.from.empty()) {
    const std::size_t o = 2 * k + (down ? 0 : 1);
    // Positions outside the image are not used, but the table must not be read beyond its ends.
    text.line("  const int wanted = o[{}] + {}, place = wanted < 0 ? 0 : wanted < n[{}] ? wanted : n[{}] - 1;", o, axis,
              o, o);
    place = fmt::format("places[{} + place] - o[{}]", text.first_place, o - 2);
    weight = fmt::format("weights[{} + place * {} + i]", text.first_weight, taps);
  }
  text.clear();
  // A nested stage unrolls its own taps. Unrolling both would keep hundreds of loads in flight.
  if (taps <= (text.nested ? 8 : 64)) text.line("  UNROLL");
  text.line("  for (int i = 0; i < {}; ++i) {{", taps);
  text.line("    {}", down ? text.read(place + " + i", "x", "s") : text.read("y", place + " + i", "s"));
  text.line("    const float w = {};", weight);
  text.line("    UNROLL\n    for (int c = 0; c < {}; ++c) v[c] = FMA(w, s[c], v[c]);\n  }}", text.channels);
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
    StageText body{.text = text_,
                   .stage = stage,
                   .number = k,
                   .channels = in,
                   .guide = guide_,
                   .private_arrays_in_registers = registers_,
                   .nested = k > 1 && !layout_.kept[k - 1] && stages_[k - 2].many(),
                   .first_place = table_places(k),
                   .first_weight = table_weights(k)};
    stage.write(body);
    if (stage.rounded) {
      line("  UNROLL\n  for (int c = 0; c < {}; ++c) v[c] = whole_number(v[c], {});", out,
           stage.out.depth == Depth::u8 ? "255.0f" : "65535.0f");
    }
    line("}}");
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
    if (stage.reads == Reads::anywhere) {
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

void write_down(StageText& text) { write_along(text, true); }
void write_across(StageText& text) { write_along(text, false); }

void write_window(StageText& text) {
  const AxisTaps &down = text.stage.down, &across = text.stage.across;
  const int rows = down.before + down.after + 1, columns = across.before + across.after + 1;
  text.clear();
  text.line("  for (int i = 0; i < {}; ++i) {{", rows);
  if (columns <= 32) text.line("    UNROLL");
  text.line("    for (int j = 0; j < {}; ++j) {{", columns);
  text.line("      {}", text.read("y + i", "x + j", "s"));
  text.line(
      "      UNROLL\n      for (int c = 0; c < {}; ++c) v[c] = FMA(weights_{}[i * {} + j], s[c], v[c]);\n    }}\n  }}",
      text.channels, text.number, columns);
}

KernelSource tile_source(const std::vector<TileStage>& stages, const TileLayout& layout, const Shape& guide,
                         const Limits& limits) {
  return Writer(stages, layout, guide, limits).write();
}

}  // namespace ridge::image::on_device
