// What fixed borders add in a step: the weights of their cells times their values, at the cells beside them. Only the
// outermost layers of the cells that change have any, so that the spectrum is that of the faces, one axis less, times
// the sine of the first or the last cell.
#pragma once
#include <array>
#include <cstddef>
#include <functional>
#include <vector>

#include "stencil/leap/host_transform.hpp"

namespace ridge::stencil::leap {

// The spectra of the two faces of an axis, in double: low + (-1)^k high is what mode k along the axis multiplies.
struct Faces {
  std::size_t axis = 0;
  std::vector<double> sines = {};              // of mode k
  std::array<std::vector<double>, 2> at = {};  // low, high: a field after the other, the other axes' modes in order
};

class Forces {
 public:
  Forces(const Modes& modes, const Layout& layout);
  // `value` is asked for cells of fixed borders. Nothing where nothing is added.
  using Value = std::function<double(std::size_t field, const std::array<std::size_t, 3>& cell)>;
  std::vector<Faces> faces(const Value& value) const;

 private:
  const Modes& modes_;
  const Layout& layout_;
  std::vector<Faces> blank_;  // without spectra
  std::vector<HostTransform<double>> transforms_;
};

// Of the row (z, y) of the modes: a field after the other, numbers as the spectrum has them.
void force_row(const Modes& modes, const std::vector<Faces>& all_faces, std::size_t z, std::size_t y, double* forces);

}  // namespace ridge::stencil::leap
