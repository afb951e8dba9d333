// The options that wave problems share.
#include "cli/stencil/wave_options.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/host_memory.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "cli/stencil/input.hpp"
#include "cli/stencil/run.hpp"
#include "io/arrays/segy.hpp"
#include "io/images/picture.hpp"
#include "io/images/png.hpp"
#include "stencil/shots/survey_state.hpp"

namespace ridge::cli {
namespace {

[[noreturn]] void refuse_wave(const std::string& what) { throw Error(ErrorKind::invalid_argument, what); }

InputGrid read_model_file(const std::string& file, std::size_t most_axes) {
  const auto read = [&](std::size_t axes) {
    InputGrid grid = read_grid(file, axes);
    if (grid.channels != 1)
      refuse_wave(fmt::format("{}: an array of shape {}x{}; a model needs {} axes and one number per cell", file,
                              grid.channels, fmt::join(grid.shape, "x"), most_axes == 2 ? "2" : "2 or 3"));
    return grid;
  };
  if (most_axes == 2) return read(2);
  try {
    return read(3);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::io) throw;
    return read(2);
  }
}

}  // namespace

void add_wave_options(Command& command, WaveOptions& options, const std::vector<std::string>& orders) {
  command.option("--size", options.size, "Cells along each axis of a homogeneous medium [512x512]").value_name("AxBxC");
  command.option("--spacing", options.spacing, "Cell spacing, the same along each axis").shows_default().positive();
  command.option("--accuracy", options.accuracy, "Order of the finite differences").shows_default().one_of(orders);
  command.option("--steps", options.steps, "Number of time steps").shows_default().between(1, kMostSteps);
  command.option("--dt", options.dt, "Time step (default: 0.9 of the stability limit)").positive();
  command.option("--layer", options.layer, "Width of the absorbing layers outside the model, in cells; 0: none")
      .shows_default()
      .between(0, 1000)
      .value_name("N");
  command.flag("--free-surface", options.free_surface, "Depth 0 is a free surface: waves are reflected there");
  command.option("--frequency", options.frequency, "Peak frequency of the Ricker pulse (default: 16 cells per wave)")
      .positive();
  command.option("--device", options.device, "Device: host, cuda:0, opencl:pocl or best; cuda:*: one per process")
      .value_name("NAME");
  command.threads(options.threads, "Host: threads (0: all)");
  command.precision(options.type);
  command.flag("--measure", options.measure, "Time the best variants first and save the winner");
  command.explain(options.explain);
}

WaveFiles add_wave_files(Command& command, WaveOptions& options, const std::string& parameter) {
  const Option source =
      command.option("--source", options.source, "Position of the source in cells, slowest axis first: 40.5,256")
          .value_name("POINT");
  const Option receivers =
      command.option("--receivers", options.receivers, "Positions of receivers, one per row, .npy or .csv; or .sgy")
          .reads();
  command.option("--units", options.units, "Positions are numbers of cells, or lengths in the units of --spacing")
      .shows_default()
      .one_of({"cells", "lengths"});
  command.option("--depth", options.depth, "Without --receivers: a row of them at this depth, one per cell")
      .shows_default()
      .not_with(receivers);
  const Option record =
      command.option("--record", options.record, "Write the traces: [shots,] steps by receivers, .npy; or SEG-Y, .sgy")
          .writes()
          .ends_in({".npy", ".sgy"});
  const Option out =
      command.option("--out", options.out, "Write the last state: .npy, .png, .vti, or a series .pvd for ParaView")
          .writes()
          .ends_in({".npy", ".png", ".vti", ".pvd"});
  const Option every =
      command.option("--every", options.every, "Write the states of --out after every N steps, as NAME_000100.png")
          .value_name("N")
          .positive()
          .only_with(out);
  const Option observed =
      command.option("--observed", options.observed, "Observed traces, in the form of --record, .npy or .sgy").reads();
  const Option gradient =
      command
          .option("--gradient", options.gradient,
                  fmt::format("Write the derivative of the misfit with respect to the {}: .npy, .png, .vti", parameter))
          .writes()
          .ends_in({".npy", ".png", ".vti"})
          .only_with(observed)
          .not_with(record)
          .not_with(out);
  observed.only_with(gradient);
  command.option("--memory", options.memory, "Memory for a gradient: 16G, 500M (default: half of the device's memory)")
      .value_name("BYTES")
      .only_with(gradient);
  return {source, gradient, every};
}

void add_wave_checkpoints(Command& command, WaveOptions& options, const WaveFiles& files) {
  const Option checkpoint =
      command
          .option("--checkpoint", options.checkpoint,
                  "Keep the results so far and the state of the run in FILE, and those before in FILE.previous")
          .writes()
          .not_with(files.every);
  command
      .option("--checkpoint-every", options.checkpoint_every, "Steps between checkpoints (default: a tenth of --steps)")
      .value_name("N")
      .positive()
      .only_with(checkpoint);
  command.flag("--resume", options.resume, "Continue from the newest complete checkpoint, or start if there is none")
      .only_with(checkpoint);
}

WaveStates::WaveStates(const WaveOptions& options, std::string name, std::vector<std::size_t> shape)
    : options_(options), name_(std::move(name)), shape_(std::move(shape)) {
  if (options.out.ends_with(".pvd")) series_.emplace(options.out);
}

bool WaveStates::wanted(std::size_t step) const {
  if (options_.out.empty()) return false;
  return step == options_.steps || (options_.every > 0 && step % options_.every == 0);
}

namespace {

template <class T>
io::GridSource grid_source(const WaveOptions& options, const std::string& name, const std::vector<std::size_t>& shape,
                           const std::vector<T>& values) {
  io::GridSource source;
  source.shape = shape;
  source.type = sizeof(T) == sizeof(double) ? io::ElementType::float64 : io::ElementType::float32;
  source.names = {name};
  for (std::size_t axis = 0; axis < shape.size(); ++axis) source.spacing[axis] = options.spacing;
  source.read = [&values, slab = source.slab_cells()](std::size_t, std::size_t begin, std::size_t end, void* to) {
    io::copy_slabs(values.data(), slab * sizeof(T), begin, end, to);
  };
  return source;
}

}  // namespace

template <class T>
void write_field(const WaveOptions& options, const std::filesystem::path& file, const std::string& name,
                 const std::string& title, const std::vector<std::size_t>& shape, const std::vector<T>& values) {
  if (file.extension() == ".npy") return write_values(file.string(), shape, values);
  const io::GridSource source = grid_source(options, name, shape, values);
  if (file.extension() == ".vti") return io::write_vti(file, source);
  double most = 0;
  for (const T value : values) most = std::max(most, std::fabs(static_cast<double>(value)));
  io::write_png(
      file,
      io::draw_field(source, 0, {.map = "balance", .low = -most, .high = most, .title = title, .y_up = false}).raster);
}
template void write_field(const WaveOptions&, const std::filesystem::path&, const std::string&, const std::string&,
                          const std::vector<std::size_t>&, const std::vector<float>&);
template void write_field(const WaveOptions&, const std::filesystem::path&, const std::string&, const std::string&,
                          const std::vector<std::size_t>&, const std::vector<double>&);

template <class T>
void WaveStates::add(std::size_t step, double time, const std::vector<T>& field) {
  std::filesystem::path file = options_.out;
  if (options_.every > 0)
    file.replace_filename(fmt::format("{}_{:06}{}", file.stem().string(), step, file.extension().string()));
  if (series_) return series_->add(step, time, grid_source(options_, name_, shape_, field));
  write_field(options_, file, name_, fmt::format("{}, step {}, t={:.4g}", name_, step, time), shape_, field);
}
template void WaveStates::add(std::size_t, double, const std::vector<float>&);
template void WaveStates::add(std::size_t, double, const std::vector<double>&);

std::size_t memory_of(const WaveOptions& options) {
  if (options.memory.empty()) return 0;
  const auto bytes = base::parse_bytes(options.memory);
  if (!bytes || *bytes == 0)
    refuse_wave(fmt::format("--memory {}: needs a number of bytes such as 16G or 500M", options.memory));
  return *bytes;
}

WaveModel read_model(const WaveOptions& options, const std::string& file, double value, const std::string& name,
                     std::size_t most_axes, bool zero) {
  WaveModel model;
  if (file.empty()) {
    model.shape = options.size.empty() ? std::vector<std::size_t>{512, 512} : parse_cells(options.size);
    std::size_t cells = 1;
    for (const std::size_t side : model.shape) {
      if (__builtin_mul_overflow(cells, side, &cells))
        refuse_wave(fmt::format("--size {}: the number of cells overflows 64 bits", options.size));
    }
    if (model.shape.size() < 2 || model.shape.size() > most_axes)
      refuse_wave(
          fmt::format("a grid of {} axes; this problem needs {}", model.shape.size(), most_axes == 2 ? "2" : "2 or 3"));
    model.values.assign(cells, value);
    return model;
  }
  if (!options.size.empty()) refuse_wave("--size is for a homogeneous medium; a file gives its own size: leave it out");
  InputGrid grid = read_model_file(file, most_axes);
  model = {.shape = grid.shape, .values = std::move(grid.values)};
  for (std::size_t i = 0; i < model.values.size(); ++i) {
    if (std::isfinite(model.values[i]) && (model.values[i] > 0 || (zero && model.values[i] == 0))) continue;
    refuse_wave(fmt::format("{}: the {} is {} in cell {}; all values must be {} 0 and finite", file, name,
                            model.values[i], stencil::cell_index_text(model.shape, i), zero ? "at least" : "above"));
  }
  return model;
}

PointUnits units_of(const WaveOptions& options) { return {options.spacing, options.units == "lengths"}; }

double observed_dt(const WaveOptions& options) {
  if (options.dt > 0 || !io::is_segy_name(options.observed)) return options.dt;
  return io::segy_interval(options.observed);
}

void warn_of_defaults(const WaveOptions& options, double dt, double frequency, bool own_pulse) {
  if (options.observed.empty()) return;
  std::vector<std::string> missing;
  if (options.dt == 0 && observed_dt(options) == 0) missing.push_back(fmt::format("--dt {:.6g}", dt));
  if (options.frequency == 0 && !own_pulse) missing.push_back(fmt::format("--frequency {:.6g}", frequency));
  if (missing.empty()) return;
  base::warn(fmt::format("{} of this run {} for its model: pass {} of the observed traces", fmt::join(missing, " and "),
                         missing.size() > 1 ? "are the defaults" : "is the default",
                         missing.size() > 1 ? "those" : "the one"));
}

double cells_per_shortest_wave(double slowest, double frequency, double spacing) {
  return slowest / (2 * frequency * spacing);
}

void warn_of_short_waves(double slowest, double frequency, double spacing, double fewest) {
  const double cells = cells_per_shortest_wave(slowest, frequency, spacing);
  if (cells >= fewest) return;
  base::warn(fmt::format(
      "the shortest waves, of {:.4g} Hz at the lowest velocity, have {:.3g} cells; {} are needed for exact travel "
      "times: use a --frequency up to {:.4g} or a --spacing up to {:.4g}",
      2 * frequency, cells, fewest, frequency * cells / fewest, spacing * cells / fewest));
}

std::vector<double> source_position(const WaveOptions& options, const std::vector<std::size_t>& shape) {
  if (!options.source.empty()) return units_of(options).cells(parse_point(options.source, "--source", shape));
  std::vector<double> position;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    position.push_back(static_cast<double>(axis == 0 ? std::min<std::size_t>(4, shape[0] / 2) : shape[axis] / 2));
  return position;
}

std::vector<double> receiver_positions(const WaveOptions& options, const std::vector<std::size_t>& shape,
                                       const std::vector<double>& sources) {
  if (!options.receivers.empty()) return read_points(options.receivers, shape.size(), units_of(options), false);
  if (options.depth >= shape[0])
    refuse_wave(
        fmt::format("--depth {}: the receivers are outside a grid of {}", options.depth, fmt::join(shape, "x")));
  std::vector<double> positions;
  for (std::size_t x = 0; x < shape.back(); ++x) {
    positions.push_back(static_cast<double>(options.depth));
    for (std::size_t axis = 1; axis + 1 < shape.size(); ++axis) positions.push_back(sources[axis]);
    positions.push_back(static_cast<double>(x));
  }
  return positions;
}

void check_traces_fit(const WaveOptions& options, std::size_t values) {
  const double bytes = 2.0 * static_cast<double>(options.steps) * static_cast<double>(values) *
                       (options.type == "f64" ? sizeof(double) : sizeof(float));
  const double memory = static_cast<double>(base::host_memory());
  if (!(bytes <= memory))
    refuse_wave(
        fmt::format("{} steps of {} recorded values need {} of memory, but this process may use {}; use fewer --steps",
                    options.steps, values, base::human_bytes(bytes), base::human_bytes(memory)));
}

}  // namespace ridge::cli
