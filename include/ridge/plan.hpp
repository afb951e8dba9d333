// The planner, shared by all workloads: selects a variant from candidates by limits, prediction, measurement and
// wisdom, and explains the choice. It is independent of workloads: it sees names, costs and a function that times a
// candidate.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ridge/device.hpp>

namespace ridge {

enum class Effort {
  quick,     // machine model and wisdom only: takes milliseconds, runs nothing
  measured,  // wisdom if present; otherwise runs and times the most promising candidates
};

// Quantity that a measured plan minimizes. Energy is the mean power while a candidate runs times its seconds; it needs
// a power counter (ridge machine says whether there is one). Quick plans predict time only.
enum class Objective { time, energy };

namespace planner {

// Text that identifies a problem, equal for equal problems in every process: "transpose c64 8192x8192 batch 1".
struct Problem {
  std::string workload{};  // "transpose": the key under which wisdom is listed and forgotten
  std::string key{};
  double flops = 0;  // useful work, independent of the variant
  double bytes = 0;  // least traffic: each input read once, each output written once
};

// Expected cost of a candidate.
struct Cost {
  double flops = 0;       // actually executed, including redundant work
  double bytes = 0;       // actual memory traffic
  double launches = 0;    // kernel launches, or forks of the thread pool
  double efficiency = 1;  // fraction of the roofline ceiling the variant is expected to reach, in (0, 1]
  // The same of the memory traffic alone, for variants whose arithmetic is far from its peak; 0: efficiency.
  double memory_efficiency = 0;
  bool float64 = false;     // arithmetic in double
  std::size_t threads = 0;  // host: threads used; 0 = all
};

struct Candidate {
  std::string variant{};                                             // "tile_padded"; a paper's variant as "burtsev/D"
  std::vector<std::pair<std::string, std::string>> parameters = {};  // {"tile", "32x8"}
  std::string refusal{};  // the violated limit: "needs 66 KiB of local memory, the device has 48 KiB"
  Cost cost = {};
  std::string name() const;  // "tile_padded(tile=32x8)", the name stored in wisdom
};

enum class Source { only_choice, model, wisdom, measurement };

struct Trial {
  std::string name{};
  double predicted_seconds = 0;  // 0: refused
  double measured_seconds = 0;   // 0: not run
  double measured_joules = 0;    // per run, with Objective::energy; 0: not measured
  std::string
      reason{};  // why it was not chosen: its refusal, "predicted 2.1x slower", "measured 1.3x slower", an error
};

struct Decision {
  std::size_t winner = 0;  // index into the candidates
  Source source = Source::model;
  Problem problem = {};
  std::string device{};            // its id and name
  std::vector<Trial> trials = {};  // one per candidate, in the candidates' order
  double roof_seconds = 0;         // lower bound on the time by the machine model
  std::string roof{};              // the limiting ceiling: "memory copy 4.20 TB/s"
  double planning_seconds = 0;

  // Text: variant, parameters, predicted and measured time, fraction of the roofline ceiling, rejected candidates with
  // reasons.
  std::string explain() const;
};

// Progress of a measured plan.
struct Progress {
  std::string candidate{};  // the candidate to be built and timed next
  std::size_t done = 0, of = 0;
};

// Improvement of a quick plan by a background thread, which makes the measured plan of the same problem and saves its
// wisdom. For transforms, tensors, transposes, stencils, filter banks and images; other workloads ignore it.
enum class Improve : unsigned char {
  unspecified,  // the process's default: set_improve(), else RIDGE_IMPROVE, else never
  never,
  next_time,  // later plans use the wisdom; this plan stays as it is
  now,        // this plan and its copies change to the measured variant: the last bits of results may change
};
void set_improve(Improve improve);  // of plans made from now on with Improve::unspecified

// While one exists, no plan is exchanged and no trial runs in the background. The constructor waits for a running one.
class Hold {
 public:
  Hold();
  ~Hold();
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
};

// Waits until the background thread has nothing left to do; false if that takes longer.
bool wait_for_improvements(double seconds);

struct Options {
  Effort effort = Effort::measured;
  Objective objective = Objective::time;
  std::size_t most_trials = 8;  // in order of predicted time
  double most_seconds = 60;     // a trial expected to end after this limit is not started, except the first
  bool use_wisdom = true;       // read it
  bool save_wisdom = true;      // write it after a measurement
  std::string variant{};  // "name" or "name(parameters)": consider only these candidates; Error if none is allowed
  bool verify =
      false;  // compare each result with the reference before the candidate may win; always on with RIDGE_VERIFY=1
  Improve improve = Improve::unspecified;              // quick plans only
  std::function<void(const Progress&)> progress = {};  // called before each trial, from the planning thread
  std::function<double()> joules = {};  // Objective::energy: reads a counter of your own instead of the device's
};

// The object that a plan runs. The background thread may exchange it once. Copies share it. The first object is kept as
// long as the plan, because a run may still use it.
template <class V>
class Exchangeable {
 public:
  Exchangeable() = default;
  explicit Exchangeable(std::shared_ptr<const V> first) : shared_(std::make_shared<Shared>(std::move(first))) {}
  explicit operator bool() const { return shared_ != nullptr; }
  const V& operator*() const { return *shared_->now.load(std::memory_order_acquire); }
  const V* operator->() const { return shared_->now.load(std::memory_order_acquire); }
  const V* get() const { return shared_ ? operator->() : nullptr; }
  bool has_copies() const { return shared_.use_count() > 1; }
  void exchange(std::shared_ptr<const V> better) const {
    shared_->better = std::move(better);
    shared_->now.store(shared_->better.get(), std::memory_order_release);
  }

 private:
  struct Shared {
    explicit Shared(std::shared_ptr<const V> one) : first(std::move(one)), now(first.get()) {}
    std::shared_ptr<const V> first, better{};
    std::atomic<const V*> now;
  };
  std::shared_ptr<Shared> shared_;
};

// Builds, warms up and times candidate i; returns seconds per run. May throw Error: the candidate is then rejected with
// its message.
using Measure = std::function<double(std::size_t candidate)>;

// Error{invalid_argument} with all refusals if no candidate is allowed.
Decision decide(const Device& device, const Problem& problem, const std::vector<Candidate>& candidates,
                const Options& options, const Measure& measure);

}  // namespace planner

namespace wisdom {

struct Entry {
  std::string workload{}, problem{}, device{}, fingerprint{}, winner{};
  double seconds = 0;            // per run; 0: a pinned variant that was not measured
  std::int64_t measured_at = 0;  // seconds since 1970-01-01 UTC; 0: not recorded
  bool pinned = false;           // set by pin(): later measurements do not replace the winner
  bool shipped = false;          // from the installed file of shipped wisdom, measured on a device of the same name
};
std::vector<Entry> all();                              // entries of all machines in the file
std::size_t forget(const std::string& workload = "");  // empty: all workloads; returns the number of removed entries
std::string path();                                    // RIDGE_WISDOM, or wisdom.json in the cache folder

// Fixes the choice for a problem, for comparisons on equal terms: plans use the saved winner, or `variant` (full name)
// if it is given, until unpin(). Applies to the entries of every device in the file; returns their number.
std::size_t pin(const std::string& problem, const std::string& variant = "");
std::size_t unpin(const std::string& problem = "");  // empty: all problems; returns the number of released entries

}  // namespace wisdom
}  // namespace ridge
