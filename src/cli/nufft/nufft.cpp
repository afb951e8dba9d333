// ridge nufft: nonuniform Fourier transforms of .npy files.
#include <algorithm>
#include <complex>
#include <memory>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <ridge/nufft.hpp>

#include "bench/lengths.hpp"
#include "cli/arrays/npy_file.hpp"
#include "command/command.hpp"
#include "command/options.hpp"
#include "io/arrays/npy.hpp"

namespace ridge::cli {
namespace {

struct NufftOptions {
  std::string points, in, out;
  std::string modes, frequencies;
  std::size_t type = 1;
  double epsilon = 1e-6;
  std::string sign = "+", order = "centered", outside = "fold", device = "host";
  std::size_t threads = 0;
  bool measure = false, explain = false;
};

// Coordinates of a file with one row per point.
struct PointFile {
  NpyFile file;
  std::size_t count = 0, axes = 1;

  explicit PointFile(const std::string& path) : file(path) {
    const std::vector<std::size_t>& shape = file.header.shape;
    if (io::is_complex(file.header.type) || shape.empty() || shape.size() > 2 ||
        (shape.size() == 2 && (shape[1] < 1 || shape[1] > 3))) {
      mistake(fmt::format("{}: needs real coordinates of shape N, Nx1, Nx2 or Nx3 (one row per point), got {} {}", path,
                          io::name_of(file.header.type), shape_text(shape)));
    }
    count = shape[0];
    axes = shape.size() == 2 ? shape[1] : 1;
  }
  template <class T>
  std::vector<std::vector<T>> coordinates() const {  // x, y, z; unused ones are empty
    const std::vector<T> rows = file.reals<T>();
    std::vector<std::vector<T>> axis(3);
    for (std::size_t i = 0; i < axes; ++i) {
      axis[i].resize(count);
      for (std::size_t j = 0; j < count; ++j) axis[i][j] = rows[j * axes + i];
    }
    return axis;
  }
};

// Number of sets in the input: its axes before the last ones, which must be `wanted`.
std::size_t sets_of_input(const NpyFile& file, const std::vector<std::size_t>& wanted, const char* what) {
  const std::vector<std::size_t>& shape = file.header.shape;
  const bool fits = shape.size() == wanted.size() || shape.size() == wanted.size() + 1;
  if (!fits || !std::equal(wanted.rbegin(), wanted.rend(), shape.rbegin())) {
    mistake(fmt::format("{}: needs {} of shape {}, or several such sets along a first axis, got {}", file.name, what,
                        shape_text(wanted), shape_text(shape)));
  }
  return shape.size() == wanted.size() ? 1 : shape[0];
}

nufft::Problem problem_of(const NufftOptions& options, const PointFile& points, const NpyFile& in) {
  nufft::Problem problem{.type = static_cast<nufft::Type>(options.type),
                         .points = points.count,
                         .epsilon = options.epsilon,
                         .sign = options.sign == "+" ? 1 : -1,
                         .order = options.order == "fft" ? nufft::Order::fft : nufft::Order::centered,
                         .fold = options.outside == "fold",
                         .threads = options.threads};
  const std::vector<std::size_t>& shape = in.header.shape;
  if (!options.modes.empty()) problem.modes = parse_shape(options.modes);
  if (problem.type == nufft::Type::to_modes && problem.modes.empty()) {
    mistake("type 1 needs the number of modes per axis: give --modes, for example --modes 256x256");
  }
  if (problem.modes.empty() && shape.size() >= points.axes) {
    problem.modes.assign(shape.end() - static_cast<std::ptrdiff_t>(points.axes), shape.end());
  }
  if (problem.modes.size() != points.axes) {
    mistake(fmt::format("{}: has {} coordinates per point, but the modes {} have {} axes", options.points, points.axes,
                        shape_text(problem.modes), problem.modes.size()));
  }
  problem.batch = problem.type == nufft::Type::to_modes ? sets_of_input(in, {points.count}, "strengths")
                                                        : sets_of_input(in, problem.modes, "modes");
  return problem;
}

template <class T>
void write_complex(const std::string& path, const std::vector<std::size_t>& shape,
                   const std::vector<std::complex<T>>& values) {
  const auto type = sizeof(T) == 8 ? io::ElementType::complex128 : io::ElementType::complex64;
  write_npy(path, {.type = type, .shape = shape}, values.data());
}

template <class T>
void run_nufft(const NufftOptions& options, const PointFile& points, const NpyFile& in) {
  const nufft::Problem problem = problem_of(options, points, in);
  auto plan =
      nufft::plan<T>(device(options.device), problem, {.effort = options.measure ? Effort::measured : Effort::quick});
  if (options.explain) fmt::print("{}", plan.explain());
  const auto axis = points.coordinates<T>();
  plan.set_points(axis[0], axis[1], axis[2]);
  const bool to_modes = problem.type == nufft::Type::to_modes;
  std::vector<std::size_t> shape = to_modes ? problem.modes : std::vector<std::size_t>{points.count};
  if (in.header.shape.size() > (to_modes ? 1 : points.axes)) shape.insert(shape.begin(), problem.batch);
  std::size_t count = 1;
  for (const std::size_t n : shape) count *= n;
  std::vector<std::complex<T>> result(count);
  plan.run(in.complexes<T>(), result);
  write_complex(options.out, shape, result);
}

template <class T>
void run_type3(const NufftOptions& options, const PointFile& points, const PointFile& frequencies, const NpyFile& in) {
  if (frequencies.axes != points.axes) {
    mistake(fmt::format("{}: has {} coordinates per frequency, but {} has {} per point", options.frequencies,
                        frequencies.axes, options.points, points.axes));
  }
  nufft::Type3Plan<T> plan(device(options.device), {.axes = points.axes,
                                                    .epsilon = options.epsilon,
                                                    .sign = options.sign == "+" ? 1 : -1,
                                                    .batch = sets_of_input(in, {points.count}, "strengths"),
                                                    .threads = options.threads});
  const auto x = points.coordinates<T>(), s = frequencies.coordinates<T>();
  std::vector<std::span<const T>> from, to;
  for (std::size_t i = 0; i < points.axes; ++i) {
    from.emplace_back(x[i]);
    to.emplace_back(s[i]);
  }
  plan.set_points(from, to);
  if (options.explain) fmt::print("{}", plan.explain());
  std::vector<std::size_t> shape{frequencies.count};
  if (in.header.shape.size() > 1) shape.insert(shape.begin(), plan.problem().batch);
  std::vector<std::complex<T>> result(plan.problem().batch * frequencies.count);
  plan.run(in.complexes<T>(), result);
  write_complex(options.out, shape, result);
}

void transform_to_frequencies(const NufftOptions& options) {
  if (options.frequencies.empty()) mistake("type 3 needs the frequencies: give --frequencies FILE");
  const PointFile points(options.points), frequencies(options.frequencies);
  const NpyFile in(options.in);
  if (needs_float64(points.file.header.type) || needs_float64(frequencies.file.header.type) ||
      needs_float64(in.header.type)) {
    run_type3<double>(options, points, frequencies, in);
  } else {
    run_type3<float>(options, points, frequencies, in);
  }
}

void transform_points(const NufftOptions& options) {
  if (options.type == 3) return transform_to_frequencies(options);
  if (!options.frequencies.empty()) mistake(fmt::format("--frequencies needs --type 3, got {}", options.type));
  const PointFile points(options.points);
  const NpyFile in(options.in);
  if (needs_float64(points.file.header.type) || needs_float64(in.header.type)) {
    run_nufft<double>(options, points, in);
  } else {
    run_nufft<float>(options, points, in);
  }
}

}  // namespace

void add_nufft(Command& program) {
  Command& command =
      program.subcommand("nufft", "Nonuniform Fourier transforms: values at points that are not on a grid");
  command.footer(
      "\nExamples:\n"
      "  ridge nufft points.npy strengths.npy modes.npy --modes 256x256 --eps 1e-6\n"
      "  ridge nufft points.npy modes.npy values.npy --type 2 --sign - --eps 1e-6\n"
      "  ridge nufft points.npy strengths.npy values.npy --type 3 --frequencies frequencies.npy\n"
      "\nPOINTS has one row per point and one column per axis, in radians. Type 1 computes\n"
      "modes[k] = sum of strengths[j] exp(sign i k.x[j]), type 2 values[j] = sum of modes[k] exp(sign i k.x[j]),\n"
      "type 3 values[k] = sum of strengths[j] exp(sign i s[k].x[j]) with one row per frequency s in --frequencies.\n"
      "IN holds strengths (types 1 and 3) or modes (type 2), or several sets of them along a first axis. An axis of n "
      "modes\n"
      "has the frequencies -(n/2) to (n-1)/2. The result is complex64, or complex128 if an input is float64.\n"
      "--eps is the relative error of the result in the L2 norm: down to 1e-6 for float32, 1e-14 for float64.");
  auto options = std::make_shared<NufftOptions>();
  command.option("points", options->points, "Coordinates, .npy").required().reads();
  command.option("in", options->in, "Strengths (types 1 and 3) or modes (type 2), .npy").required().reads();
  command.option("out", options->out, "Modes (type 1) or values (types 2 and 3), .npy")
      .required()
      .writes()
      .ends_in({".npy"});
  command.option("--modes", options->modes, "Modes per axis: 256x256 (type 2: the shape of IN)").value_name("SHAPE");
  command.option("--frequencies", options->frequencies, "Type 3: frequencies, .npy, one row each").reads();
  command.option("--type", options->type, "1: points to modes, 2: modes to points, 3: points to frequencies")
      .between(1, 3)
      .shows_default();
  command.option("--eps", options->epsilon, "Relative error of the result").between(1e-16, 0.1).shows_default();
  command.option("--sign", options->sign, "Sign of the exponent: + or -").one_of({"+", "-"}).shows_default();
  command.option("--order", options->order, "Order of the modes: centered, or fft (frequency 0 first)")
      .one_of({"centered", "fft"})
      .shows_default();
  command.option("--outside", options->outside, "Points outside [-pi, pi]: fold into the period, or refuse")
      .one_of({"fold", "refuse"})
      .shows_default();
  command.device(options->device).shows_default();
  command.threads(options->threads);
  command.flag("--measure", options->measure, "Time the best variants first and save the winners");
  command.explain(options->explain);
  command.runs([options] { transform_points(*options); });
}

}  // namespace ridge::cli
