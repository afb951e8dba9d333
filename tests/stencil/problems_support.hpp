#pragma once
#include <vector>

#include <ridge/stencil.hpp>

#include "stencil/layout.hpp"

namespace ridge::test {

// Steps by the update's own row loop on a padded copy.
template <class T>
void advance(const stencil::Update<T>& update, const stencil::Problem& problem, stencil::Grid<T>& grid,
             std::size_t steps) {
  const stencil::Layout layout = stencil::resolve(update, problem);
  const auto [rz, ry, rx] = layout.radius;
  const auto [nz, ny, nx] = layout.shape;
  const std::size_t pz = nz + 2 * rz, py = ny + 2 * ry, px = nx + 2 * rx;
  std::vector<T> padded(layout.fields * pz * py * px), line(layout.fields * nx);
  for (std::size_t step = 0; step < steps; ++step) {
    for (std::size_t f = 0; f < layout.fields; ++f)
      for (std::size_t z = 0; z < pz; ++z)
        for (std::size_t y = 0; y < py; ++y)
          for (std::size_t x = 0; x < px; ++x) {
            const auto at = [&](std::size_t axis, std::size_t i, int r) {
              return layout.source(axis, static_cast<std::ptrdiff_t>(i) - r);
            };
            padded[((f * pz + z) * py + y) * px + x] =
                grid.field(f)[(at(0, z, rz) * ny + at(1, y, ry)) * nx + at(2, x, rx)];
          }
    for (std::size_t z = layout.begin[0]; z < layout.end[0]; ++z)
      for (std::size_t y = layout.begin[1]; y < layout.end[1]; ++y) {
        std::vector<const T*> in;
        std::vector<T*> out;
        for (std::size_t f = 0; f < layout.fields; ++f) {
          for (int dz = -rz; dz <= rz; ++dz)
            for (int dy = -ry; dy <= ry; ++dy)
              in.push_back(&padded[((f * pz + z + rz + dz) * py + y + ry + dy) * px + rx]);
          out.push_back(&line[f * nx]);
        }
        update.row({in.data(), nullptr, out.data(), 1, layout.begin[2], layout.end[2]});
        for (std::size_t f = 0; f < layout.fields; ++f)
          std::copy(&line[f * nx] + layout.begin[2], &line[f * nx] + layout.end[2],
                    grid.field(f).data() + (z * ny + y) * nx + layout.begin[2]);
      }
  }
}

}  // namespace ridge::test
