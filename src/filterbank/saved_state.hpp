// A stream's state as bytes: counts, samples held, weights in use and waiting, delays.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::filterbank {

struct SavedState {
  struct Waiting {
    std::uint64_t spectrum = 0;  // the first they are for
    std::vector<double> weights{};
  };
  struct Delays {
    std::uint64_t sample = 0;
    std::vector<double> delays{};  // samples; one a (polarization, station)
  };
  std::string problem{}, variant{};
  std::uint64_t spectra = 0;    // written
  std::uint64_t held_from = 0;  // position in the stream of the first byte held
  std::vector<std::byte> held{};
  std::vector<double> weights{};
  std::vector<Waiting> waiting{};
  std::vector<Delays> delays{};
};

std::string write_state(const SavedState& state);

// Error{io} for anything write_state did not write. Whether it fits a problem is the caller's to check.
SavedState read_state(std::string_view text);

}  // namespace ridge::filterbank
