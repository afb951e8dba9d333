// The two steps of type 3, spreading and a type 2 of the spread grid, on the host or on a device.
#pragma once
#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <memory>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/plan.hpp>

#include "nufft/layout.hpp"

namespace ridge::nufft {

// Points and frequencies that were set, as angles on the grids of the two steps.
template <class T>
struct Type3Setup {
  std::size_t axes = 1, batch = 1, threads = 1;
  int sign = +1;
  double epsilon = 1e-6;  // of each step
  double upsampling = 2;
  std::size_t width = 0;                      // of the spreading kernel, in cells
  std::array<std::size_t, 3> cells{1, 1, 1};  // of the spread grid: the modes of the type 2; slowest first
  std::vector<std::vector<double>> points{}, frequencies{};  // angles, one array per axis
  std::vector<std::complex<T>> before{}, after{};            // factors of the strengths and of the values
};

// The type 2 that evaluates the spread grid at the frequencies.
template <class T>
Layout type2_layout(const Type3Setup<T>& setup) {
  return {.type = Type::to_points,
          .axes = setup.axes,
          .modes = setup.cells,
          .points = std::max<std::size_t>(1, setup.after.size()),
          .epsilon = setup.epsilon,
          .sign = setup.sign,
          .order = Order::fft,
          .threads = setup.threads,
          .float64 = sizeof(T) == 8};
}

template <class T>
class Type3Steps {
 public:
  virtual ~Type3Steps() = default;
  // The whole batch: strengths to values, or the adjoint.
  virtual void run(bool adjoint, const std::complex<T>* in, std::complex<T>* out) const = 0;
  virtual void enqueue(Queue& queue, bool adjoint, const Buffer& in, const Buffer& out) const = 0;
  virtual std::vector<planner::Decision> decisions() const = 0;
};

template <class T>
std::unique_ptr<const Type3Steps<T>> type3_on_host(Type3Setup<T>& setup);
template <class T>
std::unique_ptr<const Type3Steps<T>> type3_on_device(const Device& device, Type3Setup<T>& setup);

}  // namespace ridge::nufft
