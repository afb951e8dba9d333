// Which problems this process has planned, and how thoroughly: what FFTW's wisdom calls pass around. The library's own
// wisdom file is neither written nor forgotten here.
#pragma once
#include <string>
#include <string_view>

#include "fftw/plan.hpp"

namespace ridge::fftw::wisdom {

void remember(bool single, const std::string& key, Rigor rigor);
bool knows(bool single, const std::string& key, Rigor rigor);  // planned with this rigor or more
void forget(bool single);

// One balanced list. Import takes what an export of the same precision gave and ignores what stands behind it; false,
// and nothing taken, for anything else.
std::string export_text(bool single);
bool import_text(bool single, std::string_view text);

}  // namespace ridge::fftw::wisdom
