// Splits items among workers so that all finish as early as possible, in whole rounds. A unit does one item at a time,
// so k items over u units take ceil(k / u) rounds, and the best finish is one of the finite set serial + rounds x
// seconds_per_item. Bisection over that set finds it exactly, without rounding a continuous solution.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <ridge/machine.hpp>

namespace ridge::machine {
namespace {

constexpr std::uint64_t kUnbounded = std::numeric_limits<std::uint64_t>::max();

std::uint64_t add_saturating(std::uint64_t a, std::uint64_t b) { return a > kUnbounded - b ? kUnbounded : a + b; }
std::uint64_t multiply_saturating(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > kUnbounded / b ? kUnbounded : a * b;
}

void check(const Worker& worker) {
  const auto refuse = [&](const std::string& reason) {
    throw Error(ErrorKind::invalid_argument, fmt::format("split: worker \"{}\" {}", worker.name, reason));
  };
  if (!std::isfinite(worker.seconds_per_item) || worker.seconds_per_item <= 0)
    refuse(fmt::format("takes {} s per item; give a positive, finite time", worker.seconds_per_item));
  if (!std::isfinite(worker.serial_seconds) || worker.serial_seconds < 0)
    refuse(fmt::format("has a serial part of {} s; give a finite time of 0 or more", worker.serial_seconds));
  if (worker.units == 0) refuse("has 0 units; give at least 1");
}

std::uint64_t units_used(const Worker& worker) {
  return worker.units_cap == 0 ? worker.units : std::min(worker.units, worker.units_cap);
}

std::uint64_t most_items(const Worker& worker, std::uint64_t items) {
  return worker.items_cap == 0 ? items : std::min(items, worker.items_cap);
}

std::uint64_t rounds_for(const Worker& worker, std::uint64_t items) {
  const std::uint64_t units = units_used(worker);
  return items / units + (items % units != 0);
}

// Monotonic in `rounds`, rounding included, as the bisections require.
double finish(const Worker& worker, std::uint64_t rounds) {
  return rounds == 0 ? 0 : worker.serial_seconds + static_cast<double>(rounds) * worker.seconds_per_item;
}

// The least x in [low, high] for which holds(x), given that holds(high) is true.
template <class Predicate>
std::uint64_t bisect(std::uint64_t low, std::uint64_t high, const Predicate& holds) {
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Number of `items` that a worker can complete by `deadline`.
std::uint64_t done_by(const Worker& worker, std::uint64_t items, double deadline) {
  const std::uint64_t most = most_items(worker, items);
  const std::uint64_t all_rounds = rounds_for(worker, most);
  if (finish(worker, all_rounds) <= deadline) return most;
  const std::uint64_t first_late =
      bisect(1, all_rounds, [&](std::uint64_t rounds) { return finish(worker, rounds) > deadline; });
  return std::min(most, multiply_saturating(first_late - 1, units_used(worker)));
}

bool all_done_by(const std::vector<Worker>& workers, std::uint64_t items, double deadline) {
  std::uint64_t done = 0;
  for (const Worker& worker : workers) done = add_saturating(done, done_by(worker, items, deadline));
  return done >= items;
}

double least_finish(const std::vector<Worker>& workers, std::uint64_t items) {
  double best = std::numeric_limits<double>::infinity();
  for (const Worker& worker : workers) {
    const std::uint64_t most = rounds_for(worker, most_items(worker, items));
    const auto enough = [&](std::uint64_t rounds) { return all_done_by(workers, items, finish(worker, rounds)); };
    if (enough(most)) best = std::min(best, finish(worker, bisect(1, most, enough)));
  }
  return best;
}

}  // namespace

Split split(const std::vector<Worker>& workers, std::uint64_t items) {
  if (workers.empty()) throw Error(ErrorKind::invalid_argument, "split: no workers; give at least one");
  std::uint64_t room = 0;
  for (const Worker& worker : workers) {
    check(worker);
    room = add_saturating(room, most_items(worker, items));
  }
  if (room < items)
    throw Error(ErrorKind::invalid_argument,
                fmt::format("split: {} items do not fit: the workers' caps hold {}; raise items_cap or split the batch",
                            items, room));
  Split result;
  result.items.assign(workers.size(), 0);
  result.finish_seconds.assign(workers.size(), 0);
  if (items == 0) return result;

  const double deadline = least_finish(workers, items);
  if (!std::isfinite(deadline))
    throw Error(ErrorKind::invalid_argument,
                fmt::format("split: the time of {} items exceeds the range of double", items));
  // Among splits with the same finish, fills the earlier workers first: the answer is deterministic, and a later worker
  // stays idle if it is not needed.
  std::uint64_t left = items;
  for (std::size_t w = 0; w < workers.size(); ++w) {
    result.items[w] = std::min(left, done_by(workers[w], items, deadline));
    left -= result.items[w];
    result.finish_seconds[w] = finish(workers[w], rounds_for(workers[w], result.items[w]));
    result.seconds = std::max(result.seconds, result.finish_seconds[w]);
  }
  return result;
}

std::uint64_t machines_needed(const std::vector<Worker>& workers, std::uint64_t items_per_frame,
                              double frames_per_second) {
  if (!std::isfinite(frames_per_second) || frames_per_second < 0)
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("machines_needed: {} frames per second; give a finite rate of 0 or more", frames_per_second));
  // A frame stays on one machine; every machine takes the next frame when it has finished one.
  const double busy = split(workers, items_per_frame).seconds * frames_per_second;
  if (busy > 9e15)
    throw Error(ErrorKind::invalid_argument,
                fmt::format("machines_needed: {:g} machines exceed the countable range; check the rates", busy));
  // 3 x 0.1 s ten times per second needs three machines, not the four that the last bit of the product would give.
  return static_cast<std::uint64_t>(std::ceil(busy * (1 - 1e-12)));
}

}  // namespace ridge::machine
