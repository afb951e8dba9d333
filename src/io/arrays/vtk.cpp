// Writes grids as .vti with base64 data, and series as .pvd.
#include "io/arrays/vtk.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/files.hpp"
#include "base/svg.hpp"
#include "io/atomic_file.hpp"
#include "io/encoding.hpp"

namespace ridge::io {
namespace fs = std::filesystem;
namespace {

const char* vtk_type(ElementType type) {
  switch (type) {
    case ElementType::int8:
      return "Int8";
    case ElementType::uint8:
      return "UInt8";
    case ElementType::int16:
      return "Int16";
    case ElementType::uint16:
      return "UInt16";
    case ElementType::int32:
      return "Int32";
    case ElementType::float32:
      return "Float32";
    default:
      return "Float64";
  }
}

constexpr const char* kByteOrder = std::endian::native == std::endian::little ? "LittleEndian" : "BigEndian";

std::size_t encoded_bytes(std::size_t bytes, VtkEncoding encoding) {
  return encoding == VtkEncoding::raw ? bytes : (bytes + 2) / 3 * 4;
}

// VTK lists x first and needs three axes; a missing axis is one point at 0.
std::string header(const GridSource& source, VtkEncoding encoding) {
  std::array<std::size_t, 3> points{1, 1, 1};
  std::array<double, 3> spacing{1, 1, 1}, origin{0, 0, 0};
  for (std::size_t axis = 0; axis < source.shape.size(); ++axis) {
    const std::size_t from = source.shape.size() - 1 - axis;
    points[axis] = source.shape[from];
    spacing[axis] = source.spacing[from];
    origin[axis] = spacing[axis] / 2;
  }
  const std::string extent = fmt::format("0 {} 0 {} 0 {}", points[0] - 1, points[1] - 1, points[2] - 1);
  std::string text = fmt::format(
      "<?xml version=\"1.0\"?>\n"
      "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"{}\" header_type=\"UInt64\">\n"
      "  <ImageData WholeExtent=\"{}\" Origin=\"{} {} {}\" Spacing=\"{} {} {}\">\n"
      "    <Piece Extent=\"{}\">\n"
      "      <PointData Scalars=\"{}\">\n",
      kByteOrder, extent, origin[0], origin[1], origin[2], spacing[0], spacing[1], spacing[2], extent,
      base::svg::escape(source.names[0]));
  const std::size_t bytes = source.cells() * bytes_of(source.type) + sizeof(std::uint64_t);
  for (std::size_t field = 0; field < source.names.size(); ++field) {
    text += fmt::format("        <DataArray type=\"{}\" Name=\"{}\" format=\"appended\" offset=\"{}\"/>\n",
                        vtk_type(source.type), base::svg::escape(source.names[field]),
                        field * encoded_bytes(bytes, encoding));
  }
  text += "      </PointData>\n      <CellData>\n      </CellData>\n    </Piece>\n  </ImageData>\n";
  text += fmt::format("  <AppendedData encoding=\"{}\">\n   _", encoding == VtkEncoding::raw ? "raw" : "base64");
  return text;
}

constexpr std::size_t kLongestList = std::size_t{64} << 20;

// The value of an attribute in a line written by write_list().
std::optional<std::string> attribute(std::string_view line, std::string_view name) {
  const std::size_t at = line.find(fmt::format(" {}=\"", name));
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t from = at + name.size() + 3;
  const std::size_t to = line.find('"', from);
  if (to == std::string_view::npos) return std::nullopt;
  return std::string(line.substr(from, to - from));
}

std::string file_name(const fs::path& list, std::size_t step) {
  return fmt::format("{}_{:06}.vti", list.stem().string(), step);
}

// The step in a name made by file_name(), as spelled in the list; empty for other names.
std::optional<std::size_t> step_of(const fs::path& list, const std::string& file) {
  const std::string before = base::svg::escape(list.stem().string()) + "_";
  if (file.size() <= before.size() + 4 || file.rfind(before, 0) != 0) return std::nullopt;
  std::size_t step = 0;
  const auto [end, error] = std::from_chars(file.data() + before.size(), file.data() + file.size(), step);
  if (error != std::errc{} || base::svg::escape(file_name(list, step)) != file) return std::nullopt;
  return step;
}

}  // namespace

void write_vti(const fs::path& path, const GridSource& source, VtkEncoding encoding) {
  check(source);
  AtomicFile file(path);
  file.write(header(source, encoding));
  const std::uint64_t bytes = source.cells() * bytes_of(source.type);
  for (std::size_t field = 0; field < source.names.size(); ++field) {
    Base64 letters;
    const auto put = [&](const void* from, std::size_t count) {
      if (encoding == VtkEncoding::raw) {
        file.write(from, count);
      } else {
        file.write(letters.add(from, count));
      }
    };
    put(&bytes, sizeof bytes);
    for_each_piece(source, field, [&](std::size_t, std::size_t begin, std::size_t end, const std::byte* piece) {
      put(piece, (end - begin) * source.slab_cells() * bytes_of(source.type));
    });
    file.write(letters.finish());
  }
  file.write("\n  </AppendedData>\n</VTKFile>\n");
  file.commit();
}

VtkSeries::VtkSeries(fs::path list, VtkEncoding encoding) : list_(std::move(list)), encoding_(encoding) {
  if (list_.extension() != ".pvd") {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("{}: the name of a ParaView series must end in .pvd", list_.string()));
  }
}

VtkSeries::VtkSeries(fs::path list, std::size_t resume_from, VtkEncoding encoding)
    : VtkSeries(std::move(list), encoding) {
  const auto text = base::read_file(list_, kLongestList);
  if (!text) return;
  if (text->find("<VTKFile type=\"Collection\"") == std::string::npos) {
    throw Error(ErrorKind::io,
                fmt::format("{}: not a ParaView series list; remove it or choose another name", list_.string()));
  }
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(rest.size(), end + 1));
    if (line.find("<DataSet ") == std::string_view::npos) continue;
    const auto time = attribute(line, "timestep"), file = attribute(line, "file");
    const auto step = file ? step_of(list_, *file) : std::nullopt;
    double at = 0;
    if (!time || !step || std::from_chars(time->data(), time->data() + time->size(), at).ec != std::errc{} ||
        !std::isfinite(at)) {
      throw Error(ErrorKind::io,
                  fmt::format("{}: contains a line not written by ridge ({:.60}); remove the list or choose "
                              "another name",
                              list_.string(), line));
    }
    std::error_code ignored;
    const std::string name = file_name(list_, *step);
    if (*step <= resume_from && fs::exists(list_.parent_path() / name, ignored)) entries_.push_back({*step, at, name});
  }
}

void VtkSeries::write_list() const {
  std::string text = fmt::format(
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"{}\">\n  <Collection>\n",
      kByteOrder);
  for (const Entry& entry : entries_) {
    text += fmt::format("    <DataSet timestep=\"{}\" part=\"0\" file=\"{}\"/>\n", entry.time,
                        base::svg::escape(entry.file));
  }
  text += "  </Collection>\n</VTKFile>\n";
  base::write_file(list_, text);
}

void VtkSeries::add(std::size_t step, double time, const GridSource& source) {
  const std::string file = file_name(list_, step);
  write_vti(list_.parent_path() / file, source, encoding_);
  std::erase_if(entries_, [&](const Entry& entry) { return entry.step >= step; });
  entries_.push_back({step, time, file});
  write_list();
}

}  // namespace ridge::io
