// Options, models and receivers that acoustic, electromagnetic and elastic waves share.
#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/stencil/input.hpp"
#include "command/command.hpp"
#include "io/arrays/vtk.hpp"

namespace ridge::cli {

struct WaveOptions {
  std::string device, size, source, receivers, record, out, observed, gradient, memory, type = "f32", units = "cells",
                                                                                        checkpoint;
  std::size_t steps = 1000, layer = 8, depth = 4, every = 0, threads = 0, checkpoint_every = 0;
  double spacing = 10, dt = 0, frequency = 0;
  int accuracy = 8;
  bool free_surface = false, measure = false, explain = false, resume = false;
};

// The options must live as long as the command.
void add_wave_options(Command& command, WaveOptions& options, const std::vector<std::string>& orders);
// Positions and files. Returns --source and --gradient, which other options exclude or need.
struct WaveFiles {
  Option source, gradient, every;
};
WaveFiles add_wave_files(Command& command, WaveOptions& options, const std::string& parameter);
// --checkpoint, --checkpoint-every and --resume; see WaveCheckpoint.
void add_wave_checkpoints(Command& command, WaveOptions& options, const WaveFiles& files);
std::size_t memory_of(const WaveOptions& options);  // bytes of --memory; 0: not given

// A value per cell: from a file of 2 or `most_axes` axes, or `value` everywhere in a grid of --size (default 512x512).
// Values must be finite and above 0, or at least 0 with `zero`. Error that names the quantity and the cell.
struct WaveModel {
  std::vector<std::size_t> shape{};
  std::vector<double> values{};
};
WaveModel read_model(const WaveOptions& options, const std::string& file, double value, const std::string& name,
                     std::size_t most_axes, bool zero = false);

// States of a wave for --out: the last one, and with --every N one after every N steps, in files with the step in their
// names. .npy; .vti and .pvd for ParaView; .png with the colours of waves.
class WaveStates {
 public:
  WaveStates(const WaveOptions& options, std::string name, std::vector<std::size_t> shape);
  bool wanted(std::size_t step) const;  // after this step
  template <class T>
  void add(std::size_t step, double time, const std::vector<T>& field);

 private:
  const WaveOptions& options_;
  std::string name_;
  std::vector<std::size_t> shape_;
  std::optional<io::VtkSeries> series_{};
};

// Writes one value per cell: .npy, .vti, or .png with the colours of waves.
template <class T>
void write_field(const WaveOptions& options, const std::filesystem::path& file, const std::string& name,
                 const std::string& title, const std::vector<std::size_t>& shape, const std::vector<T>& values);

PointUnits units_of(const WaveOptions& options);
// Without --dt, the time step of observed traces in SEG-Y; 0 if they do not hold one.
double observed_dt(const WaveOptions& options);
// Warns if the time step or the pulse of a gradient's run are defaults, which depend on the model.
void warn_of_defaults(const WaveOptions& options, double dt, double frequency, bool own_pulse);
// At twice the peak frequency, above which a Ricker pulse has little energy.
double cells_per_shortest_wave(double slowest, double frequency, double spacing);
// Warns if the shortest waves have fewer than `fewest` cells.
void warn_of_short_waves(double slowest, double frequency, double spacing, double fewest);
// One position: --source, or the default near the first side.
std::vector<double> source_position(const WaveOptions& options, const std::vector<std::size_t>& shape);
// A row of cells at --depth, in the plane of the first source, or the positions of --receivers.
std::vector<double> receiver_positions(const WaveOptions& options, const std::vector<std::size_t>& shape,
                                       const std::vector<double>& sources);
// Error if `values` numbers per step do not fit into the memory of this machine.
void check_traces_fit(const WaveOptions& options, std::size_t values);

}  // namespace ridge::cli
