// Ways to distributed a transform over processes: which axes are whole in which stage.
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
  std::size_t n0 = 0, n1 = 0;  // a line: its two axes
};

// Shapes of one and two axes are grids of three whose first axes have one point; boxes of callers count from the first
// axis they have.
Points embed(const Shape& shape);
Box embed(const Box& box, std::size_t axes);
Box unembed(const Box& box, std::size_t axes);

// Two and three axes. `spectrum` counts the spectrum's points.
Layout slab_layout(const Points& spectrum, std::size_t processes);
Layout pencil_layout(const Points& spectrum, std::size_t rows, std::size_t columns);
// One line of n0 n1 points in six steps: columns, a turn by twiddles, rows, and a transposition between each.
Layout line_layout(std::size_t points, std::size_t processes);

// Grids of processes worth a trial, the squarest first.
std::vector<std::pair<std::size_t, std::size_t>> process_grids(std::size_t processes);

}  // namespace ridge::mpi::fft
