// How any workload chooses a variant: candidates, limits with reasons, a prediction, a measured choice, wisdom,
// explain. The planner knows no workload: it sees names, costs and a function that times a candidate.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <ridge/device.hpp>

namespace ridge {

enum class Effort {
  quick,     // the machine model and wisdom only: milliseconds, nothing is run
  measured,  // wisdom, else the most promising candidates are run and timed
};

namespace planner {

// A problem in words, the same for the same problem in every process: "transpose c64 8192x8192 batch 1".
struct Problem {
  std::string workload{};  // "transpose": wisdom is shown and forgotten by it
  std::string key{};
  double flops = 0;  // useful work, whatever the variant really does
  double bytes = 0;  // least traffic: each input read once, each output written once
};

// What a candidate is expected to cost, before it is run.
struct Cost {
  double flops = 0;         // really done, redundant work included
  double bytes = 0;         // really moved through memory
  double launches = 0;      // kernel launches, or forks of the thread pool
  double efficiency = 1;    // of the roof, what the variant's author expects it to reach, in (0, 1]
  bool float64 = false;     // arithmetic in double
  std::size_t threads = 0;  // host: threads it uses; 0 = all
};

struct Candidate {
  std::string variant{};                                             // "tile_padded"; a paper's letter as "burtsev/D"
  std::vector<std::pair<std::string, std::string>> parameters = {};  // {"tile", "32x8"}
  std::string refusal{};  // the limit it breaks, in words: "needs 66 KiB of local memory, the device has 48 KiB"
  Cost cost = {};
  std::string name() const;  // "tile_padded(tile=32x8)": what wisdom stores
};

enum class Source { only_choice, model, wisdom, measurement };

struct Trial {
  std::string name{};
  double predicted_seconds = 0;  // 0: refused
  double measured_seconds = 0;   // 0: not run
  std::string reason{};          // why it lost: its refusal, "predicted 2.1x slower", "measured 1.3x slower", an error
};

struct Decision {
  std::size_t winner = 0;  // index into the candidates
  Source source = Source::model;
  Problem problem = {};
  std::string device{};            // its id and name
  std::vector<Trial> trials = {};  // one a candidate, in their order
  double roof_seconds = 0;         // what the machine model says no variant can beat
  std::string roof{};              // the ceiling that binds: "memory copy 4.20 TB/s"
  double planning_seconds = 0;

  // Variant, parameters, predicted and measured time, the share of the roof reached, the losers with their reasons.
  std::string explain() const;
};

// How far a measured plan is.
struct Progress {
  std::string candidate{};  // about to be built and timed
  std::size_t done = 0, of = 0;
};

struct Options {
  Effort effort = Effort::measured;
  std::size_t most_trials = 8;  // best predicted first
  double most_seconds = 60;     // no trial is begun that would probably end later than this; the first always is
  bool use_wisdom = true;       // read it
  bool save_wisdom = true;      // write it after a measurement
  std::string variant{};        // "name" or "name(parameters)": consider only these; Error when none is allowed
  bool verify = false;  // compare each answer with the reference's before it may win; always with RIDGE_VERIFY=1
  std::function<void(const Progress&)> progress = {};  // called before each trial, from the planning thread
};

// Builds, warms up and times candidate i; seconds of one run. May throw Error: the candidate then loses with its
// message.
using Measure = std::function<double(std::size_t candidate)>;

// Error{invalid_argument} listing every refusal when no candidate is allowed.
Decision decide(const Device& device, const Problem& problem, const std::vector<Candidate>& candidates,
                const Options& options, const Measure& measure);

}  // namespace planner

namespace wisdom {

struct Entry {
  std::string workload{}, problem{}, device{}, fingerprint{}, winner{};
  double seconds = 0;
};
std::vector<Entry> all();                              // every machine's entries in the file
std::size_t forget(const std::string& workload = "");  // empty: everything; returns how many
std::string path();                                    // RIDGE_WISDOM, else wisdom.json in the cache folder

}  // namespace wisdom
}  // namespace ridge
