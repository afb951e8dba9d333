// Reads grids from files: .npy of any number type, PNG images.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace ridge::cli {

struct InputGrid {
  std::vector<std::size_t> shape;  // without the channels
  std::size_t channels = 1;
  std::vector<double> values;  // channel after channel
};

// Reads an array of `axes` axes, or with one more in front for channels; an image has one channel or three. Error{io}
// naming the file.
InputGrid read_grid(const std::string& file, std::size_t axes);

// Parses the cells along each axis: 512x512, 2^10x100. Error that names --size.
std::vector<std::size_t> parse_cells(const std::string& text);

}  // namespace ridge::cli
