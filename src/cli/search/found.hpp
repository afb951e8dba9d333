// Lists and pictures of candidates.
#pragma once
#include <string>
#include <vector>

#include <ridge/search.hpp>

#include "base/json.hpp"

namespace ridge::cli {

// JSON (a list of objects) or CSV, by the name's ending; "-" prints JSON. `start` is the MJD of the first sample, 0 if
// it is unknown.
void write_candidates(const std::string& name, const std::vector<search::Candidate>& found, double start);

// The candidates as a JSON list.
base::Json candidates_json(const std::vector<search::Candidate>& found, double start);

// Time against dispersion measure; the area of a circle grows with the S/N.
std::string overview_svg(const std::vector<search::Candidate>& found, double seconds, double dm_begin, double dm_end);

// One picture per candidate, FOLDER/candidate-000.png: power of the dedispersed pulse by frequency and time, read again
// from the file. Returns the number of pictures.
std::size_t write_pictures(const std::string& folder, const std::string& file, std::size_t number,
                           const std::vector<search::Candidate>& found, std::size_t most);

}  // namespace ridge::cli
