// Writes copies of a group's lines between global and local memory in runs.
#include "fft/device/pass/text/run_writer.hpp"

#include <fmt/format.h>

namespace ridge::fft::on_device {

// Position of a point of a run in local memory: lines are `pitch` apart.
std::string RunWriter::run_place(const std::string& e, std::size_t points, std::size_t pitch) {
  if (points == pitch) return e;
  return fmt::format("{0} / {1} * {2} + {0} % {1}", e, points, pitch);
}

void RunWriter::stage_in() {
  text_.raw("\n");
  text_.line("// the group's lines, one run of memory, into local memory");
  if (d_.convolves_by(Convolution::rader)) text_.line("real2 first_point, sum_of_points = make_real2(0, 0);");
  p_.local_free();
  text_.open();
  run_limits(d_.points);
  text_.line("GLOBAL const real2* const run = in + (in_offset + (ulong)GROUP_ID(0) * {}ul);", d_.lines * d_.points);
  const Run run = run_of(d_.points, p_.pitch);
  if (run.wide) {
    // All loads of a group are issued before the first one is used.
    text_.open("if (limit == {})", run.points);
    text_.line("float4 two[{}];", run.iterations());
    each_iteration(run, [&](std::size_t iteration) {
      text_.line("two[{}] = LOAD((GLOBAL const float4*)run + (item + {}));", iteration, iteration * d_.items());
    });
    each_iteration(run, [&](std::size_t iteration) {
      if (run.wide_local) {
        text_.line("const int q = item + {};", iteration * d_.items());
        text_.line("((LOCAL float4*)local_points)[{}] = two[{}];", run_place("q", d_.points / 2, p_.pitch / 2),
                   iteration);
      } else {
        text_.line("const int e = 2 * (item + {});", iteration * d_.items());
        text_.line("local_points[{}] = make_real2(two[{}].x, two[{}].y);", run_place("e", d_.points, p_.pitch),
                   iteration, iteration);
        text_.line("local_points[{}] = make_real2(two[{}].z, two[{}].w);", run_place("(e + 1)", d_.points, p_.pitch),
                   iteration, iteration);
      }
    });
    text_.close();
    text_.open("else");
  }
  each_of_run(d_.points, [&] { text_.line("local_points[{}] = LOAD(run + e);", run_place("e", d_.points, p_.pitch)); });
  if (run.wide) text_.close();
  text_.close();
  text_.line("BARRIER();");
}

void RunWriter::run_limits(std::size_t points) {
  text_.line("const uint first = GROUP_ID(0) * {};", d_.lines);
  text_.line("const int limit = (int)(lines - first < {0} ? lines - first : {0}) * {1};", d_.lines, points);
}

RunWriter::Run RunWriter::run_of(std::size_t points, std::size_t pitch) const {
  const std::size_t all = d_.lines * points;
  const bool wide = !d_.float64 && all % 2 == 0;
  return {.points = all,
          .items = d_.items(),
          .wide = wide,
          .wide_local = wide && (points == pitch || (points % 2 == 0 && pitch % 2 == 0)),
          .float64 = d_.float64};
}

void RunWriter::each_iteration(const Run& run, const std::function<void(std::size_t iteration)>& emit) {
  for (std::size_t iteration = 0; iteration < run.iterations(); ++iteration) {
    const bool partial = (iteration + 1) * run.items > run.points / 2;
    partial ? text_.open("if (item < {})", run.points / 2 - iteration * run.items) : text_.open();
    emit(iteration);
    text_.close();
  }
}

void RunWriter::each_of_run(std::size_t points, const std::function<void()>& emit) {
  const std::size_t iterations = (d_.lines * points + d_.items() - 1) / d_.items();
  text_.open("for (int iteration = 0; iteration < {}; ++iteration)", iterations);
  text_.line("const int e = item + iteration * {};", d_.items());
  text_.open("if (e < limit)");
  emit();
  text_.close();
  text_.close();
}

void RunWriter::run_out(std::size_t points, std::size_t pitch) {
  text_.line("BARRIER();");
  text_.open();
  run_limits(points);
  text_.line("GLOBAL real2* const run = out + (out_offset + (ulong)GROUP_ID(0) * {}ul);", d_.lines * points);
  const Run run = run_of(points, pitch);
  if (run.uneven()) {
    uneven_run_out(run, points, pitch);
    text_.open("else");
  } else if (run.wide) {
    text_.open("if (limit == {})", run.points);
    each_iteration(run, [&](std::size_t iteration) {
      if (run.wide_local) {
        text_.line("const int q = item + {};", iteration * d_.items());
        text_.line("const float4 two = ((LOCAL const float4*)local_points)[{}];",
                   run_place("q", points / 2, pitch / 2));
        text_.line("STORE((GLOBAL float4*)run + q, two);");
      } else {
        text_.line("const int e = 2 * (item + {});", iteration * d_.items());
        text_.line("const real2 a = local_points[{}];", run_place("e", points, pitch));
        text_.line("const real2 b = local_points[{}];", run_place("(e + 1)", points, pitch));
        text_.line("STORE((GLOBAL float4*)(run + e), make_float4(a.x, a.y, b.x, b.y));");
      }
    });
    text_.close();
    text_.open("else");
  }
  each_of_run(points, [&] { text_.line("STORE(run + e, local_points[{}]);", run_place("e", points, pitch)); });
  if (run.wide || run.uneven()) text_.close();
  text_.close();
}

// Odd number of points: every second group starts in the middle of a 16-byte access.
void RunWriter::uneven_run_out(const Run& run, std::size_t points, std::size_t pitch) {
  text_.open("if (limit == {})", run.points);
  text_.line("const int head = (int)((out_offset + GROUP_ID(0)) & 1);");
  text_.line("if (head && item == 0) STORE(run, local_points[0]);");
  const std::size_t iterations = (run.points / 2 + run.items - 1) / run.items;
  for (std::size_t iteration = 0; iteration < iterations; ++iteration) {
    text_.open();
    text_.line("const int e = head + 2 * (item + {});", iteration * run.items);
    (iteration + 1) * run.items > run.points / 2 ? text_.open("if (e + 1 < {})", run.points) : text_.open();
    text_.line("const real2 a = local_points[{}];", run_place("e", points, pitch));
    text_.line("const real2 b = local_points[{}];", run_place("(e + 1)", points, pitch));
    text_.line("STORE((GLOBAL float4*)(run + e), make_float4(a.x, a.y, b.x, b.y));");
    text_.close();
    text_.close();
  }
  text_.line("if (!head && item == 0) STORE(run + {}, local_points[{}]);", run.points - 1,
             (run.points - 1) / points * pitch + (run.points - 1) % points);
  text_.close();
}

}  // namespace ridge::fft::on_device
