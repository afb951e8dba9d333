// Maxwell problems: medium, absorbing layer, source, receivers and the time loop.
#include "command/command.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <numbers>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/machine.hpp>
#include <ridge/stencil.hpp>
#include <ridge/stencil/problems.hpp>

#include "base/clock.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "cli/stencil/input.hpp"
#include "cli/stencil/run.hpp"
#include "io/arrays/npy.hpp"
#include "io/atomic_file.hpp"
#include "stencil/problems/scenario.hpp"

namespace ridge::cli {
namespace {

struct MediumOptions {
  std::string device, size, medium, border = "fixed", source, record, out, type = "f32";
  std::size_t steps = 1000, layer = 24, depth = 4;
  double value = 1, spacing = 1, dt = 0, frequency = 0;
  bool measure = false, explain = false;
};

[[noreturn]] void refuse_medium(const std::string& what) { throw Error(ErrorKind::invalid_argument, what); }

// Reads the medium, one number per cell, from a file, or fills it with a constant.
InputGrid read_medium(const MediumOptions& options) {
  InputGrid medium;
  if (!options.medium.empty()) {
    if (!options.size.empty())
      refuse_medium("--size is for a homogeneous medium; a file gives its own size: leave it out");
    medium = read_grid(options.medium, 2);
    if (medium.channels != 1)
      refuse_medium(fmt::format("{}: an array of shape {}x{}; a medium needs 2 axes and one number per cell",
                                options.medium, medium.channels, fmt::join(medium.shape, "x")));
  } else {
    medium.shape = options.size.empty() ? std::vector<std::size_t>{512, 512} : parse_cells(options.size);
    std::size_t cells = 1;
    for (const std::size_t side : medium.shape) {
      if (__builtin_mul_overflow(cells, side, &cells))
        refuse_medium(fmt::format("--size {}: the number of cells overflows 64 bits", options.size));
    }
    medium.values.assign(cells, options.value);
  }
  if (medium.shape.size() != 2)
    refuse_medium(fmt::format("a grid of {} axes; this problem needs 2", medium.shape.size()));
  for (const double value : medium.values) {
    if (!std::isfinite(value) || value <= 0)
      refuse_medium(fmt::format("the medium has the value {} in a cell; all values must be above 0", value));
  }
  return medium;
}

// "40,256": a cell, slowest axis first. Default: near the first side, centred along the other axes.
std::array<std::size_t, 3> source_cell(const MediumOptions& options, const std::vector<std::size_t>& shape) {
  std::array<std::size_t, 3> cell{};
  const std::size_t missing = 3 - shape.size();
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    cell[missing + axis] = axis == 0 ? std::min(options.layer + 4, shape[0] / 2) : shape[axis] / 2;
  const char* at = options.source.data();
  const char* const end = at + options.source.size();
  for (std::size_t axis = 0; axis < shape.size() && !options.source.empty(); ++axis) {
    std::size_t& place = cell[missing + axis];
    const auto [next, error] = std::from_chars(at, end, place);
    const bool last = axis + 1 == shape.size();
    if (error != std::errc{} || place >= shape[axis] || (last ? next != end : next == end || *next != ','))
      refuse_medium(
          fmt::format("--source {}: not a cell of a grid of {}; needs one index per axis, separated by commas",
                      options.source, fmt::join(shape, "x")));
    at = next + (last ? 0 : 1);
  }
  return cell;
}

std::size_t cell_index(const std::array<std::size_t, 3>& cell, const std::vector<std::size_t>& shape) {
  std::size_t index = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) index = index * shape[axis] + cell[3 - shape.size() + axis];
  return index;
}

// Relative depth of a cell in the absorbing layer, 0 to 1.
double layer_depth(const std::vector<std::size_t>& shape, std::size_t index, std::size_t layer) {
  double deepest = 0;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const std::size_t at = index % shape[axis];
    index /= shape[axis];
    const std::size_t side = std::min(at, shape[axis] - 1 - at);
    if (side < layer) deepest = std::max(deepest, static_cast<double>(layer - side) / static_cast<double>(layer));
  }
  return deepest;
}

// Uses all threads.
template <class Make>
void for_each_cell(const InputGrid& medium, const Make& make) {
  base::parallel(0, [&](std::size_t thread, std::size_t threads) {
    const base::Share share = base::share(medium.values.size(), thread, threads);
    for (std::size_t i = share.begin; i < share.end; ++i) make(i);
  });
}

// Damping for which a wave that crosses the layer, is reflected at the grid's side and crosses the layer again keeps
// 1e-3 of its amplitude. With more damping the layer itself reflects more.
double most_damping(double fastest, double width) { return 3 * fastest * std::log(1e3) / (2 * width); }

// Ricker wavelet of amplitude 1 with its peak at kDelay / frequency. Its mean is 0 and its spectrum peaks at the
// frequency. Before t = 0 and after kEnd / frequency it is below 1e-7.
constexpr double kDelay = 1.5, kEnd = 3.5;
double ricker(double t, double frequency) {
  const double a = std::numbers::pi * frequency * (t - kDelay / frequency);
  return (1 - 2 * a * a) * std::exp(-a * a);
}

template <class T>
void write_array(const std::string& file, const std::vector<std::size_t>& shape, const T* values, std::size_t count) {
  const io::NpyHeader header{sizeof(T) == 8 ? io::ElementType::float64 : io::ElementType::float32, shape};
  io::AtomicFile out(file);
  out.write(io::npy_header(header));
  out.write(values, count * sizeof(T));
  out.commit();
}

// A problem with its source.
template <class T>
struct Driven {
  stencil::Update<T> update;
  std::vector<std::size_t> shape;
  stencil::Grid<T> coefficients;
  double dt, frequency;
  double strength;       // added to field 0 of the source's cell per step, times the pulse
  double source_time;    // when the pulse is evaluated, in steps after the start of the step
  std::size_t accesses;  // minimum number of values per cell read and written in a step
  std::string about;
};

// Checks the options before anything is computed.
void check_medium(const MediumOptions& options, const std::vector<std::size_t>& shape) {
  if (options.record.empty()) return;
  if (options.depth >= shape[0])
    refuse_medium(
        fmt::format("--depth {}: the receivers are outside a grid of {}", options.depth, fmt::join(shape, "x")));
  // Recorded values are kept in memory until the end, and copied once to be written.
  const double bytes = 2.0 * static_cast<double>(options.steps) * static_cast<double>(shape.back()) *
                       (options.type == "f64" ? sizeof(double) : sizeof(float));
  const double memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (!(bytes <= memory))
    refuse_medium(
        fmt::format("--record of {} steps by {} cells needs {} of memory, but this machine has {}; use "
                    "fewer --steps",
                    options.steps, shape.back(), base::human_bytes(bytes), base::human_bytes(memory)));
}

// Rejects a pulse whose waves are shorter than two cells.
void check_frequency(double frequency, double slowest, double spacing) {
  const double most = slowest / (2 * spacing);
  if (frequency <= most) return;
  refuse_medium(
      fmt::format("--frequency {:g}: waves would be shorter than two cells at the lowest speed; at most "
                  "{:.4g} here, or a smaller --spacing",
                  frequency, most));
}

// Width of the layer: as given, or the default limited for small grids.
std::size_t settled_layer(const MediumOptions& options, bool given, const std::vector<std::size_t>& shape) {
  const std::size_t shortest = *std::min_element(shape.begin(), shape.end());
  if (!given) return std::min(options.layer, shortest / 6);
  if (options.layer > 0 && 2 * options.layer >= shortest)
    refuse_medium(
        fmt::format("--layer {}: the layers would cover a whole grid of {}", options.layer, fmt::join(shape, "x")));
  return options.layer;
}

// Receivers: the row of cells `depth` below the first side. Values are recorded on the grid's device at each step.
template <class T>
class Receivers {
 public:
  Receivers(const MediumOptions& options, const Driven<T>& driven)
      : box_{{0, options.depth, 0}, {1, 1, driven.shape.back()}},
        fields_(driven.update.fields),
        wanted_(!options.record.empty()) {}
  std::size_t steps(std::size_t left) const { return wanted_ ? 1 : left; }
  void listen(stencil::Session<T>& session) {
    if (wanted_) session.keep(box_);
  }
  std::vector<T> heard(stencil::Session<T>& session) const {
    const std::vector<T> kept = session.kept();
    const std::size_t width = box_.extent[2];
    std::vector<T> rows;
    for (std::size_t i = 0; i < kept.size(); i += fields_ * width)
      rows.insert(rows.end(), kept.data() + i, kept.data() + i + width);
    return rows;
  }

 private:
  stencil::Box box_;
  std::size_t fields_;
  bool wanted_;
};

// Rejects a source in a fixed border, whose cells never change.
void check_source(const MediumOptions& options, const stencil::Offset& radius, const stencil::Problem& problem,
                  const std::array<std::size_t, 3>& cell) {
  const std::size_t missing = 3 - problem.shape.size();
  for (std::size_t axis = 0; axis < problem.shape.size(); ++axis) {
    const std::size_t at = cell[missing + axis], reach = static_cast<std::size_t>(radius[missing + axis]);
    const bool below = problem.borders.low[axis] == stencil::Border::fixed && at < reach;
    const bool above = problem.borders.high[axis] == stencil::Border::fixed && at + reach >= problem.shape[axis];
    if (options.source.empty() || (!below && !above)) continue;
    refuse_medium(
        fmt::format("--source {}: the outer {} cells of a fixed border do not change; choose a cell further "
                    "inside, or --border mirror",
                    options.source, reach));
  }
}

constexpr double kBetweenWaits = 0.25;  // s, for the progress bar

template <class T>
void run_driven(const MediumOptions& options, Driven<T> driven) {
  const Device device = ridge::device(options.device);
  const stencil::Problem problem{.shape = driven.shape,
                                 .borders = stencil::parse_borders(options.border, driven.shape.size())};
  const auto cell = source_cell(options, driven.shape);
  check_source(options, driven.update.radius, problem, cell);
  const double begin = base::now();
  const stencil::Plan<T> plan(device, driven.update, problem,
                              {.effort = options.measure ? Effort::measured : Effort::quick});
  if (options.explain) fmt::print("{}\n", plan.explain());
  stencil::Grid<T> grid(driven.shape, driven.update.fields);
  Receivers<T> receivers(options, driven);
  const double planned = base::now();
  stencil::Session<T> session = plan.start(grid, &driven.coefficients);
  const double brought = base::now();
  session.prepare(1);
  std::size_t chunk = 64;  // steps per call; grows until a call takes the time between waits
  session.prepare(receivers.steps(std::min(options.steps, chunk)));
  session.prepare(receivers.steps(options.steps));
  const double start = base::now();
  const auto progress = base::terminal_progress();
  double waited = start;
  for (std::size_t step = 0; step < options.steps;) {
    const double t = (static_cast<double>(step) + driven.source_time) * driven.dt;
    const bool drives = t < kEnd / driven.frequency;
    const std::size_t count = drives ? 1 : receivers.steps(std::min(options.steps - step, chunk));
    session.run(count);
    if (drives) session.add(cell, 0, static_cast<T>(driven.strength * ricker(t, driven.frequency)));
    receivers.listen(session);
    step += count;
    // A device only enqueues the steps: without waits the progress bar would run ahead of it.
    if (count < chunk && base::now() - waited < kBetweenWaits) continue;
    session.wait();
    if (count == chunk && base::now() - waited < kBetweenWaits) chunk *= 2;
    waited = base::now();
    progress(static_cast<double>(step) / static_cast<double>(options.steps),
             fmt::format("step {} of {}", step, options.steps));
  }
  session.wait();
  progress(1, "");
  const double seconds = base::now() - start;
  const std::vector<T> record = receivers.heard(session);
  session.read(grid);
  const double moved = base::now() - start - seconds + brought - planned;
  if (!options.record.empty())
    write_array(options.record, {options.steps, driven.shape.back()}, record.data(), record.size());
  if (!options.out.empty()) write_array(options.out, driven.shape, grid.field(0).data(), grid.cells());
  const auto [low, high] = std::minmax_element(grid.field(0).begin(), grid.field(0).end());
  const auto& decision = plan.decisions().front();
  const double rate = static_cast<double>(grid.cells() * options.steps) / seconds;
  const machine::Bandwidth memory = machine::ceilings(device).memory().all;
  const std::size_t bytes = driven.accesses * sizeof(T);
  const double roof = std::max(memory.copy, memory.copy_streaming) / static_cast<double>(bytes);
  fmt::print(
      "{}\n{} steps in {}, {} by {}{}; planned and compiled in {}{}\n", driven.about, options.steps,
      base::human_seconds(seconds), base::human_rate(rate, "cell/s"), decision.trials[decision.winner].name,
      roof > 0 ? fmt::format(", {:.2g} of the memory bandwidth at {} bytes per cell and step", rate / roof, bytes) : "",
      base::human_seconds(start - brought + planned - begin),
      device.is_host() ? "" : fmt::format(", grid and medium transferred in {}", base::human_seconds(moved)));
  fmt::print("t = {:.6g}: from {:.6g} to {:.6g}\n", static_cast<double>(options.steps) * driven.dt,
             static_cast<double>(*low), static_cast<double>(*high));
  if (!std::isfinite(static_cast<double>(*low)) || !std::isfinite(static_cast<double>(*high)))
    refuse_medium("the field contains NaN or infinity: the time step is too long");
}

template <class T>
Driven<T> maxwell_run(const MediumOptions& options, const InputGrid& medium) {
  const double least = *std::min_element(medium.values.begin(), medium.values.end());
  const double most = *std::max_element(medium.values.begin(), medium.values.end());
  stencil::Maxwell maxwell{.dt = options.dt, .dy = options.spacing, .dx = options.spacing};
  if (maxwell.dt == 0) {
    maxwell.dt = 1;
    maxwell.dt = 0.9 / stencil::courant_number(maxwell, least);
  }
  const double number = stencil::courant_number(maxwell, least);
  if (!(number <= 1)) {
    refuse_medium(
        fmt::format("the time step {} is unstable: c dt sqrt(1/dx^2 + 1/dy^2) is {:.4g} and must not exceed 1; "
                    "use a dt up to {:.4g}",
                    maxwell.dt, number, maxwell.dt / number));
  }
  const double frequency = options.frequency > 0 ? options.frequency : 1 / (std::sqrt(most) * 20 * options.spacing);
  check_frequency(frequency, 1 / std::sqrt(most), options.spacing);
  Driven<T> driven{
      .update = stencil::maxwell<T>(maxwell),
      .shape = medium.shape,
      .coefficients = stencil::Grid<T>(medium.shape, 2),
      .dt = maxwell.dt,
      .frequency = frequency,
      .strength = 0,
      .source_time = 0.5,  // Ez advances with the magnetic field of the middle of the step
      .accesses = 8,
      .about = fmt::format("maxwell {} of {}: permittivity {:.4g} to {:.4g}, Courant number {:.3g} (up to 1), "
                           "source of frequency {:.4g}, a layer of {} cells",
                           fmt::join(medium.shape, "x"), options.type, least, most, number, frequency, options.layer)};
  const double damping = most_damping(1 / std::sqrt(least),
                                      static_cast<double>(std::max<std::size_t>(1, options.layer)) * options.spacing);
  for_each_cell(medium, [&](std::size_t i) {
    const double deep = options.layer == 0 ? 0 : layer_depth(medium.shape, i, options.layer);
    // Conductivity over permittivity is twice the damping.
    const double s = damping * deep * deep * maxwell.dt;
    driven.coefficients.field(0)[i] = static_cast<T>((1 - s) / (1 + s));
    driven.coefficients.field(1)[i] = static_cast<T>(maxwell.dt / (medium.values[i] * (1 + s)));
  });
  // The factor that the curl in that cell has: epsilon Ez_t = curl H + pulse.
  const std::size_t at = cell_index(source_cell(options, medium.shape), medium.shape);
  driven.strength = static_cast<double>(driven.coefficients.field(1)[at]);
  return driven;
}

// Returns --layer, whose default depends on the grid.
Option add_medium_options(Command& command, const std::shared_ptr<MediumOptions>& options) {
  command.option("--device", options->device, "Device: host, cuda:0, opencl:pocl or best").value_name("NAME");
  command.option("--steps", options->steps, "Number of time steps").shows_default().between(0, kMostSteps);
  command.option("--size", options->size, "Cells along each axis of a homogeneous medium [512x512]")
      .value_name("AxBxC");
  command.option("--spacing", options->spacing, "Cell spacing, the same along each axis").shows_default().positive();
  command.option("--dt", options->dt, "Time step (default: 0.9 of the stability limit)").positive();
  command.option("--source", options->source, "Cell of the source, slowest axis first: 40,256").value_name("CELL");
  command
      .option("--frequency", options->frequency,
              "Peak frequency of the source's Ricker pulse (default: resolved by the cells)")
      .positive();
  command.option("--record", options->record, "Record the signals of a row of receivers: steps by cells, .npy")
      .writes()
      .ends_in({".npy"});
  command.option("--depth", options->depth, "Depth of the receivers' row below the first side, in cells")
      .shows_default();
  command.option("--border", options->border, "Border behind the layer: fixed, mirror, periodic").shows_default();
  command.option("--out", options->out, "Write the last state, .npy").writes().ends_in({".npy"});
  command.option("--type", options->type, "Precision: f32 or f64").shows_default().one_of({"f32", "f64"});
  command.flag("--measure", options->measure, "Time the best variants first and save the winner");
  command.flag("--explain", options->explain, "Print the plan");
  return command
      .option("--layer", options->layer,
              "Width of the absorbing layer along all sides, in cells; 0: none [24, or a sixth of the shortest side]")
      .value_name("N");
}

// Reads the medium and sets the options that depend on its size.
InputGrid settle_medium(MediumOptions& options, const Option& layer) {
  InputGrid medium = read_medium(options);
  check_medium(options, medium.shape);
  options.layer = settled_layer(options, layer.given(), medium.shape);
  return medium;
}

}  // namespace

void add_maxwell(Command& stencil) {
  Command& command =
      stencil.subcommand("maxwell", "Electromagnetic waves in 2D: Maxwell's equations by FDTD on the Yee grid");
  command.footer(
      "\nExamples:\n"
      "  ridge stencil maxwell --size 400x600 --steps 800 --out ez.npy\n"
      "  ridge stencil maxwell --permittivity lens.npy --source 200,40 --steps 2000 --record behind.npy --depth 380\n"
      "\nThe electric field is perpendicular to the plane (Ez, Hx, Hy), in units in which the speed of light is 1 at\n"
      "permittivity 1. The permittivity is an array of two axes. c dt sqrt(1/dx^2 + 1/dy^2) must not exceed 1; the\n"
      "default is 0.9. Second order: start with about twenty cells per wavelength. The source adds a Ricker pulse of\n"
      "amplitude 1 to the curl of H in its cell (a current); the peak is at t = 1.5 / frequency.");
  auto options = std::make_shared<MediumOptions>();
  command.option("--permittivity", options->medium, "Relative permittivity, one number per cell, .npy").reads();
  command.option("--epsilon", options->value, "Relative permittivity of a homogeneous medium, without a file")
      .shows_default()
      .positive();
  const Option layer = add_medium_options(command, options);
  command.runs([options, layer] {
    const InputGrid medium = settle_medium(*options, layer);
    if (options->type == "f64") {
      run_driven(*options, maxwell_run<double>(*options, medium));
    } else {
      run_driven(*options, maxwell_run<float>(*options, medium));
    }
  });
}

}  // namespace ridge::cli
