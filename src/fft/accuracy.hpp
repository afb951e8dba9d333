// How far transforms are from the truth: relative L2 errors against a reference with more digits.
#pragma once
#include <complex>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/progress.hpp"

namespace ridge::fft {

struct ErrorRow {
  std::size_t length = 0;
  std::string variant = {};
  bool chosen = false;              // the planner's; else one asked for by name
  double forward = 0, inverse = 0;  // relative L2, over several random inputs where they are short
  double gate = 0;                  // 0.6 epsilon sqrt(log2 N)
  double peer = 0;                  // the other library's forward error on the same inputs; 0: there is none
  std::string broken = {};          // which gate, in words; empty: none
};

// The other library: forward, out of place. False where it cannot do the length.
template <class T>
using PeerTransform = std::function<bool(std::size_t n, const std::complex<T>* in, std::complex<T>* out)>;

inline constexpr double kPeerGate = 1.5;  // times the peer's error

template <class T>
struct AccuracyOptions {
  std::vector<std::size_t> lengths = {};
  bool variants = false;  // also every line variant there is for the length, by name
  PeerTransform<T> peer = {};
  base::Progress progress = {};
  double gate = 1;  // times the specification's: below 1 is stricter
};

// Rows in the order of the lengths, the planner's choice first.
template <class T>
std::vector<ErrorRow> measure_errors(const AccuracyOptions<T>& options);

// The gate a row breaks, in words; empty: none. Reads lengths, errors and the row's own gate.
template <class T>
std::string broken_gate(const ErrorRow& row);

// 1..64, and a sample of everything above; every length up to 4096 and more above where `thorough`.
std::vector<std::size_t> accuracy_lengths(bool thorough);

}  // namespace ridge::fft
