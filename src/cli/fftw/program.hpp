// Whether LD_PRELOAD can reach a program's calls of FFTW.
#pragma once
#include <string>

namespace ridge::cli {

// Reads the file that execvp would run for `word`; of a script, its interpreter. Error where the loader would ignore
// LD_PRELOAD: statically linked programs, programs with another user's rights. Warns where the program contains FFTW
// itself. Says nothing of files that it cannot read: starting them says more.
void check_preload_reaches(const std::string& word);

}  // namespace ridge::cli
