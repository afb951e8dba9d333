// Windows of arrays in local memory: a group loads what its items read, tile and halo, and its kernel reads that.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "place/criteria/choose.hpp"
#include "place/criteria/memory.hpp"
#include "place/emit/blocking.hpp"

namespace ridge::place::emit {

// Loops on the grid with nothing between them, from one end to another by one, and no jump inside: what a group takes
// is a box, and all its items come to the barriers.
bool boxes(const Nest& nest, const criteria::Choice& choice);

// name[subscript] in the text of `node`, from the tile. False where a subscript is not one of the analysis' own: the
// array then stays where it is.
bool read_from_tile(Node& node, const criteria::Tile& tile, const analysis::Relations& relations);

// The nest's loops over groups; `tiled` is its tree with reads from tiles, `root` without.
std::string tiled_text(const Nest& nest, const Node& root, const Node& tiled, const std::vector<Loop>& loops,
                       const criteria::Choice& choice, const Blocking& blocking,
                       const std::vector<criteria::Tile>& tiles, const analysis::Relations& relations,
                       const std::vector<std::string>& items);

std::string tile_elements(const Nest& nest, const Variable& v);  // the argument: how long the array is

}  // namespace ridge::place::emit
