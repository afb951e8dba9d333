#include <cstddef>
#include <cstdio>
#include <vector>

#include <ridge/search.hpp>
#include <ridge/search/fold.hpp>

using namespace ridge::search;

int main() {
  const Band band{.channels = 64, .first_mhz = 1500, .step_mhz = -1, .interval = 1e-3};
  std::vector<Pulse> pulses;
  for (int i = 0; i < 120; ++i) pulses.push_back({.dm = 50, .time = 0.4 + 0.25 * i, .samples = 8, .snr = 2});
  std::vector<std::byte> power(32768 * band.channels);
  simulate({.band = band, .pulses = pulses}, 0, 32768, power);

  Folder folder(band, {.frequency = 4}, {.bins = 250, .dm = 50});
  folder.push(power);  // any number of bytes at a time
  std::printf("folded S/N %.0f\n", folder.profile().snr());
}
