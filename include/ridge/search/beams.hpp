// Beamforming: weighted sums of the voltages of many stations, as power or as voltages.
//
//   ridge::search::Beamformer beams(ridge::host(), {.stations = 64, .beams = 128, .times = 4096, .integrate = 16});
//   beams.set_weights(weights);
//   beams.power(voltages, power);
#pragma once
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ridge/device.hpp>

namespace ridge::search {

// Number type of voltages and weights. float16 and int8 are rounded, and a device's matrix units multiply them; 8-bit
// values are limited to -127 .. 127, and their sums over the stations are exact.
enum class BeamArithmetic { float32, float16, int8 };

struct BeamProblem {
  std::size_t stations = 0, beams = 0, times = 0;
  std::size_t channels = 1;
  // Samples per power; a remainder of times / integrate is dropped. float16 and int8 on devices: filled up with zeros
  // to a multiple of 8, so that 1 sample takes the products of 8.
  std::size_t integrate = 1;
  bool incoherent = false;  // one more beam: the sum of the stations' own powers
  std::size_t threads = 0;
  BeamArithmetic arithmetic = BeamArithmetic::float32;
  float scale =
      1;  // float16, int8: complex voltages are multiplied by it before rounding; powers are divided accordingly
};

struct BeamState;

// Cheap to copy; copies share the weights. One run at a time.
class Beamformer {
 public:
  Beamformer(const Device& device, const BeamProblem& problem);

  // channels x beams x stations. float16, int8: one scale for all weights makes the largest part 1 to 2, or 127.
  void set_weights(std::span<const std::complex<float>> weights);
  // in: channels x times x stations. out: channels x beams (and the incoherent one last) x times / integrate, the sums
  // of |beam|^2.
  void power(std::span<const std::complex<float>> in, std::span<float> out) const;
  // int8: voltages that are bytes already, pairs of a real and an imaginary part. They are not multiplied by the scale.
  void power(std::span<const std::int8_t> in, std::span<float> out) const;
  // float32 on the host only. out: channels x beams x times.
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
