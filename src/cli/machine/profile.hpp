// The saved profile, or a new one with a progress bar.
#pragma once
#include <ridge/machine.hpp>

namespace ridge::cli {

struct ProfileWishes {
  bool refresh = false;  // measure even though there is a saved one
  bool quick = false;    // ceilings only
};
machine::Profile profile_or_measure(const ProfileWishes& wishes, bool* was_saved = nullptr);

}  // namespace ridge::cli
