// Kernel text of Burtsev's stage plans, in the kernel dialect.
#include "papers/fft/device/stage_plan.hpp"

#include <bit>
#include <set>

#include <fmt/format.h>

#include "codegen/text.hpp"
#include "device/kernel_template.hpp"

namespace ridge::fft::papers {
namespace {

using codegen::Text;

void emit_reversal(Text& text, const StagePlan& plan) {
  text.line("");
  text.line("// Part 1: point k moves to its bit-reversed position.");
  text.open(
      "KERNEL WORK_GROUP({}, 1, 1) void {}(GLOBAL const float2* RESTRICT y, GLOBAL float2* RESTRICT x, GLOBAL const "
      "uint* RESTRICT table, ulong from, ulong to, uint log_n, uint points)",
      plan.plain_items, kReversalKernel);
  text.line("const uint i = GLOBAL_ID(0);");
  text.line("if (i >= points) return;");
  text.line("const uint k = i & ((1u << log_n) - 1u);");
  text.line("const uint m = {};", plan.reversal == Reversal::table ? "table[k]" : "reversed(k, log_n)");
  if (plan.scale == 1) {
    text.line("x[to + (i - k + m)] = y[from + i];");
  } else {
    const std::string scale = codegen::literal(plan.scale, false);
    text.line("const float2 v = y[from + i];");
    text.line("x[to + (i - k + m)] = make_float2(v.x * {0}, v.y * {0});", scale);
  }
  text.close();
}

// Squares of B x B points: B runs of B adjacent points, B^-1 of a line apart, are read into local memory and written as
// B other runs of B adjacent points, so that reads and writes both use whole cache lines.
void emit_tiled_reversal(Text& text, const StagePlan& plan) {
  constexpr unsigned kSide = 1u << kTileBits;
  text.line("");
  text.open(
      "KERNEL WORK_GROUP({}, 1, 1) void {}(GLOBAL const float2* RESTRICT y, GLOBAL float2* RESTRICT x, GLOBAL const "
      "uint* RESTRICT unused, ulong from, ulong to, uint log_n, uint points)",
      plan.plain_items, kReversalKernel);
  text.line("LOCAL_BLOCK(float2, tile, {});", kSide * (kSide + 1));
  text.line("const uint bits = log_n - {}u, group = GROUP_ID(0), m = group & ((1u << bits) - 1u);", 2 * kTileBits);
  text.line("const ulong line = (ulong)(group >> bits) << log_n;");
  text.open("for (uint e = LOCAL_ID(0); e < {}u; e += {}u)", kSide * kSide, plan.plain_items);
  text.line("const uint high = e >> {}, low = e & {}u;", kTileBits, kSide - 1);
  text.line("tile[high * {}u + low] = y[from + line + (high << (log_n - {}u)) + (m << {}) + low];", kSide + 1,
            kTileBits, kTileBits);
  text.close();
  text.line("BARRIER();");
  text.line("const uint middle = reversed(m, bits) << {};", kTileBits);
  text.open("for (uint e = LOCAL_ID(0); e < {}u; e += {}u)", kSide * kSide, plan.plain_items);
  text.line("const uint high = e >> {}, low = e & {}u;", kTileBits, kSide - 1);
  text.line("const float2 v = tile[reversed(low, {0}u) * {1}u + reversed(high, {0}u)];", kTileBits, kSide + 1);
  const std::string scale = codegen::literal(plan.scale, false);
  text.line("x[to + line + (high << (log_n - {}u)) + middle + low] = {};", kTileBits,
            plan.scale == 1 ? std::string("v") : fmt::format("make_float2(v.x * {0}, v.y * {0})", scale));
  text.close();
  text.close();
}

void open_kernel(Text& text, const StageRun& run, std::size_t items) {
  text.line("");
  text.open(
      "KERNEL WORK_GROUP({}, 1, 1) void {}(GLOBAL float2* x, GLOBAL const float2* RESTRICT w, ulong to, uint log_n, "
      "uint first, uint count)",
      items, kernel_name(run));
  text.line("GLOBAL float2* const line = x + to;");
}

// count: pairs of points. Batches need no special case: lines are consecutive, and the pairs of a stage stay within a
// line.
void emit_one_stage(Text& text, const StageRun& run, std::size_t items) {
  open_kernel(text, run, items);
  text.line("const uint i = GLOBAL_ID(0);");
  text.line("if (i >= count) return;");
  text.line("const uint k = i & ((1u << (first - 1u)) - 1u);");
  text.line("const uint a = k + ((i >> (first - 1u)) << first), b = a + (1u << (first - 1u));");
  text.line("const float2 p = line[a], q = times(line[b], w[k << (log_n - first)]);");
  text.line("line[a] = sum(p, q);");
  text.line("line[b] = difference(p, q);");
  text.close();
}

void emit_group_global(Text& text, const StageRun& run) {
  open_kernel(text, run, run.items);
  text.line("const uint i = LOCAL_ID(0), base = GROUP_ID(0) * {}u;", 2 * run.items);
  for (int t = 1; t <= run.last; ++t) {
    if (t > 1) text.line("BARRIER_GLOBAL();");
    text.open();
    text.line("const uint k = i & {}u;", (1u << (t - 1)) - 1);
    text.line("const uint a = base + k + ((i >> {}) << {}), b = a + {}u;", t - 1, t, 1u << (t - 1));
    text.line("const float2 p = line[a], q = times(line[b], w[k << (log_n - {}u)]);", t);
    text.line("line[a] = sum(p, q);");
    text.line("line[b] = difference(p, q);");
    text.close();
  }
  text.close();
}

// The general local-memory kernel: T stages from `first` on, C columns. In the matrix with rows of 2^(first-1) points,
// a group holds 2^T rows of C neighbouring columns.
void emit_group_local(Text& text, const StageRun& run) {
  const int stages = run.stages(), columns = std::countr_zero(run.columns);
  open_kernel(text, run, run.items);
  if (stages > 1) text.line("LOCAL_BLOCK(float2, points, {});", run.columns << stages);
  text.line("const uint i = LOCAL_ID(0), c = i & {}u, r = i >> {};", run.columns - 1, columns);
  text.line("const uint below = first - 1u, column = GROUP_ID(0) * {}u;", run.columns);
  text.line("const uint c0 = (column & ((1u << below) - 1u)) + c;");
  text.line("GLOBAL float2* const block = line + ((ulong)(column >> below) << (below + {}u));", stages);
  for (int d = 0; d < stages; ++d) {
    if (d > 0) text.line("BARRIER();");
    const std::string mine = "((row << below) + c0)", other = fmt::format("(((row + {}u) << below) + c0)", 1u << d);
    const std::string here = fmt::format("(row << {}) + c", columns),
                      there = fmt::format("((row + {}u) << {}) + c", 1u << d, columns);
    text.open();
    text.line("const uint row = (r & {}u) + ((r >> {}) << {});", (1u << d) - 1, d, d + 1);
    text.line("const float2 v = w[({} & ((1u << (below + {}u)) - 1u)) << (log_n - first - {}u)];", mine, d, d);
    if (d == 0) {
      text.line("const float2 p = block[{}], q = times(block[{}], v);", mine, other);
    } else {
      text.line("const float2 p = points[{}], q = times(points[{}], v);", here, there);
    }
    const bool last = d + 1 == stages;
    text.line("{}[{}] = sum(p, q);", last ? "block" : "points", last ? mine : here);
    text.line("{}[{}] = difference(p, q);", last ? "block" : "points", last ? other : there);
    text.close();
  }
  text.close();
}

// count: work-items.
void emit_own_points(Text& text, const StageRun& run, std::size_t items) {
  const unsigned points = 1u << run.last;
  open_kernel(text, run, items);
  text.line("const uint i = GLOBAL_ID(0);");
  text.line("if (i >= count) return;");
  text.line("GLOBAL float2* const mine = line + (ulong)i * {}u;", points);
  text.line("float2 v[{}], q;", points);
  for (unsigned j = 0; j < points; ++j) text.line("v[{0}] = mine[{0}];", j);
  for (int t = 1; t <= run.last; ++t) {
    const unsigned span = 1u << (t - 1);
    for (unsigned k = 0; k < span; ++k) {
      text.open();
      text.line("const float2 f = w[{}u << (log_n - {}u)];", k, t);
      for (unsigned a = k; a < points; a += 2 * span) {
        text.line("q = times(v[{}], f);", a + span);
        text.line("v[{}] = difference(v[{}], q);", a + span, a);
        text.line("v[{0}] = sum(v[{0}], q);", a);
      }
      text.close();
    }
  }
  for (unsigned j = 0; j < points; ++j) text.line("mine[{0}] = v[{0}];", j);
  text.close();
}

}  // namespace

std::string kernel_name(const StageRun& run) {
  switch (run.work) {
    case Work::one_stage:
      return "one_stage";
    case Work::group_global:
      return fmt::format("global_{}_stages", run.last);
    case Work::group_local:
      return fmt::format("local_{}_stages_{}_columns", run.stages(), run.columns);
    case Work::own_points:
      break;
  }
  return fmt::format("own_{}_points", 1u << run.last);
}

KernelSource reversal_text(const StagePlan& plan) {
  codegen::Text text;
  if (plan.reversal != Reversal::table) text.raw("\n" + ridge::detail::fill_kernel_text("papers/reversed_bits"));
  plan.in_tiles() ? emit_tiled_reversal(text, plan) : emit_reversal(text, plan);
  return {.name = fmt::format("{}_reversal", kFamily), .text = text.str()};
}

KernelSource run_text(const StagePlan& plan, const StageRun& run) {
  codegen::Text text;
  text.line("// Radix 2, decimation in time; the stages are counted from 1.");
  text.raw("\n" + ridge::detail::fill_kernel_text("papers/complex_arithmetic"));
  switch (run.work) {
    case Work::one_stage:
      emit_one_stage(text, run, plan.plain_items);
      break;
    case Work::group_global:
      emit_group_global(text, run);
      break;
    case Work::group_local:
      emit_group_local(text, run);
      break;
    case Work::own_points:
      emit_own_points(text, run, plan.plain_items);
      break;
  }
  return {.name = fmt::format("{}_{}", kFamily, kernel_name(run)), .text = text.str()};
}

std::vector<KernelSource> stage_texts(const StagePlan& plan) {
  std::vector<KernelSource> sources{reversal_text(plan)};
  std::set<std::string> written;
  for (const StageRun& run : plan.runs) {
    if (written.insert(kernel_name(run)).second) sources.push_back(run_text(plan, run));
  }
  return sources;
}

}  // namespace ridge::fft::papers
