// Contribution of fixed borders to a step, in the spectrum.
#include "stencil/leap/forces.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/threads.hpp"

namespace ridge::stencil::leap {
namespace {

std::array<std::size_t, 2> others(std::size_t axis) {
  return {axis == 0 ? std::size_t{1} : std::size_t{0}, axis == 2 ? std::size_t{1} : std::size_t{2}};
}

// True if the cell is in a layer that belongs to the faces of an earlier axis.
bool in_earlier_face(const Modes& modes, const Layout& layout, const std::array<std::size_t, 3>& cell,
                     std::size_t axis) {
  for (std::size_t before = 0; before < axis; ++before) {
    if (modes.axes[before].basis != Basis::sine) continue;
    if (cell[before] == layout.begin[before] || cell[before] + 1 == layout.end[before]) return true;
  }
  return false;
}

void add_forces(const Modes& modes, const Layout& layout, const Forces::Value& value,
                const std::array<std::size_t, 3>& cell, double* forces, std::size_t stride) {
  for (const Term& term : modes.terms) {
    std::array<std::size_t, 3> source{};
    bool fixed = false;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::ptrdiff_t index = static_cast<std::ptrdiff_t>(cell[axis]) + term.offset[axis];
      source[axis] = layout.source(axis, index);
      fixed = fixed || (modes.axes[axis].basis == Basis::sine &&
                        (source[axis] < layout.begin[axis] || source[axis] >= layout.end[axis]));
    }
    if (fixed) forces[term.to * stride] += term.weight * value(term.field, source);
  }
}

}  // namespace

Forces::Forces(const Modes& modes, const Layout& layout) : modes_(modes), layout_(layout) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const Axis& own = modes.axes[axis];
    if (own.basis != Basis::sine) continue;
    Faces faces{.axis = axis};
    for (std::size_t k = 0; k < own.modes; ++k) {
      faces.sines.push_back(
          2 * std::sin(std::numbers::pi * static_cast<double>(k + 1) / static_cast<double>(own.cells + 1)));
    }
    blank_.push_back(std::move(faces));
    const auto [a, b] = others(axis);
    const auto across = static_cast<std::ptrdiff_t>(modes.axes[b].cells);
    const std::ptrdiff_t cells = static_cast<std::ptrdiff_t>(modes.axes[a].cells) * across;
    transforms_.emplace_back(std::vector<TransformAxis>{{&modes.axes[a], across}, {&modes.axes[b], 1}}, modes.fields,
                             cells, layout.threads, false);
  }
}

std::vector<Faces> Forces::faces(const Value& value) const {
  bool any = false;
  std::vector<Faces> result = blank_;
  for (std::size_t i = 0; i < result.size(); ++i) {
    Faces& faces = result[i];
    const auto [first, second] = others(faces.axis);
    const std::size_t a = first, b = second;  // structured bindings cannot be captured by clang's lambdas
    const std::size_t down = modes_.axes[a].cells, across = modes_.axes[b].cells, all = down * across;
    for (const std::size_t side : {0, 1}) {
      std::vector<double> cells(all * modes_.fields);
      const bool only_layer = modes_.axes[faces.axis].cells == 1;
      if (side == 0 || !only_layer) {
        base::parallel(all * modes_.terms.size() < 65536 ? 1 : layout_.threads, [&](std::size_t k, std::size_t of) {
          const base::Share share = base::share(down, k, of);
          for (std::size_t row = share.begin; row < share.end; ++row) {
            for (std::size_t column = 0; column < across; ++column) {
              std::array<std::size_t, 3> cell{};
              cell[faces.axis] = side == 0 ? layout_.begin[faces.axis] : layout_.end[faces.axis] - 1;
              cell[a] = layout_.begin[a] + row;
              cell[b] = layout_.begin[b] + column;
              if (in_earlier_face(modes_, layout_, cell, faces.axis)) continue;
              add_forces(modes_, layout_, value, cell, cells.data() + row * across + column, all);
            }
          }
        });
      }
      any = any || std::any_of(cells.begin(), cells.end(), [](double one) { return one != 0; });
      faces.at[side].resize(transforms_[i].numbers());
      transforms_[i].forward(cells.data(), faces.at[side].data());
    }
  }
  if (!any) result.clear();
  return result;
}

void force_row(const Modes& modes, const std::vector<Faces>& all_faces, std::size_t z, std::size_t y, double* forces) {
  const std::size_t width = modes.axes[2].modes, parts = modes.complex ? 2 : 1;
  std::fill_n(forces, modes.fields * width * parts, 0.0);
  const std::array<std::size_t, 2> mode{z, y};
  for (const Faces& faces : all_faces) {
    const auto [a, b] = others(faces.axis);
    const std::size_t across = modes.axes[b].modes, all = modes.axes[a].modes * across;
    for (std::size_t field = 0; field < modes.fields; ++field) {
      double* const to = forces + field * width * parts;
      if (faces.axis == 2) {
        const std::size_t at = (field * all + z * across + y) * parts;
        // One loop: g++ 12 at -O3 for x86 assumes `parts` is 2 if real and imaginary parts are an inner loop.
        for (std::size_t i = 0; i < width * parts; ++i) {
          const std::size_t x = i / parts, part = i % parts;
          const double high = faces.at[1][at + part];
          to[i] += faces.sines[x] * (faces.at[0][at + part] + (x % 2 == 0 ? high : -high));
        }
        continue;
      }
      const std::size_t k = mode[faces.axis], at = (field * all + mode[1 - faces.axis] * across) * parts;
      const double sine = faces.sines[k], other = k % 2 == 0 ? sine : -sine;
      for (std::size_t i = 0; i < width * parts; ++i) {
        to[i] += sine * faces.at[0][at + i] + other * faces.at[1][at + i];
      }
    }
  }
}

}  // namespace ridge::stencil::leap
