// The machine profile, loaded or measured with a progress bar; studies of cores; predictions of `ridge size --ranks`.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <ridge/machine.hpp>

namespace ridge::cli {

struct ProfileOptions {
  bool refresh = false;  // measure even if a saved profile exists
  bool quick = false;    // ceilings only
  bool force = false;    // save a new profile in spite of its doubts
};
enum class ProfileSource { saved, measured, not_saved };  // read; measured and saved; measured only
machine::Profile profile_or_measure(const ProfileOptions& options, ProfileSource* how = nullptr);

// Runs and prints one of the studies hyperthreads, far-cores, temperature and clock, or all.
void run_core_study(const std::string& which);

// Predicts the time of a distributed transform on more processes than are running.
struct SizeRanksOptions {
  std::size_t ranks = 0;  // largest number of processes
  std::string shape = "1024x1024x1024";
  std::string type = "f32";
  std::string latency = "2us", bandwidth = "1G";  // between machines, per process
  std::size_t node = 16;                          // processes per machine
};

void run_size_ranks(const SizeRanksOptions& options);

// Accepts "3100ns", "20.5us", "0.9ms", "2s" and "0"; numbers other than 0 need a unit.
std::optional<double> parse_seconds(std::string_view text);

}  // namespace ridge::cli
