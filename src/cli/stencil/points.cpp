// Positions, wavelets and traces in files.
#include "cli/stencil/input.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/log.hpp"
#include "base/number.hpp"
#include "base/worst.hpp"
#include "io/arrays/npy.hpp"
#include "io/arrays/segy.hpp"
#include "io/atomic_file.hpp"

namespace ridge::cli {
namespace {

[[noreturn]] void refuse_file(const std::string& what) { throw Error(ErrorKind::io, what); }

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// Texts separated by commas, semicolons or blanks.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  for (std::size_t at = 0;;) {
    while (at < line.size() && is_blank(line[at])) ++at;
    std::size_t end = at;
    while (end < line.size() && !is_blank(line[end]) && line[end] != ',' && line[end] != ';') ++end;
    words.push_back(line.substr(at, end - at));
    while (end < line.size() && is_blank(line[end])) ++end;
    if (end == line.size()) return words;
    at = end + (line[end] == ',' || line[end] == ';' ? 1 : 0);
  }
}

std::optional<double> finite_number(const std::string& word) {
  const std::optional<double> value = base::number_of(word);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

// Appends the numbers of a line; false if one is malformed.
bool parse_numbers(const std::string& line, std::vector<double>& numbers) {
  for (const std::string& word : words_of(line)) {
    const std::optional<double> value = finite_number(word);
    if (!value) return false;
    numbers.push_back(*value);
  }
  return true;
}

struct Rows {
  std::size_t columns = 0;
  std::vector<double> values{};
  std::vector<std::string> names{};  // of the columns, if the first line has names
};

// True for a line of names: no word is a number.
bool is_heading(const std::vector<std::string>& words) {
  return std::none_of(words.begin(), words.end(),
                      [](const std::string& word) { return word.empty() || finite_number(word); });
}

// A table from text, or an array of one or two axes. Lines that are empty or begin with # are skipped.
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
    if (number == 1 && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);  // a byte order mark
    while (!line.empty() && is_blank(line.back())) line.pop_back();
    if (line.empty() || line[0] == '#') continue;
    if (rows.values.empty() && rows.names.empty()) {
      std::vector<std::string> words = words_of(line);
      if (is_heading(words)) {
        rows.names = std::move(words);
        continue;
      }
    }
    const std::size_t before = rows.values.size();
    if (!parse_numbers(line, rows.values))
      refuse_file(fmt::format("{}, line {}: needs numbers separated by commas, semicolons or blanks, got \"{:.40}\"",
                              file, number, line));
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

std::vector<double> PointUnits::cells(std::vector<double> positions) const {
  for (double& position : positions) {
    if (lengths) position /= spacing;
    // Lengths that are multiples of the spacing up to rounding are whole cells.
    if (lengths && std::abs(position - std::round(position)) < 1e-6) position = std::round(position);
  }
  return positions;
}

namespace {

// The axis that a column's name means; `axes` for other names.
std::size_t axis_named(std::string name, std::size_t axes) {
  name = base::lower_case(name);
  if (name == "z" || name == "depth") return 0;
  if (name == "x") return axes - 1;
  return name == "y" && axes == 3 ? 1 : axes;
}

// Sorts the columns by their names.
void sort_columns(const std::string& file, std::size_t axes, Rows& rows) {
  std::vector<std::size_t> column(axes, axes);
  for (std::size_t k = 0; k < axes; ++k) {
    const std::size_t axis = axis_named(rows.names[k], axes);
    if (axis == axes || column[axis] != axes)
      refuse_file(fmt::format("{}: columns named {}; needs {} in any order, or no names", file,
                              fmt::join(rows.names, ", "), axes == 3 ? "depth, y and x" : "depth and x"));
    column[axis] = k;
  }
  std::vector<double> row(axes);
  for (std::size_t at = 0; at < rows.values.size(); at += axes) {
    for (std::size_t axis = 0; axis < axes; ++axis) row[axis] = rows.values[at + column[axis]];
    std::copy(row.begin(), row.end(), rows.values.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

// Appends depth, y and x, or in two dimensions depth and x.
void append_position(const std::array<double, 3>& position, std::size_t axes, std::vector<double>& to) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (axis != 1 || axes == 3) to.push_back(position[axis]);
  }
}

std::vector<double> segy_points(const std::string& file, std::size_t axes, double spacing, bool sources) {
  const io::Segy segy = io::read_segy(file, false);
  std::vector<double> positions;
  const std::size_t first = segy.shot_begin[1];  // traces of the first shot
  for (std::size_t shot = 0; shot < segy.shots(); ++shot) {
    const std::size_t begin = segy.shot_begin[shot], count = segy.shot_begin[shot + 1] - begin;
    const auto& source = segy.traces[begin].source;
    if (sources) append_position(source, axes, positions);
    for (std::size_t k = 0; k < count; ++k) {
      const auto& receiver = segy.traces[begin + k].receiver;
      if (axes == 2 && !(std::abs(receiver[1] - segy.traces[0].source[1]) < spacing / 2 &&
                         std::abs(source[1] - segy.traces[0].source[1]) < spacing / 2))
        refuse_file(
            fmt::format("{}: trace {} is not on a line along x: y is {:g} and {:g}; a model of 2 axes needs "
                        "equal y",
                        file, begin + k + 1, source[1], receiver[1]));
      if (sources) continue;
      if (shot == 0) append_position(receiver, axes, positions);
      const auto& same = segy.traces[std::min(k, first - 1)].receiver;
      base::Worst apart;
      for (std::size_t axis = 0; axis < 3; ++axis) apart.add(std::abs(receiver[axis] - same[axis]));
      if (count != first || !(apart.value() < 1e-3 * spacing))
        refuse_file(
            fmt::format("{}: shot {} has {} receivers, the first one at ({:g}); shot 1 has {}, at ({:g}): all "
                        "shots of a run need the same receivers",
                        file, shot + 1, count, fmt::join(segy.traces[begin].receiver, ", "), first,
                        fmt::join(segy.traces[0].receiver, ", ")));
    }
  }
  return PointUnits{.spacing = spacing, .lengths = true}.cells(std::move(positions));
}

template <class T>
std::vector<T> segy_traces(const std::string& file, std::size_t shots, std::size_t steps, std::size_t receivers,
                           double dt) {
  const io::Segy segy = io::read_segy(file, true);
  if (segy.samples != steps || segy.shots() != shots || segy.traces.size() != shots * receivers)
    refuse_file(
        fmt::format("{}: {} traces of {} shots and {} samples; this run has {} shots, {} receivers and {} steps", file,
                    segy.traces.size(), segy.shots(), segy.samples, shots, receivers, steps));
  // A file holds whole microseconds: half of one, and the rounding of its division by 10^6, are lost.
  if (segy.interval > 0 && std::abs(segy.interval - dt) > 0.5001e-6)
    refuse_file(
        fmt::format("{}: samples every {:.6g} s, but the time step is {:.6g} s; use --dt {:.6g}, or resample the "
                    "traces",
                    file, segy.interval, dt, segy.interval));
  std::vector<T> traces(segy.values.size());
  for (std::size_t shot = 0; shot < shots; ++shot) {
    if (segy.shot_begin[shot] != shot * receivers)
      refuse_file(fmt::format("{}: shot {} has {} traces, this run {} receivers", file, shot,
                              segy.shot_begin[shot] - segy.shot_begin[shot - 1], receivers));
    for (std::size_t k = 0; k < receivers; ++k) {
      const float* const from = segy.values.data() + (shot * receivers + k) * steps;
      for (std::size_t n = 0; n < steps; ++n) traces[(shot * steps + n) * receivers + k] = static_cast<T>(from[n]);
    }
  }
  return traces;
}

}  // namespace

std::vector<double> read_points(const std::string& file, std::size_t axes, const PointUnits& units, bool sources) {
  if (io::is_segy_name(file)) return segy_points(file, axes, units.spacing, sources);
  Rows rows = read_rows(file);
  if (!rows.names.empty() && rows.names.size() != rows.columns)
    refuse_file(
        fmt::format("{}: {} names of columns ({}), but rows of {} numbers; names must not contain blanks, which "
                    "separate them",
                    file, rows.names.size(), fmt::join(rows.names, ", "), rows.columns));
  if (rows.columns != axes)
    refuse_file(fmt::format("{}: rows of {} numbers; positions need {}, one per axis", file, rows.columns, axes));
  if (!rows.names.empty()) sort_columns(file, axes, rows);
  return units.cells(std::move(rows.values));
}

std::vector<double> read_wavelets(const std::string& file, std::size_t steps, std::size_t sources) {
  Rows rows = read_rows(file);
  if (rows.values.size() != steps && rows.values.size() != steps * sources)
    refuse_file(fmt::format("{}: {} values; {} steps need {}, or {} for {} sources", file, rows.values.size(), steps,
                            steps, steps * sources, sources));
  return std::move(rows.values);
}

namespace {

template <class T>
std::vector<T> npy_traces(const std::string& file, std::size_t shots, std::size_t steps, std::size_t receivers) {
  const InputGrid grid = read_grid(file, 2);
  if (grid.channels != shots || grid.shape != std::vector<std::size_t>{steps, receivers})
    refuse_file(fmt::format("{}: traces of {} shots, {} steps and {} receivers; this run has {}, {} and {}", file,
                            grid.channels, grid.shape[0], grid.shape[1], shots, steps, receivers));
  return {grid.values.begin(), grid.values.end()};
}

}  // namespace

template <class T>
std::vector<T> read_traces(const std::string& file, std::size_t shots, std::size_t steps, std::size_t receivers,
                           double dt) {
  std::vector<T> traces = io::is_segy_name(file) ? segy_traces<T>(file, shots, steps, receivers, dt)
                                                 : npy_traces<T>(file, shots, steps, receivers);
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (!std::isfinite(traces[i]))
      refuse_file(fmt::format("{}: the value of receiver {} at step {} of shot {} is {}; all values must be finite",
                              file, i % receivers, i / receivers % steps, i / receivers / steps, traces[i]));
  }
  return traces;
}

template <class T>
void write_values(const std::string& file, const std::vector<std::size_t>& shape, const std::vector<T>& values) {
  const io::NpyHeader header{sizeof(T) == 8 ? io::ElementType::float64 : io::ElementType::float32, shape};
  io::AtomicFile out(file);
  out.write(io::npy_header(header));
  out.write(values.data(), values.size() * sizeof(T));
  out.commit();
}

void check_trace_file(const std::string& file, std::size_t steps, double dt) {
  if (!io::is_segy_name(file)) return;
  const double micros = dt * 1e6, whole = std::round(micros);
  if (steps > 32767 || !(micros >= 0.5) || micros > 32767)
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("{}: SEG-Y holds up to 32767 samples of 1 to 32767 microseconds, got {} of {:.4g}; use .npy", file,
                    steps, micros));
  if (std::abs(micros - whole) * static_cast<double>(steps) > 0.5 * micros)
    base::warn(
        fmt::format("{}: SEG-Y holds whole microseconds, so that its time axis ends {:.2g} steps off; use {}.npy", file,
                    std::abs(micros - whole) / micros * static_cast<double>(steps),
                    micros >= 1 ? fmt::format("--dt {:.6g}, or ", 1e-6 * std::floor(micros)) : std::string()));
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

template std::vector<float> read_traces(const std::string&, std::size_t, std::size_t, std::size_t, double);
template std::vector<double> read_traces(const std::string&, std::size_t, std::size_t, std::size_t, double);
template void write_values(const std::string&, const std::vector<std::size_t>&, const std::vector<float>&);
template void write_values(const std::string&, const std::vector<std::size_t>&, const std::vector<double>&);
template void write_traces(const std::string&, std::size_t, std::size_t, std::size_t, const std::vector<float>&, double,
                           const std::vector<double>&, const std::vector<double>&, std::size_t, double);
template void write_traces(const std::string&, std::size_t, std::size_t, std::size_t, const std::vector<double>&,
                           double, const std::vector<double>&, const std::vector<double>&, std::size_t, double);

}  // namespace ridge::cli
