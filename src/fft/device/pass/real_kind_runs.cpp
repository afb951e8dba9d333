// Samples 4m .. 4m + 3 of a line are points 2m, 2m + 1 and, reversed, 2m', 2m' + 1 of the inner transform of types II
// and III, m' = n/2 - 1 - m. Loaded one by one they would belong to distant work-items.
#include <algorithm>

#include <fmt/format.h>

#include "fft/device/pass/real_kind.hpp"
#include "fft/device/pass/text/run_writer.hpp"

namespace ridge::fft::on_device {
namespace {

bool sine_kind(const PassDesign& d) {
  const RealKind kind = d.real_to_real()->kind;
  return kind == RealKind::dst2 || kind == RealKind::dst3;
}

bool aligned_quads(const PassDesign& d, const PassSide& side) {
  return !d.any_offset &&
         std::all_of(side.at.line.begin(), side.at.line.end(), [](std::uint64_t step) { return step % 4 == 0; });
}

}  // namespace

void RunWriter::each_quad(const std::function<void(std::size_t iteration)>& emit) {
  const std::size_t each = d_.real_to_real()->points / 4, all = d_.lines * each;
  for (std::size_t iteration = 0; iteration * d_.items() < all; ++iteration) {
    text_.open();
    text_.line("const int e = item + {}, one = e / {}, m = e % {};", iteration * d_.items(), each, each);
    text_.line("const uint its_line = {} * {}u + (uint)one;", p_.group, d_.lines);
    text_.open("if ({}its_line < lines)",
               (iteration + 1) * d_.items() > all ? fmt::format("e < {} && ", all) : std::string());
    emit(iteration);
    text_.close();
    text_.close();
  }
}

void RunWriter::quads_in() {
  const std::size_t iterations = (d_.lines * (d_.real_to_real()->points / 4) + d_.items() - 1) / d_.items();
  const char* sign = sine_kind(d_) ? "-" : "";
  text_.raw("\n");
  text_.line("// the group's samples into local memory, in the order of the transform");
  p_.local_free();
  text_.open();
  text_.line("real2 front[{0}], back[{0}];", iterations);
  each_quad([&](std::size_t iteration) {
    text_.line("GLOBAL const real* const quad = in + (in_offset + {} + (ulong)(4 * m));",
               p_.line_offset("its_line", d_.load.at));
    if (d_.float64 || !aligned_quads(d_, d_.load)) {
      text_.line("front[{}] = make_real2(LOAD(quad), LOAD(quad + 2));", iteration);
      text_.line("back[{0}] = make_real2({1}LOAD(quad + 3), {1}LOAD(quad + 1));", iteration, sign);
    } else {
      text_.line("const float4 z = LOAD_ONCE((GLOBAL const float4*)quad);");
      text_.line("front[{}] = make_real2(z.x, z.z);", iteration);
      text_.line("back[{0}] = make_real2({1}z.w, {1}z.y);", iteration, sign);
    }
  });
  each_quad([&](std::size_t iteration) {
    text_.line("local_points[one * {} + m] = front[{}];", p_.pitch, iteration);
    text_.line("local_points[one * {} + {} - m] = back[{}];", p_.pitch, d_.points - 1, iteration);
  });
  text_.close();
  text_.line("BARRIER();");
}

void RunWriter::quads_out() {
  const char* sign = sine_kind(d_) ? "-" : "";
  text_.line("BARRIER();");
  each_quad([&](std::size_t) {
    text_.line("GLOBAL real* const quad = out + (out_offset + {} + (ulong)(4 * m));",
               p_.line_offset("its_line", d_.store.at));
    if (d_.store.values == Values::half) {  // already in order
      const std::size_t pitch = real_kind_pitch(d_);
      text_.line("LOCAL const real* const four = local_numbers + (one * {} + 4 * m);", pitch);
      if (d_.float64 || !aligned_quads(d_, d_.store)) {
        for (int i = 0; i < 4; ++i) text_.line("STORE(quad + {0}, four[{0}]);", i);
      } else {
        text_.line("STORE((GLOBAL float4*)quad, *(LOCAL const float4*)four);");
      }
      return;
    }
    text_.line("const real2 front = local_points[one * {} + m];", p_.pitch);
    text_.line("const real2 back = local_points[one * {} + {} - m];", p_.pitch, d_.points - 1);
    if (d_.float64 || !aligned_quads(d_, d_.store)) {
      text_.line("STORE(quad, front.x);");
      text_.line("STORE(quad + 1, {}back.y);", sign);
      text_.line("STORE(quad + 2, front.y);");
      text_.line("STORE(quad + 3, {}back.x);", sign);
    } else {
      text_.line("STORE((GLOBAL float4*)quad, make_float4(front.x, {0}back.y, front.y, {0}back.x));", sign);
    }
  });
}

}  // namespace ridge::fft::on_device
