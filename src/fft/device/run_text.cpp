#include "fft/device/pass_writer.hpp"

#include <fmt/format.h>

namespace ridge::fft::on_device {

void PassWriter::stage_in() {
  text_.raw("\n");
  text_.line("// the group's lines, one run of memory, into local memory");
  if (d_.method == PrimeMethod::rader) text_.line("real2 first_point, sum_of_points = make_real2(0, 0);");
  local_free();
  text_.open();
  run_limits(d_.points);
  text_.line("GLOBAL const real2* const run = in + (in_offset + (ulong)GROUP_ID(0) * {}ul);", d_.lines * d_.points);
  each_of_run(d_.points, [&](bool wide) {
    if (wide) {
      text_.line("const float4 two = LOAD((GLOBAL const float4*)(run + e));");
      text_.line("local_points[e / {0} * {1} + e % {0}] = make_real2(two.x, two.y);", d_.points, pitch_);
      text_.line("local_points[(e + 1) / {0} * {1} + (e + 1) % {0}] = make_real2(two.z, two.w);", d_.points, pitch_);
    } else {
      text_.line("local_points[e / {0} * {1} + e % {0}] = LOAD(run + e);", d_.points, pitch_);
    }
  });
  text_.close();
  text_.line("BARRIER();");
}

void PassWriter::run_limits(std::size_t points) {
  text_.line("const uint first = GROUP_ID(0) * {};", d_.lines);
  text_.line("const int limit = (int)(lines - first < {0} ? lines - first : {0}) * {1};", d_.lines, points);
}

void PassWriter::each_of_run(std::size_t points, const std::function<void(bool wide)>& emit) {
  const bool wide_runs = !d_.float64 && d_.lines * points % 2 == 0;
  const std::size_t each = wide_runs ? 2 : 1, total = d_.lines * points;
  const std::size_t turns = (total / each + d_.items() - 1) / d_.items();
  text_.line("UNROLL");
  text_.open("for (int turn = 0; turn < {}; ++turn)", turns);
  text_.line("const int e = {} * (item + turn * {});", each, d_.items());
  if (each == 2) {
    text_.open("if (e + 1 < limit)");
    emit(true);
    text_.close();
    text_.open("else if (e < limit)");
    emit(false);
    text_.close();
  } else {
    text_.open("if (e < limit)");
    emit(false);
    text_.close();
  }
  text_.close();
}

void PassWriter::stage_out(const StageDesign& last, const char* line) {
  text_.raw("\n");
  text_.line("// into local memory, and from there in one run");
  local_free();
  text_.open();
  if (d_.store.factor != FactorKind::none) {
    text_.line("GLOBAL const {}* const store_factors = store_factor + ({});",
               d_.store.factor == FactorKind::real ? "real" : "real2", line_offset(line, d_.store.factor_at));
  }
  const bool rader = d_.method == PrimeMethod::rader;
  for (std::size_t round = 0; round < last.rounds; ++round) {
    open_round(last, round);
    for (std::size_t u = 0; u < last.radix; ++u) {
      const std::uint64_t constant = u * last.butterflies;
      const Validity validity = validity_of(d_.store, constant, last.butterflies);
      if (validity == Validity::none) continue;
      const bool check = validity == Validity::some;
      if (check) text_.open("if ({})", valid_text(d_.store, "store", constant));
      std::string place = constant == 0 ? "i" : fmt::format("i + {}", constant);
      const std::string value = natural(fmt::format("v[{}]", round * last.radix + u), place);
      if (rader) {
        text_.open();
        text_.line("const int k = (int)scatter[{}];", place);
        text_.line("local_points[{} * {} + k] = {};", c(last), pitch_, store_factored(value, "k", 0));
        text_.close();
      } else {
        text_.line("local_points[{} * {} + {}] = {};", c(last), pitch_, place, store_factored(value, "i", constant));
      }
      if (check) text_.close();
    }
    close_round();
  }
  if (rader) {
    // The sum was taken on the way there, where no half of an inverse had been exchanged back.
    const std::string sum = inverse() ? "exchanged(sum_of_points)" : "sum_of_points";
    text_.line("if (t == 0) local_points[c * {}] = {};", pitch_, store_factored(sum, "0", 0));
  }
  text_.close();
  run_out(d_.points, pitch_);
}

void PassWriter::run_out(std::size_t points, std::size_t pitch) {
  text_.line("BARRIER();");
  text_.open();
  run_limits(points);
  text_.line("GLOBAL real2* const run = out + (out_offset + (ulong)GROUP_ID(0) * {}ul);", d_.lines * points);
  each_of_run(points, [&](bool wide) {
    if (wide) {
      text_.line("const real2 a = local_points[e / {0} * {1} + e % {0}];", points, pitch);
      text_.line("const real2 b = local_points[(e + 1) / {0} * {1} + (e + 1) % {0}];", points, pitch);
      text_.line("STORE((GLOBAL float4*)(run + e), make_float4(a.x, a.y, b.x, b.y));");
    } else {
      text_.line("STORE(run + e, local_points[e / {0} * {1} + e % {0}]);", points, pitch);
    }
  });
  text_.close();
}

}  // namespace ridge::fft::on_device
