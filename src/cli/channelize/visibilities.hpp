// The part of a UVFITS header that the options of `ridge channelize --correlate` give.
#pragma once
#include "cli/channelize/files.hpp"
#include "io/telescopes/fits/uvfits.hpp"

namespace ridge::cli {

// Stations, site, phase centre and feeds; without --phase-centre, the zenith of the site at `start`. An error names the
// option that is missing.
io::UvfitsHeader uvfits_header(const ChannelizeOptions& options, std::size_t stations, const io::StartTime& start);

}  // namespace ridge::cli
