// Serialization of a stream's state: counts, held samples, current and pending weights, delays.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::filterbank {

struct SavedState {
  struct Waiting {
    std::uint64_t spectrum = 0;  // first spectrum that uses these weights
    std::vector<double> weights{};
  };
  struct Delays {
    std::uint64_t sample = 0;
    std::vector<double> delays{};  // samples, [polarization][station]
  };
  std::string problem{}, variant{};
  std::uint64_t spectra = 0;    // written
  std::uint64_t held_from = 0;  // stream position of the first held byte
  std::vector<std::byte> held{};
  std::vector<double> weights{};
  std::vector<Waiting> waiting{};
  std::vector<Delays> delays{};
};

std::string write_state(const SavedState& state);

// Throws Error{io} unless write_state() wrote the text. The caller checks that the state fits its problem.
SavedState read_state(std::string_view text);

}  // namespace ridge::filterbank
