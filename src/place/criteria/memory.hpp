// Which memory an array is read from: a tile in local memory where a window is read again, constant memory where all
// items read the same few elements, else the read-only path of global memory.
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
  long elements = 0;   // of local memory
  bool fits = false;   // always; else the group must ask
  std::string said{};  // for the report
};

struct Spaces {
  std::vector<Tile> tiles{};
  std::vector<int> constants{};
  std::vector<std::string> said{};  // a line an array that is only read
};

// `arrays`: those that the kernel only reads. Groups take width[k] iterations of chain[k] with `items` work-items;
// `along` is the loop whose neighbouring iterations are neighbouring items.
Spaces choose_spaces(const analysis::Relations& relations, const std::vector<int>& arrays,
                     const std::vector<int>& chain, const std::vector<long>& width, long items, int along,
                     const Memories& device);

}  // namespace ridge::place::criteria
