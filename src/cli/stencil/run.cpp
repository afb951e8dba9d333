// The time loop of a stencil scenario: steps, outputs, checkpoints, signals and the final report.
#include "cli/stencil/run.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/machine.hpp>

#include "base/aligned.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "bench/lengths.hpp"
#include "cli/stencil/input.hpp"
#include "cli/stencil/output.hpp"
#include "command/options.hpp"
#include "command/process.hpp"
#include "io/arrays/checkpoint.hpp"
#include "io/images/colour.hpp"
#include "io/images/png.hpp"
#include "mpi/domain.hpp"

namespace ridge::cli {
namespace {

namespace fs = std::filesystem;
using stencil::Domain;
using stencil::Scenario;
using stencil::SlabReader;

}  // namespace

Device device_for(const mpi::Communicator& processes, const std::string& name) {
  const std::string one_each = ":*";
  if (name.size() < 3 || name.substr(name.size() - 2) != one_each) return device(name);
  const std::string backend = name.substr(0, name.size() - 2);
  std::vector<Device> all;
  for (const Device& one : devices().devices) {
    if (one.id().rfind(backend + ":", 0) == 0) all.push_back(one);
  }
  if (all.empty())
    throw Error(ErrorKind::unavailable, fmt::format("--device {}: no such device on this machine", name));
  return all[processes.rank_here() % all.size()];
}

namespace {

// --- the run --------------------------------------------------------------------------------------------------------

// Checks the parameters that must not change between a run and its continuation.
template <class T>
void check_same(const io::Checkpoint& checkpoint, const Scenario<T>& scenario) {
  const auto differs = [&](const std::string& what, const std::string& there, const std::string& here) {
    mistake(
        fmt::format("checkpoint {} was made with {} {}, but this run has {}; give the same options, or another "
                    "checkpoint file",
                    checkpoint.path().string(), what, there, here));
  };
  const base::Json& there = checkpoint.state().parameters;
  for (const auto& [key, value] : scenario.parameters.items()) {
    if (!there.contains(key)) differs(key, "unknown", value.dump());
    if (there[key] != value) differs(key, there[key].dump(), value.dump());
  }
  const SlabReader<T> none;
  const io::GridSource wanted = state_of(scenario, none);
  if (checkpoint.type() != wanted.type) differs("cells of type", name_of(checkpoint.type()), name_of(wanted.type));
  if (checkpoint.shape() != wanted.shape || checkpoint.fields() != wanted.names) {
    differs("a grid of", shape_text(checkpoint.shape()), shape_text(wanted.shape));
  }
}

template <class T>
class Run {
 public:
  Run(const mpi::Communicator& processes, Scenario<T> scenario, const RunOptions& options)
      : scenario_(std::move(scenario)), options_(options), device_(device_for(processes, options.device)) {
    if (processes.root()) progress_ = base::terminal_progress();
    take_input();
    stencil::DomainOptions domain = options.domain;
    domain.cuts = stencil::Cuts::moving;
    const double work = static_cast<double>(cells()) * static_cast<double>(options.steps);
    const bool worth_measuring = domain.planner.effort == Effort::quick && work > 2e10 && !options.steady;
    // A stopped and resumed run must give the same bits, which leaps of different lengths would not.
    if (!options.checkpoint.empty()) scenario_.problem.leap = stencil::LeapUse::never;
    const double before = base::now();
    // Leaps need no measured kernel.
    const bool may_leap = processes.count() == 1 && scenario_.problem.leap != stencil::LeapUse::never &&
                          (scenario_.update.linear || device_.is_host());  // other devices compile a kernel to find out
    if (worth_measuring && !may_leap) domain.planner.effort = Effort::measured;
    progress_(0, "planning");
    domain_ = mpi::make_domain(processes, device_, scenario_.update, scenario_.problem, domain);
    const std::size_t at_once = options.every > 0 ? std::min(options.every, options.steps) : options.steps;
    const bool leaps = domain_->leaps_from() > 0 && at_once >= domain_->leaps_from();
    if (worth_measuring && may_leap && !leaps) {
      domain_.reset();
      domain.planner.effort = Effort::measured;
      domain_ = mpi::make_domain(processes, device_, scenario_.update, scenario_.problem, domain);
    }
    planning_ = base::now() - before;
    base::clear_progress();
  }

  int go() {
    if (domain_->root() && options_.explain) fmt::print("{}\n", domain_->explain());
    begin();
    const StopSignals signals;
    if (options_.steady) return settle();
    prepare();
    while (step_ < options_.steps) {
      advance();
      const bool stopped = domain_->largest(StopSignals::number()) > 0;
      const bool last = step_ == options_.steps;
      if (frame_is_due(step_) || last) frame(last);
      if (!options_.checkpoint.empty() && (checkpoint_is_due(step_) || last || stopped)) checkpoint();
      if (stopped && !last) return stop();
    }
    progress_(1, "");
    const std::string spent = domain_->spent();
    if (domain_->root()) {
      summarize();
      if (!spent.empty()) fmt::print("{}\n", spent);
    }
    return 0;
  }

 private:
  std::size_t cells() const {
    std::size_t product = 1;
    for (const std::size_t side : scenario_.problem.shape) product *= side;
    return product;
  }
  double time() const { return static_cast<double>(step_) * scenario_.dt; }

  void take_input() {
    if (options_.in.empty()) return;
    const auto& shape = scenario_.problem.shape;
    auto grid = std::make_shared<InputGrid>(read_grid(options_.in, shape.size()));
    const std::size_t fields = scenario_.fields.size();
    if (grid->shape != shape || (grid->channels != fields && grid->channels != 1)) {
      mistake(fmt::format("--in {}: {} with {} fields; this run needs {} with {}", options_.in, shape_text(grid->shape),
                          grid->channels, shape_text(shape), fields));
    }
    const std::size_t all = cells();
    const std::size_t rows = shape.size() > 1 ? shape[shape.size() - 2] : 1, width = shape.back();
    scenario_.initial = [=](const std::array<std::size_t, 3>& cell, T* values) {
      const std::size_t index = (cell[0] * rows + cell[1]) * width + cell[2];
      for (std::size_t f = 0; f < fields; ++f)
        values[f] = static_cast<T>(grid->values[(grid->channels == 1 ? 0 : f) * all + index]);
    };
  }

  // On the root: the newest complete checkpoint, if this run resumes.
  std::optional<io::Checkpoint> found_checkpoint() const {
    if (!domain_->root() || !options_.resume) return std::nullopt;
    auto found = io::newest_checkpoint(options_.checkpoint);
    if (!found) {
      fmt::print("no checkpoint {} yet: starting at step 0\n", options_.checkpoint);
      return found;
    }
    check_same(*found, scenario_);
    if (found->state().step > options_.steps) {
      mistake(fmt::format("checkpoint {} is at step {}, beyond --steps {}: give more steps", found->path().string(),
                          found->state().step, options_.steps));
    }
    io::set_aside_damaged(*found, options_.checkpoint);
    fmt::print("continuing from step {} of {}\n", found->state().step, found->path().string());
    return found;
  }

  void begin() {
    const auto found = found_checkpoint();
    const double resumed = domain_->from_root(found ? static_cast<double>(found->state().step) : -1);
    if (domain_->root()) {
      outputs_.emplace(options_, scenario_.name, scenario_.colours, scenario_.low, scenario_.high, scenario_.y_up,
                       scenario_.name == "convolve",
                       resumed >= 0 ? std::optional(static_cast<std::size_t>(resumed)) : std::nullopt);
    }
    if (resumed >= 0) {
      step_ = first_step_ = static_cast<std::size_t>(resumed);
      checkpointed_ = step_;
      domain_->load(
          [&](std::size_t field, std::size_t begin, std::size_t end, T* to) { found->read(field, begin, end, to); });
      if (step_ == options_.steps) frame(true);
    } else {
      domain_->start(scenario_.initial);
      if (options_.every > 0 || options_.steps == 0) frame(options_.steps == 0);
    }
  }

  int settle() {
    const double before = base::now();
    domain_->steady();
    computing_ = base::now() - before;
    frame(true);
    progress_(1, "");
    summarize();
    return 0;
  }

  // Compiles the kernels and chooses the chunk size for a device, where each chunk ends with a wait: about a quarter of
  // a second by the plan's prediction.
  void prepare() {
    const double before = base::now();
    const double expected = domain_->step_seconds();
    if (expected > 0 && !device_.is_host()) chunk_ = static_cast<std::size_t>(std::clamp(0.25 / expected, 16.0, 1e9));
    if (expected > 0) most_leapt_ = static_cast<std::size_t>(std::clamp(kFirstLeapSeconds / expected, 64.0, 1e15));
    if (step_ < options_.steps) domain_->prepare(next_steps());
    planning_ += base::now() - before;
  }

  bool frame_is_due(std::size_t step) const { return options_.every > 0 && step % options_.every == 0; }
  std::size_t checkpoint_interval() const {
    if (options_.checkpoint_every > 0) return options_.checkpoint_every;
    return options_.every > 0 ? options_.every : std::max<std::size_t>(1, options_.steps / 10);
  }
  bool checkpoint_is_due(std::size_t step) const { return step % checkpoint_interval() == 0; }

  // Number of steps that take a quarter of a second, or form a leap, up to the next output.
  std::size_t next_steps() const {
    std::size_t end = options_.steps;
    const auto up_to = [&](std::size_t interval) {
      if (interval > 0) end = std::min(end, (step_ / interval + 1) * interval);
    };
    up_to(options_.every);
    if (!options_.checkpoint.empty()) up_to(checkpoint_interval());
    const std::size_t leaps = domain_->leaps_from();
    return leaps > 0 && end - step_ >= leaps ? std::min(end - step_, std::max(leaps, most_leapt_))
                                             : std::min(end - step_, chunk_);
  }

  void advance() {
    const auto steps = static_cast<std::size_t>(domain_->from_root(static_cast<double>(next_steps())));
    const double before = base::now();
    domain_->run(steps);
    const double seconds = base::now() - before;
    computing_ += seconds;
    step_ += steps;
    if (domain_->leaps_from() > 0 && steps >= domain_->leaps_from()) {
      ++leaps_;
      most_leapt_ = std::numeric_limits<std::size_t>::max();
    }
    if (seconds < 0.1 && steps == chunk_) chunk_ *= 2;
    if (seconds > 0.5 && chunk_ > 16) chunk_ /= 2;
    const double rate = static_cast<double>(step_ - first_step_) / computing_;
    progress_(static_cast<double>(step_) / static_cast<double>(options_.steps),
              fmt::format("step {} of {}, {}, {} left", step_, options_.steps,
                          base::human_rate(rate * static_cast<double>(cells()), "cell/s"),
                          base::human_seconds(static_cast<double>(options_.steps - step_) / rate)));
  }

  void frame(bool last) {
    domain_->show([&](const SlabReader<T>& read) {
      complain(read);
      const io::GridSource views = views_of(scenario_, read);
      try {
        outputs_->frame(step_, time(), last, views);
      } catch (const Error& error) {
        throw Error(error.kind(), fmt::format("step {}: {}{}", step_, error.what(), safe_so_far()));
      }
      if (last) look(views);
    });
  }

  // Error if the state is no longer valid.
  void complain(const SlabReader<T>& read) const {
    if (!scenario_.complaint) return;
    const io::GridSource state = state_of(scenario_, read);
    const std::size_t fields = scenario_.fields.size(), slab = state.slab_cells();
    const std::size_t at_a_time = io::slabs_at_a_time(state);
    base::AlignedArray<T> cells(at_a_time * slab * fields);
    std::vector<const T*> pointers;
    for (std::size_t f = 0; f < fields; ++f) pointers.push_back(cells.data() + f * at_a_time * slab);
    for (std::size_t begin = 0; begin < state.shape[0]; begin += at_a_time) {
      const std::size_t end = std::min(state.shape[0], begin + at_a_time);
      for (std::size_t f = 0; f < fields; ++f) read(f, begin, end, cells.data() + f * at_a_time * slab);
      const std::string wrong = scenario_.complaint(pointers.data(), (end - begin) * slab);
      if (!wrong.empty()) mistake(fmt::format("step {}: {}", step_, wrong));
    }
  }

  // Minimum and maximum of every view at the end.
  void look(const io::GridSource& views) {
    for (std::size_t index = 0; index < views.names.size(); ++index) {
      double least = std::numeric_limits<double>::infinity(), greatest = -least;
      std::size_t not_numbers = 0;
      io::for_each_piece(views, index, [&](std::size_t, std::size_t begin, std::size_t end, const std::byte* piece) {
        const T* values = reinterpret_cast<const T*>(piece);
        for (std::size_t i = 0; i < (end - begin) * views.slab_cells(); ++i) {
          const auto value = static_cast<double>(values[i]);
          if (!std::isfinite(value)) ++not_numbers;
          if (std::isnan(value)) continue;
          least = std::min(least, value);
          greatest = std::max(greatest, value);
        }
      });
      const std::string range =
          least > greatest ? " in no cell" : fmt::format(" from {:.6g} to {:.6g}", least, greatest);
      ranges_.push_back(views.names[index] + range +
                        (not_numbers > 0 ? fmt::format(", {} cells are not numbers", not_numbers) : ""));
    }
  }

  void checkpoint() {
    domain_->show([&](const SlabReader<T>& read) {
      try {
        io::write_checkpoint(options_.checkpoint, {step_, time(), scenario_.parameters}, state_of(scenario_, read));
      } catch (const Error& error) {
        throw Error(error.kind(), fmt::format("step {}: {}{}", step_, error.what(), safe_so_far()));
      }
    });
    checkpointed_ = step_;
  }

  std::string safe_so_far() const {
    return checkpointed_ ? fmt::format("; step {} is saved in {}, and --resume continues from it", *checkpointed_,
                                       options_.checkpoint)
                         : "";
  }

  int stop() {
    progress_(1, "");
    if (domain_->root()) {
      fmt::print(stderr, "ridge: stopped at step {} of {}{}\n", step_, options_.steps,
                 options_.checkpoint.empty() ? "" : fmt::format("; --resume continues from {}", options_.checkpoint));
    }
    return 128 + static_cast<int>(domain_->largest(StopSignals::number()));
  }

  void summarize() const {
    const auto steps = static_cast<double>(step_ - first_step_);
    fmt::print("{} {} of {} on {}{}: {}\n", scenario_.name, shape_text(scenario_.problem.shape), type_name(),
               device_.id(), domain_->processes() > 1 ? fmt::format(" in {} processes", domain_->processes()) : "",
               scenario_.about);
    if (options_.steady) {
      fmt::print("steady state in {}; planned in {}\n", base::human_seconds(computing_),
                 base::human_seconds(planning_));
    } else if (steps > 0) {
      const double rate = steps * static_cast<double>(cells()) / computing_;
      const machine::Bandwidth memory = machine::ceilings(device_).memory().all;
      const double bytes = 2.0 * static_cast<double>(scenario_.fields.size() * sizeof(T));
      const double roof = std::max(memory.copy, memory.copy_streaming) / bytes;
      const double moved = device_.is_host() ? 0 : domain_->moving_seconds();
      fmt::print("{} steps in {}, {} by {}{}; planned and compiled in {}{}\n", step_ - first_step_,
                 base::human_seconds(computing_), base::human_rate(rate, "cell/s"),
                 leaps_ > 0 ? fmt::format("{} {}, each two transforms (--no-leap: step by step)", leaps_,
                                          leaps_ == 1 ? "leap" : "leaps")
                            : domain_->variant(),
                 roof > 0 ? fmt::format(", {:.2g} of the memory bandwidth for one read and one write per cell and step",
                                        rate / roof)
                          : "",
                 base::human_seconds(planning_),
                 moved > 0 ? fmt::format(", the grid transferred in {}", base::human_seconds(moved)) : "");
    }
    fmt::print("{}: {}\n", options_.steady ? "steady state" : fmt::format("step {}, t = {:.6g}", step_, time()),
               fmt::join(ranges_, "; "));
    for (const std::string& line : outputs_->written()) fmt::print("{}\n", line);
    if (checkpointed_) fmt::print("{}: checkpoint of step {}\n", options_.checkpoint, step_);
  }

  static const char* type_name() {
    return std::is_same_v<T, float> ? "float" : std::is_same_v<T, double> ? "double" : "bytes";
  }

  Scenario<T> scenario_;
  const RunOptions& options_;
  Device device_;
  std::unique_ptr<Domain<T>> domain_;
  std::optional<Outputs> outputs_;  // on the root only
  base::Progress progress_ = [](double, const std::string&) {};
  // A leap that is refused, because the grid grows, becomes steps, which cannot be stopped: so the first one is short.
  static constexpr double kFirstLeapSeconds = 2;  // if it were steps
  std::size_t most_leapt_ = 1 << 16;
  std::size_t step_ = 0, first_step_ = 0, chunk_ = 16;
  double computing_ = 0, planning_ = 0;
  std::size_t leaps_ = 0;
  std::optional<std::size_t> checkpointed_;  // step of the last checkpoint
  std::vector<std::string> ranges_;
};

}  // namespace

void check(const RunOptions& options) {
  for (const std::string& name : options.out) {
    const auto ending = fs::path(name).extension();
    if (ending != ".pvd" && ending != ".vti" && ending != ".npy" && ending != ".png") {
      mistake(fmt::format("--out {}: the name must end in .pvd (a series for ParaView), .vti, .npy or .png", name));
    }
    if (ending == ".png" && !io::have_png()) io::encode_png(io::Raster{});  // reports that PNG support is missing
  }
  if (!options.frames.empty() && !io::have_png()) io::encode_png(io::Raster{});
  if (!options.colours.empty()) io::colour_map(options.colours);
  if (options.resume && options.checkpoint.empty()) mistake("--resume needs --checkpoint FILE");
  if (options.steady && (!options.checkpoint.empty() || options.every > 0)) {
    mistake("--steady computes no steps: leave out --every and --checkpoint");
  }
  if (options.checkpoint_every > 0 && options.checkpoint.empty()) mistake("--checkpoint-every needs --checkpoint FILE");
}

template <class T>
int run_scenario(const mpi::Communicator& processes, Scenario<T> scenario, const RunOptions& options) {
  const auto low = options.low ? options.low : scenario.low, high = options.high ? options.high : scenario.high;
  if (low && high && !(*low < *high)) mistake(fmt::format("--low {} must be below --high {}", *low, *high));
  return Run<T>(processes, std::move(scenario), options).go();
}

template int run_scenario(const mpi::Communicator&, Scenario<float>, const RunOptions&);
template int run_scenario(const mpi::Communicator&, Scenario<double>, const RunOptions&);
template int run_scenario(const mpi::Communicator&, Scenario<std::uint8_t>, const RunOptions&);

}  // namespace ridge::cli
