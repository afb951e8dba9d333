// Positions, wavelets and traces in files.
#include "cli/stencil/input.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "io/arrays/npy.hpp"
#include "io/atomic_file.hpp"

namespace ridge::cli {
namespace {

[[noreturn]] void refuse_file(const std::string& what) { throw Error(ErrorKind::io, what); }

// Numbers separated by commas; nothing for a malformed one.
bool parse_numbers(const std::string& text, std::vector<double>& numbers) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    while (at != end && *at == ' ') ++at;
    double value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc{} || !std::isfinite(value)) return false;
    numbers.push_back(value);
    at = next;
    while (at != end && (*at == ' ' || *at == '\r')) ++at;
    if (at == end) return true;
    if (*at++ != ',') return false;
  }
}

struct Rows {
  std::size_t columns = 0;
  std::vector<double> values{};
};

// A table from text with commas, or an array of one or two axes. Lines that are empty or begin with # are skipped.
Rows read_rows(const std::string& file) {
  Rows rows;
  if (std::filesystem::path(file).extension() == ".npy") {
    const InputGrid grid = read_grid(file, 1);  // rows arrive as channels
    return {.columns = grid.shape[0], .values = grid.values};
  }
  std::ifstream in(file);
  if (!in) refuse_file(fmt::format("{}: cannot be read", file));
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    if (line.empty() || line[0] == '#' || line == "\r") continue;
    const std::size_t before = rows.values.size();
    if (!parse_numbers(line, rows.values))
      refuse_file(fmt::format("{}, line {}: needs numbers separated by commas, got \"{:.40}\"", file, number, line));
    const std::size_t count = rows.values.size() - before;
    if (rows.columns != 0 && count != rows.columns)
      refuse_file(fmt::format("{}, line {}: {} numbers; the lines before have {}", file, number, count, rows.columns));
    rows.columns = count;
  }
  if (rows.values.empty()) refuse_file(fmt::format("{}: needs at least one line of numbers, got none", file));
  return rows;
}

// --- SEG-Y -----------------------------------------------------------------------------------------------------------

// Big-endian numbers at fixed places of a header.
class Header {
 public:
  explicit Header(std::size_t bytes) : bytes_(bytes) {}
  void put16(std::size_t at, std::int64_t value) {  // counted from 1, as in the standard
    bytes_[at - 1] = static_cast<char>(value >> 8 & 255);
    bytes_[at] = static_cast<char>(value & 255);
  }
  void put32(std::size_t at, std::int64_t value) {
    put16(at, value >> 16 & 65535);
    put16(at + 2, value & 65535);
  }
  const std::vector<char>& bytes() const { return bytes_; }

 private:
  std::vector<char> bytes_;
};

constexpr int kPositionScale = 1000;  // positions are stored in thousandths of a unit of length

std::int64_t stored_position(const std::vector<double>& positions, std::size_t point, std::size_t axes,
                             std::size_t axis, double spacing) {
  return std::llround(positions[point * axes + axis] * spacing * kPositionScale);
}

Header trace_header(std::size_t shot, std::size_t receiver, std::size_t receivers, std::size_t steps, double micros) {
  Header header(240);
  header.put32(1, static_cast<std::int64_t>(shot * receivers + receiver + 1));
  header.put32(9, static_cast<std::int64_t>(shot + 1));
  header.put32(13, static_cast<std::int64_t>(receiver + 1));
  header.put16(29, 1);  // seismic data
  header.put16(69, -kPositionScale);
  header.put16(71, -kPositionScale);
  header.put16(89, 1);
  header.put16(115, static_cast<std::int64_t>(steps));
  header.put16(117, std::llround(micros));
  return header;
}

}  // namespace

std::vector<double> parse_point(const std::string& text, const std::string& option,
                                const std::vector<std::size_t>& shape) {
  std::vector<double> point;
  if (!parse_numbers(text, point) || point.size() != shape.size())
    throw Error(ErrorKind::invalid_argument,
                fmt::format("{} {}: not a point of a grid of {}; needs one number per axis, separated by commas",
                            option, text, fmt::join(shape, "x")));
  return point;
}

std::vector<double> read_points(const std::string& file, std::size_t axes) {
  Rows rows = read_rows(file);
  if (rows.columns != axes)
    refuse_file(fmt::format("{}: rows of {} numbers; positions need {}, one per axis", file, rows.columns, axes));
  return std::move(rows.values);
}

std::vector<double> read_wavelets(const std::string& file, std::size_t steps, std::size_t sources) {
  Rows rows = read_rows(file);
  if (rows.values.size() != steps && rows.values.size() != steps * sources)
    refuse_file(fmt::format("{}: {} values; {} steps need {}, or {} for {} sources", file, rows.values.size(), steps,
                            steps, steps * sources, sources));
  return std::move(rows.values);
}

template <class T>
std::vector<T> read_traces(const std::string& file, std::size_t shots, std::size_t steps, std::size_t receivers) {
  const InputGrid grid = read_grid(file, 2);
  if (grid.channels != shots || grid.shape != std::vector<std::size_t>{steps, receivers})
    refuse_file(fmt::format("{}: traces of {} shots, {} steps and {} receivers; this run has {}, {} and {}", file,
                            grid.channels, grid.shape[0], grid.shape[1], shots, steps, receivers));
  return {grid.values.begin(), grid.values.end()};
}

template <class T>
void write_values(const std::string& file, const std::vector<std::size_t>& shape, const std::vector<T>& values) {
  const io::NpyHeader header{sizeof(T) == 8 ? io::ElementType::float64 : io::ElementType::float32, shape};
  io::AtomicFile out(file);
  out.write(io::npy_header(header));
  out.write(values.data(), values.size() * sizeof(T));
  out.commit();
}

template <class T>
void write_traces(const std::string& file, std::size_t shots, std::size_t steps, std::size_t receivers,
                  const std::vector<T>& traces, double dt, const std::vector<double>& sources,
                  const std::vector<double>& positions, std::size_t axes, double spacing) {
  if (std::filesystem::path(file).extension() == ".npy") {
    std::vector<std::size_t> shape{steps, receivers};
    if (shots > 1) shape.insert(shape.begin(), shots);
    return write_values(file, shape, traces);
  }
  const double micros = dt * 1e6;
  if (steps > 32767 || micros < 0.5 || micros > 32767)
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("{}: SEG-Y holds up to 32767 samples of 1 to 32767 microseconds, got {} of {:.4g}; use .npy", file,
                    steps, micros));
  io::AtomicFile out(file);
  const std::string text(3200, '\x40');  // EBCDIC blanks
  out.write(text);
  Header binary(400);
  binary.put16(13, static_cast<std::int64_t>(std::min<std::size_t>(receivers, 32767)));
  binary.put16(17, std::llround(micros));
  binary.put16(21, static_cast<std::int64_t>(steps));
  binary.put16(25, 5);       // IEEE floats
  binary.put16(301, 0x100);  // revision 1
  binary.put16(303, 1);      // traces of equal length
  out.write(binary.bytes().data(), binary.bytes().size());
  std::vector<std::uint32_t> samples(steps);
  for (std::size_t shot = 0; shot < shots; ++shot) {
    for (std::size_t k = 0; k < receivers; ++k) {
      Header header = trace_header(shot, k, receivers, steps, micros);
      // Depth is the first axis; x and y are the last and, in 3D, the middle one.
      header.put32(41, -stored_position(positions, k, axes, 0, spacing));
      header.put32(49, stored_position(sources, shot, axes, 0, spacing));
      header.put32(73, stored_position(sources, shot, axes, axes - 1, spacing));
      header.put32(81, stored_position(positions, k, axes, axes - 1, spacing));
      if (axes == 3) {
        header.put32(77, stored_position(sources, shot, axes, 1, spacing));
        header.put32(85, stored_position(positions, k, axes, 1, spacing));
      }
      out.write(header.bytes().data(), header.bytes().size());
      for (std::size_t n = 0; n < steps; ++n) {
        const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(traces[(shot * steps + n) * receivers + k]));
        samples[n] = std::endian::native == std::endian::little ? __builtin_bswap32(bits) : bits;
      }
      out.write(samples.data(), samples.size() * sizeof(std::uint32_t));
    }
  }
  out.commit();
}

template std::vector<float> read_traces(const std::string&, std::size_t, std::size_t, std::size_t);
template std::vector<double> read_traces(const std::string&, std::size_t, std::size_t, std::size_t);
template void write_values(const std::string&, const std::vector<std::size_t>&, const std::vector<float>&);
template void write_values(const std::string&, const std::vector<std::size_t>&, const std::vector<double>&);
template void write_traces(const std::string&, std::size_t, std::size_t, std::size_t, const std::vector<float>&, double,
                           const std::vector<double>&, const std::vector<double>&, std::size_t, double);
template void write_traces(const std::string&, std::size_t, std::size_t, std::size_t, const std::vector<double>&,
                           double, const std::vector<double>&, const std::vector<double>&, std::size_t, double);

}  // namespace ridge::cli
