// Reads arrays and images as grids, and parses grid sizes.
#include "cli/stencil/input.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "bench/lengths.hpp"
#include "cli/arrays/npy_file.hpp"
#include "io/images/png.hpp"

namespace ridge::cli {
namespace {

InputGrid from_npy(const std::string& file, std::size_t axes) {
  const NpyFile array(file);
  const io::NpyHeader& header = array.header;
  InputGrid grid;
  grid.shape = header.shape;
  if (grid.shape.size() == axes + 1) {
    grid.channels = grid.shape.front();
    grid.shape.erase(grid.shape.begin());
  }
  if (header.elements() == 0)
    throw Error(ErrorKind::io, fmt::format("{}: an array of shape {} holds no value; needs at least one", file,
                                           fmt::join(header.shape, "x")));
  if (grid.shape.size() != axes) {
    throw Error(ErrorKind::io, fmt::format("{}: an array of shape {}; needs {} {}, or one more in front for fields",
                                           file, fmt::join(header.shape, "x"), axes, axes == 1 ? "axis" : "axes"));
  }
  if (io::is_complex(header.type))
    throw Error(ErrorKind::io, fmt::format("{}: holds complex numbers; needs real ones", file));
  grid.values = array.reals<double>();
  return grid;
}

}  // namespace

InputGrid read_grid(const std::string& file, std::size_t axes) {
  const auto ending = std::filesystem::path(file).extension();
  if (ending == ".npy") return from_npy(file, axes);
  if (ending != ".png") {
    throw Error(ErrorKind::invalid_argument, fmt::format("--in {}: needs a .npy array or a .png image", file));
  }
  const io::Raster image = io::read_png(file);
  InputGrid grid{{image.height, image.width}, image.channels, {}};
  if (axes != 2) throw Error(ErrorKind::io, fmt::format("{}: an image has two axes; needs {}", file, axes));
  grid.values.resize(image.values.size());
  const std::size_t cells = image.height * image.width;
  for (std::size_t i = 0; i < cells; ++i) {
    for (std::size_t c = 0; c < image.channels; ++c) grid.values[c * cells + i] = image.values[i * image.channels + c];
  }
  return grid;
}

std::vector<std::size_t> parse_cells(const std::string& text) {
  try {
    return parse_shape(text);
  } catch (const Error&) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("--size {}: needs the cells along each axis, one to three of them, each 1 or more: 1000, "
                            "512x512, 2^8x2^8x100",
                            text));
  }
}

}  // namespace ridge::cli
