// Measures the errors and times of the variance methods.
#include "cli/image/study.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <fmt/format.h>
#include <ridge/image.hpp>
#include <ridge/machine.hpp>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "image/variance/reference.hpp"
#include "report/charts.hpp"

namespace ridge::cli {
namespace {

using image::VarianceMethod;
constexpr VarianceMethod kMethods[] = {VarianceMethod::two_pass, VarianceMethod::koenig,     VarianceMethod::online,
                                       VarianceMethod::pairwise, VarianceMethod::three_wise, VarianceMethod::best};

image::VarianceProblem problem_of(std::size_t rows, std::size_t columns, image::Depth depth, VarianceMethod method,
                                  std::size_t window, std::size_t threads) {
  image::VarianceProblem problem;
  problem.rows = rows;
  problem.columns = columns;
  problem.depth = depth;
  problem.method = method;
  problem.window_rows = problem.window_columns = window;
  problem.threads = threads;
  return problem;
}

double median_error(double mean, VarianceMethod method, std::size_t window, std::size_t threads) {
  constexpr std::size_t kSide = 96;
  image::Image in({.rows = kSide, .columns = kSide, .depth = image::Depth::f32});
  image::Image out(in.shape());
  std::mt19937 random(7);
  std::normal_distribution<double> noise(mean, 1);
  for (std::size_t r = 0; r < kSide; ++r) {
    for (std::size_t c = 0; c < kSide; ++c) in.row<float>(r)[c] = static_cast<float>(noise(random));
  }
  const auto problem = problem_of(kSide, kSide, image::Depth::f32, method, window, threads);
  image::plan(host(), problem, {.effort = Effort::quick}).run(in, out);
  std::vector<double> errors;
  for (std::size_t r = 3; r < kSide; r += 7) {
    for (std::size_t c = 3; c < kSide; c += 7) {
      const double right = image::reference_variance(problem, in, r, c),
                   error = std::abs(out.row<float>(r)[c] / right - 1);
      errors.push_back(std::isnan(error) ? INFINITY : error);
    }
  }
  std::nth_element(errors.begin(), errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2), errors.end());
  return errors[errors.size() / 2];
}

double seconds_a_pixel(VarianceMethod method, std::size_t window, std::size_t threads) {
  constexpr std::size_t kRows = 512, kColumns = 1024;
  image::Image in({.rows = kRows, .columns = kColumns}),
      out({.rows = kRows, .columns = kColumns, .depth = image::Depth::f32});
  std::mt19937 random(3);
  for (std::size_t r = 0; r < kRows; ++r)
    std::generate_n(in.row<std::uint8_t>(r), kColumns, [&] { return static_cast<std::uint8_t>(random()); });
  const auto plan = image::plan(host(), problem_of(kRows, kColumns, image::Depth::u8, method, window, threads),
                                {.effort = Effort::quick});
  return base::best_seconds([&] { plan.run(in, out); }, {.seconds = 0.3, .at_least = 2}) / (kRows * kColumns);
}

}  // namespace

void run_variance_study(std::size_t window, std::size_t threads, const std::string& plot) {
  const std::vector<double> means{1, 10, 100, 1e3, 1e4, 1e5, 1e6};
  machine::Sweep sweep;
  sweep.title = fmt::format("Error of the local variance, float, windows of {}x{}", window, window);
  sweep.x = "log10 of the mean of the data, whose variance is 1";
  sweep.y = "median relative error";
  std::vector<std::vector<std::string>> table{{"mean"}};
  for (const VarianceMethod method : kMethods) table.front().push_back(to_string(method));
  for (const double mean : means) table.push_back({fmt::format("{:g}", mean)});
  table.push_back({"ns per pixel, 8-bit"});
  const auto progress = base::terminal_progress();
  for (const VarianceMethod method : kMethods) {
    machine::Sweep::Line line;
    line.name = to_string(method);
    for (std::size_t i = 0; i < means.size(); ++i) {
      const std::size_t done = sweep.lines.size() * means.size() + i;
      progress(static_cast<double>(done) / static_cast<double>(std::size(kMethods) * means.size()), line.name);
      const double error = median_error(means[i], method, window, threads);
      table[i + 1].push_back(fmt::format("{:.1e}", error));
      line.points.push_back({std::log10(means[i]), std::max(error, 1e-9)});
    }
    table.back().push_back(fmt::format("{:.2f}", 1e9 * seconds_a_pixel(method, window, threads)));
    sweep.lines.push_back(line);
  }
  progress(1, "");
  fmt::print("{}", base::table(table));
  if (!plot.empty()) base::write_file(plot, report::svg_of(sweep, "study", true));
}

}  // namespace ridge::cli
