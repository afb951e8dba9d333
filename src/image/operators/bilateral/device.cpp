// Stage of a tile kernel for bilateral and cross-bilateral filters.
#include "image/flow/weights.hpp"
#include "image/methods/device/stages.hpp"

namespace ridge::image {
namespace on_device {
namespace {

// With factors of the squared distances: exponents of two.
struct BilateralFactors {
  int radius;
  double space, color;
  bool absolute;  // the colour distance is the sum of absolute differences
};

void write_bilateral(StageText& text, const BilateralFactors& factors) {
  const std::size_t k = text.number, in = text.channels;
  const int radius = factors.radius;
  const bool guided = text.stage.guided;
  const int side = 2 * radius + 1;
  const std::size_t colors = guided ? text.guide.channels : in;
  text.line("  float own[{}], other[{}], total = 0.0f;", colors, colors);
  if (guided) {
    text.line("  guide_at(PASSED, o[{}] + y, o[{}] + x, own);", 2 * k, 2 * k + 1);
  } else {
    text.line("  {}", text.read(fmt::format("y + {}", radius), fmt::format("x + {}", radius), "own"));
  }
  text.clear();
  text.line("  for (int i = 0; i < {}; ++i) {{", side);
  if (side <= 16) text.line("    UNROLL");
  text.line("    for (int j = 0; j < {}; ++j) {{", side);
  text.line("      const int far = (i - {0}) * (i - {0}) + (j - {0}) * (j - {0});", radius);
  text.line("      if (far > {}) continue;\n      {}", radius * radius, text.read("y + i", "x + j", "s"));
  if (guided) {
    text.line("      guide_at(PASSED, o[{}] + y + i - {}, o[{}] + x + j - {}, other);", 2 * k, radius, 2 * k + 1,
              radius);
  } else {
    text.line("      UNROLL\n      for (int c = 0; c < {}; ++c) other[c] = s[c];", in);
  }
  text.line("      float apart = 0.0f;\n      UNROLL\n      for (int c = 0; c < {}; ++c) {{", colors);
  text.line("        const float d = own[c] - other[c];");
  if (factors.absolute) {
    text.line("        apart += fabs(d);\n      }}\n      apart *= apart;");
  } else {
    text.line("        apart = FMA(d, d, apart);\n      }}");
  }
  text.line("      const float w = EXP2_FAST(FMA(apart, {}, (float)far * {}));", literal(factors.color),
            literal(factors.space));
  text.line(
      "      total += w;\n      UNROLL\n      for (int c = 0; c < {}; ++c) v[c] = FMA(w, s[c], v[c]);\n    }}\n  }}",
      in);
  text.line("  UNROLL\n  for (int c = 0; c < {}; ++c) v[c] = v[c] / total;", in);
}

bool add_bilateral(const Bilateral& o, bool guided, StageList& stages) {
  const BilateralFactors factors{static_cast<int>(o.radius), double{flow::slope_of(o.sigma_space)},
                                 double{flow::slope_of(o.sigma_color)}, o.like == Like::opencv};
  TileStage made =
      stages.window(2 * o.radius + 1, 2 * o.radius + 1, [factors](StageText& text) { write_bilateral(text, factors); });
  made.operations = 6;
  made.guided = guided;
  return stages.add(std::move(made));
}

}  // namespace
}  // namespace on_device

bool bilateral_tile(const Bilateral& o, on_device::StageList& stages) {
  return on_device::add_bilateral(o, false, stages);
}

bool cross_bilateral_tile(const CrossBilateral& o, on_device::StageList& stages) {
  return on_device::add_bilateral({o.radius, o.sigma_space, o.sigma_color, o.like}, true, stages);
}

}  // namespace ridge::image
