// Data decompositions of a distributed transform: which axes each stage holds whole.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "mpi/fft/pipeline.hpp"

namespace ridge::mpi::fft {

struct Layout {
  std::string name = {};  // "slabs", "pencils", "line"
  std::string grid = {};  // of processes: "8", "2x4"
  std::vector<StageBoxes> forward = {}, inverse = {};
  std::size_t n0 = 0, n1 = 0;  // the two factors of a one-dimensional transform
};

// Shapes of one and two axes become three axes whose first ones have one point. Boxes of callers count from their first
// axis.
Points embed(const Shape& shape);
Box embed(const Box& box, std::size_t axes);
Box unembed(const Box& box, std::size_t axes);

// For two and three axes. `spectrum` counts points of the spectrum.
Layout slab_layout(const Points& spectrum, std::size_t processes);
Layout pencil_layout(const Points& spectrum, std::size_t rows, std::size_t columns);
// One transform of n0 n1 points by the six-step algorithm: columns, twiddle factors, rows, with a transposition before,
// between and after.
Layout line_layout(std::size_t points, std::size_t processes);

// Process grids worth a trial, the squarest first.
std::vector<std::pair<std::size_t, std::size_t>> process_grids(std::size_t processes);

}  // namespace ridge::mpi::fft
