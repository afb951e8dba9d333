// Beamforming: weighted sums of the voltages of many stations, as power or as voltages.
//
//   ridge::search::Beamformer beams(ridge::host(), {.stations = 64, .beams = 128, .times = 4096, .integrate = 16});
//   beams.set_weights(weights);
//   beams.power(voltages, power);
#pragma once
#include <array>
#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ridge/device.hpp>

namespace ridge::search {

struct BeamProblem {
  std::size_t stations = 0, beams = 0, times = 0;
  std::size_t channels = 1;
  std::size_t integrate = 1;  // samples per power; a remainder of times / integrate is dropped
  bool incoherent = false;    // one more beam: the sum of the stations' own powers
  std::size_t threads = 0;
};

struct BeamState;

// Cheap to copy; copies share the weights. One run at a time.
class Beamformer {
 public:
  Beamformer(const Device& device, const BeamProblem& problem);

  // channels x beams x stations.
  void set_weights(std::span<const std::complex<float>> weights);
  // in: channels x times x stations. out: channels x beams (and the incoherent one last) x times / integrate, the sums
  // of |beam|^2.
  void power(std::span<const std::complex<float>> in, std::span<float> out) const;
  // out: channels x beams x times; host only.
  void voltages(std::span<const std::complex<float>> in, std::span<std::complex<float>> out) const;

  const Device& device() const;
  const BeamProblem& problem() const;
  std::size_t rows() const;  // beams, and the incoherent one
  std::size_t bins() const;  // times / integrate
  double flops() const;      // 8 per station, beam and sample

 private:
  std::shared_ptr<BeamState> state_;
};

// Weights that add up a plane wave: exp(-2 pi i f (position . direction) / c) / stations. Positions in metres,
// directions as unit vectors towards the sources, one frequency per channel in MHz. Error{invalid_argument} for others.
std::vector<std::complex<float>> beam_weights(std::span<const std::array<double, 3>> positions,
                                              std::span<const std::array<double, 3>> directions,
                                              std::span<const double> channels_mhz);

}  // namespace ridge::search
