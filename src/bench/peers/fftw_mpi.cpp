// Plans and runs FFTW's MPI transforms, in place and out of place; part of the MPI plugin.
#include "bench/peers/fftw_mpi.hpp"

#include <algorithm>
#include <cstdlib>

#include <ridge/error.hpp>

#include "base/number.hpp"

#define OMPI_SKIP_MPICXX 1
#include <fftw3-mpi.h>

namespace ridge::cli {
namespace {

// Time limit per plan; unlimited by default. With a short limit its processes choose different plans and abort.
double planning_seconds() {
  const char* given = std::getenv("RIDGE_FFTW_SECONDS");
  return given == nullptr ? FFTW_NO_TIMELIMIT : std::max(1.0, base::number_of(given).value_or(0));
}

template <class T>
struct Calls;

template <>
struct Calls<float> {
  using Complex = fftwf_complex;
  using Plan = fftwf_plan;
  static constexpr auto init = fftwf_mpi_init;
  static constexpr auto limit = fftwf_set_timelimit;
  static constexpr auto allocate = fftwf_alloc_complex;
  static constexpr auto release = fftwf_free;
  static constexpr auto local_size = fftwf_mpi_local_size_many_transposed;
  static constexpr auto complex_plan = fftwf_mpi_plan_dft;
  static constexpr auto real_plan = fftwf_mpi_plan_dft_r2c;
  static constexpr auto execute = fftwf_execute;
  static constexpr auto destroy = fftwf_destroy_plan;
};

template <>
struct Calls<double> {
  using Complex = fftw_complex;
  using Plan = fftw_plan;
  static constexpr auto init = fftw_mpi_init;
  static constexpr auto limit = fftw_set_timelimit;
  static constexpr auto allocate = fftw_alloc_complex;
  static constexpr auto release = fftw_free;
  static constexpr auto local_size = fftw_mpi_local_size_many_transposed;
  static constexpr auto complex_plan = fftw_mpi_plan_dft;
  static constexpr auto real_plan = fftw_mpi_plan_dft_r2c;
  static constexpr auto execute = fftw_execute;
  static constexpr auto destroy = fftw_destroy_plan;
};

template <class T>
class FftwMpi final : public DistributedPeer {
  using C = Calls<T>;

 public:
  explicit FftwMpi(const PeerProblem& problem) {
    if (problem.shape.size() < 2 || problem.batch != 1 || problem.inverse) {
      throw Error(ErrorKind::unavailable, "fftw-mpi needs a single forward transform of two or three axes");
    }
    C::init();
    C::limit(planning_seconds());
    std::vector<std::ptrdiff_t> shape(problem.shape.begin(), problem.shape.end()), half = shape;
    if (problem.real) half.back() = half.back() / 2 + 1;
    const int axes = static_cast<int>(shape.size());
    std::ptrdiff_t n0 = 0, first0 = 0, n1 = 0, first1 = 0;
    const std::ptrdiff_t size = C::local_size(axes, half.data(), 1, FFTW_MPI_DEFAULT_BLOCK, FFTW_MPI_DEFAULT_BLOCK,
                                              MPI_COMM_WORLD, &n0, &first0, &n1, &first1);
    for (std::size_t i = 0; i < shape.size(); ++i) {
      input_.end[i] = static_cast<std::size_t>(shape[i]);
      output_.end[i] = static_cast<std::size_t>(half[i]);
    }
    input_.begin[0] = static_cast<std::size_t>(first0);
    input_.end[0] = static_cast<std::size_t>(first0 + n0);
    output_.begin[1] = static_cast<std::size_t>(first1);
    output_.end[1] = static_cast<std::size_t>(first1 + n1);
    output_.order = {1, 0, 2};
    in_ = C::allocate(static_cast<std::size_t>(size));
    out_ = C::allocate(static_cast<std::size_t>(size));
    if (in_ == nullptr || out_ == nullptr) throw Error(ErrorKind::out_of_memory, "not enough memory for fftw-mpi");
    for (const bool in_place : {false, true}) {
      const unsigned flags = FFTW_MEASURE | FFTW_MPI_TRANSPOSED_OUT | (in_place ? 0u : FFTW_DESTROY_INPUT);
      auto* to = in_place ? in_ : out_;
      plans_[in_place ? 1 : 0] =
          problem.real ? C::real_plan(axes, shape.data(), reinterpret_cast<T*>(in_), to, MPI_COMM_WORLD, flags)
                       : C::complex_plan(axes, shape.data(), in_, to, MPI_COMM_WORLD, FFTW_FORWARD, flags);
    }
    if (plans_[0] == nullptr || plans_[1] == nullptr)
      throw Error(ErrorKind::unavailable, "fftw-mpi has no plan for this problem");
  }
  ~FftwMpi() override {
    for (auto& plan : plans_) {
      if (plan != nullptr) C::destroy(plan);
    }
    C::release(in_);
    C::release(out_);
  }
  FftwMpi(const FftwMpi&) = delete;
  FftwMpi& operator=(const FftwMpi&) = delete;

  const mpi::Box& input() const override { return input_; }
  const mpi::Box& output() const override { return output_; }
  void* samples() override { return in_; }
  std::size_t ways() const override { return 2; }
  void run(std::size_t way) override { C::execute(plans_[way]); }
  const void* spectrum(std::size_t way) const override { return way == 1 ? in_ : out_; }

 private:
  mpi::Box input_, output_;
  typename C::Complex *in_ = nullptr, *out_ = nullptr;
  typename C::Plan plans_[2] = {nullptr, nullptr};
};

}  // namespace
}  // namespace ridge::cli

extern "C" void ridge_fftw_mpi_peer(const ridge::cli::PeerProblem* problem,
                                    std::unique_ptr<ridge::cli::DistributedPeer>* peer) {
  using ridge::cli::FftwMpi;
  if (problem->float64) {
    *peer = std::make_unique<FftwMpi<double>>(*problem);
  } else {
    *peer = std::make_unique<FftwMpi<float>>(*problem);
  }
}
