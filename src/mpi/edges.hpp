// Computes the cells that neighbours need before the rest. At every inner side a slab three halos wide is computed: the
// halo, the cells to send, and as many again. After one temporal block its middle third equals the whole part's result
// bit for bit.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <ridge/stencil.hpp>

#include "mpi/pinned_array.hpp"
#include "stencil/decomposition.hpp"

namespace ridge::mpi {

template <class T>
class Edges {
 public:
  Edges(const ridge::stencil::Plan<T>& plan, const ridge::stencil::Layout& layout, const ridge::stencil::Part& part,
        const std::vector<ridge::stencil::Exchange>& exchanges, std::size_t depth)
      : plan_(plan), layout_(layout), part_(part), exchanges_(exchanges), depth_(depth), slab_of_(exchanges.size()) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      for (const bool low : {true, false}) {
        if ((low ? part.low : part.high)[axis] == 0) continue;
        slabs_.push_back({axis, low, box_of(axis, low), {}, {}});
        if (extent(axis) < 3 * halo(axis)) possible_ = false;
      }
    }
    for (std::size_t i = 0; i < exchanges.size(); ++i) {
      const auto& direction = exchanges[i].direction;
      const std::size_t axis = direction[0] != 0 ? 0 : direction[1] != 0 ? 1 : 2;
      const auto found = std::find_if(slabs_.begin(), slabs_.end(), [&](const Slab& slab) {
        return slab.axis == axis && slab.low == (direction[axis] < 0);
      });
      slab_of_[i] = static_cast<std::size_t>(found - slabs_.begin());
    }
  }

  bool possible() const { return possible_; }

  // Computes the cells that each exchange sends after `steps` further steps. The session itself does not advance.
  void compute(ridge::stencil::Session<T>& session, std::size_t steps, std::vector<PinnedArray<T>>& outgoing) {
    for (std::size_t s = 0; s < slabs_.size(); ++s) {
      begin(slabs_[s], session);
      slabs_[s].session->run(steps);  // on devices only enqueued: all slabs run concurrently
    }
    for (std::size_t s = 0; s < slabs_.size(); ++s) {
      Slab& slab = slabs_[s];
      for (std::size_t i = 0; i < exchanges_.size(); ++i) {
        if (slab_of_[i] != s) continue;
        ridge::stencil::Box box = exchanges_[i].send;
        for (std::size_t axis = 0; axis < 3; ++axis) box.begin[axis] -= slab.box.begin[axis];
        slab.session->get(box, outgoing[i].span());
      }
    }
  }

 private:
  struct Slab {
    std::size_t axis;
    bool low;
    ridge::stencil::Box box;  // in the coordinates of the part
    std::optional<ridge::stencil::Session<T>> session;
    PinnedArray<T> cells;
  };

  std::size_t halo(std::size_t axis) const { return depth_ * static_cast<std::size_t>(layout_.radius[axis]); }
  std::size_t extent(std::size_t axis) const { return part_.low[axis] + part_.owned.extent[axis] + part_.high[axis]; }

  ridge::stencil::Box box_of(std::size_t axis, bool low) const {
    ridge::stencil::Box box{{0, 0, 0}, {extent(0), extent(1), extent(2)}};
    box.extent[axis] = std::min(extent(axis), 3 * halo(axis));
    if (!low) box.begin[axis] = extent(axis) - box.extent[axis];
    return box;
  }

  // Copies the slab's cells from the session; plans and creates the slab's session on first use.
  void begin(Slab& slab, ridge::stencil::Session<T>& session) {
    if (slab.cells.size() == 0) slab.cells = PinnedArray<T>(plan_.device(), slab.box.cells() * layout_.fields, true);
    session.get(slab.box, slab.cells.span());
    if (!slab.session) make(slab);
    slab.session->put({{0, 0, 0}, slab.box.extent}, std::span<const T>(slab.cells.data(), slab.cells.size()));
  }

  void make(Slab& slab) {
    const std::size_t missing = 3 - layout_.dimensions;
    std::vector<std::size_t> shape(slab.box.extent.begin() + static_cast<std::ptrdiff_t>(missing),
                                   slab.box.extent.end());
    ridge::stencil::Borders borders = part_.borders;
    (slab.low ? borders.high : borders.low)[slab.axis - missing] = ridge::stencil::Border::fixed;
    const ridge::stencil::Plan<T> plan(
        plan_.device(), plan_.update(),
        {shape, borders, plan_.problem().threads, ridge::stencil::LeapUse::never, layout_.schedule},
        {.effort = Effort::quick, .variant = same_arithmetic()});
    ridge::stencil::Grid<T> grid(shape, layout_.fields);
    std::fill(grid.all().begin(), grid.all().end(), T{});
    slab.session.emplace(plan.start(grid));
  }

  // On the host all variants give the same bits. On devices a variant requested by name is used here too.
  std::string same_arithmetic() const {
    if (plan_.device().is_host()) return {};
    const std::string name = plan_.decisions().front().trials.at(plan_.decisions().front().winner).name;
    const std::string variant = name.substr(0, name.find('('));
    return variant == "overlapped_tiles" || variant == "row_march" || variant == "plane_march" ? std::string()
                                                                                               : variant;
  }

  ridge::stencil::Plan<T> plan_;
  ridge::stencil::Layout layout_;
  ridge::stencil::Part part_;
  std::vector<ridge::stencil::Exchange> exchanges_;
  std::size_t depth_;
  std::vector<std::size_t> slab_of_;
  std::vector<Slab> slabs_;
  bool possible_ = true;
};

}  // namespace ridge::mpi
