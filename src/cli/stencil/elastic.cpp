// Elastic waves in 2D: models, a source, receivers and the time loop.
#include "command/command.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <numbers>
#include <optional>
#include <span>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/stencil.hpp>
#include <ridge/stencil/adjoint.hpp>
#include <ridge/stencil/problems.hpp>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "cli/stencil/input.hpp"
#include "cli/stencil/wave_checkpoint.hpp"
#include "cli/stencil/wave_options.hpp"

namespace ridge::cli {
namespace {

struct ElasticOptions : WaveOptions {
  std::string velocity, shear, densities, epsilon, delta, quality, force = "none", component = "vz";
  double speed = 3000, shear_speed = 1700, density = 2200;
};

[[noreturn]] void refuse_run(const std::string& what) { throw Error(ErrorKind::invalid_argument, what); }

stencil::ElasticModel elastic_model(const ElasticOptions& options) {
  const WaveModel p = read_model(options, options.velocity, options.speed, "velocity of P waves", 2);
  stencil::ElasticModel model{.shape = p.shape,
                              .p_velocity = p.values,
                              .spacing = options.spacing,
                              .dt = observed_dt(options),
                              .frequency = options.frequency,
                              .accuracy = options.accuracy,
                              .layer = options.layer,
                              .free_surface = options.free_surface};
  const auto other = [&](const std::string& file, double value, const char* name, bool zero) {
    if (file.empty()) return std::vector<double>(p.values.size(), value);
    const WaveModel read = read_model(options, file, value, name, 2, zero);
    if (read.shape != p.shape)
      refuse_run(fmt::format("{}: a model of {} cells; the velocity of P waves has {}", file,
                             fmt::join(read.shape, "x"), fmt::join(p.shape, "x")));
    return read.values;
  };
  model.s_velocity = other(options.shear, options.shear_speed, "velocity of S waves", true);
  model.density = other(options.densities, options.density, "density", false);
  // A number for all cells, or a file.
  const auto optional = [&](const std::string& text, const char* name) -> std::vector<double> {
    if (text.empty()) return {};
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && end == text.data() + text.size()) return std::vector<double>(p.values.size(), value);
    const InputGrid grid = read_grid(text, 2);
    if (grid.channels != 1 || grid.shape != p.shape)
      refuse_run(
          fmt::format("--{} {}: needs a number or one value per cell of {}", name, text, fmt::join(p.shape, "x")));
    return grid.values;
  };
  model.epsilon = optional(options.epsilon, "epsilon");
  model.delta = optional(options.delta, "delta");
  model.quality = optional(options.quality, "quality");
  return model;
}

// Cells of the grid for positions in the model, which must be whole numbers.
std::vector<std::array<std::size_t, 3>> grid_cells(const std::vector<double>& positions,
                                                   const stencil::ElasticModel& model,
                                                   const std::vector<std::size_t>& begin, const char* what) {
  std::vector<std::array<std::size_t, 3>> cells;
  for (std::size_t k = 0; k < positions.size() / 2; ++k) {
    std::array<std::size_t, 3> cell{};
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const double at = positions[2 * k + axis];
      const std::string place = fmt::format("{} {} at ({:g}, {:g})", what, k, positions[2 * k], positions[2 * k + 1]);
      if (!(at >= 0 && at <= static_cast<double>(model.shape[axis] - 1)))
        refuse_run(fmt::format("{} is outside the model of {} cells{}: positions are from 0 to {}", place,
                               fmt::join(model.shape, " x "), model.layer > 0 ? ", where the absorbing layers are" : "",
                               model.shape[axis] - 1));
      if (at != std::floor(at))
        refuse_run(
            fmt::format("{} is between cells; elastic waves need whole numbers, such as {:g}", place, std::round(at)));
      cell[1 + axis] = begin[axis] + static_cast<std::size_t>(at);
    }
    cells.push_back(cell);
  }
  return cells;
}

template <class T>
class ElasticRun {
 public:
  explicit ElasticRun(const ElasticOptions& options)
      : options_(options),
        begin_(base::now()),
        model_(elastic_model(options)),
        problem_(stencil::elastic_problem<T>(model_)),
        position_(source_position(options, model_.shape)),
        source_(grid_cells(position_, model_, problem_.begin, "source").front()) {
    if (options.record.empty() && options.gradient.empty()) return;
    check_trace_file(options.record, options.steps, problem_.dt);
    positions_ = receiver_positions(options, model_.shape, position_);
    receivers_ = grid_cells(positions_, model_, problem_.begin, "receiver");
    check_traces_fit(options, receivers_.size() * problem_.update.fields);
  }

  void run() {
    const Device device = ridge::device(options_.device);
    const std::vector<std::size_t>& shape = problem_.coefficients.shape();
    const stencil::Plan<T> plan(device, problem_.update, {.shape = shape, .threads = options_.threads},
                                {.effort = options_.measure ? Effort::measured : Effort::quick});
    if (options_.explain) fmt::print("{}\n", plan.explain());
    warn_of_short_waves(slowest(), problem_.frequency, model_.spacing, model_.accuracy == 2 ? 10 : 5);
    stencil::Grid<T> grid(shape, problem_.update.fields);
    if (!options_.gradient.empty()) return invert(plan, grid);
    open_checkpoint(plan, {});
    std::size_t first = 0;
    std::vector<T> state;
    if (saved_) saved_->found(first, heard_, state);
    if (state.size() == grid.all().size()) std::copy(state.begin(), state.end(), grid.data());
    stencil::Session<T> session = plan.start(grid, &problem_.coefficients);
    session.prepare(1);
    const double start = base::now();
    const auto progress = base::terminal_progress();
    double shown = start;
    for (std::size_t step = first; step < options_.steps; ++step) {
      session.run(1);
      drive(session, (static_cast<double>(step) + 0.5) * problem_.dt);
      listen(session);
      if (step + 1 < options_.steps && states_.wanted(step + 1)) {
        session.read(grid);
        states_.add(step + 1, static_cast<double>(step + 1) * problem_.dt, model_state(grid));
      }
      if (saved_ && saved_->due(step + 1)) {
        collect(session);
        session.read(grid);
        state.assign(grid.all().begin(), grid.all().end());
        saved_->write(step + 1, heard_, state, {}, fmt::format("after step {}", step + 1));
      }
      if (base::now() - shown < 0.25) continue;
      session.wait();
      shown = base::now();
      progress(static_cast<double>(step) / static_cast<double>(options_.steps),
               fmt::format("step {} of {}", step, options_.steps));
    }
    session.wait();
    progress(1, "");
    const double seconds = base::now() - start;
    write(session, grid);
    const auto& decision = plan.decisions().front();
    const double rate =
        seconds > 0 ? static_cast<double>(model_.p_velocity.size() * (options_.steps - first)) / seconds : 0;
    const auto [slowest, fastest] = std::minmax_element(model_.p_velocity.begin(), model_.p_velocity.end());
    fmt::print(
        "elastic {} of {}: P velocity {:.4g} to {:.4g}, Courant number {:.3g} (up to {:.3g}), source of {:.4g} Hz, "
        "layers of {} cells{}\n{} steps in {}, {} by {} on {}; planned and compiled in {}\n",
        fmt::join(model_.shape, "x"), options_.type, *slowest, *fastest, problem_.courant,
        stencil::elastic_limit(model_.accuracy), problem_.frequency, model_.layer,
        model_.free_surface ? ", a free surface" : "", options_.steps - first, base::human_seconds(seconds),
        base::human_rate(rate, "cell/s"), decision.trials[decision.winner].name, device.id(),
        base::human_seconds(start - begin_));
    const auto [low, high] = std::minmax_element(last_.begin(), last_.end());
    fmt::print("last state, {}: from {:.6g} to {:.6g}\n", options_.component, static_cast<double>(*low),
               static_cast<double>(*high));
  }

 private:
  double slowest() const {
    double found = model_.p_velocity.front();
    for (std::size_t i = 0; i < model_.p_velocity.size(); ++i)
      found = std::min(found, model_.s_velocity[i] > 0 ? model_.s_velocity[i] : model_.p_velocity[i]);
    return found;
  }

  // The gradient of half the sum of squared differences from the observed traces.
  void invert(const stencil::Plan<T>& plan, const stencil::Grid<T>& start) {
    const std::vector<T> observed =
        read_traces<T>(options_.observed, 1, options_.steps, receivers_.size(), problem_.dt);
    const stencil::PlanGradient<T> gradient(plan, {.effort = Effort::quick});
    open_checkpoint(plan, observed);
    const auto bar = base::terminal_progress();
    const double begin = base::now();
    std::vector<double> misfit{0};  // a list, as the results of a checkpoint
    stencil::RunCheckpoints checkpoints;
    if (saved_) {
      std::size_t taken = 0;
      checkpoints.resume = saved_->found(taken, misfit, last_);
      checkpoints.due = [this](std::size_t step) { return saved_->due(step); };
      checkpoints.save = [&, taken](const std::vector<std::byte>& state) {
        saved_->write(taken, misfit, last_, state, "on the way back");
      };
    }
    const auto found = gradient.run(
        start, options_.steps, &problem_.coefficients,
        [&](std::size_t step, const stencil::Grid<T>& state, stencil::Grid<T>& derivative) {
          for (std::size_t k = 0; k < receivers_.size(); ++k) {
            const std::size_t cell = receivers_[k][1] * state.shape()[1] + receivers_[k][2];
            const T apart =
                component(state.all().data() + cell, state.cells()) - observed[(step - 1) * receivers_.size() + k];
            misfit[0] += 0.5 * static_cast<double>(apart) * static_cast<double>(apart);
            if (options_.component == "pressure") {
              for (const std::size_t stress : {2, 3}) derivative.field(stress)[cell] -= apart / 2;
            } else {
              derivative.field(options_.component == "vz" ? 0 : 1)[cell] += apart;
            }
          }
          bar(1 - static_cast<double>(step) / static_cast<double>(options_.steps), "back");
        },
        memory_of(options_),
        [&](std::size_t step, stencil::Session<T>& session) {
          drive(session, (static_cast<double>(step) - 0.5) * problem_.dt);
        },
        checkpoints);
    bar(1, "");
    warn_of_defaults(options_, problem_.dt, problem_.frequency, false);
    const std::vector<double> values = stencil::p_velocity_gradient(model_, problem_, *found.coefficients);
    last_.assign(values.begin(), values.end());
    check_finite(last_, "gradient contains");
    write_field(options_, options_.gradient, "gradient", "gradient", model_.shape, last_);
    const auto [low, high] = std::minmax_element(last_.begin(), last_.end());
    fmt::print("misfit {:.9g}\nhistory: {}\n{} steps forward and back in {}\ngradient: from {:.6g} to {:.6g}\n",
               misfit[0], found.explain, options_.steps, base::human_seconds(base::now() - begin),
               static_cast<double>(*low), static_cast<double>(*high));
  }

  // The pulse: a Ricker wavelet of amplitude 1 with its peak at 1.5 / frequency.
  void drive(stencil::Session<T>& session, double t) const {
    if (t > 3.5 / problem_.frequency) return;
    const double a = std::numbers::pi * problem_.frequency * (t - 1.5 / problem_.frequency);
    const double pulse = (1 - 2 * a * a) * std::exp(-a * a);
    const std::size_t cell = source_[1] * problem_.coefficients.shape()[1] + source_[2];
    if (options_.force == "none") {
      for (const std::size_t stress : {2, 3}) session.add(source_, stress, static_cast<T>(problem_.dt * pulse));
    } else {
      const std::size_t field = options_.force == "z" ? 0 : 1;
      session.add(source_, field, problem_.coefficients.field(field)[cell] * static_cast<T>(pulse));
    }
  }

  // A row of cells is recorded at once, the positions of a file one by one.
  void listen(stencil::Session<T>& session) const {
    if (receivers_.empty()) return;
    if (options_.receivers.empty()) {
      session.keep({.begin = receivers_.front(), .extent = {1, 1, receivers_.size()}});
    } else {
      for (const auto& cell : receivers_) session.keep({.begin = cell, .extent = {1, 1, 1}});
    }
  }

  // Moves the component of what was recorded to the traces.
  void collect(stencil::Session<T>& session) {
    const std::vector<T> kept = session.kept();
    const std::size_t fields = problem_.update.fields, width = options_.receivers.empty() ? receivers_.size() : 1;
    for (std::size_t i = 0; i < kept.size(); i += fields * width) {
      for (std::size_t x = 0; x < width; ++x) heard_.push_back(component(kept.data() + i + x, width));
    }
  }

  // Values that a continued run must have in common with the interrupted one.
  void open_checkpoint(const stencil::Plan<T>& plan, const std::vector<T>& observed) {
    if (options_.checkpoint.empty()) return;
    base::Json all = wave_parameters(options_, "gradient", model_.shape, problem_.dt, problem_.frequency);
    all["velocity of P waves"] = sum_of(model_.p_velocity);
    all["velocity of S waves"] = sum_of(model_.s_velocity);
    all["density"] = sum_of(model_.density);
    all["epsilon"] = sum_of(model_.epsilon);
    all["delta"] = sum_of(model_.delta);
    all["quality"] = sum_of(model_.quality);
    all["source"] = sum_of(position_);
    all["receivers"] = sum_of(positions_);
    all["force"] = options_.force;
    all["component"] = options_.component;
    all["observed"] = sum_of(observed);
    const auto& decision = plan.decisions().front();
    all["variant"] = decision.trials[decision.winner].name;
    saved_.emplace(options_, mpi::Communicator::alone(), std::move(all));
  }

  // The chosen component of the fields of one cell, `stride` apart.
  T component(const T* fields, std::size_t stride) const {
    if (options_.component == "pressure") return -(fields[2 * stride] + fields[3 * stride]) / 2;
    return fields[options_.component == "vz" ? 0 : stride];
  }

  void write(stencil::Session<T>& session, stencil::Grid<T>& grid) {
    session.read(grid);
    check_finite(grid.all(), "fields contain");
    if (!options_.record.empty()) {
      collect(session);
      write_traces(options_.record, 1, options_.steps, receivers_.size(), heard_, problem_.dt, position_, positions_, 2,
                   model_.spacing);
    }
    last_ = model_state(grid);
    if (states_.wanted(options_.steps))
      states_.add(options_.steps, static_cast<double>(options_.steps) * problem_.dt, last_);
  }
  std::vector<T> model_state(const stencil::Grid<T>& grid) const {
    std::vector<T> state;
    for (std::size_t z = 0; z < model_.shape[0]; ++z) {
      const std::size_t row = (problem_.begin[0] + z) * grid.shape()[1] + problem_.begin[1];
      for (std::size_t x = 0; x < model_.shape[1]; ++x)
        state.push_back(component(grid.all().data() + row + x, grid.cells()));
    }
    return state;
  }

  // Before anything is written.
  static void check_finite(std::span<const T> values, const char* what) {
    for (const T value : values) {
      if (!std::isfinite(value))
        refuse_run(
            fmt::format("the {} NaN or infinity: check the models and observed traces, or use a smaller --dt", what));
    }
  }

  const ElasticOptions& options_;
  double begin_;
  stencil::ElasticModel model_;
  stencil::ElasticProblem<T> problem_;
  std::vector<double> position_, positions_{};
  std::array<std::size_t, 3> source_;
  std::vector<std::array<std::size_t, 3>> receivers_{};
  std::vector<T> heard_{}, last_{};  // traces; the last state
  std::optional<WaveCheckpoint> saved_{};
  WaveStates states_{options_, options_.component, model_.shape};
};

}  // namespace

void add_elastic(Command& stencil) {
  Command& command = stencil.subcommand("elastic", "Elastic waves in 2D: P and SV waves on a staggered grid");
  command.footer(
      "\nExamples:\n"
      "  ridge stencil elastic --size 300x400 --free-surface --steps 1500 --record surface.npy --depth 0\n"
      "  ridge stencil elastic --velocity vp.npy --shear vs.npy --density rho.npy --force z --source 2,150 --record "
      "shot.sgy\n"
      "  ridge stencil elastic --velocity vp.npy --shear-speed 0 --density rho.npy --epsilon 0.2 --delta 0.1 "
      "--component "
      "pressure --quality 60 --record vti.npy\n"
      "\nVelocities and stresses on a staggered grid, leapfrog in time, differences of order 2 or 4. Models are arrays "
      "of\n"
      "two axes, depth first: the velocity of P waves in units of --spacing per second, that of S waves (0 in fluids)\n"
      "and the density. Absorbing layers (CPML) are outside the model and continue its edge. c dt sqrt(2) / dx must "
      "stay\n"
      "below 1 (order 2) or 0.857 (order 4) for the largest c; the default dt is 0.9 of this limit. The source is an\n"
      "explosion, which adds dt times a Ricker pulse of amplitude 1 to both normal stresses, or a --force. Positions "
      "are\n"
      "whole cells. --free-surface is half a cell above the first row. Acoustic waves with density, "
      "attenuation\n"
      "or anisotropy (VTI): --shear-speed 0.");
  auto options = std::make_shared<ElasticOptions>();
  options->accuracy = 4;
  command.option("--velocity", options->velocity, "Velocity of P waves, .npy").reads();
  command.option("--shear", options->shear, "Velocity of S waves, .npy").reads();
  command.option("--density", options->densities, "Density, .npy").reads();
  command.option("--speed", options->speed, "Velocity of P waves without a model").shows_default().positive();
  command.option("--shear-speed", options->shear_speed, "Velocity of S waves without a model; 0: a fluid")
      .shows_default()
      .between(0, 1e9);
  command.option("--rho", options->density, "Density without a model").shows_default().positive();
  command.option("--epsilon", options->epsilon, "Thomsen's epsilon (VTI): a number, or .npy").value_name("VALUES");
  command.option("--delta", options->delta, "Thomsen's delta (VTI): a number, or .npy").value_name("VALUES");
  command
      .option("--quality", options->quality,
              "Quality factor Q: waves decay by exp(-pi frequency t / Q); a number, or .npy")
      .value_name("VALUES");
  command.option("--force", options->force, "The source is a force along z (down) or x; none: an explosion")
      .shows_default()
      .one_of({"none", "z", "x"});
  command.option("--component", options->component, "Field that --record and --out write: vz, vx or pressure")
      .shows_default()
      .one_of({"vz", "vx", "pressure"});
  add_wave_options(command, *options, {"2", "4"});
  add_wave_checkpoints(command, *options, add_wave_files(command, *options, "velocity of P waves"));
  command.runs([options] {
    if (options->type == "f64") {
      ElasticRun<double>(*options).run();
    } else {
      ElasticRun<float>(*options).run();
    }
  });
}

}  // namespace ridge::cli
