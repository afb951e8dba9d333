// Short real transforms in pairs: two adjacent lines are the real and imaginary part of one complex line. They move in
// contiguous runs, and lanes of a sub-group exchange mirrored values to separate the two spectra. H200, 2^27 reals in
// lines of 64: 268 us; as pairs of samples of one line: 340 us.
//
// The error of a line is relative to the larger of the two lines of its pair. A NaN or an infinity would make both NaN,
// so a line that holds one is transformed as zeros and stored as NaN.
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "codegen/text.hpp"
#include "fft/device/pass/text/writers.hpp"

namespace ridge::fft::on_device {
namespace {

std::size_t values_of_line(const PassDesign& d) { return d.points / 2 + 1; }

}  // namespace

std::size_t pair_pitch(const PassDesign& design) {
  return 2 * design.points + std::max<std::size_t>(design.threads, 4);
}

std::size_t pair_bytes(const PassDesign& design) {
  return design.lines * std::max(pair_pitch(design) * sizeof(float), 2 * values_of_line(design) * 2 * sizeof(float));
}

bool paired_lines_serve(const PassDesign& design, std::size_t lanes) {
  if (lanes == 0 || lanes % design.threads != 0 || design.items() % lanes != 0) return false;
  const std::vector<StageDesign> stages = stages_of(design);
  return stages.back().rounds == 1 && stages.back().butterflies == design.threads && stages.back().radix % 2 == 0;
}

// Copies runs of `quads` 16-byte accesses per pair of lines, `pitch` apart in local memory.
void RunWriter::quads_of_paired_lines(bool in, std::size_t quads, std::size_t pitch, std::size_t elements) {
  const std::size_t iterations = (d_.lines * quads + d_.items() - 1) / d_.items();
  text_.open();
  text_.line("const uint first = GROUP_ID(0) * {};", d_.lines);
  text_.line("const int limit = (int)(lines - first < {0} ? lines - first : {0}) * {1};", d_.lines, quads);
  text_.line("LOCAL float4* const local_quads = (LOCAL float4*)local_numbers;");
  text_.line("GLOBAL {0}float4* const run = (GLOBAL {0}float4*)({1} + ({1}_offset + (ulong)GROUP_ID(0) * {2}ul));",
             in ? "const " : "", in ? "in" : "out", d_.lines * elements);
  const auto each = [&](const char* what) {
    for (std::size_t iteration = 0; iteration < iterations; ++iteration) {
      text_.open();
      text_.line("const int q = item + {};", iteration * d_.items());
      text_.line("const int place = {};", quads == pitch ? "q" : fmt::format("q / {0} * {1} + q % {0}", quads, pitch));
      text_.line("if (q < limit) {};", fmt::format(fmt::runtime(what), iteration));
      text_.close();
    }
  };
  if (in) {
    text_.line("float4 four[{}];", iterations);
    each("four[{}] = LOAD(run + q)");
    each("local_quads[place] = four[{}]");
  } else {
    each("STORE(run + q, local_quads[place])");
  }
  text_.close();
}

void LoadWriter::load_paired_lines() {
  const std::size_t n = d_.points, half = n / 2, values = values_of_line(d_), pitch = pair_pitch(d_);
  const StageDesign& first = stages_.front();
  text_.raw("\n");
  text_.line("// load");
  p_.local_free();
  p_.inverse() ? runs_.quads_of_paired_lines(true, values, values, 2 * values)
               : runs_.quads_of_paired_lines(true, n / 2, pitch / 4, 2 * n);
  text_.line("BARRIER();");
  // `each` writes the statements for a and b, the values of the two lines that slot `slot` needs.
  const auto for_each_value = [&](const auto& each) {
    for (std::size_t round = 0; round < first.rounds; ++round) {
      p_.open_round(first, round);
      for (std::size_t s = 0; s < first.radix; ++s) {
        const std::size_t constant = s * first.butterflies;
        text_.open();
        if (p_.inverse()) {
          text_.line("const int p = i + {0}, mirrored = p > {1}, k = mirrored ? {2} - p : p;", constant, half, n);
          text_.line("real2 a = local_points[c * {0} + k], b = local_points[c * {0} + k + {1}];", 2 * values, values);
          text_.line("if (k % {} == 0) a.y = b.y = 0;  // imaginary parts that are zero for a real signal", half);
        } else {
          text_.line("real a = local_numbers[c * {0} + i + {1}], b = local_numbers[c * {0} + i + {2}];", pitch,
                     constant, constant + n);
        }
        each(round * first.radix + s);
        text_.close();
      }
      p_.close_round();
    }
  };
  text_.line("real nan_one = 0, nan_two = 0;  // NaN if the line holds a NaN or an infinity");
  for_each_value([&](std::size_t) {
    for (const auto& [line, value] : {std::pair("one", "a"), std::pair("two", "b")}) {
      text_.line("nan_{} += {};", line,
                 p_.inverse() ? fmt::format("{0}.x * 0 + {0}.y * 0", value) : fmt::format("{} * 0", value));
    }
  });
  for (std::size_t lanes = 1; lanes < d_.threads; lanes *= 2) {
    for (const char* line : {"one", "two"}) {
      text_.line("nan_{0} += SHUFFLE_XOR(nan_{0}, {1});", line, lanes);
    }
  }
  for_each_value([&](std::size_t slot) {
    for (const auto& [line, value] : {std::pair("one", "a"), std::pair("two", "b")}) {
      text_.line("if (nan_{} != 0) {} = 0;", line,
                 p_.inverse() ? fmt::format("{0}.x = {0}.y", value) : std::string(value));
    }
    if (!p_.inverse()) {
      text_.line("v[{}] = make_real2(a, b);", slot);
    } else {
      text_.line("v[{}] = exchanged(mirrored ? make_real2(a.x + b.y, b.x - a.y) : make_real2(a.x - b.y, a.y + b.x));",
                 slot);
    }
  });
}

void StoreWriter::store_paired_lines(const StageDesign& last) {
  const std::size_t n = d_.points, values = values_of_line(d_), pitch = pair_pitch(d_), radix = last.radix;
  text_.raw("\n");
  if (p_.inverse()) {
    text_.line("// both lines");
    p_.local_free();
    for (std::size_t u = 0; u < radix; ++u) {
      const std::string scale = d_.scale == 1 ? "" : " * " + codegen::literal(d_.scale, d_.float64);
      const std::size_t constant = u * last.butterflies;
      text_.line("local_numbers[c * {} + t + {}] = nan_one == 0 ? v[{}].y{} : nan_one;", pitch, constant, u, scale);
      text_.line("local_numbers[c * {} + t + {}] = nan_two == 0 ? v[{}].x{} : nan_two;", pitch, constant + n, u, scale);
    }
    text_.line("BARRIER();");
    runs_.quads_of_paired_lines(false, n / 2, pitch / 4, 2 * n);
    return;
  }
  text_.line("// half a spectrum of each line");
  const std::string scale = codegen::literal(0.5 * d_.scale, d_.float64),
                    whole = codegen::literal(d_.scale, d_.float64);
  text_.line("const int mirror = (item & {0}) | (({1} - t) & {2});", 31 - (d_.threads - 1), d_.threads, d_.threads - 1);
  text_.line("real2 one[{0}], two[{0}];", radix / 2);
  for (std::size_t u = 0; u < radix / 2; ++u) {
    text_.open();
    text_.line("const real2 give = t == 0 ? v[{}] : v[{}];", (radix - u) % radix, radix - 1 - u);
    text_.line("const real2 a = v[{}], b = make_real2(SHUFFLE(give.x, mirror), SHUFFLE(give.y, mirror));", u);
    text_.line("one[{}] = nan_one == 0 ? scaled(make_real2(a.x + b.x, a.y - b.y), {}) : make_real2(nan_one, 0);", u,
               scale);
    text_.line("two[{}] = nan_two == 0 ? scaled(make_real2(a.y + b.y, b.x - a.x), {}) : make_real2(nan_two, 0);", u,
               scale);
    text_.close();
  }
  p_.local_free();
  for (std::size_t u = 0; u < radix / 2; ++u) {
    text_.line("local_points[c * {} + t + {}] = one[{}];", 2 * values, u * last.butterflies, u);
    text_.line("local_points[c * {} + t + {}] = two[{}];", 2 * values, u * last.butterflies + values, u);
  }
  text_.open("if (t == 0)");
  text_.line("local_points[c * {} + {}] = make_real2(v[{}].x * {} + nan_one, 0);", 2 * values, values - 1, radix / 2,
             whole);
  text_.line("local_points[c * {} + {}] = make_real2(v[{}].y * {} + nan_two, 0);", 2 * values, 2 * values - 1,
             radix / 2, whole);
  text_.close();
  text_.line("BARRIER();");
  runs_.quads_of_paired_lines(false, values, values, 2 * values);
}

}  // namespace ridge::fft::on_device
