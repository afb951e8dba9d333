// Import and export of wisdom as text. The text is a sequence of lists, each "(PROGRAM NAME ... (ENTRY) (ENTRY))":
// - lists of FFTW itself, kept unchanged and written back, so that no export loses FFTW's measurements;
// - one list of ours: the problems that this process has planned, and with which effort.
// FFTW reads the first list and ignores the rest, so its own lists come first. A list that is followed by another ends
// with an empty line before its parenthesis (FFTW skips blanks). A reader that receives single characters, as in
// fftw_import_wisdom, therefore needs no character after the last list. The file of `ridge wisdom` is neither written
// nor erased here.
#pragma once
#include <functional>
#include <string>

#include "fftw/plan.hpp"

namespace ridge::fftw::wisdom {

void remember(bool single, const std::string& key, Rigor rigor);
bool knows(bool single, const std::string& key, Rigor rigor);  // planned with this effort or more
void forget(bool single);                                      // our wisdom and FFTW's

std::string export_text(bool single);

// Reads lists of this precision; `next` returns a character or EOF. Takes every well-formed list. Returns false if one
// was malformed.
bool import_from(bool single, const std::function<int()>& next);

}  // namespace ridge::fftw::wisdom
