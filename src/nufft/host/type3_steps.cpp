// Type 3 on the host: spreading by tiles, then the type 2 of the variant "tiles".
#include <mutex>

#include "base/threads.hpp"
#include "nufft/host/tiles.hpp"
#include "nufft/host/tiling.hpp"
#include "nufft/type3.hpp"

namespace ridge::nufft {
namespace {

template <class T>
class HostSteps final : public Type3Steps<T> {
 public:
  using Complex = std::complex<T>;

  explicit HostSteps(Type3Setup<T>& setup)
      : threads_(setup.threads),
        batch_(setup.batch),
        sign_(setup.sign),
        grid_(setup.cells, setup.axes, Kernel(setup.width, setup.upsampling), setup.threads),
        type2_(type2_layout(setup), design_tiles(type2_layout(setup), setup.upsampling), {.effort = Effort::quick}),
        points_(sort_angles(grid_, setup.points)),
        frequencies_(sort_angles(type2_.grid(), setup.frequencies)),
        before_(std::move(setup.before)),
        after_(std::move(setup.after)),
        scaled_points_(before_.size()),
        scaled_frequencies_(after_.size()) {}

  void run(bool adjoint, const Complex* in, Complex* out) const override {
    std::lock_guard lock(busy_);
    const std::size_t points = before_.size(), frequencies = after_.size();
    for (std::size_t set = 0; set < batch_; ++set) {
      if (adjoint) {
        run_adjoint(in + set * frequencies, out + set * points);
      } else {
        run_forward(in + set * points, out + set * frequencies);
      }
    }
  }
  void enqueue(Queue& /*queue*/, bool adjoint, const Buffer& in, const Buffer& out) const override {
    run(adjoint, reinterpret_cast<const Complex*>(in.native()), reinterpret_cast<Complex*>(out.native()));
  }
  std::vector<planner::Decision> decisions() const override { return type2_.decisions(); }

 private:
  static std::shared_ptr<const SortedPoints<T>> sort_angles(const TileGrid<T>& grid,
                                                            const std::vector<std::vector<double>>& angles) {
    Coordinates<double> all{.axis = {}, .count = angles[0].size()};
    for (std::size_t i = 0; i < angles.size(); ++i) all.axis[i] = angles[i].data();
    return grid.sort(all, true);
  }

  void run_forward(const Complex* strengths, Complex* values) const {
    multiply(strengths, before_, false, scaled_points_.data());
    grid_.spread(*points_, scaled_points_.data());
    type2_.to_points(*frequencies_, sign_, grid_.data(), scaled_frequencies_.data());
    multiply(scaled_frequencies_.data(), after_, false, values);
  }
  void run_adjoint(const Complex* values, Complex* strengths) const {
    multiply(values, after_, true, scaled_frequencies_.data());
    type2_.to_modes(*frequencies_, -sign_, scaled_frequencies_.data(), grid_.data());
    grid_.interpolate(*points_, scaled_points_.data());
    multiply(scaled_points_.data(), before_, true, strengths);
  }
  void multiply(const Complex* in, const std::vector<Complex>& factors, bool conjugate, Complex* out) const {
    constexpr std::size_t kPart = 4096;
    for_units(threads_, (factors.size() + kPart - 1) / kPart, [&](std::size_t unit, std::size_t) {
      for (std::size_t j = unit * kPart; j < std::min(factors.size(), (unit + 1) * kPart); ++j) {
        const Complex a = in[j], b = conjugate ? std::conj(factors[j]) : factors[j];
        out[j] = {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
      }
    });
  }

  std::size_t threads_, batch_;
  int sign_;
  TileGrid<T> grid_;  // its cells are the modes of type2_
  Tiles<T> type2_;
  std::shared_ptr<const SortedPoints<T>> points_, frequencies_;
  std::vector<Complex> before_, after_;
  mutable std::mutex busy_;
  mutable std::vector<Complex> scaled_points_, scaled_frequencies_;
};

}  // namespace

template <class T>
std::unique_ptr<const Type3Steps<T>> type3_on_host(Type3Setup<T>& setup) {
  return std::make_unique<const HostSteps<T>>(setup);
}

template std::unique_ptr<const Type3Steps<float>> type3_on_host(Type3Setup<float>&);
template std::unique_ptr<const Type3Steps<double>> type3_on_host(Type3Setup<double>&);

}  // namespace ridge::nufft
