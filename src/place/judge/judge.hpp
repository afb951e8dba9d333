// Compiles the original and the placed program, runs both on the same generated data and compares the results.
#pragma once
#include <map>
#include <string>
#include <vector>

#include <ridge/place.hpp>

namespace ridge::place::judge {

struct Options {
  std::vector<std::string> flags{};          // compiler flags
  std::map<std::string, long> parameters{};  // values set by --param
  std::string device{};                      // RIDGE_DEVICE for the placed program
  std::string emit = "ridge";                // target of the placed program
  bool session = false;                      // two calls in a session of the caller
  bool threads = false;                      // with its other loops on threads of the host
  long elements = 0;                         // per generated array; 0: the product of the sizes, 2^18 to 2^25
  bool distinct = false;                     // no number occurs twice in a generated array of integers
  bool weighs = false;                       // sizes are real: also find the kernels that make the program slower
  double seconds = 300;                      // time limit per compilation and per run
};

struct Outcome {
  bool verified = false;
  bool compared = false;  // false: the generated data could not decide
  std::string text{};     // result, or why there was no comparison
  double worst = 0;       // largest difference, relative to the array's largest value
  int runs = 0;           // OpenMP: runs after the first
  double varies = 0;      // largest difference between two of those runs
  bool idle = false;      // OpenMP: threads are not faster at these sizes, so the original loops run
  double original_seconds = 0, placed_seconds = 0;
  std::vector<std::string> slower{};  // kernels without which the placed program is faster, transfers included
};

Outcome compare(const Report& report, const std::string& source, const Options& options);

bool has_claims(const Report& report);  // a loop is parallel only by the user's claim

// The placed program with its work-items numbered in reverse: dependent iterations, which a CPU device happens to run
// in order, then give another result. "" if no kernel can be changed this way.
std::string with_reversed_items(const std::string& placed);

// Device for the kernels of --emit ridge: the named one, else RIDGE_DEVICE, else a CUDA device, else another
// accelerator.
std::string device_of(const std::string& wanted);
bool can_run_cuda();  // a CUDA device and nvcc are present
// First error of nvcc for a CUDA program; "" if it compiles or there is no nvcc.
std::string cuda_fault(const Report& report, const Options& options);

// Program text that calls the function on generated data and dumps the results; public for its test.
std::string harness(const Report& report, const Options& options, bool placed);
// Of a C file: called by its harness, which is C++. `threads`: with a function that counts the nests run on threads.
std::string entry_in_c(const Report& report, bool threads);

// Allowed relative difference: 1e-4 if sums are reordered, 2e-5 if math functions of another library are called, else 0
// (bit for bit). Both are far above rounding and far below a defect.
double allowed(const Report& report);

struct Array {
  std::string name{}, type{};
  std::string bytes{};
};
std::vector<Array> read_dump(const std::string& dump);  // throws Error{io} if malformed
// Largest difference; with `exact`, any difference is infinite.
double difference(const std::vector<Array>& a, const std::vector<Array>& b, bool exact, std::string& where);

}  // namespace ridge::place::judge
