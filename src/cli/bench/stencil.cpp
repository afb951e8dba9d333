#include "cli/bench/stencil.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <random>

#include <fmt/format.h>
#include <ridge/machine.hpp>
#include <ridge/stencil.hpp>

#include "base/clock.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "cli/bench/bench.hpp"
#include "cli/fft/lengths.hpp"
#include "machine/energy.hpp"
#include "machine/host_caches.hpp"
#include "machine/host_probes.hpp"
#include "stencil/layout.hpp"
#include "stencil/problems/scenario.hpp"
#include "stencil/trials.hpp"

namespace ridge::cli {
namespace {

std::vector<stencil::Offset> offsets_of(const PlainStencil& stencil) {
  return stencil.box ? stencil::moore(stencil.dimensions, stencil.order)
                     : stencil::von_neumann(stencil.dimensions, stencil.order);
}

// Weights that sum to one: nothing grows or dies out over many steps.
PlainStencil weighted(PlainStencil stencil) {
  const double others = static_cast<double>(offsets_of(stencil).size() - 1);
  stencil.centre = 0.5;
  stencil.other = 0.5 / others;
  return stencil;
}

template <class T>
stencil::Update<T> update_of(const PlainStencil& stencil) {
  std::vector<stencil::Term> terms;
  for (const stencil::Offset& offset : offsets_of(stencil)) {
    const bool centre = offset == stencil::Offset{};
    terms.push_back({.offset = offset, .weight = centre ? stencil.centre : stencil.other});
  }
  return stencil::linear<T>(stencil.dimensions, terms);
}

// What binds: the copy rate and the peak, bytes and flops a second. A device's are those of the saved profile. On the
// host, whose neighbours come and go, they are the best of the profile (where somebody has measured) and of probes
// between the timings.
class Roofs {
 public:
  Roofs(const Device& device, std::size_t threads, bool float64, double seconds)
      : device_(device),
        threads_(threads == 0 ? device.info().limits.compute_units : threads),
        float64_(float64),
        seconds_(seconds) {
    const machine::Ceilings ceilings = machine::ceilings(device);
    if (device.is_host() && !ceilings.measured) return;
    const bool one = device.is_host() && threads_ == 1;
    if (device.is_host() && !one && threads_ != device.info().limits.compute_units) return;
    const machine::Bandwidth& memory = one ? ceilings.memory().one : ceilings.memory().all;
    copy_ = std::max(memory.copy, memory.copy_streaming);
    peak_ = float64 ? (one ? ceilings.flops_double_one : ceilings.flops_double)
                    : (one ? ceilings.flops_float_one : ceilings.flops_float);
  }
  void probe() {
    if (!device_.is_host()) return;
    probe_copy(seconds_);
    run_peak_ = std::max(run_peak_, float64_ ? machine::host_flops_double(threads_, seconds_ / 4)
                                             : machine::host_flops_float(threads_, seconds_ / 4));
  }
  void probe_copy(double seconds) {
    if (!pieces_) {
      const std::size_t bytes = machine::host_memory_probe_bytes(machine::host_caches(), seconds_ < 0.1);
      pieces_.emplace(threads_, bytes / threads_);
    }
    run_copy_ = std::max(run_copy_, machine::host_copy_bandwidth(*pieces_, seconds));
  }
  double copy() const { return std::max(copy_, run_copy_); }
  double peak() const { return std::max(peak_, run_peak_); }
  std::string note() const {
    if (!device_.is_host()) return "";
    const auto rates = [](double bytes, double flops) {
      return fmt::format("copy {}, peak {}", base::human_rate(bytes, "B/s"), base::human_rate(flops, "FLOP/s"));
    };
    return fmt::format("{} threads in this run: {}{}", threads_, rates(run_copy_, run_peak_),
                       copy_ > 0 ? "; in the saved profile: " + rates(copy_, peak_) : "");
  }

 private:
  Device device_;
  std::size_t threads_;
  bool float64_;
  double seconds_;
  std::optional<machine::HostPieces> pieces_;
  double copy_ = 0, peak_ = 0, run_copy_ = 0, run_peak_ = 0;
};

// Another grid every time: nobody's figures may rest on one set of numbers.
template <class T>
void fill_randomly(stencil::Grid<T>& grid) {
  const std::uint64_t seed = std::random_device()();
  base::parallel(0, [&](std::size_t thread, std::size_t threads) {
    const auto mine = base::share(grid.all().size(), thread, threads);
    for (std::size_t i = mine.begin; i < mine.end; ++i) grid.all()[i] = static_cast<T>(stencil::random_share(seed, i));
  });
}

// The farthest two answers are apart, as a share of the largest value; infinitely far where one is no number.
template <class T>
double distance(const stencil::Grid<T>& a, const stencil::Grid<T>& b) {
  std::mutex mutex;
  double largest = 0, apart = 0;
  base::parallel(0, [&](std::size_t thread, std::size_t threads) {
    const auto mine = base::share(a.all().size(), thread, threads);
    double most = 0, far = 0;
    for (std::size_t i = mine.begin; i < mine.end; ++i) {
      most = std::max(most, std::abs(static_cast<double>(b.all()[i])));
      const double one = std::abs(static_cast<double>(a.all()[i]) - static_cast<double>(b.all()[i]));
      far = std::max(far, std::isnan(one) ? std::numeric_limits<double>::infinity() : one);
    }
    const std::lock_guard lock(mutex);
    largest = std::max(largest, most);
    apart = std::max(apart, far);
  });
  return largest > 0 ? apart / largest : apart;
}

// Flops a joule over about a second of runs, and the rate that lasts: a device at its power limit lowers its clock.
std::string power_note(const Device& device, const StencilBench& wanted, const std::function<void()>& run,
                       double seconds, double updates, double flops, report::BenchRow& row) {
  auto counter = machine::EnergyCounter::open(device);
  const auto repeats = static_cast<std::size_t>(std::ceil(1.0 / seconds));
  run();
  const double before = counter.readable() ? counter.joules() : 0, start = base::now();
  for (std::size_t i = 0; i < repeats; ++i) run();
  const double taken = base::now() - start, times = static_cast<double>(repeats);
  const double lasting = updates * times / taken;
  const std::string rate = fmt::format("{:.3g} Gcell/s over {}", lasting * 1e-9, base::human_seconds(taken));
  row.more["lasting_gcells_per_s"] = lasting * 1e-9;
  if (!counter.readable() && wanted.rated_watts <= 0)
    return fmt::format("{}; no power counter ({}): --watts takes the rated power", rate, counter.why_not());
  const double joules = counter.readable() ? counter.joules() - before : wanted.rated_watts * taken;
  row.more["watts"] = joules / taken;
  row.more["gflops_per_watt"] = updates * flops * times / joules * 1e-9;
  return fmt::format("{}, {:.0f} W, {:.2f} GFLOP/s per watt {}", rate, joules / taken, row.more["gflops_per_watt"],
                     counter.readable() ? "by " + counter.counter() : "at the rated power: not measured");
}

template <class T>
struct Contender {
  stencil::Plan<T> plan;
  std::string name;
  std::size_t depth = 1;
  double seconds = 0;
  report::BenchRow row{};
};

template <class T>
class StencilCase {
 public:
  StencilCase(const Device& device, const StencilBench& wanted)
      : device_(device),
        wanted_(wanted),
        shape_(weighted(wanted.stencil)),
        update_(update_of<T>(shape_)),
        problem_{.shape = wanted.shape,
                 .borders = stencil::parse_borders(wanted.border, wanted.shape.size()),
                 .threads = wanted.threads},
        grid_(wanted.shape),
        roofs_(device, wanted.threads, wanted.float64, std::min(0.4, wanted.seconds_each)) {
    const stencil::Layout layout = stencil::resolve(update_, problem_);
    updates_ = static_cast<double>(wanted.steps);
    for (std::size_t axis = 0; axis < 3; ++axis) updates_ *= static_cast<double>(layout.end[axis] - layout.begin[axis]);
    fill_randomly(grid_);
  }

  StencilBenchResult run() {
    list_contenders();
    plain_ = device_.is_host() ? plain_host(shape_, grid_, wanted_.threads) : plain_device(device_, shape_, grid_);
    compare_with_each_other();
    roofs_.probe();
    for (Contender<T>& one : contenders_) measure(one);  // one at a time: large grids together would not fit
    roofs_.probe();
    if (const std::string note = roofs_.note(); !note.empty()) add_note(note);
    for (Contender<T>& one : contenders_) result_.rows.push_back(row_of(one));
    std::stable_sort(result_.rows.begin(), result_.rows.end(),
                     [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
    return std::move(result_);
  }

 private:
  void add_note(const std::string& text) {
    result_.notes.push_back(fmt::format("{}: {}", stencil_problem_text(wanted_), text));
  }

  void list_contenders() {
    const stencil::Plan<T> chosen(device_, update_, problem_, {.variant = wanted_.variant});
    result_.explanation = chosen.explain();
    chosen_ = chosen.decisions().front().trials.at(chosen.decisions().front().winner).name;
    for (const auto& candidate : stencil::candidates(device_, update_, problem_)) {
      const std::string name = candidate.name();
      if (name == chosen_) {
        contenders_.insert(contenders_.begin(), {chosen, name, stencil::depth_of(candidate)});
        continue;
      }
      const bool asked = wanted_.variant.empty() || candidate.variant == wanted_.variant || name == wanted_.variant;
      if (!wanted_.every || !asked) continue;
      if (!candidate.refusal.empty()) {
        result_.notes.push_back(fmt::format("{}: {} is left out: {}", device_.id(), name, candidate.refusal));
        continue;
      }
      try {
        contenders_.push_back({alone(name), name, stencil::depth_of(candidate)});
      } catch (const Error& error) {  // a limit that shows only when the kernel is compiled
        result_.notes.push_back(fmt::format("{}: {} is left out: {}", device_.id(), name, error.what()));
      }
    }
  }

  stencil::Plan<T> alone(const std::string& variant) const {
    return {device_, update_, problem_,
            planner::Options{.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false, .variant = variant}};
  }

  // On the problem that is timed, every kernel that is timed. The plain loop knows fixed borders only, and not every
  // shape; else our plainest variant, which the tests hold to the reference bit by bit, stands in.
  void compare_with_each_other() {
    std::vector<std::size_t> depths;
    for (const Contender<T>& one : contenders_) depths.push_back(one.depth);
    const std::size_t steps = stencil::compared_steps(depths);
    stencil::Grid<T> expected(wanted_.shape), answer(wanted_.shape);
    const bool plain_knows = plain_ != nullptr && wanted_.border == "fixed";
    if (plain_knows) {
      plain_->run(steps);
      plain_->read(expected);
    } else {
      expected = grid_;
      alone("base").run(expected, steps);
    }
    const double allowed = 4 * static_cast<double>(steps) * static_cast<double>(std::numeric_limits<T>::epsilon());
    for (const Contender<T>& one : contenders_) {
      stencil::Session<T> session = one.plan.start(grid_);
      session.run(steps);
      session.read(answer);
      if (const double far = distance(answer, expected); !(far <= allowed)) {
        throw Error(ErrorKind::internal,
                    fmt::format("{}: after {} steps {} and {} differ by {:.2g}, rounding explains {:.2g}",
                                stencil_problem_text(wanted_), steps, one.name,
                                plain_knows ? "the plain loop" : "the variant base", far, allowed));
      }
    }
  }

  // Each run starts from the same random grid: after many steps nothing but smooth values would be left, which a GPU
  // at its power limit does faster.
  void measure(Contender<T>& one) {
    stencil::Session<T> session = one.plan.start(grid_);
    const stencil::Box whole = whole_box();
    const auto ours = [&] {
      session.put(whole, grid_.all());
      const double start = base::now();
      session.run(wanted_.steps);
      session.wait();
      return base::now() - start;
    };
    const auto plain = [&] {
      plain_->put(grid_);
      const double start = base::now();
      plain_->run(wanted_.steps);
      return base::now() - start;
    };
    // A neighbour that takes memory away takes it from a copy too: both in the same rounds. Small grids would be thrown
    // out of the caches by it.
    const bool copies = device_.is_host() && 2 * grid_.all().size_bytes() > machine::host_caches().back().size;
    constexpr double kGlance = 0.01;
    std::vector<std::function<double()>> calls{ours};
    if (plain_) calls.emplace_back(plain);
    std::vector<double> best(calls.size(), std::numeric_limits<double>::infinity()), spent(calls.size(), 0);
    double slowest = 0;
    const auto round = [&](std::size_t i) {
      const double seconds = calls[i]();
      spent[i] += seconds;
      best[i] = std::min(best[i], seconds);
      if (i == 0) slowest = std::max(slowest, seconds);
    };
    const auto wants_more = [&](std::size_t i, int rounds) {
      return rounds < kFewestRounds || (spent[i] < wanted_.seconds_each && rounds < kMostRounds);
    };
    for (const auto& call : calls) call();  // cold
    if (device_.is_host()) {
      for (int rounds = 0; wants_more(0, rounds) || (plain_ && wants_more(1, rounds)); ++rounds) {
        for (std::size_t i = 0; i < calls.size(); ++i) {
          if (wants_more(i, rounds)) round(i);
        }
        if (copies) roofs_.probe_copy(kGlance);
      }
    } else {
      // One after the other: a device at its power limit would lower its clock for what the other has drawn.
      for (std::size_t i = 0; i < calls.size(); ++i) {
        for (int rounds = 0; wants_more(i, rounds); ++rounds) round(i);
      }
      add_note(fmt::format("{}: {:.3g} Gcell/s in the slowest run", one.name, updates_ / slowest * 1e-9));
    }
    one.seconds = best[0];
    if (plain_) plain_seconds_ = plain_seconds_ == 0 ? best[1] : std::min(plain_seconds_, best[1]);
    if (wanted_.power) {
      const auto run = [&] {
        session.run(wanted_.steps);
        session.wait();
      };
      session.put(whole, grid_.all());
      add_note(fmt::format("{}: {}", one.name,
                           power_note(device_, wanted_, run, best[0], updates_, update_.flops, one.row)));
    }
  }

  stencil::Box whole_box() const {
    stencil::Box box;
    std::copy(wanted_.shape.rbegin(), wanted_.shape.rend(), box.extent.rbegin());
    return box;
  }

  report::BenchRow row_of(const Contender<T>& one) const {
    const double two = roofs_.copy() / (2 * sizeof(T)), three = roofs_.copy() / (3 * sizeof(T));
    report::BenchRow row = one.row;
    row.problem = stencil_problem_text(wanted_);
    row.device = device_.id();
    row.variant = one.name;
    row.seconds = one.seconds;
    row.gflops = updates_ * update_.flops / one.seconds * 1e-9;
    row.gbytes_per_s = updates_ * 2 * sizeof(T) / one.seconds * 1e-9;
    row.roof_share = two > 0 ? updates_ / one.seconds / two : 0;
    row.more["gcells_per_s"] = updates_ / one.seconds * 1e-9;
    row.more["three_access_share"] = three > 0 ? updates_ / one.seconds / three : 0;
    row.more["peak_share"] = roofs_.peak() > 0 ? row.gflops * 1e9 / roofs_.peak() : 0;
    if (plain_) row.peers["plain"] = plain_seconds_;
    row.chosen = one.name == chosen_;
    return row;
  }

  static constexpr int kFewestRounds = 2, kMostRounds = 100;

  Device device_;
  const StencilBench& wanted_;
  PlainStencil shape_;
  stencil::Update<T> update_;
  stencil::Problem problem_;
  stencil::Grid<T> grid_;
  Roofs roofs_;
  double updates_ = 0, plain_seconds_ = 0;  // of all steps
  std::string chosen_;
  std::vector<Contender<T>> contenders_;  // the planner's choice first
  std::unique_ptr<PlainRun<T>> plain_;    // none for a stencil it does not know
  StencilBenchResult result_;
};

struct StencilWishes {
  std::vector<std::string> stencils;
  std::string size, border = "fixed", type = "both";
  std::size_t steps = 0, threads = 0;
  double seconds = 0.5, watts = 0;
  bool every = false, quick = false, power = false;
};

// "star:2" of the grid's dimensions, "box3d:1", ...
struct Shape {
  bool box = false;
  std::size_t dimensions = 2;
  int order = 1;
};
Shape parse_stencil(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon), order = colon == std::string::npos ? "1" : text.substr(colon + 1);
  for (const bool box : {false, true}) {
    for (const std::size_t dimensions : {1, 2, 3}) {
      if (name == fmt::format("{}{}d", box ? "box" : "star", dimensions) && order.size() == 1 && order[0] >= '1' &&
          order[0] <= '8') {
        return {box, dimensions, order[0] - '0'};
      }
    }
  }
  throw Error(ErrorKind::invalid_argument,
              fmt::format("--stencil {}: write star2d:1, box2d:1, star3d:2, with an order of 1 to 8", text));
}

void run_stencil(const StencilWishes& wishes, const BenchWishes& bench) {
  for (const std::string& peer : bench.against) {
    if (peer != "plain") throw Error(ErrorKind::invalid_argument, fmt::format("no peer \"{}\"; there is plain", peer));
  }
  std::vector<std::string> names = wishes.stencils;
  if (names.empty()) names = {"star2d:1", "box2d:1", "star2d:2", "star2d:3", "star2d:4", "star3d:1"};
  report::Bench result;
  result.title = "Stencils";
  result.note =
      "The roof is that of two accesses a cell and step; above 1 where several steps are taken in one pass. Useful "
      "cells "
      "only.";
  std::vector<std::pair<Device, StencilBench>> cases;
  for (const std::string& name : names) {
    const Shape shape = parse_stencil(name);
    for (const bool float64 : {false, true}) {
      if (wishes.type == (float64 ? "f32" : "f64")) continue;
      for (const Device& device : bench_devices(bench)) {
        StencilBench one = stencil_case(device, shape.dimensions, shape.order, shape.box, float64, wishes.quick);
        if (!wishes.size.empty()) one.shape = parse_shape(wishes.size);
        if (one.shape.size() != shape.dimensions) {
          throw Error(ErrorKind::invalid_argument, fmt::format("--size {} has not the axes of {}", wishes.size, name));
        }
        if (wishes.steps > 0) one.steps = wishes.steps;
        one.border = wishes.border;
        one.threads = wishes.threads;
        one.variant = bench.variant;
        one.every = wishes.every;
        one.seconds_each = wishes.seconds;
        one.power = wishes.power || wishes.watts > 0;
        one.rated_watts = wishes.watts;
        cases.emplace_back(device, one);
      }
    }
  }
  const auto progress = base::terminal_progress();
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& [device, one] = cases[i];
    progress(static_cast<double>(i) / static_cast<double>(cases.size()),
             fmt::format("{} on {}", stencil_problem_text(one), device.id()));
    try {
      const StencilBenchResult measured = bench_stencil(device, one);
      result.rows.insert(result.rows.end(), measured.rows.begin(), measured.rows.end());
      notes.insert(notes.end(), measured.notes.begin(), measured.notes.end());
      if (bench.explain) fmt::print("{}\n", measured.explanation);
    } catch (const Error& error) {
      if (cases.size() == 1) throw;
      notes.push_back(fmt::format("{}: {} left out: {}", device.id(), stencil_problem_text(one), error.what()));
    }
  }
  progress(1, "");
  fmt::print("{}", stencil_table(result.rows));
  save_bench(result, bench);
  for (const std::string& note : notes) fmt::print("{}\n", note);
}

}  // namespace

std::string stencil_problem_text(const StencilBench& wanted) {
  const auto points = offsets_of(wanted.stencil).size();
  return fmt::format("{}-point {}{} {} {} steps{}", points, wanted.stencil.box ? "box " : "",
                     wanted.float64 ? "f64" : "f32", shape_text(wanted.shape), wanted.steps,
                     wanted.border == "fixed" ? "" : " " + wanted.border);
}

StencilBench stencil_case(const Device& device, std::size_t dimensions, int order, bool box, bool float64, bool quick) {
  StencilBench one;
  one.stencil = {.dimensions = dimensions, .order = order, .box = box};
  one.float64 = float64;
  const bool large = device.info().backend == Backend::cuda || (!device.is_host() && !device.info().shares_host_memory);
  const std::size_t plane = quick ? 1024 : large ? 16384 : device.is_host() ? 8192 : 2048;
  const std::size_t cube = quick ? 96 : large ? 768 : device.is_host() ? 512 : 160;
  one.shape = dimensions == 1   ? std::vector<std::size_t>{quick ? std::size_t{1} << 20 : std::size_t{1} << 26}
              : dimensions == 2 ? std::vector<std::size_t>{plane, plane}
                                : std::vector<std::size_t>{cube, cube, cube};
  one.steps = quick ? 32 : large || device.is_host() ? 200 : 24;
  if (dimensions == 3 && device.is_host() && !quick) one.steps = 50;
  one.seconds_each = quick ? 0.02 : 0.5;
  return one;
}

StencilBenchResult bench_stencil(const Device& device, const StencilBench& wanted) {
  return wanted.float64 ? StencilCase<double>(device, wanted).run() : StencilCase<float>(device, wanted).run();
}

std::string stencil_table(const std::vector<report::BenchRow>& rows) {
  std::vector<std::vector<std::string>> table{{"stencil", "device", "variant", "time", "Gcell/s", "of 2-access roof",
                                               "of 3-access roof", "of peak", "vs plain"}};
  const auto more = [](const report::BenchRow& row, const char* name) {
    const auto found = row.more.find(name);
    return found == row.more.end() ? 0.0 : found->second;
  };
  for (const report::BenchRow& row : rows) {
    const auto plain = row.peers.find("plain");
    table.push_back({row.problem, row.device, row.variant + (row.chosen ? " *" : ""), base::human_seconds(row.seconds),
                     fmt::format("{:.3g}", more(row, "gcells_per_s")),
                     row.roof_share > 0 ? fmt::format("{:.2f}", row.roof_share) : "-",
                     row.roof_share > 0 ? fmt::format("{:.2f}", more(row, "three_access_share")) : "-",
                     more(row, "peak_share") > 0 ? fmt::format("{:.2f}", more(row, "peak_share")) : "-",
                     plain == row.peers.end() ? "-" : fmt::format("{:.2f}x", plain->second / row.seconds)});
  }
  return base::table(table);
}

void add_bench_stencil(Command& bench) {
  Command& command = bench.subcommand("stencil", "Stencils over many steps, against the memory roof and a plain loop");
  command.footer(
      "\nExamples:\n"
      "  ridge bench stencil --device host                              5 to 17 points in 2D, 7 in 3D, float and "
      "double\n"
      "  ridge bench stencil --device cuda:0 --stencil star2d:1 --all   every variant\n"
      "  ridge bench stencil --stencil star3d:1 --size 256x256x256 --steps 100 --border periodic --type f64\n"
      "\n* marks the planner's choice. The plain loop is what a compiler makes of the loop a person would write, over "
      "the\n"
      "same threads; on a device, a kernel with one cell a work-item. A roof of three accesses counts the read before "
      "the\n"
      "write that caches do. On the host the roofs are the best of the saved profile (ridge machine) and of a copy and "
      "an\n"
      "FMA loop in the same run, which the last line shows: above 1 of the two-access roof memory does not bind any "
      "more,\n"
      "and the share of peak says how near arithmetic does. --explain shows what else was tried, and the roof that was "
      "hit.");
  auto bench_wishes = add_bench_options(command, "plain (always timed)");
  auto wishes = std::make_shared<StencilWishes>();
  command.option("--stencil", wishes->stencils, "star2d:1, box2d:1, star3d:2, ...; may be repeated")
      .separated_by(',')
      .value_name("SHAPE:ORDER");
  command.option("--size", wishes->size, "Cells along each axis (default: what suits the device)").value_name("AxBxC");
  command.option("--steps", wishes->steps, "Of a run (default: what suits the device)");
  command.option("--border", wishes->border, "fixed, mirror, periodic").shows_default();
  command.option("--type", wishes->type, "f32, f64 or both").shows_default().one_of({"f32", "f64", "both"});
  command.option("--threads", wishes->threads, "Host: 0 for all").shows_default();
  command.flag("--all", wishes->every, "Every variant in a row of its own, not the planner's choice alone");
  command.flag("--power", wishes->power, "A second more of each: watts, flops a watt, and the rate that lasts");
  command.option("--watts", wishes->watts, "The rated power, for an upper bound where nothing counts energy")
      .between(0.0, 1e6);
  command.flag("--quick", wishes->quick, "Small grids");
  command.option("--seconds", wishes->seconds, "Time to spend on each; two runs at least")
      .shows_default()
      .between(0.0, 60.0);
  command.runs([wishes, bench_wishes] { run_stencil(*wishes, *bench_wishes); });
}

}  // namespace ridge::cli
