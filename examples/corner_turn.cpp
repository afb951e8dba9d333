// The corner turn (transpose) of a radar: pulses arrive one after another, each a row of range samples; Doppler
// processing needs all pulses of one range contiguous. Plans on the device named by the first argument (or
// RIDGE_DEVICE, or the best), transposes one block of data, checks it, and prints the chosen variant and the reasons.
#include <complex>
#include <exception>
#include <iostream>
#include <vector>

#include <ridge/transpose.hpp>

namespace {

constexpr std::size_t kPulses = 256, kRanges = 1000, kChannels = 2;

int turn_the_corner(const ridge::Device& device) {
  std::vector<std::complex<float>> pulses(kChannels * kPulses * kRanges), ranges(pulses.size());
  for (std::size_t i = 0; i < pulses.size(); ++i) pulses[i] = {static_cast<float>(i), static_cast<float>(i) * 0.5f};

  const auto turn =
      ridge::transpose::plan<std::complex<float>>(device, {.rows = kPulses, .columns = kRanges, .batch = kChannels});
  turn.run(pulses, ranges);

  for (std::size_t channel = 0; channel < kChannels; ++channel) {
    for (std::size_t pulse = 0; pulse < kPulses; ++pulse) {
      for (std::size_t range = 0; range < kRanges; ++range) {
        if (ranges[(channel * kRanges + range) * kPulses + pulse] !=
            pulses[(channel * kPulses + pulse) * kRanges + range]) {
          std::cerr << "channel " << channel << ", pulse " << pulse << ", range " << range << " is wrong\n";
          return 2;
        }
      }
    }
  }
  std::cout << turn.explain() << "\ntransposed " << turn.bytes() * 1e-6 << " MB, every sample in its place\n";
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return turn_the_corner(ridge::device(count > 1 ? arguments[1] : ""));
  } catch (const std::exception& error) {
    std::cerr << "corner_turn: " << error.what() << '\n';
    return 1;
  }
}
