// Checks that LD_PRELOAD can intercept a program's FFTW calls.
#pragma once
#include <string>

namespace ridge::cli {

// Reads the file that execvp would run for `word`, or the interpreter of a script. Error if the loader would ignore
// LD_PRELOAD: statically linked programs and programs with another user's rights. Warns if the program contains FFTW
// itself. Ignores unreadable files: starting them gives a better message.
void check_preload_reaches(const std::string& word);

}  // namespace ridge::cli
