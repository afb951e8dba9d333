// Kernel text of transforms whose points are held in registers, with exchanges through local memory.
#include <set>

#include <fmt/format.h>

#include "codegen/butterfly.hpp"
#include "codegen/text.hpp"
#include "fft/host/power2/tables.hpp"
#include "papers/fft/device/unit.hpp"

namespace ridge::fft::papers {
namespace {

using codegen::literal;
using codegen::Text;

void emit_constant_table(Text& text, std::size_t n) {
  const power2::Roots<float> exact(n);
  text.raw("CONSTANT_TABLE float roots[] = {");
  for (std::size_t k = 0; k < n; ++k) {
    const auto root = exact.at(k);
    text.raw(fmt::format("{}{}, {}",
                         k == 0       ? ""
                         : k % 4 == 0 ? ",\n  "
                                      : ", ",
                         codegen::literal(static_cast<double>(root.real()), false),
                         codegen::literal(static_cast<double>(root.imag()), false)));
  }
  text.raw("};\n");
}

// Forward arithmetic serves both directions: the inverse swaps real and imaginary parts on load and store.
std::string loaded(const UnitDesign& design, const std::string& place) {
  return design.direction == Direction::forward ? place : fmt::format("exchanged({})", place);
}

std::string stored(const UnitDesign& design, const std::string& value) {
  std::string text = design.direction == Direction::forward ? value : fmt::format("exchanged({})", value);
  return design.scale == 1 ? text : fmt::format("scaled({}, {})", text, codegen::literal(design.scale, false));
}

// One pass in Stockham order: butterfly i reads x[j*ro + s*r + k], j = i / r, k = i % r, times W_(Ls*R)^(j*s), and
// stores its values at i + t*(N/R). A work-item has p/R of them, N/p apart.
class Passes {
 public:
  Passes(Text& text, const UnitDesign& design) : text_(text), design_(design), items_(design.length / design.points) {}

  // One pass from local memory to local memory, between barriers.
  void emit_one(std::size_t radix, std::size_t before) {
    load(1, radix, before);
    text_.line("BARRIER();");
    for (std::size_t b = 0; b < design_.points / radix; ++b) butterfly(b, radix, before);
    store(false, radix);
    text_.line("BARRIER();");
  }

  void emit() {
    if (design_.phases == UnitPhases::memory) return emit_copy();
    std::size_t before = 1;
    for (std::size_t pass = 0; pass < design_.radices.size(); ++pass) {
      const std::size_t radix = design_.radices[pass];
      if (pass == 0) text_.open("if (line < lines)");
      load(pass, radix, before);
      if (pass == 0) text_.close();
      if (pass > 0 && pass + 1 < design_.radices.size()) text_.line("BARRIER();");
      for (std::size_t b = 0; b < design_.points / radix; ++b) butterfly(b, radix, before);
      const bool last = pass + 1 == design_.radices.size();
      if (last) text_.open("if (line < lines)");
      store(last, radix);
      if (last) text_.close();
      if (!last) text_.line("BARRIER();");
      before *= radix;
    }
  }

 private:
  // The loads of the first pass and the stores of the last one.
  void emit_copy() {
    text_.open("if (line < lines)");
    load(0, design_.radices.front(), 1);
    store(true, design_.radices.back());
    text_.close();
  }

  std::string index(std::size_t b) const { return b == 0 ? "item" : fmt::format("(item + {}u)", b * items_); }

  void load(std::size_t pass, std::size_t radix, std::size_t before) {
    const std::size_t r = design_.length / before / radix;
    for (std::size_t b = 0; b < design_.points / radix; ++b) {
      const std::string i = index(b);
      for (std::size_t s = 0; s < radix; ++s) {
        if (pass == 0) {
          text_.line("v[{}] = {};", b * radix + s, loaded(design_, fmt::format("from[{} + {}u]", i, s * r)));
        } else {
          text_.line("v[{}] = points[{} / {}u * {}u + {}u + {} % {}u];", b * radix + s, i, r, radix * r, s * r, i, r);
        }
      }
    }
  }

  void butterfly(std::size_t b, std::size_t radix, std::size_t before) {
    const std::size_t r = design_.length / before / radix;
    if (design_.phases == UnitPhases::exchanges) return;
    if (before > 1 && design_.phases == UnitPhases::all) {
      for (std::size_t s = 1; s < radix; ++s) {
        // W_(Ls*R)^(j*s) = W_N^(j*s*r)
        const std::string k = fmt::format("{} / {}u * {}u", index(b), r, s * r);
        const char* form = design_.twiddles == UnitTwiddles::table ? "LOAD_CACHED(roots + ({0}))"
                           : design_.twiddles == UnitTwiddles::constant
                               ? "make_real2(roots[2u * ({0})], roots[2u * ({0}) + 1u])"
                               : "by_symmetry(roots, {0})";
        const std::string root = fmt::format(fmt::runtime(form), k);
        text_.line("v[{0}] = multiply(v[{0}], {1});", b * radix + s, root);
      }
    }
    text_.line("dft{}(v + {});", radix, b * radix);
  }

  void store(bool last, std::size_t radix) {
    for (std::size_t b = 0; b < design_.points / radix; ++b) {
      for (std::size_t t = 0; t < radix; ++t) {
        const std::string place = fmt::format("{} + {}u", index(b), t * (design_.length / radix));
        const std::string value = fmt::format("v[{}]", b * radix + t);
        text_.line("{}[{}] = {};", last ? "to" : "points", place, last ? stored(design_, value) : value);
      }
    }
  }

  codegen::Text& text_;
  const UnitDesign& design_;
  std::size_t items_;
};

void emit_line(Text& text, const UnitDesign& design) {
  text.line("GLOBAL const real2* const from = in + in_offset + (ulong)line * {}u;", design.length);
  text.line("GLOBAL real2* const to = out + out_offset + (ulong)line * {}u;", design.length);
  text.line("real2 v[{}];", design.points);
  if (!design.in_register()) {
    Passes(text, design).emit();
    return;
  }
  text.line("if (line >= lines) return;");
  for (std::size_t j = 0; j < design.length; ++j) {
    text.line("v[{}] = {};", j, loaded(design, fmt::format("from[{}]", j)));
  }
  if (design.length > 1) text.line("dft{}(v);", design.length);
  for (std::size_t j = 0; j < design.length; ++j) {
    text.line("to[{}] = {};", j, stored(design, fmt::format("v[{}]", j)));
  }
}

// W_N^k from cosines of the first quarter: k = q N/4 + m, and a quarter turn is a product with -i.
void emit_symmetry(Text& text, std::size_t n) {
  text.open("FUNCTION real2 by_symmetry(GLOBAL const float* cosine, uint k)");
  text.line("const uint m = k & {}u;", n / 4 - 1);
  text.line("const float c = LOAD_CACHED(cosine + m), s = LOAD_CACHED(cosine + ({}u - m));", n / 4);
  text.line("const real2 w = k & {}u ? make_real2(-s, -c) : make_real2(c, -s);", n / 4);
  text.line("return k & {}u ? make_real2(-w.x, -w.y) : w;", n / 2);
  text.close();
}

void emit_arithmetic(Text& text, const UnitDesign& design) {
  std::set<std::size_t> radices(design.radices.begin(), design.radices.end());
  radices.erase(1);
  text.raw(codegen::butterfly_text(radices, false));
  if (design.twiddles == UnitTwiddles::constant) emit_constant_table(text, design.length);
  if (design.twiddles == UnitTwiddles::quarter) emit_symmetry(text, design.length);
  text.line("");
}

const char* table_type(const UnitDesign& design) {
  return design.twiddles == UnitTwiddles::quarter ? "float" : "real2";
}

// The constant table of the kernel's text has the name `roots` itself.
const char* table_name(const UnitDesign& design) {
  return design.twiddles == UnitTwiddles::constant ? "unused" : "roots";
}

}  // namespace

KernelSource pass_text(const UnitDesign& design, std::size_t before, std::size_t radix) {
  codegen::Text text;
  UnitDesign one = design;
  one.radices = {radix};
  emit_arithmetic(text, one);
  text.open(
      "KERNEL WORK_GROUP({}, 1, 1) void {}(GLOBAL const real2* RESTRICT in, GLOBAL real2* RESTRICT out, GLOBAL const "
      "{}* RESTRICT {}, uint repeats)",
      design.items(), kPassKernel, table_type(design), table_name(design));
  text.line("LOCAL_BLOCK(real2, points, {});", design.length);
  text.line("const uint item = LOCAL_ID(0), first = GROUP_ID(0) * {}u;", design.length);
  text.line("real2 v[{}];", design.points);
  const std::size_t items = design.items();
  text.line("for (uint i = item; i < {0}u; i += {1}u) points[i] = in[first + i];", design.length, items);
  text.line("BARRIER();");
  text.open("for (uint repeat = 0; repeat < repeats; ++repeat)");
  Passes(text, one).emit_one(radix, before);
  text.close();
  text.line("for (uint i = item; i < {0}u; i += {1}u) out[first + i] = points[i];", design.length, items);
  text.close();
  return {.name = fmt::format("{}_pass", kUnitFamily), .text = text.str()};
}

KernelSource unit_text(const UnitDesign& design) {
  if (design.vectors) return vector_unit_text(design);
  codegen::Text text;
  text.line("// {} points, {}", design.length,
            design.in_register() ? std::string("all in the registers of a work-item")
                                 : fmt::format("{} in each of {} work-items", design.points, design.items()));
  emit_arithmetic(text, design);
  text.open(
      "KERNEL WORK_GROUP({}, 1, 1) void {}(GLOBAL const real2* RESTRICT in, GLOBAL real2* RESTRICT out, GLOBAL const "
      "{}* RESTRICT {}, ulong in_offset, ulong out_offset, uint lines)",
      design.items(), kUnitKernel, table_type(design), table_name(design));
  if (design.in_register()) {
    text.line("const uint line = GLOBAL_ID(0);");
    emit_line(text, design);
  } else {
    if (design.local_bytes() > 0) text.line("LOCAL_BLOCK(real2, points, {});", design.length);
    text.line("const uint item = LOCAL_ID(0);");
    if (design.rounds > 1) {
      text.open("for (uint round = 0; round < {}u; ++round)", design.rounds);
      text.line("const uint line = GROUP_ID(0) + round * GROUPS(0);");
    } else {
      text.line("const uint line = GROUP_ID(0);");
    }
    emit_line(text, design);
    if (design.rounds > 1) {
      // The next line's first exchange must not overtake this line's last reads.
      text.line("BARRIER();");
      text.close();
    }
  }
  text.close();
  return {.name = fmt::format("{}_{}", kUnitFamily, design.variant()), .text = text.str()};
}

}  // namespace ridge::fft::papers
