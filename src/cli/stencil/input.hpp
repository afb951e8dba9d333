// Reads grids from files (.npy of any number type, PNG images) and lists of points.
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

// Files of shots: positions, wavelets and traces.

// "40.5,256": one number per axis. Error that names the option.
std::vector<double> parse_point(const std::string& text, const std::string& option,
                                const std::vector<std::size_t>& shape);
// Units of positions: cells, or lengths in those of the spacing.
struct PointUnits {
  double spacing = 1;
  bool lengths = false;
  std::vector<double> cells(std::vector<double> positions) const;
};
// Positions in cells, slowest axis first, from .npy (points by axes), from text with one position per line, whose first
// line may name the columns depth, y and x, or from the trace headers of SEG-Y, which are lengths. Error{io} naming the
// file and the line.
std::vector<double> read_points(const std::string& file, std::size_t axes, const PointUnits& units, bool sources);
// `steps` values, or as many for each source.
std::vector<double> read_wavelets(const std::string& file, std::size_t steps, std::size_t sources);

// Traces as [shots,] steps by receivers, from .npy or SEG-Y.
template <class T>
std::vector<T> read_traces(const std::string& file, std::size_t shots, std::size_t steps, std::size_t receivers,
                           double dt);
// Before a run: Error{invalid_argument} if the file's format cannot hold this number of steps, and a warning if it
// rounds the time step.
void check_trace_file(const std::string& file, std::size_t steps, double dt);
// .npy, or SEG-Y revision 1 with IEEE floats and positions in the trace headers.
template <class T>
void write_traces(const std::string& file, std::size_t shots, std::size_t steps, std::size_t receivers,
                  const std::vector<T>& traces, double dt, const std::vector<double>& sources,
                  const std::vector<double>& positions, std::size_t axes, double spacing);
template <class T>
void write_values(const std::string& file, const std::vector<std::size_t>& shape, const std::vector<T>& values);

}  // namespace ridge::cli
