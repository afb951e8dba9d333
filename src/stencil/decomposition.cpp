// Division of a grid among processes.
#include "stencil/decomposition.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/threads.hpp"

namespace ridge::stencil {
namespace {

[[noreturn]] void refuse_pieces(const std::string& what) { throw Error(ErrorKind::invalid_argument, what); }

std::size_t radius_of(const Layout& layout, std::size_t axis) { return static_cast<std::size_t>(layout.radius[axis]); }

bool periodic(const Layout& layout, std::size_t axis) { return layout.low[axis] == Border::periodic; }

Counts coordinates(const Counts& processes, std::size_t rank) {
  return {rank / (processes[1] * processes[2]), rank / processes[2] % processes[1], rank % processes[2]};
}

// A part must hold its neighbours' halos and, next to fixed borders, at least one cell that changes.
bool fits(const Layout& layout, const Counts& processes) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (processes[axis] > 1 &&
        layout.shape[axis] / processes[axis] < std::max<std::size_t>(1, 2 * radius_of(layout, axis)))
      return false;
  }
  return true;
}

}  // namespace

std::string processes_text(const Layout& layout, const Counts& processes) {
  std::string text;
  for (std::size_t axis = 3 - layout.dimensions; axis < 3; ++axis)
    text += fmt::format("{}{}", text.empty() ? "" : "x", processes[axis]);
  return text;
}

Counts choose_processes(const Layout& layout, std::size_t processes) {
  Counts best{};
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t z = 1; z <= processes; ++z) {
    if (processes % z != 0) continue;
    for (std::size_t y = 1; y <= processes / z; ++y) {
      if (processes / z % y != 0) continue;
      const Counts counts{z, y, processes / z / y};
      bool possible = fits(layout, counts);
      double cost = 0;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        if (counts[axis] > 1 && axis < 3 - layout.dimensions) possible = false;
        if (counts[axis] == 1) continue;
        // Cells of the faces across this axis; faces along x are strided and make rows shorter.
        const double part = static_cast<double>(layout.shape[axis]) / static_cast<double>(counts[axis]);
        cost += static_cast<double>(radius_of(layout, axis)) / part * (axis == 2 ? 3 : axis == 1 ? 1.1 : 1);
      }
      if (possible && cost < least) {
        least = cost;
        best = counts;
      }
    }
  }
  if (best[0] == 0) {
    refuse_pieces(fmt::format(
        "a grid of {} is too small for {} processes: each needs at least {} cells along a divided axis",
        fmt::join(layout.shape.begin() + static_cast<std::ptrdiff_t>(3 - layout.dimensions), layout.shape.end(), "x"),
        processes, 2 * *std::max_element(layout.radius.begin(), layout.radius.end())));
  }
  return best;
}

Counts parse_processes(const std::string& text, const Layout& layout, std::size_t processes) {
  Counts counts{1, 1, 1};
  std::size_t axis = 3 - layout.dimensions;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (;; ++axis, ++at) {
    if (axis == 3)
      refuse_pieces(fmt::format("--processes {}: more numbers than the {} axes of the grid", text, layout.dimensions));
    const auto [next, error] = std::from_chars(at, end, counts[axis]);
    if (error != std::errc{} || counts[axis] == 0 || (next != end && *next != 'x'))
      refuse_pieces(fmt::format("--processes {}: write a number per axis, as in 2x2", text));
    at = next;
    if (at == end) break;
  }
  if (axis != 2 || counts[0] * counts[1] * counts[2] != processes || counts[0] > processes || counts[1] > processes) {
    refuse_pieces(fmt::format(
        "--processes {}: one number for each of the {} axes is needed, with a product of {} (the processes of mpirun)",
        text, layout.dimensions, processes));
  }
  if (!fits(layout, counts)) {
    refuse_pieces(fmt::format(
        "--processes {}: parts would be thinner than twice the stencil's radius: use fewer processes along that axis",
        text));
  }
  return counts;
}

std::size_t deepest(const Layout& layout, const Counts& processes) {
  std::size_t depth = std::numeric_limits<std::size_t>::max();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (processes[axis] == 1 || layout.radius[axis] == 0) continue;
    depth = std::min(depth, layout.shape[axis] / processes[axis] / radius_of(layout, axis));
  }
  return std::max<std::size_t>(1, depth);
}

std::size_t choose_depth(const Layout& layout, const Counts& processes, std::size_t most) {
  double halo = 0;  // cells computed twice per step of depth, as a share of a part
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (processes[axis] == 1) continue;
    const double part = static_cast<double>(layout.shape[axis]) / static_cast<double>(processes[axis]);
    halo += 2 * static_cast<double>(layout.radius[axis]) / part;
  }
  // The halo shrinks from step to step, so half of it is redundant on average.
  const std::size_t cheap = halo > 0 ? static_cast<std::size_t>(0.1 / (0.5 * halo)) : most;
  return std::clamp<std::size_t>(cheap, 1, std::min(most, deepest(layout, processes)));
}

namespace {

// Cells [begin, end) of an axis that belong to layer `mine` of its processes.
base::Share layer(const Layout& layout, const Counts& processes, std::size_t depth, const Speeds& speeds,
                  std::size_t axis, std::size_t mine) {
  const std::size_t extent = layout.shape[axis], layers = processes[axis];
  const std::size_t least = std::max<std::size_t>(1, std::max<std::size_t>(2, depth) * radius_of(layout, axis));
  if (speeds.empty() || layers == 1 || least * layers >= extent) return base::share(extent, mine, layers);
  std::vector<double> weights(layers, 0);
  for (std::size_t rank = 0; rank < speeds.size(); ++rank) weights[coordinates(processes, rank)[axis]] += speeds[rank];
  double all = 0;
  for (const double weight : weights) all += weight;
  // Every process gets its minimum; the rest is divided in proportion to speed.
  double before = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0;; ++i) {
    before += weights[i];
    const auto wanted = static_cast<std::size_t>(std::llround(static_cast<double>(extent) * before / all));
    const std::size_t end =
        i + 1 == layers ? extent : std::clamp(wanted, begin + least, extent - (layers - 1 - i) * least);
    if (i == mine) return {begin, end};
    begin = end;
  }
}

}  // namespace

Part part_of(const Layout& layout, const Counts& processes, std::size_t depth, std::size_t rank, const Speeds& speeds) {
  const Counts mine = coordinates(processes, rank);
  Part part;
  const std::size_t missing = 3 - layout.dimensions;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto share = layer(layout, processes, depth, speeds, axis, mine[axis]);
    part.global.begin[axis] = share.begin;
    part.global.extent[axis] = share.end - share.begin;
    const std::size_t halo = depth * radius_of(layout, axis);
    const bool cut = processes[axis] > 1;
    const bool inner_low = cut && (mine[axis] > 0 || periodic(layout, axis));
    const bool inner_high = cut && (mine[axis] + 1 < processes[axis] || periodic(layout, axis));
    part.low[axis] = inner_low ? halo : 0;
    part.high[axis] = inner_high ? halo : 0;
    part.owned.begin[axis] = part.low[axis];
    part.owned.extent[axis] = part.global.extent[axis];
    if (axis < missing) continue;
    part.shape.push_back(part.low[axis] + part.global.extent[axis] + part.high[axis]);
    part.borders.low[axis - missing] = inner_low ? Border::fixed : layout.low[axis];
    part.borders.high[axis - missing] = inner_high ? Border::fixed : layout.high[axis];
  }
  return part;
}

std::vector<Exchange> exchanges(const Layout& layout, const Counts& processes, std::size_t depth, std::size_t rank,
                                const Speeds& speeds) {
  const Counts mine = coordinates(processes, rank);
  const Part part = part_of(layout, processes, depth, rank, speeds);
  std::vector<Exchange> list;
  const auto tag_of = [](int z, int y, int x) { return ((z + 1) * 3 + y + 1) * 3 + x + 1; };
  for (int z = -1; z <= 1; ++z) {
    for (int y = -1; y <= 1; ++y) {
      for (int x = -1; x <= 1; ++x) {
        const std::array<int, 3> direction{z, y, x};
        Exchange exchange;
        exchange.direction = direction;
        Counts there{};
        bool exists = z != 0 || y != 0 || x != 0;
        for (std::size_t axis = 0; axis < 3; ++axis) {
          const std::size_t halo = depth * radius_of(layout, axis), count = processes[axis];
          exchange.send.begin[axis] = exchange.receive.begin[axis] = part.owned.begin[axis];
          exchange.send.extent[axis] = exchange.receive.extent[axis] = part.owned.extent[axis];
          there[axis] = mine[axis];
          if (direction[axis] == 0) continue;
          const bool low = direction[axis] < 0;
          if ((low ? part.low : part.high)[axis] == 0) {
            exists = false;
            continue;
          }
          there[axis] = (mine[axis] + count + (low ? count - 1 : 1)) % count;
          exchange.send.extent[axis] = exchange.receive.extent[axis] = halo;
          exchange.receive.begin[axis] = low ? 0 : part.owned.begin[axis] + part.owned.extent[axis];
          if (!low) exchange.send.begin[axis] += part.owned.extent[axis] - halo;
        }
        if (!exists) continue;
        exchange.rank = (there[0] * processes[1] + there[1]) * processes[2] + there[2];
        exchange.send_tag = tag_of(z, y, x);
        exchange.receive_tag = tag_of(-z, -y, -x);  // the neighbour's tag for its direction towards this process
        list.push_back(exchange);
      }
    }
  }
  return list;
}

}  // namespace ridge::stencil
