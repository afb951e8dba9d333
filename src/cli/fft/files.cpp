// Reads, transforms and writes files of `ridge fft` in one process.
#include "cli/fft/files.hpp"
#include "cli/arrays/npy_file.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <ridge/fft/hybrid.hpp>

#include "base/aligned.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "bench/fft/fft.hpp"
#include "bench/lengths.hpp"
#include "command/options.hpp"
#include "command/process.hpp"
#include "io/telescopes/header_fields.hpp"

namespace ridge::cli {
namespace {

using io::ElementType;

std::size_t checked_product(const std::vector<std::size_t>& axes, const std::string& name) {
  std::size_t product = 1;
  for (const std::size_t axis : axes) {
    if (__builtin_mul_overflow(product, axis, &product))
      mistake(fmt::format("{}: the number of points overflows 64 bits", name));
  }
  return product;
}

bool ends_with_npy(const std::string& name) {
  return name.size() >= 4 && name.compare(name.size() - 4, 4, ".npy") == 0;
}

// `n`: the factor by which a transform and its inverse multiply.
double parse_scale(const std::string& text, double n) {
  if (text == "1/n") return 1 / n;
  if (text == "1/sqrt(n)") return 1 / std::sqrt(n);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    mistake(fmt::format("--scale {}: needs a number, 1/n or 1/sqrt(n)", text));
  }
  return value;
}

fft::RealKind inverse_of(fft::RealKind kind) {
  using fft::RealKind;
  switch (kind) {
    case RealKind::halfcomplex:
      return RealKind::halfcomplex_inverse;
    case RealKind::halfcomplex_inverse:
      return RealKind::halfcomplex;
    case RealKind::dct2:
      return RealKind::dct3;
    case RealKind::dct3:
      return RealKind::dct2;
    case RealKind::dst2:
      return RealKind::dst3;
    case RealKind::dst3:
      return RealKind::dst2;
    default:
      return kind;
  }
}

// A transform and its inverse multiply by this length along an axis of n points.
std::size_t logical_length(fft::RealKind kind, std::size_t n) {
  using fft::RealKind;
  if (kind <= RealKind::hartley) return n;
  if (kind == RealKind::dct1) return 2 * (n - 1);
  return kind == RealKind::dst1 ? 2 * (n + 1) : 2 * n;
}

void take_real_kinds(const FftFileOptions& options, FftFileProblem& problem) {
  if (options.r2r.empty()) return;
  if (options.real) mistake("--r2r and --real exclude each other: --r2r transforms reals to reals");
  if (options.device != "host") mistake(fmt::format("--r2r needs --device host, got {}", options.device));
  const std::vector<std::string> names = split_text(options.r2r, ',');
  if (names.size() != 1 && names.size() != problem.shape.size()) {
    mistake(fmt::format("--r2r {}: needs one kind, or one for each of the {} axes", options.r2r, problem.shape.size()));
  }
  for (std::size_t axis = 0; axis < problem.shape.size(); ++axis) {
    const fft::RealKind kind = parse_real_kind(names[names.size() == 1 ? 0 : axis]);
    if (kind == fft::RealKind::dct1 && problem.shape[axis] < 2) mistake("--r2r dct1 needs axes of at least 2 points");
    problem.real_kinds.push_back(problem.inverse ? inverse_of(kind) : kind);
  }
}

// Points of the input's last axis if the samples' last axis has n points.
std::size_t last_axis(const FftFileProblem& problem, std::size_t n) {
  return problem.real && problem.inverse ? n / 2 + 1 : n;
}

void take_npy_shape(const FftFileOptions& options, const io::NpyHeader& header, const std::string& name,
                    FftFileProblem& problem) {
  problem.element = header.type;
  if (options.batch != 0) mistake("--batch is for raw files; the shape of a .npy file gives the number of transforms");
  if (!options.samples.empty()) mistake("--samples is for raw files; the header of a .npy file gives the sample type");
  if (header.shape.empty()) mistake(fmt::format("{} holds a single value, nothing to transform", name));
  if (options.shape.empty()) {
    const std::size_t last = header.shape.back();
    problem.shape = {problem.real && problem.inverse ? std::max<std::size_t>(1, 2 * (last > 0 ? last - 1 : 0)) : last};
  } else {
    problem.shape = parse_shape(options.shape);
  }
  take_real_kinds(options, problem);
  const std::size_t axes = problem.shape.size();
  std::vector<std::size_t> wanted = problem.shape;
  wanted.back() = last_axis(problem, wanted.back());
  if (header.shape.size() < axes || !std::equal(wanted.begin(), wanted.end(), header.shape.end() - axes)) {
    mistake(fmt::format("{} has the shape {}; its last axes must be {}{}", name, shape_text(header.shape),
                        shape_text(wanted), wanted == problem.shape ? "" : " (half a spectrum of --shape)"));
  }
  problem.batch_axes.assign(header.shape.begin(), header.shape.end() - static_cast<std::ptrdiff_t>(axes));
  problem.transforms = checked_product(problem.batch_axes, name);
}

bool is_integer(ElementType type) { return type == ElementType::int8 || type == ElementType::int16; }

void take_raw_shape(const FftFileOptions& options, FftFileProblem& problem) {
  if (options.shape.empty()) {
    mistake(fmt::format("{} is not a .npy file: give --shape (and --type, --real, --samples)",
                        options.in == "-" ? "standard input" : options.in));
  }
  problem.shape = parse_shape(options.shape);
  take_real_kinds(options, problem);
  const std::string part = options.samples.empty() ? (options.type.empty() ? "f32" : options.type) : options.samples;
  if (part == "i8") problem.element = ElementType::int8;
  if (part == "i16") problem.element = ElementType::int16;
  problem.pairs = is_integer(problem.element) && !problem.real_in();
  if (part == "f32") problem.element = problem.real_in() ? ElementType::float32 : ElementType::complex64;
  if (part == "f64") problem.element = problem.real_in() ? ElementType::float64 : ElementType::complex128;
}

// Reads, transforms and writes the input in batches of bounded memory.
template <class T>
class FileTransform {
 public:
  using Complex = std::complex<T>;
  FileTransform(const FftFileOptions& options, const FftFileProblem& problem, io::InputStream& in,
                io::OutputStream& out)
      : options_(options), problem_(problem), in_(in), out_(out) {
    raw_bytes_ = problem.in_bytes();
    std::size_t held = raw_bytes_;
    for (const std::size_t part : {problem.in_elements * sizeof(Complex), problem.out_elements * sizeof(Complex)}) {
      if (__builtin_add_overflow(held, part, &held)) mistake("the size of one transform in bytes overflows 64 bits");
    }
    at_a_time_ = std::max<std::size_t>(1, options.memory / std::max<std::size_t>(1, held));
    if (problem.transforms) {
      at_a_time_ = static_cast<std::size_t>(
          std::min<std::uint64_t>(at_a_time_, std::max<std::uint64_t>(1, *problem.transforms)));
    }
  }

  // Returns the number of transforms.
  std::uint64_t run() {
    const auto progress = base::terminal_progress();
    std::uint64_t done = 0;
    while (!problem_.transforms || done < *problem_.transforms) {
      std::size_t wanted = at_a_time_;
      if (problem_.transforms)
        wanted = static_cast<std::size_t>(std::min<std::uint64_t>(wanted, *problem_.transforms - done));
      const std::size_t got = in_.read_growing(raw_, wanted * raw_bytes_);
      const std::size_t whole = got / raw_bytes_;
      if (got % raw_bytes_ != 0 || (problem_.transforms && whole < wanted)) truncated(done, got);
      if (whole == 0) break;
      if (done == 0) take_memory(whole);
      transform(whole);
      done += whole;
      if (problem_.transforms) {
        progress(static_cast<double>(done) / static_cast<double>(*problem_.transforms), "transforming");
      }
      if (whole < wanted) break;
    }
    if (!in_.peek(1).empty()) {
      throw Error(ErrorKind::io, fmt::format("{} has more data than its {} transforms", in_.name(), done));
    }
    progress(1, "");
    return done;
  }

 private:
  // Allocates for the first batch, which is the largest, after it has been read: a header's count is not trusted.
  void take_memory(std::size_t count) {
    points_ =
        base::AlignedArray<Complex>(count * (problem_.real_in() ? problem_.in_elements / 2 + 1 : problem_.in_elements));
    result_ = base::AlignedArray<Complex>(
        count * (problem_.real_out() ? problem_.out_elements / 2 + 1 : problem_.out_elements));
  }

  [[noreturn]] void truncated(std::uint64_t done, std::size_t got) const {
    throw Error(ErrorKind::io,
                fmt::format("{} ends {} bytes into transform {}{}: each needs {} bytes", in_.name(), got % raw_bytes_,
                            done + got / raw_bytes_ + 1,
                            problem_.transforms ? fmt::format(" of {}", *problem_.transforms) : "", raw_bytes_));
  }

  fft::Problem problem_of(std::size_t count) const {
    fft::Problem problem{.shape = problem_.shape,
                         .batch = count,
                         .kind = problem_.real ? fft::Kind::real : fft::Kind::complex,
                         .threads = options_.threads};
    (problem_.inverse ? problem.scale_inverse : problem.scale_forward) = problem_.scale;
    return problem;
  }

  void transform(std::size_t count) {
    const planner::Options planning{.effort = options_.measure ? Effort::measured : Effort::quick,
                                    .variant = options_.variant};
    const bool new_plan = planned_ != count;
    planned_ = count;
    if (problem_.real_to_real()) {
      if (new_plan) cosines_.emplace(host(), tensor_problem(problem_, count, options_.threads), planning);
      T* const numbers = reinterpret_cast<T*>(points_.data());
      convert_numbers(problem_.element, raw_.data(), count * problem_.in_elements, numbers);
      cosines_->run(numbers, result_.data());
      out_.write(result_.data(), count * problem_.out_elements * sizeof(T));
      return;
    }
    if (options_.device.find('+') == std::string::npos) {
      if (new_plan) plan_.emplace(device(options_.device), problem_of(count), planning);
      transform_by(*plan_, count);
    } else {
      if (new_plan) {
        joined_.emplace(parse_joined_devices(options_.device), problem_of(count),
                        fft::HybridOptions{.seconds = kShareSeconds, .planning = planning});
      }
      transform_by(*joined_, count);
    }
  }

  template <class AnyPlan>
  void transform_by(const AnyPlan& plan, std::size_t count) {
    const std::size_t in = count * problem_.in_elements, out = count * problem_.out_elements;
    T* numbers = reinterpret_cast<T*>(points_.data());
    if (problem_.real_in()) {
      convert_numbers(problem_.element, raw_.data(), in, numbers);
      plan.forward(std::span<const T>(numbers, in), std::span(result_.data(), out));
    } else {
      if (!problem_.pairs && !io::is_complex(problem_.element)) {  // real input: imaginary parts are 0
        convert_numbers(problem_.element, raw_.data(), in, numbers);
        for (std::size_t i = in; i-- > 0;) points_[i] = Complex(numbers[i], 0);
      } else {
        convert_numbers(problem_.element, raw_.data(), 2 * in, numbers);
      }
      const std::span<const Complex> from(points_.data(), in);
      if (problem_.real_out()) {
        plan.inverse(from, std::span(reinterpret_cast<T*>(result_.data()), out));
      } else if (problem_.inverse) {
        plan.inverse(from, std::span(result_.data(), out));
      } else {
        plan.forward(from, std::span(result_.data(), out));
      }
    }
    out_.write(result_.data(), out * (problem_.real_out() ? sizeof(T) : sizeof(Complex)));
  }

  static constexpr double kShareSeconds = 0.2;  // time to measure how several devices divide a chunk

  const FftFileOptions& options_;
  const FftFileProblem& problem_;
  io::InputStream& in_;
  io::OutputStream& out_;
  std::size_t raw_bytes_ = 0, at_a_time_ = 1;
  std::vector<std::byte> raw_;
  base::AlignedArray<Complex> points_, result_;
  std::optional<fft::Plan<T>> plan_;
  std::optional<fft::HybridPlan<T>> joined_;
  std::optional<fft::TensorPlan<T>> cosines_;
  std::size_t planned_ = 0;
};

}  // namespace

io::NpyHeader header_of(const FftFileProblem& problem, std::uint64_t transforms) {
  io::NpyHeader header{problem.out_element(), problem.batch_axes};
  // The batch of a raw file becomes an axis unless it is one transform.
  if (problem.batch_axes.empty() && transforms != 1) header.shape.push_back(static_cast<std::size_t>(transforms));
  header.shape.insert(header.shape.end(), problem.shape.begin(), problem.shape.end());
  if (problem.real && !problem.inverse) header.shape.back() = header.shape.back() / 2 + 1;
  return header;
}

fft::TensorProblem tensor_problem(const FftFileProblem& problem, std::size_t count, std::size_t threads) {
  fft::TensorProblem tensor{.kind = fft::TensorKind::real_to_real,
                            .real_kinds = problem.real_kinds,
                            .scale = problem.scale,
                            .threads = threads};
  std::ptrdiff_t stride = 1;
  for (std::size_t axis = problem.shape.size(); axis-- > 0;) {
    tensor.axes.insert(tensor.axes.begin(), {problem.shape[axis], stride, stride});
    stride *= static_cast<std::ptrdiff_t>(problem.shape[axis]);
  }
  tensor.loops = {{count, stride, stride}};
  return tensor;
}

std::size_t FftFileProblem::in_bytes() const { return in_elements * io::bytes_of(element) * (pairs ? 2 : 1); }

ElementType FftFileProblem::out_element() const {
  if (real_out()) return float64 ? ElementType::float64 : ElementType::float32;
  return float64 ? ElementType::complex128 : ElementType::complex64;
}

FftFileProblem fft_file_problem(const FftFileOptions& options, io::InputStream& in) {
  FftFileProblem problem;
  problem.real = options.real;
  problem.inverse = options.inverse;
  const bool npy_in = io::looks_like_npy(in.peek(6));
  if (npy_in) {
    take_npy_shape(options, io::read_npy_header(in), in.name(), problem);
  } else {
    if (ends_with_npy(options.in)) io::read_npy_header(in);  // reports what is wrong with the header
    io::refuse_foreign(in, !options.type.empty() || !options.samples.empty());
    take_raw_shape(options, problem);
  }
  if (problem.real && !problem.inverse && io::is_complex(problem.element)) {
    mistake(fmt::format("--real needs real samples; {} holds {}", in.name(), io::name_of(problem.element)));
  }
  if (problem.real_to_real() && io::is_complex(problem.element)) {
    mistake(fmt::format("--r2r needs real samples; {} holds {}", in.name(), io::name_of(problem.element)));
  }
  if (problem.real && problem.inverse && !io::is_complex(problem.element) && npy_in) {
    mistake(
        fmt::format("--real --inverse needs a complex spectrum; {} holds {}", in.name(), io::name_of(problem.element)));
  }
  const std::size_t points = checked_product(problem.shape, "--shape");
  if (points == 0) mistake(fmt::format("{} has an axis of 0 points, nothing to transform", in.name()));
  std::vector<std::size_t> half = problem.shape;
  half.back() = half.back() / 2 + 1;
  const std::size_t spectrum = problem.real ? checked_product(half, "--shape") : points;
  problem.in_elements = problem.real && problem.inverse ? spectrum : points;
  problem.out_elements = problem.real && !problem.inverse ? spectrum : points;
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(std::max(spectrum, points), std::size_t{64}, &bytes))
    mistake("--shape: the number of points overflows 64 bits");
  problem.float64 = options.type.empty()
                        ? problem.element == ElementType::float64 || problem.element == ElementType::complex128
                        : options.type == "f64";
  double round_trip = problem.real_to_real() ? 1 : static_cast<double>(points);
  for (std::size_t axis = 0; axis < problem.real_kinds.size(); ++axis)
    round_trip *= static_cast<double>(logical_length(problem.real_kinds[axis], problem.shape[axis]));
  problem.scale = parse_scale(options.scale, round_trip);
  if (!npy_in) {
    const std::size_t each = problem.in_bytes();
    if (options.batch != 0) {
      problem.transforms = options.batch;
    } else if (const auto left = in.remaining(); left && *left % each == 0) {
      problem.transforms = *left / each;  // otherwise the file ends within a transform, which reading reports
    }
  }
  problem.npy_out = ends_with_npy(options.out) || (options.out == "-" && npy_in);
  return problem;
}

void transform_file(const FftFileOptions& options) {
  with_processes([&](const mpi::Communicator& all) {
    all.count() > 1 ? transform_file_mpi(options, all) : transform_file_alone(options);
  });
}

void transform_file_alone(const FftFileOptions& options) {
  io::InputStream in(options.in);
  const FftFileProblem problem = fft_file_problem(options, in);
  if (runs_out_of_core(options, problem)) return transform_out_of_core(options, problem);
  if (options.resume)
    mistake("--resume continues a transform larger than --memory; this one fits in memory and starts anew without it");
  io::OutputStream out(options.out);
  std::size_t header_bytes = 0;
  if (problem.npy_out) {
    if (!problem.transforms && out.is_pipe()) {
      mistake("a .npy header needs the number of transforms: give --batch, or write to a file");
    }
    // Reserves space for any count: for a pipe it is known only at the end.
    const std::string header = npy_header(header_of(problem, problem.transforms.value_or(0)), kNpyHeader);
    header_bytes = header.size();
    out.write(header.data(), header.size());
  }
  const std::uint64_t done = problem.float64 ? FileTransform<double>(options, problem, in, out).run()
                                             : FileTransform<float>(options, problem, in, out).run();
  if (problem.npy_out && !problem.transforms) out.rewrite_start(npy_header(header_of(problem, done), header_bytes));
  out.finish();
}

}  // namespace ridge::cli
