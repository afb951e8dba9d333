// Benchmark of one stencil problem on one device: compares all contenders, then times them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>

#include <fmt/format.h>

#include "base/aligned.hpp"
#include "base/clock.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "bench/stencil.hpp"
#include "machine/energy.hpp"
#include "machine/host/caches.hpp"
#include "machine/host/probes.hpp"
#include "stencil/chosen.hpp"
#include "stencil/layout.hpp"
#include "stencil/reference.hpp"
#include "stencil/trials.hpp"

namespace ridge::cli {
namespace {

// Ceilings of a stencil: copy bandwidth and peak arithmetic of its device.
// Bytes and flops per second. A device's are from the saved profile. On the host, where other processes may interfere,
// they are the best of the profile (if there is one) and of probes between the timings.
class StencilRoofs {
 public:
  StencilRoofs(const Device& device, std::size_t threads, bool float64, double seconds);
  void probe();
  void probe_copy(double seconds);
  double copy() const;
  double peak() const;
  std::string note() const;

 private:
  Device device_;
  std::size_t threads_;
  bool float64_;
  double seconds_;
  std::optional<machine::HostPieces> pieces_;
  double copy_ = 0, peak_ = 0, run_copy_ = 0, run_peak_ = 0;
};

StencilRoofs::StencilRoofs(const Device& device, std::size_t threads, bool float64, double seconds)
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

void StencilRoofs::probe() {
  if (!device_.is_host()) return;
  probe_copy(seconds_);
  run_peak_ = std::max(run_peak_, float64_ ? machine::host_flops_double(threads_, seconds_ / 4)
                                           : machine::host_flops_float(threads_, seconds_ / 4));
}

void StencilRoofs::probe_copy(double seconds) {
  if (!pieces_) {
    const std::size_t bytes = machine::host_memory_probe_bytes(machine::host_caches(), seconds_ < 0.1);
    pieces_.emplace(threads_, bytes / threads_);
  }
  run_copy_ = std::max(run_copy_, machine::host_copy_bandwidth(*pieces_, seconds));
}

double StencilRoofs::copy() const { return std::max(copy_, run_copy_); }
double StencilRoofs::peak() const { return std::max(peak_, run_peak_); }

std::string StencilRoofs::note() const {
  if (!device_.is_host()) return "";
  const auto rates = [](double bytes, double flops) {
    return fmt::format("copy {}, peak {}", base::human_rate(bytes, "B/s"), base::human_rate(flops, "FLOP/s"));
  };
  return fmt::format("{} threads in this run: {}{}", threads_, rates(run_copy_, run_peak_),
                     copy_ > 0 ? "; in the saved profile: " + rates(copy_, peak_) : "");
}

// Largest difference of two results relative to the largest value; infinite if one is NaN.
template <class T>
double distance_of_cells(std::span<const T> a, std::span<const T> b) {
  std::mutex mutex;
  double largest = 0, apart = 0;
  base::parallel(0, [&](std::size_t thread, std::size_t threads) {
    const auto mine = base::share(a.size(), thread, threads);
    double most = 0, far = 0;
    for (std::size_t i = mine.begin; i < mine.end; ++i) {
      most = std::max(most, std::abs(static_cast<double>(b[i])));
      const double one = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
      far = std::max(far, std::isnan(one) ? std::numeric_limits<double>::infinity() : one);
    }
    const std::lock_guard lock(mutex);
    largest = std::max(largest, most);
    apart = std::max(apart, far);
  });
  return largest > 0 ? apart / largest : apart;
}

// Flops per joule over about a second of runs, and the sustained rate: a device at its power limit lowers its clock.
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
    return fmt::format("{}; no power counter ({}): give the rated power with --watts", rate, counter.why_not());
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

// A started contender or plain loop.
struct Started {
  std::function<void()> restart;               // from the cells of the case
  std::function<void(std::size_t steps)> run;  // waits
};

template <class T>
class StencilCase {
 public:
  StencilCase(const Device& device, const StencilBench& wanted, const Tell& tell)
      : device_(device),
        wanted_(wanted),
        tell_(tell),
        made_(stencil_problem<T>(wanted, device)),
        update_(made_.update),
        problem_(made_.problem),
        grid_(made_.grid),
        roofs_(device, wanted.threads, wanted.float64, std::min(0.4, wanted.seconds_each)) {
    const stencil::Layout layout = stencil::resolve(update_, problem_);
    updates_ = static_cast<double>(wanted.steps);
    for (std::size_t axis = 0; axis < 3; ++axis) updates_ *= static_cast<double>(layout.end[axis] - layout.begin[axis]);
    if (!made_.repeated) return;
    cells_ = made_.repeated->expand(grid_);
    if (made_.coefficients) coefficients_ = made_.repeated->expand(*made_.coefficients);
  }

  BenchResult run() {
    const double begin = base::now();
    list_contenders();
    const double planned = base::now();
    report_duration("planned", planned - begin);
    compare();
    report_duration("compared", base::now() - planned);
    add_note(fmt::format("planned in {}, compared in {}", base::human_seconds(planned - begin),
                         base::human_seconds(base::now() - planned)));
    roofs_.probe();
    for (Contender<T>& one : contenders_) {  // one at a time: several large grids might not fit
      tell_("timing " + one.name);
      measure(one);
      // Printed immediately, so that an interrupted run has shown its results.
      if (contenders_.size() > 1) fmt::print(stderr, "{}: {:.3g} Gcell/s\n", one.name, updates_ / one.seconds * 1e-9);
    }
    if (has_plain_loop() && !device_.is_host()) {
      tell_("timing the plain loop");
      const auto plain = plain_on_device();
      plain_seconds_ = best_of({started(*plain)}).front();
    }
    roofs_.probe();
    if (const std::string note = roofs_.note(); !note.empty()) add_note(note);
    for (Contender<T>& one : contenders_) result_.rows.push_back(row_for(one));
    std::stable_sort(result_.rows.begin(), result_.rows.end(),
                     [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
    return std::move(result_);
  }

 private:
  // Prints the duration of a long stage when it ends.
  void report_duration(const char* what, double seconds) const {
    if (seconds > 1)
      fmt::print(stderr, "{}: {} in {}\n", stencil_problem_text(wanted_), what, base::human_seconds(seconds));
  }

  void add_note(const std::string& text) {
    result_.notes.push_back(fmt::format("{}: {}", stencil_problem_text(wanted_), text));
  }

  void list_contenders() {
    planner::Options options{.most_seconds = wanted_.plan_seconds, .variant = wanted_.variant};
    options.progress = [this](const planner::Progress& now) {
      tell_(fmt::format("planning, {} of {}: {}", now.done + 1, now.of, now.candidate));
    };
    if (wanted_.trials > 0) options.most_trials = wanted_.trials;
    const stencil::Plan<T> chosen(device_, update_, problem_, options);
    result_.explanation = chosen.explain();
    chosen_ = winners({chosen.decisions().front()});
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
      } catch (const Error& error) {  // a limit found only at compilation
        result_.notes.push_back(fmt::format("{}: {} is left out: {}", device_.id(), name, error.what()));
      }
    }
  }

  stencil::Plan<T> alone(const std::string& variant) const { return {device_, update_, problem_, only(variant)}; }

  // The plain loop supports fixed borders only, and not every shape.
  bool has_plain_loop() const { return wanted_.system.empty() && wanted_.shape.size() == wanted_.stencil.dimensions; }

  std::unique_ptr<PlainDeviceRun<T>> plain_on_device() const {
    const auto uploaded = [this](Queue& queue, const Buffer& packed) {
      queue.upload(grid_.all().data(), packed, grid_.all().size_bytes());
    };
    return plain_device<T>(device_, made_.plain, wanted_.shape, cells_ ? cells_ : uploaded);
  }

  static Started started(PlainRun<T>& plain) {
    return {[&plain] { plain.restart(); }, [&plain](std::size_t steps) { plain.run(steps); }};
  }

  Started started(const Contender<T>& one) const {
    if (made_.repeated) {
      const std::shared_ptr<stencil::PackedRunning<T>> running = running_of(one);
      return {[this, running] { running->fill(cells_); },
              [running](std::size_t steps) {
                running->run(steps);
                running->wait();
              }};
    }
    stencil::Session<T> session = one.plan.start(grid_, made_.coefficients.get());
    return {[this, session]() mutable { session.put(whole_box(), grid_.all()); },
            [session](std::size_t steps) mutable {
              session.run(steps);
              session.wait();
            }};
  }

  std::unique_ptr<stencil::PackedRunning<T>> running_of(const Contender<T>& one) const {
    const auto chosen = stencil::choose_variant(device_, update_, problem_, only(one.name));
    return dynamic_cast<const stencil::PackedVariant<T>&>(*chosen.variant).start_packed(cells_, coefficients_);
  }

  void check(const std::string& name, const std::string& reference, std::size_t steps, double far) const {
    // Systems round more often per step than a weighted sum.
    const double allowed = (wanted_.system.empty() ? 4 : 16) * static_cast<double>(steps) *
                           static_cast<double>(std::numeric_limits<T>::epsilon());
    if (far <= allowed) return;
    throw Error(ErrorKind::internal,
                fmt::format("{}: after {} steps {} and {} differ by {:.2g}, more than the rounding bound {:.2g}",
                            stencil_problem_text(wanted_), steps, name, reference, far, allowed));
  }

  // Compares every timed kernel on the timed problem.
  void compare() {
    tell_("comparing");
    made_.repeated ? compare_with_reference() : compare_with_each_other();
  }

  // Of a grid that repeats the reference computes a small part; all cells are compared with it on the device.
  void compare_with_reference() {
    stencil::Problem small = problem_;
    small.shape = grid_.shape();
    stencil::Grid<T> expected = grid_;
    const std::size_t steps = made_.repeated_steps;
    stencil::reference(update_, small, expected, steps, made_.coefficients.get());
    double largest = 0;
    for (const T value : expected.all()) largest = std::max(largest, std::abs(static_cast<double>(value)));
    const auto checked = [&](const std::string& name) {
      return [&, name](Queue& queue, const Buffer& packed) {
        check(name, "the reference", steps, made_.repeated->compare(queue, packed, expected).worst / largest);
      };
    };
    for (const Contender<T>& one : contenders_) {
      const auto running = running_of(one);
      running->run(steps);
      running->view(checked(one.name));
    }
    if (!has_plain_loop() || wanted_.border != "fixed") return;
    const auto plain = plain_on_device();
    plain->run(steps);
    plain->view(checked("the plain loop"));
  }

  // Compares with the plain loop, else with the simplest variant, which tests compare with the reference bit by bit.
  void compare_with_each_other() {
    std::vector<std::size_t> depths;
    for (const Contender<T>& one : contenders_) depths.push_back(one.depth);
    const std::size_t steps = stencil::compared_steps(depths);
    stencil::Grid<T> expected(wanted_.shape, update_.fields), answer = expected;
    const auto advanced = [&](const stencil::Plan<T>& plan, stencil::Grid<T>& to) {
      stencil::Session<T> session = plan.start(grid_, made_.coefficients.get());
      session.run(steps);
      session.read(to);
    };
    if (device_.is_host() && has_plain_loop()) plain_ = plain_host(made_.plain, grid_, wanted_.threads);
    const bool plain_knows = has_plain_loop() && wanted_.border == "fixed" && (!device_.is_host() || plain_);
    if (plain_knows) {
      const std::unique_ptr<PlainRun<T>> on_device = device_.is_host() ? nullptr : plain_on_device();
      PlainRun<T>& plain = device_.is_host() ? *plain_ : *on_device;
      plain.run(steps);
      plain.read(0, expected.all());
    } else {
      advanced(alone("base"), expected);
    }
    for (const Contender<T>& one : contenders_) {
      advanced(one.plan, answer);
      check(one.name, plain_knows ? "the plain loop" : "the variant base", steps,
            distance_of_cells(std::span<const T>(answer.all()), std::span<const T>(expected.all())));
    }
  }

  // Least seconds of each, after one run to warm up. Each run starts from the same random grid: after many steps only
  // smooth values would be left, which a GPU at its power limit processes faster.
  std::vector<double> best_of(const std::vector<Started>& all) {
    // Other processes that use memory bandwidth slow down a copy too, so both are timed in the same rounds. Not for
    // small grids, which a copy would evict from the caches.
    const bool copies = device_.is_host() && 2 * grid_.all().size_bytes() > machine::host_caches().back().size;
    constexpr double kGlance = 0.01;
    std::vector<double> best(all.size(), std::numeric_limits<double>::infinity()), spent(all.size(), 0);
    slowest_ = 0;
    const auto round = [&](std::size_t i, bool counts) {
      all[i].restart();
      const double start = base::now();
      all[i].run(wanted_.steps);
      const double seconds = base::now() - start;
      if (!counts) return;
      spent[i] += seconds;
      best[i] = std::min(best[i], seconds);
      if (i == 0) slowest_ = std::max(slowest_, seconds);
    };
    const auto wants_more = [&](std::size_t i, int rounds) {
      return rounds < kFewestRounds || (spent[i] < wanted_.seconds_each && rounds < kMostRounds);
    };
    for (std::size_t i = 0; i < all.size(); ++i) round(i, false);
    for (int rounds = 0; wants_more(0, rounds) || wants_more(all.size() - 1, rounds); ++rounds) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (wants_more(i, rounds)) round(i, true);
      }
      if (copies) roofs_.probe_copy(kGlance);
    }
    return best;
  }

  // The host's plain loop is timed in the same rounds. On a device it is timed later: a device at its power limit would
  // lower its clock for the energy that the other call has used.
  void measure(Contender<T>& one) {
    std::vector<Started> all{started(one)};
    if (plain_) all.push_back(started(*plain_));
    const std::vector<double> best = best_of(all);
    one.seconds = best[0];
    if (plain_) plain_seconds_ = plain_seconds_ == 0 ? best[1] : std::min(plain_seconds_, best[1]);
    if (!device_.is_host())
      add_note(fmt::format("{}: {:.3g} Gcell/s in the slowest run", one.name, updates_ / slowest_ * 1e-9));
    if (!wanted_.power) return;
    all[0].restart();
    add_note(fmt::format(
        "{}: {}", one.name,
        power_note(
            device_, wanted_, [&] { all[0].run(wanted_.steps); }, best[0], updates_, update_.flops, one.row)));
  }

  stencil::Box whole_box() const {
    stencil::Box box;
    std::copy(wanted_.shape.rbegin(), wanted_.shape.rend(), box.extent.rbegin());
    return box;
  }

  report::BenchRow row_for(const Contender<T>& one) const {
    const double least = made_.least_values * sizeof(T);
    const double two = roofs_.copy() / least, three = roofs_.copy() / (3 * sizeof(T));
    report::BenchRow row = row_of(device_, stencil_problem_text(wanted_), one.name, one.seconds,
                                  updates_ * update_.flops, updates_ * least);
    row.more = one.row.more;
    row.roof_share = two > 0 ? updates_ / one.seconds / two : 0;
    row.more["gcells_per_s"] = updates_ / one.seconds * 1e-9;
    row.more["bytes_per_cell"] = least;
    if (wanted_.system.empty()) row.more["three_access_share"] = three > 0 ? updates_ / one.seconds / three : 0;
    row.more["peak_share"] = roofs_.peak() > 0 ? row.gflops * 1e9 / roofs_.peak() : 0;
    if (plain_seconds_ > 0) row.peers["plain"] = plain_seconds_;
    row.chosen = one.name == chosen_;
    return row;
  }

  static constexpr int kFewestRounds = 2, kMostRounds = 100;

  Device device_;
  const StencilBench& wanted_;
  const Tell& tell_;
  const StencilProblem<T> made_;
  const stencil::Update<T>& update_;
  const stencil::Problem& problem_;
  const stencil::Grid<T>& grid_;
  StencilRoofs roofs_;
  stencil::PackedCells cells_, coefficients_;  // of a grid that repeats
  double updates_ = 0, plain_seconds_ = 0;     // of all steps
  double slowest_ = 0;                         // run of the first call
  std::string chosen_;
  std::vector<Contender<T>> contenders_;  // the planner's choice first
  std::unique_ptr<PlainRun<T>> plain_;    // on the host; null for systems and many grids
  BenchResult result_;
};

}  // namespace

BenchResult bench_stencil(const Device& device, const StencilBench& wanted, const Tell& tell) {
  return wanted.float64 ? StencilCase<double>(device, wanted, tell).run()
                        : StencilCase<float>(device, wanted, tell).run();
}

}  // namespace ridge::cli
