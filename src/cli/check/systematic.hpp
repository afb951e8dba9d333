// Parts of `ridge check`: listed transforms with an HTML page of the outcomes (--systematic, --problems), and
// transforms distributed over processes.
#pragma once
#include <cstddef>
#include <string>

#include <ridge/device.hpp>
#include <ridge/mpi.hpp>

#include "check/check.hpp"

namespace ridge::cli {

// Checks every length up to `most` and writes a page if `page` names a file. Exits with 2 if a result is wrong.
void check_systematically(const Device& device, std::size_t most, const std::string& page);
// Checks the problems of a file, one per line.
void check_file(const Device& device, const std::string& path);

// All processes draw the same problems and reach the same outcome. Only one such workload may exist at a time.
check::Workload mpi_workload(const mpi::Communicator& all);

}  // namespace ridge::cli
