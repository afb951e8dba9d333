// Search for periodic signals in a series: spectrum, harmonic sums, trial accelerations.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/search.hpp>

namespace ridge::search {

struct PeriodSettings {
  double acceleration_begin = 0, acceleration_end = 0;  // m/s^2
  double acceleration_step = 0;                         // 0: c / (f T^2) at a quarter of the highest frequency
  std::size_t harmonics = 16;                           // most harmonics summed: 1, 2, 4, 8, 16 or 32
  double lowest_hz = 0.5;                               // of the fundamental
  double threshold = 6;                                 // least significance in sigma, after all trials
  std::size_t most = 100;                               // candidates returned
  std::size_t threads = 0;
  std::function<void(double share)> progress = {};  // called after each acceleration
};

struct PeriodCandidate {
  double frequency = 0, period = 0;  // Hz and seconds at the middle of the series
  double acceleration = 0;           // m/s^2
  double sigma = 0;                  // one-sided, after counting all frequencies, harmonic sums and accelerations
  std::size_t harmonics = 1;         // in the best sum
  double power = 0;                  // the sum, in units of the mean noise power
};

// Error{invalid_argument} with the reason if find_periods() refuses a series of this length.
void check(const PeriodSettings& settings, std::size_t samples, double interval);

// Strongest first; candidates harmonically related to a stronger one are left out.
std::vector<PeriodCandidate> find_periods(const Device& device, std::span<const float> series, double interval,
                                          const PeriodSettings& settings);

// Sum of all channels at one dispersion measure, each channel normalized per block.
struct SeriesState;
class Dedisperser {
 public:
  Dedisperser(const Band& band, double dm, std::size_t bits, bool is_signed = false);
  ~Dedisperser();
  void push(std::span<const std::byte> bytes);
  // All samples whose whole sweep was pushed; ends the input. Mean about 0, deviation about 1.
  std::vector<float> finish();

 private:
  std::unique_ptr<SeriesState> state_;
};

}  // namespace ridge::search
