// Chooses the memory each array is read from: a tile in local memory for a window that is read repeatedly, constant
// memory for a few elements that all work-items read together, else the read-only path of global memory.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <ridge/place.hpp>

#include "place/analysis/window.hpp"

namespace ridge::place::criteria {

struct Tile {
  int variable = -1;
  analysis::Window window{};
  long elements = 0;          // size in local memory
  bool fits = false;          // true: the window always fits; false: the group tests it
  std::string description{};  // for the report
};

struct Spaces {
  std::vector<Tile> tiles{};
  std::vector<int> constants{};
  std::vector<std::string> description{};  // one line per array that is only read
};

// `arrays`: those that the kernel only reads. A group computes width[k] iterations of chain[k] with `items` work-items;
// neighbouring work-items compute neighbouring iterations of loop `along`.
Spaces choose_spaces(const analysis::Relations& relations, const std::vector<int>& arrays,
                     const std::vector<int>& chain, const std::vector<long>& width, long items, int along,
                     const Memories& device);

}  // namespace ridge::place::criteria
