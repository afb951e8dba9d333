// Times and checks variants of the nonuniform transform while planning, on random points.
#pragma once
#include <array>
#include <complex>
#include <vector>

#include "base/aligned.hpp"
#include "nufft/variant.hpp"

namespace ridge::nufft {

template <class T>
class Trials final : public planner::Trials<Variant<T>> {
 public:
  Trials(const Device& device, const Layout& layout) : device_(device), layout_(layout) {}
  double seconds(const Variant<T>& variant) override;
  planner::Comparison compare(const Variant<T>& variant) override;

 private:
  struct Data {
    std::array<base::AlignedArray<T>, 3> axis;
    base::AlignedArray<std::complex<T>> strengths, modes;
    Coordinates<T> points;
  };
  Data random_data(std::size_t points) const;
  void run(const Variant<T>& variant, const PointSet& points, Data& data) const;

  Device device_;
  Layout layout_;
};

}  // namespace ridge::nufft
