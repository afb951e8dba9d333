// Measures the accuracy of transforms: relative L2 errors against a reference of higher precision.
#pragma once
#include <complex>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/log.hpp"

namespace ridge::fft {

struct ErrorRow {
  std::size_t length = 0;
  std::string variant = {};
  bool chosen = false;              // chosen by the planner; else requested by name
  double forward = 0, inverse = 0;  // relative L2 error, over several random inputs if they are short
  double gate = 0;                  // 0.6 epsilon sqrt(log2 N)
  double peer = 0;                  // forward error of the other library on the same inputs; 0: not measured
  std::string broken = {};          // the limit that the row exceeds; empty: none
};

// Forward transform of the other library, out of place. Returns false for unsupported lengths.
template <class T>
using PeerTransform = std::function<bool(std::size_t n, const std::complex<T>* in, std::complex<T>* out)>;

inline constexpr double kPeerGate = 1.5;  // times the peer's error

template <class T>
struct AccuracyOptions {
  std::vector<std::size_t> lengths = {};
  bool variants = false;  // also measure every variant of the length
  PeerTransform<T> peer = {};
  base::Progress progress = {};
  double gate = 1;  // factor on the specified limit: below 1 is stricter
};

// Returns rows in the order of the lengths, the planner's choice first.
template <class T>
std::vector<ErrorRow> measure_errors(const AccuracyOptions<T>& options);

// Describes the limit that a row exceeds; empty: none. Reads lengths, errors and the row's own limit.
template <class T>
std::string broken_gate(const ErrorRow& row);

// Returns 1..64 and a sample of longer lengths; if `thorough`, every length up to 4096 and more above.
std::vector<std::size_t> accuracy_lengths(bool thorough);

}  // namespace ridge::fft
