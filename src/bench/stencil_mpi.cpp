// Compares and times distributed stencils: one process, all without halos, all with halos.
#include "bench/stencil.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <ridge/mpi/stencil.hpp>

#include "base/clock.hpp"

namespace ridge::cli {
namespace {

constexpr int kLeastRounds = 3;

// Initial value as a function of the cell's position, so that no process holds the whole grid.
template <class T>
void initial_cell(const std::array<std::size_t, 3>& cell, T* value) {
  *value = static_cast<T>((cell[0] * 31 + cell[1] * 17 + cell[2] * 7) % 101) / 101;
}

template <class T>
class DistributedStencil {
 public:
  using Session = mpi::stencil::Session<T>;

  DistributedStencil(const mpi::Communicator& all, const Device& device, const StencilBench& wanted)
      : all_(all), device_(device), wanted_(wanted), made_(small(wanted)) {
    if (made_.update.coefficients > 0 || made_.update.fields > 1)
      mistake("under mpirun needs a stencil of one field: star2d:1, box3d:1, ...");
  }

  BenchResult run() {
    compare();
    BenchResult result;
    const std::size_t cells = product(wanted_.shape);
    const double updates = static_cast<double>(cells) * static_cast<double>(wanted_.steps);

    std::optional<Session> own = start(mpi::Communicator::alone(), wanted_.shape);
    own->run(wanted_.steps);
    all_.barrier();
    double alone = all_.root() ? seconds_of([&] { own->run(wanted_.steps); }) : 0;
    all_.broadcast(&alone, sizeof alone);
    all_.barrier();
    const double among = seconds_of([&] { own->run(wanted_.steps); });
    std::vector<double> each(all_.count());
    all_.gather(&among, sizeof among, each.data());
    own.reset();
    double together = 0;
    for (const double seconds : each) together += updates / seconds;
    const double slowest = updates / *std::max_element(each.begin(), each.end());
    for (const bool shared : {false, true}) time(shared, updates, alone, together, slowest, result);
    return result;
  }

 private:
  void time(bool shared, double updates, double alone, double together, double slowest, BenchResult& result) const {
    std::vector<std::size_t> whole = wanted_.shape;
    whole.front() *= all_.count();
    StencilBench described = wanted_;
    described.shape = whole;
    const std::string problem = stencil_problem_text(described);
    std::optional<Session> session;
    try {
      session.emplace(start(all_, whole, shared));
    } catch (const Error& error) {
      if (!shared || error.kind() != ErrorKind::invalid_argument) throw;
      result.notes.push_back(fmt::format("{}: {}", problem, error.what()));
      return;
    }
    result.explanation += session->explain();
    session->run(wanted_.steps);
    const double best = seconds_of([&] { session->run(wanted_.steps); }, &all_);
    const auto count = static_cast<double>(all_.count());
    const double rate = updates * count / best;
    report::BenchRow row;
    row.problem = problem;
    row.device = fmt::format("{} processes", all_.count());
    row.variant = shared ? "shared grid" : "halos";
    row.seconds = best;
    row.chosen = !shared;
    row.more = {{"gcells_per_s", rate * 1e-9},
                {"alone_gcells_per_s", updates / alone * 1e-9},
                {"of_times_one", rate * alone / (count * updates)},
                {"of_all_at_once", rate / together}};
    result.rows.push_back(row);
    result.notes.push_back(fmt::format(
        "{}, {}: {:.3g} Gcell/s, {:.2f} of {} times one process alone ({:.3g}); all processes without exchanges "
        "reach {:.3g} together (fraction {:.2f}), the slowest {:.3g}",
        row.problem, row.variant, rate * 1e-9, row.more["of_times_one"], all_.count(), updates / alone * 1e-9,
        together * 1e-9, row.more["of_all_at_once"], slowest * 1e-9));
    result.notes.push_back(fmt::format("{}, {}: {}", row.problem, row.variant, session->spent()));
  }

  static StencilProblem<T> small(StencilBench wanted) {
    std::fill(wanted.shape.begin(), wanted.shape.end(), 32);
    return stencil_problem<T>(wanted);
  }
  static std::size_t product(const std::vector<std::size_t>& shape) {
    std::size_t cells = 1;
    for (const std::size_t extent : shape) cells *= extent;
    return cells;
  }

  Session start(const mpi::Communicator& processes, const std::vector<std::size_t>& shape, bool shared = false) const {
    stencil::Problem problem = made_.problem;
    problem.shape = shape;
    problem.threads = wanted_.threads == 0 ? all_.threads() : wanted_.threads;
    Session session(processes, device_, made_.update, problem,
                    {.planning = planner::Options{.variant = wanted_.variant},
                     .processes = cut(processes),
                     .cuts = mpi::stencil::Cuts::moving,
                     .shared = shared});
    session.start([](const std::array<std::size_t, 3>& cell, T* value) { initial_cell(cell, value); });
    return session;
  }

  // Divides the slowest axis only, so that each box has the shape that one process alone is timed with.
  std::string cut(const mpi::Communicator& processes) const {
    std::string text = std::to_string(processes.count());
    for (std::size_t axis = 1; axis < wanted_.shape.size(); ++axis) text += "x1";
    return text;
  }

  // Minimum over several rounds; of the slowest process if `together`.
  double seconds_of(const std::function<void()>& call, const mpi::Communicator* together = nullptr) const {
    double best = INFINITY, spent = 0;
    for (int round = 0; round < kLeastRounds || spent < wanted_.seconds_each; ++round) {
      if (together != nullptr) together->barrier();
      const double begun = base::now();
      call();
      const double seconds = together != nullptr ? together->largest(base::now() - begun) : base::now() - begun;
      best = std::min(best, seconds);
      spent += seconds;
    }
    return best;
  }

  void compare() const {
    std::vector<std::size_t> shape(wanted_.shape.size(), 40);
    shape.front() = 40 * all_.count();
    constexpr std::size_t kSteps = 19;
    Session whole = start(mpi::Communicator::alone(), shape);
    whole.run(kSteps);
    std::vector<T> all(product(shape));
    whole.read(all);
    for (const bool shared : {false, true}) {
      try {
        compare(start(all_, shape, shared), kSteps, all, product(shape) / shape.front());
      } catch (const Error& error) {
        if (!shared || error.kind() != ErrorKind::invalid_argument) throw;
      }
    }
  }
  void compare(Session session, std::size_t steps, const std::vector<T>& all, std::size_t row) const {
    session.run(steps);
    const mpi::Box box = session.box();
    std::vector<T> mine(box.size());
    session.read(mine);
    all_.agree([&] {
      if (!std::equal(mine.begin(), mine.end(), all.begin() + static_cast<std::ptrdiff_t>(box.begin[0] * row)))
        throw Error(ErrorKind::internal, "stencil: the distributed result differs from that of one process");
    });
  }

  const mpi::Communicator& all_;
  const Device& device_;
  const StencilBench& wanted_;
  const StencilProblem<T> made_;
};

}  // namespace

BenchResult bench_stencil_mpi(const mpi::Communicator& all, const Device& device, const StencilBench& wanted) {
  return wanted.float64 ? DistributedStencil<double>(all, device, wanted).run()
                        : DistributedStencil<float>(all, device, wanted).run();
}

}  // namespace ridge::cli
