// Acoustic and electromagnetic waves: models, shots between cells, traces, and gradients of a misfit.
#include "command/command.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/machine.hpp>
#include <ridge/stencil/problems.hpp>
#include <ridge/stencil/survey.hpp>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "base/worst.hpp"
#include "cli/stencil/input.hpp"
#include "cli/stencil/run.hpp"
#include "cli/stencil/wave_checkpoint.hpp"
#include "cli/stencil/wave_options.hpp"
#include "command/process.hpp"
#include "stencil/problems/scenario.hpp"

namespace ridge::cli {
namespace {

// Both are u_tt = c(x)^2 (laplacian of u + w). For Ez of Maxwell's equations in two dimensions (TM), c^2 = 1 /
// permittivity and w is the derivative of the current with respect to time.
struct AcousticOptions : WaveOptions {
  std::string model, border = "fixed", sources, wavelet;
  std::size_t batch = 0;
  double value = 1500;  // velocity or permittivity without a model
  int bits = 0;
  double error = 1e-3;
  bool electric = false, shots = false, exact = false, backwards = false, migrate = false;
};

constexpr double kFewestCells = 3;  // per shortest wave, order 8

[[noreturn]] void refuse_acoustic(const std::string& what) { throw Error(ErrorKind::invalid_argument, what); }

stencil::SurveyMedium medium_of(const AcousticOptions& options) {
  WaveModel model = read_model(options, options.model, options.value, options.electric ? "permittivity" : "velocity",
                               options.electric ? 2 : 3);
  if (options.electric) {
    for (double& value : model.values) value = 1 / std::sqrt(value);
  }
  stencil::SurveyMedium medium{.shape = model.shape,
                               .velocity = std::move(model.values),
                               .spacing = options.spacing,
                               .dt = observed_dt(options),
                               .frequency = options.frequency,
                               .accuracy = options.accuracy,
                               .layer = options.layer,
                               .free_surface = options.free_surface,
                               .threads = options.threads};
  medium.borders = stencil::parse_borders(options.border, medium.shape.size());
  return medium;
}

// Differences in time of a current that is given in the middle of each step: Ez_tt contains dw/dt.
std::vector<double> rates_of(const std::vector<double>& currents, std::size_t steps, double dt) {
  std::vector<double> rates(currents.size());
  for (std::size_t i = 0; i < currents.size(); ++i)
    rates[i] = (currents[i] - (i % steps == 0 ? 0 : currents[i - 1])) / dt;
  return rates;
}

template <class T>
class AcousticRun {
 public:
  AcousticRun(const AcousticOptions& options, const mpi::Communicator& processes)
      : options_(options), processes_(processes), begin_(base::now()), medium_(medium_of(options)) {
    sources_ = options.sources.empty() ? source_position(options, medium_.shape)
                                       : read_points(options.sources, axes(), units_of(options), true);
    if (!options.record.empty() || !options.gradient.empty()) {
      receivers_ = receiver_positions(options, medium_.shape, sources_);
      check_traces_fit(options, shots() * (receivers_.size() / axes()));
    }
  }

  void run() {
    const Device device = device_for(processes_, options_.device);
    medium_.batch = batch_of(device);
    const stencil::Survey<T> survey(device, medium_, {.effort = options_.measure ? Effort::measured : Effort::quick});
    if (options_.explain) fmt::print("{}\n", survey.explain());
    const stencil::SurveyMedium& medium = survey.medium();
    if (processes_.root())
      warn_of_short_waves(*std::min_element(medium.velocity.begin(), medium.velocity.end()), medium.frequency,
                          medium.spacing, kFewestCells);
    wavelets_ = options_.wavelet.empty() ? survey.ricker(options_.steps, options_.electric ? 0.5 : 0)
                                         : read_wavelets(options_.wavelet, options_.steps, sources_.size() / axes());
    if (options_.electric) wavelets_ = rates_of(wavelets_, options_.steps, survey.medium().dt);
    if (processes_.root()) check_trace_file(options_.record, options_.steps, survey.medium().dt);
    planned_ = base::now() - begin_;
    if (options_.gradient.empty()) {
      record(survey);
    } else {
      invert(survey);
    }
    seconds_ = processes_.largest(seconds_);
    if (processes_.root()) report(device, survey);
  }

 private:
  std::size_t axes() const { return medium_.shape.size(); }
  std::size_t shots() const { return options_.shots ? sources_.size() / axes() : 1; }
  std::size_t receivers() const { return receivers_.size() / axes(); }

  // The shots of a process.
  base::Share share_of(std::size_t rank) const { return base::share(shots(), rank, processes_.count()); }
  base::Share mine() const { return share_of(processes_.rank()); }

  // The root gets the values of all shots, in their order; others get none.
  std::vector<T> gathered(std::vector<T> values, std::size_t per_shot) const {
    if (!processes_.root()) {
      if (!values.empty()) processes_.send(0, values.data(), values.size() * sizeof(T));
      return {};
    }
    for (std::size_t rank = 1; rank < processes_.count(); ++rank) {
      const std::size_t count = (share_of(rank).end - share_of(rank).begin) * per_shot, before = values.size();
      values.resize(before + count);
      if (count > 0) processes_.receive(rank, values.data() + before, count * sizeof(T));
    }
    return values;
  }

  // Small models do not fill a device: up to 64 Mi cells at once.
  std::size_t batch_of(const Device& device) const {
    const std::size_t most = std::max<std::size_t>(1, mine().end - mine().begin);
    if (options_.batch > 0) return std::min(options_.batch, most);
    if (device.is_host() || axes() != 2) return 1;
    return std::clamp<std::size_t>((std::size_t{64} << 20) / medium_.velocity.size(), 1, most);
  }
  std::vector<stencil::Shot> batch(std::size_t first) const {
    std::vector<stencil::Shot> some;
    for (std::size_t k = first; k < std::min(mine().end, first + medium_.batch); ++k) some.push_back(shot(k));
    return some;
  }

  stencil::Shot shot(std::size_t index) const {
    if (!options_.shots) return {.sources = sources_, .wavelets = wavelets_, .receivers = receivers_};
    const auto at = sources_.begin() + static_cast<std::ptrdiff_t>(index * axes());
    stencil::Shot one{.sources = {at, at + static_cast<std::ptrdiff_t>(axes())}, .receivers = receivers_};
    const bool each = wavelets_.size() > options_.steps;
    const auto first = wavelets_.begin() + static_cast<std::ptrdiff_t>(each ? index * options_.steps : 0);
    one.wavelets.assign(first, first + static_cast<std::ptrdiff_t>(options_.steps));
    return one;
  }

  // The bar moves a few times per second. Steps are timed from the first one to the last one.
  stencil::SurveyProgress progress(std::size_t index) {
    return [this, index](std::size_t taken) {
      if (taken == 0) started_ = base::now();
      if (taken == options_.steps) stepped_ = base::now();
      if (base::now() - shown_ < 0.1 && taken < options_.steps) return;
      shown_ = base::now();
      if (!processes_.root()) return;
      const double share = std::min(1.0, static_cast<double>(taken) / static_cast<double>(options_.steps));
      const double batch = static_cast<double>(medium_.batch), last = static_cast<double>(mine().end);
      bar_(std::min(1.0, (static_cast<double>(index) + share * batch) / last),
           shots() > 1 ? fmt::format("shot {} of {}", index + 1, shots())
                       : fmt::format("step {} of {}", taken, options_.steps));
    };
  }

  // `done` are the results of the shots before `shot`.
  template <class Value>
  stencil::RunCheckpoints checkpoints(std::size_t shot, const std::vector<Value>& done, std::vector<std::byte> resume) {
    if (!saved_) return {};
    return {.due = [this](std::size_t step) { return saved_->due(step); },
            .save =
                [this, shot, &done](const std::vector<std::byte>& state) {
                  saved_->write(shot, done, field_, state, fmt::format("in shot {}", shot + 1));
                },
            .resume = std::move(resume)};
  }
  // Returns the state of the first shot, if a run is continued in it.
  template <class Value>
  std::vector<std::byte> open_checkpoint(const stencil::Survey<T>& survey, const std::vector<T>& observed,
                                         std::size_t& first, std::vector<Value>& done) {
    if (options_.checkpoint.empty()) return {};
    saved_.emplace(options_, processes_, parameters(survey, observed));
    return saved_->found(first, done, field_);
  }
  // Values that a continued run must have in common with the interrupted one.
  base::Json parameters(const stencil::Survey<T>& survey, const std::vector<T>& observed) const {
    const stencil::SurveyMedium& medium = survey.medium();
    const auto& decision = survey.decision();
    base::Json all =
        wave_parameters(options_, options_.migrate ? "image" : "gradient", medium.shape, medium.dt, medium.frequency);
    all["model"] = sum_of(medium.velocity);
    all["border"] = options_.border;
    all["shots"] = static_cast<double>(shots());
    all["batch"] = static_cast<double>(medium_.batch);
    all["sources"] = sum_of(sources_);
    all["receivers"] = sum_of(receivers_);
    all["wavelets"] = sum_of(wavelets_);
    all["observed"] = sum_of(observed);
    all["bits and error"] =
        fmt::format("{} {} {} {}", options_.bits, options_.error, options_.exact, options_.backwards);
    all["variant"] = decision.trials[decision.winner].name;
    return all;
  }

  void record(const stencil::Survey<T>& survey) {
    std::vector<T> all;
    WaveStates states(options_, options_.electric ? "Ez" : "u", medium_.shape);
    // The process with the last shot writes its states during the run, the first process the last one.
    const auto write_state = [&](std::size_t step, const std::vector<T>& field) {
      if (step < options_.steps) states.add(step, static_cast<double>(step) * survey.medium().dt, field);
    };
    std::size_t first = mine().begin;
    std::vector<std::byte> resume = open_checkpoint(survey, std::vector<T>(), first, all);
    for (std::size_t k = first; k < mine().end; k += medium_.batch) {
      const bool last = k + medium_.batch >= shots() && mine().end == shots();
      const std::vector<T> traces =
          survey.record(batch(k), options_.steps, &field_, progress(k), {last ? options_.every : 0, write_state},
                        checkpoints(k, all, std::exchange(resume, {})));
      all.insert(all.end(), traces.begin(), traces.end());
      seconds_ += stepped_ - started_;
      if (saved_) saved_->shots_done(std::min(k + medium_.batch, mine().end), all, field_);
    }
    all = gathered(std::move(all), options_.steps * receivers());
    // The last state is that of the last shot.
    const std::size_t last = std::min(processes_.count(), shots()) - 1;
    if (last > 0 && processes_.rank() == last) processes_.send(0, field_.data(), field_.size() * sizeof(T));
    if (!processes_.root()) return;
    field_.resize(medium_.velocity.size());
    if (last > 0) processes_.receive(last, field_.data(), field_.size() * sizeof(T));
    bar_(1, "");
    check_finite(field_, "field contains");
    check_finite(all, "traces contain");  // of all shots; the field is the last one's
    if (!options_.record.empty())
      write_traces(options_.record, shots(), options_.steps, receivers(), all, survey.medium().dt, sources_, receivers_,
                   axes(), options_.spacing);
    if (states.wanted(options_.steps))
      states.add(options_.steps, static_cast<double>(options_.steps) * survey.medium().dt, field_);
  }

  void invert(const stencil::Survey<T>& survey) {
    const std::vector<T> observed =
        read_traces<T>(options_.observed, shots(), options_.steps, receivers(), survey.medium().dt);
    // The misfit, then its derivatives.
    std::vector<double> sum(1 + medium_.velocity.size());
    const std::size_t count = options_.steps * receivers();
    std::string how;
    base::Worst worst;
    const stencil::SurveyMedium& medium = survey.medium();
    std::size_t first = mine().begin;
    std::vector<std::byte> resume = open_checkpoint(survey, observed, first, sum);
    for (std::size_t k = first; k < mine().end; k += medium_.batch) {
      const std::vector<stencil::Shot> some = batch(k);
      const auto advanced = [&, shown = progress(k)](std::size_t taken) {  // first when nothing is left to refuse
        if (taken == 0 && processes_.root())
          warn_of_defaults(options_, medium.dt, medium.frequency, !options_.wavelet.empty());
        shown(taken);
      };
      const stencil::Gradient one =
          survey.gradient(some, options_.steps, std::span<const T>(observed).subspan(k * count, some.size() * count),
                          {.memory = memory_of(options_),
                           .error = options_.error,
                           .exact = options_.exact,
                           .bits = options_.bits,
                           .backwards = options_.backwards,
                           .image = options_.migrate,
                           .progress = advanced,
                           .checkpoints = checkpoints(k, sum, std::exchange(resume, {}))});
      seconds_ += one.seconds;
      sum[0] += one.misfit;
      const std::vector<double>& found = options_.migrate ? one.image : one.velocity;
      for (std::size_t i = 0; i < found.size(); ++i) sum[1 + i] += found[i];
      if (worst.add(one.error) || how.empty()) how = one.explain;  // of the shot with the largest error
      if (saved_) saved_->shots_done(std::min(k + medium_.batch, mine().end), sum, field_);
    }
    if (!processes_.root()) return processes_.send(0, sum.data(), sum.size() * sizeof(double));
    std::vector<double> other(sum.size());
    for (std::size_t rank = 1; rank < processes_.count(); ++rank) {
      processes_.receive(rank, other.data(), other.size() * sizeof(double));
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
    }
    bar_(1, "");
    field_.assign(sum.begin() + 1, sum.end());
    // c = permittivity^(-1/2): its derivative is -c^3 / 2.
    for (std::size_t i = 0; options_.electric && !options_.migrate && i < field_.size(); ++i)
      field_[i] = static_cast<T>(0 - 0.5 * std::pow(medium_.velocity[i], 3) * sum[1 + i]);
    const std::string name = options_.migrate ? "image" : "gradient";
    check_finite(field_, name + " contains");
    write_field(options_, options_.gradient, name, name, medium_.shape, field_);
    fmt::print("{}history: {}\n", options_.migrate ? "" : fmt::format("misfit {:.9g}\n", sum[0]),
               how.empty() ? "that of the checkpoint" : how);
  }

  void report(const Device& device, const stencil::Survey<T>& survey) const {
    const stencil::SurveyMedium& medium = survey.medium();
    const auto [slowest, fastest] = std::minmax_element(medium.velocity.begin(), medium.velocity.end());
    const std::string values =
        options_.electric ? fmt::format("maxwell {} of {}: permittivity {:.4g} to {:.4g}", fmt::join(medium.shape, "x"),
                                        options_.type, 1 / (*fastest * *fastest), 1 / (*slowest * *slowest))
                          : fmt::format("acoustic {} of {}: velocity {:.4g} to {:.4g}", fmt::join(medium.shape, "x"),
                                        options_.type, *slowest, *fastest);
    fmt::print(
        "{}, Courant number {:.3g} (up to {:.3g}), source of {:.4g} Hz, {:.3g} cells per shortest wave, layers of {} "
        "cells{}\n",
        values, survey.courant(), stencil::acoustic_limit(medium.accuracy), medium.frequency,
        cells_per_shortest_wave(*slowest, medium.frequency, medium.spacing), medium.layer,
        medium.free_surface ? ", a free surface" : "");
    const auto& decision = survey.decision();
    const double cells = static_cast<double>(medium.velocity.size() * options_.steps * shots());
    const double rate = seconds_ > 0 ? cells / seconds_ : 0;  // 0: a continued run had nothing left to compute
    fmt::print("{} shots of {} steps in {}, {} by {} on {}{}; planned and compiled in {}\n", shots(), options_.steps,
               base::human_seconds(seconds_), base::human_rate(rate, "cell/s"), decision.trials[decision.winner].name,
               device.id(),
               processes_.count() > 1 ? fmt::format(" in {} processes", processes_.count())
               : medium.batch > 1     ? fmt::format(", {} shots at once", medium.batch)
                                      : "",
               base::human_seconds(planned_));
    const auto [low, high] = std::minmax_element(field_.begin(), field_.end());
    fmt::print("{}: from {:.6g} to {:.6g}\n",
               options_.gradient.empty() ? "last state"
               : options_.migrate        ? "image"
                                         : "gradient",
               static_cast<double>(*low), static_cast<double>(*high));
  }

  // Before anything is written.
  static void check_finite(const std::vector<T>& values, const std::string& what) {
    for (const T value : values) {
      if (!std::isfinite(value))
        refuse_acoustic(fmt::format(
            "the {} NaN or infinity: check the model, wavelets and observed traces, or use a smaller --dt", what));
    }
  }

  const AcousticOptions& options_;
  const mpi::Communicator& processes_;
  double begin_, planned_ = 0, shown_ = 0, started_ = 0, stepped_ = 0, seconds_ = 0;
  stencil::SurveyMedium medium_;
  std::vector<double> sources_{}, receivers_{}, wavelets_{};
  std::vector<T> field_{};
  std::optional<WaveCheckpoint> saved_{};
  base::Progress bar_ = base::terminal_progress();
};

// Options of shots and gradients, besides those of all waves.
void add_shot_options(Command& command, AcousticOptions& options) {
  add_wave_options(command, options, {"2", "4", "6", "8"});
  command.option("--border", options.border, "Sides with --layer 0: fixed, mirror, periodic").shows_default();
  const WaveFiles files = add_wave_files(command, options, options.electric ? "permittivities" : "velocities");
  const Option sources =
      command.option("--sources", options.sources, "Positions of sources, one per row, .npy or .csv; or .sgy").reads();
  sources.not_with(files.source);
  const Option shots = command.flag("--shots", options.shots, "Each source is a shot of its own").only_with(sources);
  command.option("--batch", options.batch, "Shots computed at once, 2D (default: as many as fill a device; host: 1)")
      .between(1, 4096)
      .only_with(shots);
  command.option("--wavelet", options.wavelet, "Values per step: one wavelet, or one row per source; .npy or .csv")
      .reads();
  command.option("--error", options.error, "Relative error of a gradient that its stored history may cause")
      .shows_default()
      .between(0, 0.5)
      .only_with(files.gradient);
  command.flag("--exact", options.exact, "Exact gradients, as --error 0").only_with(files.gradient);
  const Option backwards = command
                               .flag("--backwards", options.backwards,
                                     "Gradients from values next to the sides, by computing the run backwards")
                               .only_with(files.gradient);
  command
      .flag("--migrate", options.migrate,
            "Write an image of reflectors (reverse-time migration of --observed) instead of the derivative")
      .only_with(files.gradient)
      .not_with(backwards);
  command
      .option("--bits", options.bits,
              "Bits of snapshots that are not exact: 16, or 8 with an error of up to 3e-2 (default: by --error)")
      .between(8, 16)
      .only_with(files.gradient);
  add_wave_checkpoints(command, options, files);
}

void run_shots(Command& command, const std::shared_ptr<AcousticOptions>& options) {
  command.runs([options] {
    with_processes([&](const mpi::Communicator& processes) {
      processes.set_deadline(0);  // a shot may take longer than any limit
      if (options->type == "f64") {
        AcousticRun<double>(*options, processes).run();
      } else {
        AcousticRun<float>(*options, processes).run();
      }
    });
  });
}

}  // namespace

void add_acoustic(Command& stencil) {
  Command& command = stencil.subcommand(
      "acoustic", "Acoustic waves in a medium: shots, traces and gradients; 2D and 3D, up to order 8");
  command.footer(
      "\nExamples:\n"
      "  ridge stencil acoustic --velocity marmousi.npy --spacing 10 --frequency 12 --steps 3000 --record shot.npy\n"
      "  ridge stencil acoustic --size 256x256x256 --speed 2000 --spacing 5 --steps 400 --out wave.npy --device "
      "cuda:0\n"
      "  ridge stencil acoustic --velocity model.npy --sources s.csv --shots --receivers r.npy --record data.npy\n"
      "  ridge stencil acoustic --velocity start.npy --sources s.csv --shots --receivers r.npy --dt 1e-3 "
      "--frequency 12 --observed data.npy --gradient g.npy --memory 4G\n"
      "  mpirun -n 4 ridge stencil acoustic --velocity start.npy --sources s.csv --shots --receivers r.npy --observed "
      "data.npy --gradient g.npy\n"
      "  ridge stencil acoustic --velocity smooth.npy --sources s.csv --shots --receivers r.npy --observed "
      "reflected.npy "
      "--gradient image.npy --migrate\n"
      "  ridge stencil acoustic --velocity model.npy --out wave.pvd --every 50      a series for ParaView; .png: "
      "pictures\n"
      "\nu_tt = c(x)^2 (u_xx + u_yy + u_zz), leapfrog in time, differences of order --accuracy in space. The velocity\n"
      "model is an array of two or three axes, depth first, in the units of --spacing per second. Positions are in\n"
      "cells and may be between them. A source adds its wavelet, by default a Ricker pulse of amplitude 1 with its\n"
      "peak at t = 1.5 / frequency, to the sum of derivatives. Absorbing layers (CPML) are outside the model and\n"
      "continue the velocities of its edge. c dt sqrt(sum of 1/dx^2) must stay below 1 (order 2) to 0.78 (order 8)\n"
      "for the largest c; the default dt is 0.9 of this limit. Processes of mpirun share the shots. The misfit of\n"
      "--gradient is half the sum of squared differences between traces and --observed; docs/inversion.md explains "
      "how\n"
      "its history fits into --memory. Media with density, attenuation or anisotropy: ridge stencil elastic.");
  auto options = std::make_shared<AcousticOptions>();
  command.option("--velocity", options->model, "Velocity model, .npy").reads();
  command.option("--speed", options->value, "Velocity of a homogeneous medium, without a model")
      .shows_default()
      .positive();
  add_shot_options(command, *options);
  run_shots(command, options);
}

void add_maxwell(Command& stencil) {
  Command& command = stencil.subcommand(
      "maxwell", "Electromagnetic waves in 2D: Maxwell's equations (TM) with shots, traces and gradients");
  command.footer(
      "\nExamples:\n"
      "  ridge stencil maxwell --size 400x600 --steps 800 --out ez.npy\n"
      "  ridge stencil maxwell --permittivity lens.npy --source 200,40 --steps 2000 --record behind.npy --depth 380\n"
      "  ridge stencil maxwell --permittivity start.npy --sources s.csv --shots --receivers r.npy --observed data.npy "
      "--gradient g.npy\n"
      "\nThe electric field is perpendicular to the plane, in units in which the speed of light is 1 at permittivity "
      "1.\n"
      "With --accuracy 2 the values are those of Yee's grid (FDTD); higher orders need fewer cells per wavelength.\n"
      "The permittivity is an array of two axes; absorbing layers (CPML) are outside the model and continue its edge.\n"
      "c dt sqrt(1/dx^2 + 1/dy^2) must stay below 1 (order 2) to 0.78 (order 8); the default dt is 0.9 of this limit.\n"
      "The source is a current, which adds a Ricker pulse of amplitude 1, or --wavelet, to the curl of H: its values "
      "are\n"
      "those in the middle of each step. --free-surface makes depth 0 perfectly conducting. --gradient writes the\n"
      "derivative of half the sum of squared differences between traces and --observed.");
  auto options = std::make_shared<AcousticOptions>();
  options->electric = true;
  options->value = options->spacing = 1;
  command.option("--permittivity", options->model, "Relative permittivity, one number per cell, .npy").reads();
  command.option("--epsilon", options->value, "Relative permittivity of a homogeneous medium, without a file")
      .shows_default()
      .positive();
  add_shot_options(command, *options);
  run_shots(command, options);
}

}  // namespace ridge::cli
