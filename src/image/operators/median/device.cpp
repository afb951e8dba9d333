// Stage of a tile kernel that computes medians.
#include "image/methods/device/stages.hpp"
#include "image/methods/median_network.hpp"

namespace ridge::image {
namespace on_device {
namespace {

// Uses a selection network for up to 25 values; for more, finds the median bit by bit by counting smaller values.
void write_median(StageText& text, int radius) {
  const std::size_t in = text.channels;
  const int side = 2 * radius + 1, count = side * side;
  if (count <= 25) {
    if (text.private_arrays_in_registers)
      text.line("  UNROLL");  // LLVM 15, and thus PoCL, computes zeros for 25 values with unrolled channels
    text.line("  for (int c = 0; c < {}; ++c) {{\n    float m[{}];", in, count);
    text.line("    UNROLL\n    for (int i = 0; i < {}; ++i) {{", count);
    text.line("      {}\n      m[i] = s[c];\n    }}",
              text.read(fmt::format("y + i / {}", side), fmt::format("x + i % {}", side), "s"));
    text.line("    float low;");
    for (const Exchange& each : median_network(static_cast<std::size_t>(count))) {
      const std::size_t a = each.low, b = each.high;
      if (each.keeps_low && each.keeps_high) {
        text.line("    low = fmin(m[{}], m[{}]);\n    m[{}] = fmax(m[{}], m[{}]);\n    m[{}] = low;", a, b, b, a, b, a);
      } else if (each.keeps_low) {
        text.line("    m[{}] = fmin(m[{}], m[{}]);", a, a, b);
      } else {
        text.line("    m[{}] = fmax(m[{}], m[{}]);", b, a, b);
      }
    }
    text.line("    v[c] = m[{}];\n  }}", count / 2);
    return;
  }
  const bool floats = text.stage.out.depth == Depth::f32;
  const int bits = floats ? 32 : text.stage.out.depth == Depth::u8 ? 8 : 16;
  text.line("  uint found[{}], below[{}];", in, in);
  text.line("  UNROLL\n  for (int c = 0; c < {}; ++c) found[c] = 0u;", in);
  text.line("  for (int bit = {}; bit >= 0; --bit) {{", bits - 1);
  text.line("    UNROLL\n    for (int c = 0; c < {}; ++c) below[c] = 0u;", in);
  text.line("    for (int i = 0; i < {}; ++i) {{\n      for (int j = 0; j < {}; ++j) {{", side, side);
  text.line("        {}", text.read("y + i", "x + j", "s"));
  text.line("        UNROLL\n        for (int c = 0; c < {}; ++c) {{", in);
  if (floats) {
    text.line("          const uint b = BITS_OF(s[c]), key = b ^ (b >> 31 ? 0xffffffffu : 0x80000000u);");
  } else {
    text.line("          const uint key = (uint)s[c];");
  }
  text.line("          below[c] += key < (found[c] | 1u << bit) ? 1u : 0u;\n        }}\n      }}\n    }}");
  text.line("    UNROLL\n    for (int c = 0; c < {}; ++c) {{", in);
  text.line("      if (below[c] <= {}u) found[c] |= 1u << bit;\n    }}\n  }}", count / 2);
  text.line("  UNROLL\n  for (int c = 0; c < {}; ++c) {{", in);
  text.line("    v[c] = {};\n  }}",
            floats ? "FLOAT_OF(found[c] ^ (found[c] >> 31 ? 0x80000000u : 0xffffffffu))" : "(float)found[c]");
}

}  // namespace
}  // namespace on_device

bool median_tile(const Median& o, on_device::StageList& stages) {
  on_device::TileStage made = stages.window(
      2 * o.radius + 1, 2 * o.radius + 1,
      [radius = static_cast<int>(o.radius)](on_device::StageText& text) { on_device::write_median(text, radius); });
  made.operations = 6;
  return stages.add(std::move(made));
}

}  // namespace ridge::image
