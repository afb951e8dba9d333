// Files of shots: positions, wavelets and traces.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace ridge::cli {

// "40.5,256": one number per axis. Error that names the option.
std::vector<double> parse_point(const std::string& text, const std::string& option,
                                const std::vector<std::size_t>& shape);
// Positions, one per row, from .npy (points by axes) or text with commas. Error{io} naming file and line.
std::vector<double> read_points(const std::string& file, std::size_t axes);
// `steps` values, or as many for each source.
std::vector<double> read_wavelets(const std::string& file, std::size_t steps, std::size_t sources);

// Traces as [shots,] steps by receivers.
template <class T>
std::vector<T> read_traces(const std::string& file, std::size_t shots, std::size_t steps, std::size_t receivers);
// .npy, or SEG-Y revision 1 with IEEE floats and positions in the trace headers.
template <class T>
void write_traces(const std::string& file, std::size_t shots, std::size_t steps, std::size_t receivers,
                  const std::vector<T>& traces, double dt, const std::vector<double>& sources,
                  const std::vector<double>& positions, std::size_t axes, double spacing);
template <class T>
void write_values(const std::string& file, const std::vector<std::size_t>& shape, const std::vector<T>& values);

}  // namespace ridge::cli
