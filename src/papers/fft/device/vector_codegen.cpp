// Kernel text of a transform by one work-item with vectors of 16 floats (section 4.1.3 of the thesis): real and
// imaginary parts of all points in private memory, radix-2 stages of Stockham's algorithm from one pair of arrays to
// the other. Stage s reads points r = N / 2^(s+1) apart; where r < 16 both are in two adjacent vectors.
#include <array>

#include <fmt/format.h>

#include "codegen/text.hpp"
#include "papers/fft/device/unit.hpp"

namespace ridge::fft::papers {
namespace {

using codegen::Text;

// Components of two adjacent vectors that are the first (or second) points of 16 butterflies r apart.
std::string picked(const std::string& array, std::size_t r, bool second) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::array<std::string, 2> parts;
  for (std::size_t i = 0; i < 16; ++i) {
    const std::size_t at = i / r * 2 * r + i % r + (second ? r : 0);
    parts[at / 16] += kDigits[at % 16];
  }
  return fmt::format("(float16)({0}[2 * i].s{1}, {0}[2 * i + 1].s{2})", array, parts[0], parts[1]);
}

void emit_stage(Text& text, std::size_t n, std::size_t stage, const std::string& x, const std::string& y) {
  const std::size_t r = n >> (stage + 1), vectors = n / 32;
  text.open("for (uint i = 0; i < {}u; ++i)", vectors);
  if (r >= 16) {
    text.line("const uint a = i / {0}u * {1}u + i % {0}u, b = a + {0}u;", r / 16, r / 8);
    text.line("const float16 ar = {0}r[a], ai = {0}i[a], br = {0}r[b], bi = {0}i[b];", x);
  } else {
    text.line("const float16 ar = {}, ai = {};", picked(x + "r", r, false), picked(x + "i", r, false));
    text.line("const float16 br = {}, bi = {};", picked(x + "r", r, true), picked(x + "i", r, true));
  }
  if (stage == 0) {
    text.line("const float16 tr = br, ti = bi;");
  } else {
    text.line("const float16 wr = vload16(i, roots + {}u), wi = vload16(i, roots + {}u);", stage * n,
              stage * n + n / 2);
    text.line("const float16 tr = fma(wr, br, -(wi * bi)), ti = fma(wr, bi, wi * br);");
  }
  text.line("{0}r[i] = ar + tr; {0}i[i] = ai + ti;", y);
  text.line("{0}r[i + {1}u] = ar - tr; {0}i[i + {1}u] = ai - ti;", y, vectors);
  text.close();
}

}  // namespace

KernelSource vector_unit_text(const UnitDesign& design) {
  const std::size_t n = design.length, stages = design.radices.size();
  const bool inverse = design.direction == Direction::inverse;
  Text text;
  text.open(
      "KERNEL WORK_GROUP({}, 1, 1) void {}(GLOBAL const float* RESTRICT in, GLOBAL float* RESTRICT out, GLOBAL const "
      "float* RESTRICT roots, ulong in_offset, ulong out_offset, uint lines)",
      design.items(), kUnitKernel);
  text.line("const uint line = GLOBAL_ID(0);");
  text.line("if (line >= lines) return;");
  text.line("GLOBAL const float* const from = in + 2 * (in_offset + (ulong)line * {}u);", n);
  text.line("GLOBAL float* const to = out + 2 * (out_offset + (ulong)line * {}u);", n);
  text.line("float16 xr[{0}], xi[{0}], yr[{0}], yi[{0}];", n / 16);
  text.open("for (uint i = 0; i < {}u; ++i)", n / 16);
  text.line("const float16 a = vload16(2 * i, from), b = vload16(2 * i + 1, from);");
  text.line("x{}[i] = (float16)(a.even, b.even);", inverse ? 'i' : 'r');
  text.line("x{}[i] = (float16)(a.odd, b.odd);", inverse ? 'r' : 'i');
  text.close();
  for (std::size_t s = 0; s < stages; ++s) emit_stage(text, n, s, s % 2 == 0 ? "x" : "y", s % 2 == 0 ? "y" : "x");
  const char last = stages % 2 == 0 ? 'x' : 'y';
  text.open("for (uint i = 0; i < {}u; ++i)", n / 16);
  const std::string scale = design.scale == 1 ? "" : fmt::format(" * {}", codegen::literal(design.scale, false));
  text.line("const float16 re = {}{}[i]{}, im = {}{}[i]{};", last, inverse ? 'i' : 'r', scale, last,
            inverse ? 'r' : 'i', scale);
  text.line("float16 a, b;");
  text.line("a.even = re.lo; a.odd = im.lo; b.even = re.hi; b.odd = im.hi;");
  text.line("vstore16(a, 2 * i, to);");
  text.line("vstore16(b, 2 * i + 1, to);");
  text.close();
  text.close();
  return {.name = fmt::format("{}_one_item", kUnitFamily), .text = text.str()};
}

}  // namespace ridge::fft::papers
