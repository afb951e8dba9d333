// Original and placed program on the same data, each compiled and run as a program of its own.
#pragma once
#include <map>
#include <string>
#include <vector>

#include <ridge/place.hpp>

namespace ridge::place::judge {

struct Options {
  std::vector<std::string> flags{};          // of the compiler
  std::map<std::string, long> parameters{};  // sizes pinned by the user
  std::string device{};                      // RIDGE_DEVICE of the placed program
  std::string emit = "ridge";                // how the placed program was written
  long elements = 0;                         // of every made-up array; 0: the product of the sizes, within bounds
  bool weighs = false;                       // sizes are real: which kernels make it slower is found out
  double seconds = 300;                      // for each program
};

struct Outcome {
  bool verified = false;
  bool compared = false;  // false: made-up data could not decide
  std::string text{};     // what was compared, or why it could not be
  double worst = 0;       // largest difference, relative to the array's largest value
  int runs = 0;           // threads of the host: those after the first
  double varies = 0;      // largest difference between two of them
  double original_seconds = 0, placed_seconds = 0;
  std::vector<std::string> slower{};  // kernels without which the placed program is faster, transfers and all
};

Outcome compare(const Report& report, const std::string& source, const Options& options);

// Where the kernels of a program on Ridgeline's devices run: what was named, else the first that is not the host.
std::string device_of(const std::string& wanted);
bool can_run_cuda();  // there are a CUDA device and nvcc
// The first error of nvcc on a program that was written for it; "" where there is none, or no nvcc.
std::string cuda_fault(const Report& report, const Options& options);

// The program that calls the function on made-up data and writes what it got; exposed for its test.
std::string harness(const Report& report, const Options& options, bool placed);

// How far apart they may be: a sum in another order, or an exp() of another library, has a bound far above rounding and
// far below a mistake; 0: no bit may differ.
double allowed(const Report& report);

struct Array {
  std::string name{}, type{};
  std::string bytes{};
};
std::vector<Array> read_dump(const std::string& dump);  // Error{io} when it is not one
// The largest difference; `exact`: any difference at all is infinite.
double difference(const std::vector<Array>& a, const std::vector<Array>& b, bool exact, std::string& where);

}  // namespace ridge::place::judge
