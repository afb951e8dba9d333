// Cost model for reads from the cache and from a tile in local memory.
#include "place/criteria/memory.hpp"

#include <algorithm>

#include "base/number.hpp"
#include "place/text/node_text.hpp"
#include "place/text/words.hpp"

namespace ridge::place::criteria {
namespace {

constexpr double kAssumedIterations = 9;   // assumed iterations of a loop whose length is known at run time only
constexpr long kConstantBytes = 64 << 10;  // minimum that OpenCL guarantees

struct Reads {
  double all = 0;    // by one work-group
  double lines = 0;  // cache lines that a row of work-items reads: two if the row may start anywhere in a line
  bool uniform = true;
};

Reads count_reads(const analysis::Relations& relations, int variable, const std::vector<int>& chain,
                  const std::vector<long>& width, int along) {
  const Nest& nest = *relations.nest;
  const auto on_grid = [&](int l) { return std::find(chain.begin(), chain.end(), l) != chain.end(); };
  double copies = 1;
  Reads reads;
  for (const long w : width) copies *= static_cast<double>(w);
  for (const analysis::Instance& i : relations.instances)
    for (const analysis::Relation& r : i.relations) {
      if (r.access->variable != variable) continue;
      double iterations = copies;
      for (const int l : i.loops)
        if (!on_grid(l)) {
          const long n = text::constant_iterations(nest.loops[l]);
          iterations *= n > 0 ? static_cast<double>(n) : kAssumedIterations;
        }
      bool moved = false;
      const auto at = analysis::dimensions(relations, *r.access);
      if (!at) {
        reads.uniform = false;
        continue;
      }
      for (const auto& [term, factor] : at->back().terms())
        moved |= term.empty() ? factor % 32 != 0 : term[0] != nest.loops[along].iterator;
      for (const int g : chain) {
        const std::string& name = nest.loops[g].iterator;
        const auto says = [&](const Poly& p) {
          const auto symbols = p.symbols();
          return std::find(symbols.begin(), symbols.end(), name) != symbols.end();
        };
        reads.uniform = reads.uniform && std::none_of(at->begin(), at->end(), says);
        for (const int l : i.loops)
          for (const Constraint& c : nest.loops[l].bounds)
            reads.uniform = reads.uniform && (on_grid(l) || !says(c.poly));
        if (!nest.jumps.empty()) reads.uniform = false;
      }
      reads.all += iterations;
      reads.lines += moved ? 2 * iterations : iterations;
    }
  return reads;
}

std::string number(double x) { return base::decimal_text(x, 3); }

}  // namespace

Spaces choose_spaces(const analysis::Relations& relations, const std::vector<int>& arrays,
                     const std::vector<int>& chain, const std::vector<long>& width, long items, int along,
                     const Memories& device) {
  const Nest& nest = *relations.nest;
  Spaces spaces;
  long left = static_cast<long>(device.local_bytes / 2);  // so that at least two groups are resident
  for (const int variable : arrays) {
    const Variable& v = nest.variables[variable];
    Reads reads = count_reads(relations, variable, chain, width, along);
    const bool matters = !v.mixed && (reads.uniform || device.tiles != "never");
    const auto window = matters ? analysis::window(relations, variable, chain, width) : std::nullopt;
    const std::string cached = v.host + ": read-only path of global memory";
    if (!window || reads.all <= 0) {
      spaces.description.push_back(cached);
      continue;
    }
    long all = 1;
    double likely = 1;
    bool fixed = true, moves = true, anywhere = false, numbers = true;
    std::string shape;
    for (std::size_t d = 0; d < window->low.size(); ++d) {
      bool follows = false;
      for (const int l : chain) follows |= text::names(window->low[d], nest.loops[l].iterator + "_group");
      anywhere |= follows;
      numbers = numbers && window->low[d].find_first_not_of("0123456789") == std::string::npos;
      fixed = fixed && window->fixed[d] > 0;
      moves = moves && (follows || window->fixed[d] > 0);
      all *= window->fixed[d] > 0 ? std::min(window->fixed[d], 1L << 20) : 1;
      all = std::min(all, 1L << 40);
      double guess = kAssumedIterations - 1;
      for (std::size_t k = 0; k < chain.size(); ++k)
        if (text::names(window->low[d], nest.loops[chain[k]].iterator + "_group"))
          guess += static_cast<double>(width[k]);
      likely *= window->fixed[d] > 0 ? static_cast<double>(window->fixed[d]) : guess;
      shape += (shape.empty() ? "" : " x ") +
               (window->fixed[d] > 0 ? std::to_string(window->fixed[d]) : "(" + window->length[d] + ")");
    }
    if (!anywhere && reads.uniform) {
      if (fixed && numbers && all * v.bytes <= kConstantBytes && device.constant) {
        spaces.constants.push_back(variable);
        spaces.description.push_back(v.host + ": constant memory, " + std::to_string(all) +
                                     " elements that all work-items read together");
      } else {
        spaces.description.push_back(cached + ", all work-items read the same element at once");
      }
      continue;
    }
    if (!moves || !anywhere || device.tiles == "never") {
      spaces.description.push_back(cached);
      continue;
    }
    // Cost per work-item, in units of one element read through the nearest cache.
    const double each = static_cast<double>(items), local = device.cached / device.local;
    const double direct = reads.lines / each, tiled = likely / each * (2 + local) + reads.all / each * local;
    const std::string cost = " (" + number(reads.all / likely) + " reads per element; cost " + number(direct) +
                             " from the cache, " + number(tiled) + " with a tile)";
    const long room = left / v.bytes;
    if ((device.tiles != "always" && !(tiled < direct)) || (fixed ? all > room : room < 2 * items)) {
      spaces.description.push_back(cached + cost);
      continue;
    }
    Tile tile{variable, *window, fixed ? all : room, fixed, ""};
    left -= tile.elements * v.bytes;
    tile.description = v.host + ": tile of " + shape + " in local memory" + cost;
    spaces.description.push_back(tile.description);
    spaces.tiles.push_back(std::move(tile));
  }
  return spaces;
}

}  // namespace ridge::place::criteria
