// Contribution of fixed borders to a step: the weights of their cells times their values, at the adjacent cells. Only
// the outermost layers of changing cells have any, so the spectrum is that of the faces, with one axis less, times the
// sine of the first or last cell.
#pragma once
#include <array>
#include <cstddef>
#include <functional>
#include <vector>

#include "stencil/leap/host_transform.hpp"

namespace ridge::stencil::leap {

// Spectra of the two faces of an axis, in double: mode k along the axis multiplies low + (-1)^k high.
struct Faces {
  std::size_t axis = 0;
  std::vector<double> sines = {};              // per mode k
  std::array<std::vector<double>, 2> at = {};  // low, high: consecutive fields, the other axes' modes in order
};

class Forces {
 public:
  Forces(const Modes& modes, const Layout& layout);
  // `value` returns the values of fixed border cells. The result is empty if nothing is added.
  using Value = std::function<double(std::size_t field, const std::array<std::size_t, 3>& cell)>;
  std::vector<Faces> faces(const Value& value) const;

 private:
  const Modes& modes_;
  const Layout& layout_;
  std::vector<Faces> blank_;  // without spectra
  std::vector<HostTransform<double>> transforms_;
};

// Forces of the row (z, y) of the modes: consecutive fields, numbers in the spectrum's format.
void force_row(const Modes& modes, const std::vector<Faces>& all_faces, std::size_t z, std::size_t y, double* forces);

}  // namespace ridge::stencil::leap
