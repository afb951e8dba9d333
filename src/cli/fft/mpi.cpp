// Distributed transform of a file: each process reads, transforms and writes its own box.
#include "cli/arrays/npy_file.hpp"
#include "cli/fft/files.hpp"

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/mpi/fft.hpp>

#include "base/aligned.hpp"
#include "command/options.hpp"
#include "mpi/shared_file.hpp"

namespace ridge::cli {
namespace {

template <class T>
class DistributedTransform {
 public:
  using Complex = std::complex<T>;
  DistributedTransform(const FftFileOptions& options, const FftFileProblem& problem, const mpi::Communicator& all)
      : problem_(problem),
        plan_(all,
              {.shape = problem.shape,
               .kind = problem.real ? fft::Kind::real : fft::Kind::complex,
               .scale_forward = problem.scale,
               .scale_inverse = problem.scale,
               .threads = options.threads},
              {.effort = options.measure ? Effort::measured : Effort::quick, .variant = options.variant},
              device(options.device)),
        from_(problem.inverse ? plan_.output() : plan_.input()),
        to_(problem.inverse ? plan_.input() : plan_.output()) {
    all.agree([&] {
      raw_ = base::AlignedArray<std::byte>(from_.size() * element_bytes());
      points_ = base::AlignedArray<Complex>(from_.size());
      result_ = base::AlignedArray<Complex>(to_.size());
    });
  }

  std::size_t element_bytes() const { return io::bytes_of(problem_.element) * (problem_.pairs ? 2 : 1); }

  void run(const mpi::SharedInput& in, std::uint64_t in_at, const mpi::SharedOutput& out, std::uint64_t out_at) {
    const mpi::Communicator& all = plan_.communicator();
    all.agree([&] {
      in.read(in_at, half_where(problem_.real_out()), from_, element_bytes(), raw_.data());
      convert();
    });
    const std::span<const Complex> from(points_.data(), from_.size());
    T* reals = reinterpret_cast<T*>(points_.data());
    if (problem_.real_in()) {
      plan_.forward(std::span<const T>(reals, from_.size()), result_.span());
    } else if (problem_.real_out()) {
      plan_.inverse(from, std::span(reinterpret_cast<T*>(result_.data()), to_.size()));
    } else if (problem_.inverse) {
      plan_.inverse(from, result_.span());
    } else {
      plan_.forward(from, result_.span());
    }
    all.agree([&] {
      out.write(out_at, half_where(problem_.real_in()), to_, io::bytes_of(problem_.out_element()), result_.data());
    });
  }

 private:
  mpi::Shape half_where(bool half) const {
    mpi::Shape shape = problem_.shape;
    if (half) shape.back() = shape.back() / 2 + 1;
    return shape;
  }

  void convert() {
    const std::size_t count = from_.size();
    T* numbers = reinterpret_cast<T*>(points_.data());
    if (problem_.real_in() || problem_.pairs || io::is_complex(problem_.element)) {
      convert_numbers(problem_.element, raw_.data(), problem_.real_in() ? count : 2 * count, numbers);
      return;
    }
    convert_numbers(problem_.element, raw_.data(), count, numbers);
    for (std::size_t i = count; i-- > 0;) points_[i] = Complex(numbers[i], 0);
  }

  const FftFileProblem& problem_;
  mpi::fft::Plan<T> plan_;
  mpi::Box from_, to_;
  base::AlignedArray<std::byte> raw_;
  base::AlignedArray<Complex> points_, result_;
};

template <class T>
void transform_all(const FftFileOptions& options, const FftFileProblem& problem, std::uint64_t first,
                   const mpi::Communicator& all) {
  DistributedTransform<T> transform(options, problem, all);
  const std::uint64_t count = *problem.transforms;
  const std::string header = problem.npy_out ? npy_header(header_of(problem, count), kNpyHeader) : std::string();
  const std::uint64_t in_bytes = problem.in_bytes(),
                      out_bytes = problem.out_elements * io::bytes_of(problem.out_element());
  const mpi::SharedInput in(options.in);
  mpi::SharedOutput out(all, options.out, header.size() + count * out_bytes);
  all.agree([&] {
    if (all.root()) out.write(0, header.data(), header.size());
  });
  for (std::uint64_t i = 0; i < count; ++i) {
    transform.run(in, first + i * in_bytes, out, header.size() + i * out_bytes);
  }
  out.commit();
}

}  // namespace

void transform_file_mpi(const FftFileOptions& options, const mpi::Communicator& all) {
  if (options.in == "-" || options.out == "-") mistake("several processes need files as input and output, not pipes");
  if (!options.r2r.empty()) mistake("--r2r needs a single process");
  if (options.device.find('+') != std::string::npos) mistake("each process needs a single device, as in --device host");
  FftFileProblem problem;
  std::uint64_t first = 0;
  all.agree([&] {
    io::InputStream in(options.in);
    const auto whole = in.remaining();
    problem = fft_file_problem(options, in);
    const auto left = in.remaining();
    if (!whole || !left || !problem.transforms)
      mistake(fmt::format("{} is not a regular file of complete transforms", options.in));
    first = *whole - *left;
  });
  problem.float64 ? transform_all<double>(options, problem, first, all)
                  : transform_all<float>(options, problem, first, all);
}

}  // namespace ridge::cli
