// The text that FFTW's wisdom calls pass around. It is a sequence of lists, each "(PROGRAM NAME ... (ENTRY) (ENTRY))":
//   - lists of FFTW itself, which are kept as they are and written back, so that no export loses what FFTW measured;
//   - one list of ours: the problems that this process has planned, and how thoroughly.
// FFTW reads the first list and ignores the rest, so its own come first. A list that another one follows ends with an
// empty line before its parenthesis (FFTW skips blanks): a reader that is handed characters one by one, as by
// fftw_import_wisdom, needs no character behind the last list. The file of `ridge wisdom` is neither written nor
// forgotten here.
#pragma once
#include <functional>
#include <string>

#include "fftw/plan.hpp"

namespace ridge::fftw::wisdom {

void remember(bool single, const std::string& key, Rigor rigor);
bool knows(bool single, const std::string& key, Rigor rigor);  // planned with this rigor or more
void forget(bool single);                                      // ours and FFTW's

std::string export_text(bool single);

// Reads lists of this precision; `next` returns a character or EOF. Every list that is well formed is taken. False
// where one was not.
bool import_from(bool single, const std::function<int()>& next);

}  // namespace ridge::fftw::wisdom
