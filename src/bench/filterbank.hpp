// Problems of `ridge bench filterbank`, and its part for devices.
#pragma once
#include <string>
#include <vector>

#include <ridge/filterbank.hpp>

#include "bench/bench.hpp"

namespace ridge::cli {

struct FilterbankCases {
  std::vector<std::string> shapes{"64x16", "256x16", "1024x16"};  // channels x taps
  std::vector<std::string> samples{"i8"};
  std::size_t stations = 1, threads = 1;
  std::string oversample = "1/1";
  double seconds = 0.5;
  double size = 0;         // complex samples per run; 0: 4e6 on the host, 1e8 on a device
  bool transfers = false;  // devices: also with transfers from and to host memory
  bool detect = false;     // devices: also detected power, summed in the same kernel
  bool power = false;      // energy by the machine's counter
  bool all = false;        // devices: every candidate, not only the planner's choice
  bool scenario = false;   // host: the planner's choice only, and the FIR alone
};

// "filterbank int8 256x16 stations 64"
std::string filterbank_text(const filterbank::Problem& problem);

// Rows of the table and lines to print.
struct FilterbankResult {
  std::vector<report::BenchRow> rows;
  std::vector<std::string> notes;
  std::string explanation;
};

// Times one problem on one device, for the bench and the tour.
FilterbankResult bench_filterbank(const Device& device, const filterbank::Problem& problem,
                                  const FilterbankCases& wanted, const BenchOptions& options);

// As above, for devices other than the host.
FilterbankResult bench_filterbank_on_device(const Device& device, const filterbank::Problem& problem,
                                            const FilterbankCases& wanted, const BenchOptions& options);

}  // namespace ridge::cli
