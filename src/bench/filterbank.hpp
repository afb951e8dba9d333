// The filter bank's benchmark on devices, for filterbank.cpp.
#pragma once
#include "bench/cases.hpp"
#include "device/random.hpp"

namespace ridge::cli {

// As bench_filterbank, for devices other than the host.
BenchResult bench_filterbank_on_device(const Device& device, const filterbank::Problem& problem,
                                       const FilterbankCases& wanted, const BenchOptions& options);

inline Numbers random_of(filterbank::Samples samples) {
  return samples == filterbank::Samples::float32 ? Numbers::float32 : Numbers::bits;
}

}  // namespace ridge::cli
