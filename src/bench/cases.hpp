// Benchmarks that `ridge tour` runs too: one problem on one device.
#pragma once
#include <ridge/filterbank.hpp>
#include <ridge/image.hpp>
#include <ridge/transpose.hpp>

#include "bench/bench.hpp"
#include "device/random.hpp"

namespace ridge::cli {

struct TransposeCase {
  transpose::Problem problem;
  std::string type = "c64";  // i8, i16, i32, f32, f64, c64, c128
  std::size_t trials = 0;    // variants to try, and to show in rows; 0: all
  double plan_seconds = 60;  // time limit of the trials
  double seconds = 0.3;      // per variant
};

// One row per variant that the device allows, the planner's choice marked. The peer "memcpy" copies the same bytes (all
// threads on the host, the driver's copy on a device).
BenchResult bench_transpose(const Device& device, const TransposeCase& wanted, const std::string& variant = "");

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
// Times one problem on one device.
BenchResult bench_filterbank(const Device& device, const filterbank::Problem& problem, const FilterbankCases& wanted,
                             const BenchOptions& options);

// A frame of textured discs that move over a moving background, with noise that is independent per pixel; 8-bit, 3
// channels.
image::Image moving_discs(std::size_t rows, std::size_t columns, int time);

// As bench_filterbank, for devices other than the host.
BenchResult bench_filterbank_on_device(const Device& device, const filterbank::Problem& problem,
                                       const FilterbankCases& wanted, const BenchOptions& options);

inline Numbers random_of(filterbank::Samples samples) {
  return samples == filterbank::Samples::float32 ? Numbers::float32 : Numbers::bits;
}

}  // namespace ridge::cli
