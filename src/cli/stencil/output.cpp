// Writes grids, pictures and series during a stencil run.
#include "cli/stencil/output.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/aligned.hpp"
#include "io/atomic_file.hpp"
#include "io/images/picture.hpp"

namespace ridge::cli {
namespace {

namespace fs = std::filesystem;

template <class T>
io::ElementType element_type() {
  if constexpr (std::is_same_v<T, float>) return io::ElementType::float32;
  if constexpr (std::is_same_v<T, double>) return io::ElementType::float64;
  if constexpr (std::is_same_v<T, std::int32_t>) return io::ElementType::int32;
  return io::ElementType::uint8;
}

template <class T>
io::GridSource empty_source(const stencil::Scenario<T>& scenario) {
  io::GridSource source;
  source.shape = scenario.problem.shape;
  source.type = element_type<T>();
  for (std::size_t axis = 0; axis < source.shape.size(); ++axis) source.spacing[axis] = scenario.spacing[axis];
  return source;
}

// Converts fields of 0 to 255 to an image.
io::Raster image_of(const io::GridSource& views) {
  io::Raster raster;
  raster.height = views.shape[0];
  raster.width = views.shape[1];
  raster.channels = views.names.size();
  raster.values.resize(raster.height * raster.width * raster.channels);
  io::for_each_piece(views, [&](std::size_t field, std::size_t begin, std::size_t end, const std::byte* piece) {
    const bool wide = views.type == io::ElementType::float64;
    for (std::size_t i = 0; i < (end - begin) * raster.width; ++i) {
      const double value = wide ? reinterpret_cast<const double*>(piece)[i]
                                : static_cast<double>(reinterpret_cast<const float*>(piece)[i]);
      const double level = std::isnan(value) ? 0 : std::clamp(std::round(value), 0.0, 255.0);
      raster.values[(begin * raster.width + i) * raster.channels + field] = static_cast<std::uint8_t>(level);
    }
  });
  return raster;
}

}  // namespace

template <class T>
io::GridSource views_of(const stencil::Scenario<T>& scenario, const stencil::SlabReader<T>& read) {
  io::GridSource source = empty_source(scenario);
  for (const auto& view : scenario.views) source.names.push_back(view.name);
  const std::size_t slab = source.slab_cells();
  source.read = [&scenario, &read, slab](std::size_t index, std::size_t begin, std::size_t end, void* to) {
    const std::size_t count = (end - begin) * slab, fields = scenario.fields.size();
    base::AlignedArray<T> state(count * fields);
    std::vector<const T*> pointers;
    for (std::size_t field = 0; field < fields; ++field) {
      pointers.push_back(state.data() + field * count);
      read(field, begin, end, state.data() + field * count);
    }
    scenario.views[index].map(pointers.data(), count, static_cast<T*>(to));
  };
  return source;
}

template <class T>
io::GridSource state_of(const stencil::Scenario<T>& scenario, const stencil::SlabReader<T>& read) {
  io::GridSource source = empty_source(scenario);
  source.names = scenario.fields;
  source.read = [&read](std::size_t field, std::size_t begin, std::size_t end, void* to) {
    read(field, begin, end, static_cast<T*>(to));
  };
  return source;
}

void write_npy(const std::string& file, const io::GridSource& views) {
  io::NpyHeader header{views.type, views.shape};
  if (views.names.size() > 1) header.shape.insert(header.shape.begin(), views.names.size());
  io::AtomicFile out(file);
  out.write(io::npy_header(header));
  io::for_each_piece(views, [&](std::size_t, std::size_t begin, std::size_t end, const std::byte* piece) {
    out.write(piece, (end - begin) * views.slab_cells() * io::bytes_of(views.type));
  });
  out.commit();
}

Outputs::Outputs(const RunOptions& options, std::string title, std::string colours, std::optional<double> low,
                 std::optional<double> high, bool y_up, bool image, std::optional<std::size_t> resumed_from)
    : options_(options),
      title_(std::move(title)),
      colours_(options.colours.empty() ? std::move(colours) : options.colours),
      low_(options.low ? options.low : low),
      high_(options.high ? options.high : high),
      y_up_(y_up),
      image_(image) {
  const auto encoding = options.base64 ? io::VtkEncoding::base64 : io::VtkEncoding::raw;
  for (const std::string& name : options.out) {
    if (fs::path(name).extension() != ".pvd") continue;
    series_.push_back(resumed_from ? io::VtkSeries(name, *resumed_from, encoding) : io::VtkSeries(name, encoding));
  }
}

void Outputs::note(const std::string& line) {
  if (std::find(written_.begin(), written_.end(), line) == written_.end()) written_.push_back(line);
}

void Outputs::picture(const std::string& file, std::size_t step, double time, const io::GridSource& views) {
  if (image_ && views.names.size() != 2 && views.names.size() <= 3) {
    io::write_png(file, image_of(views));
    return;
  }
  std::size_t shown = 0;
  if (!options_.field.empty()) {
    const auto found = std::find(views.names.begin(), views.names.end(), options_.field);
    if (found == views.names.end()) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("--field {}: the fields are {}", options_.field, fmt::join(views.names, ", ")));
    }
    shown = static_cast<std::size_t>(found - views.names.begin());
  }
  const std::string title = fmt::format("{} {}, step {}, t={:.4g}", title_, views.names[shown], step, time);
  const bool own_range = shown == 0;  // the scenario's range applies to its first view
  io::write_png(file, io::draw_field(views, shown,
                                     {.map = colours_,
                                      .low = own_range || options_.low ? low_ : std::nullopt,
                                      .high = own_range || options_.high ? high_ : std::nullopt,
                                      .title = title,
                                      .longest = options_.pixels,
                                      .y_up = y_up_})
                          .raster);
}

void Outputs::frame(std::size_t step, double time, bool last, const io::GridSource& views) {
  std::size_t next = 0;
  for (const std::string& name : options_.out) {
    const auto ending = fs::path(name).extension();
    if (ending == ".pvd") {
      series_[next++].add(step, time, views);
      note(fmt::format("{}: the series, for ParaView", name));
    } else if (last) {
      if (ending == ".vti")
        io::write_vti(name, views, options_.base64 ? io::VtkEncoding::base64 : io::VtkEncoding::raw);
      if (ending == ".npy") write_npy(name, views);
      if (ending == ".png") picture(name, step, time, views);
      note(fmt::format("{}: the last state", name));
    }
  }
  if (!options_.frames.empty()) {
    picture(fmt::format("{}_{:06}.png", options_.frames, step), step, time, views);
    ++frames_;
    if (last) note(fmt::format("{}_*.png: {} frames", options_.frames, frames_));
  }
}

template io::GridSource views_of(const stencil::Scenario<float>&, const stencil::SlabReader<float>&);
template io::GridSource views_of(const stencil::Scenario<double>&, const stencil::SlabReader<double>&);
template io::GridSource views_of(const stencil::Scenario<std::uint8_t>&, const stencil::SlabReader<std::uint8_t>&);
template io::GridSource state_of(const stencil::Scenario<float>&, const stencil::SlabReader<float>&);
template io::GridSource state_of(const stencil::Scenario<double>&, const stencil::SlabReader<double>&);
template io::GridSource state_of(const stencil::Scenario<std::uint8_t>&, const stencil::SlabReader<std::uint8_t>&);

}  // namespace ridge::cli
