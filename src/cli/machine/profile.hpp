// Loads the saved machine profile, or measures a new one with a progress bar.
#pragma once
#include <string>

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

}  // namespace ridge::cli
