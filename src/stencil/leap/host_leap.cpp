// Leap on the host: transform, powers, inverse transform.
#include <atomic>
#include <limits>

#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "stencil/leap/forces.hpp"
#include "stencil/leap/leap.hpp"

namespace ridge::stencil {
namespace {

using namespace leap;

template <class T>
class HostLeap final : public Leap<T> {
 public:
  HostLeap(const Update<T>& update, const Layout& layout)
      : layout_(layout), modes_(modes_with_tables(update, layout)), forces_(modes_, layout_), transform_(of_grid()) {}

  bool run(Grid<T>& grid, const Reach& reach) const override {
    const std::size_t origin =
        (layout_.begin[0] * layout_.shape[1] + layout_.begin[1]) * layout_.shape[2] + layout_.begin[2];
    base::AlignedArray<T> spectrum(transform_.numbers());
    transform_.forward(grid.all().data() + origin, spectrum.data());
    const auto value = [&](std::size_t field, const std::array<std::size_t, 3>& cell) {
      return static_cast<double>(
          grid.field(field)[(cell[0] * layout_.shape[1] + cell[1]) * layout_.shape[2] + cell[2]]);
    };
    const std::vector<Faces> faces = forces_.faces(value);
    const std::size_t parts = modes_.complex ? 2 : 1, width = modes_.axes[2].modes * parts;
    std::atomic<bool> good = true;
    base::parallel(modes_.count() < 16384 ? 1 : layout_.threads, [&](std::size_t thread, std::size_t threads) {
      std::vector<double> forces(faces.empty() ? 0 : width * modes_.fields);
      const base::Share share = base::share(modes_.rows(), thread, threads);
      for (std::size_t row = share.begin; row < share.end && good; ++row) {
        const std::size_t z = row / modes_.axes[1].modes, y = row % modes_.axes[1].modes;
        if (!faces.empty()) force_row(modes_, faces, z, y, forces.data());
        if (!advance_row(modes_, reach, z, y, spectrum.data() + row * width, modes_.count(),
                         faces.empty() ? nullptr : forces.data(), modes_.axes[2].modes)) {
          good = false;
        }
      }
    });
    if (good) transform_.inverse(spectrum.data(), grid.all().data() + origin);
    return good;
  }

  bool run(Running<T>& running, std::size_t steps) const override {
    const std::size_t first = 3 - layout_.dimensions;
    Grid<T> grid({layout_.shape.begin() + static_cast<std::ptrdiff_t>(first), layout_.shape.end()}, layout_.fields);
    running.read(grid);
    if (!run(grid, reach_of(layout_, steps))) return false;
    running.put({{0, 0, 0}, layout_.shape}, grid.all().data());
    return true;
  }

 private:
  HostTransform<T> of_grid() const {
    const auto row = static_cast<std::ptrdiff_t>(layout_.shape[2]);
    const auto plane = row * static_cast<std::ptrdiff_t>(layout_.shape[1]);
    return HostTransform<T>({{&modes_.axes[0], plane}, {&modes_.axes[1], row}, {&modes_.axes[2], 1}}, layout_.fields,
                            static_cast<std::ptrdiff_t>(layout_.cells()), layout_.threads, true);
  }

  Layout layout_;
  Modes modes_;
  Forces forces_;
  HostTransform<T> transform_;
};

}  // namespace

Reach reach_of(const Layout& layout, std::size_t steps) {
  // A mode with eigenvalue 1 drifts linearly: two different levels diverge by a constant amount per step.
  return {.steps = steps, .most_growth = layout.fields == 1 ? 16 : 16 * (static_cast<double>(steps) + 1)};
}

template <class T>
std::unique_ptr<const Leap<T>> host_leap(const Update<T>& update, const Layout& layout) {
  return std::make_unique<HostLeap<T>>(update, layout);
}

template std::unique_ptr<const Leap<float>> host_leap(const Update<float>&, const Layout&);
template std::unique_ptr<const Leap<double>> host_leap(const Update<double>&, const Layout&);

}  // namespace ridge::stencil
