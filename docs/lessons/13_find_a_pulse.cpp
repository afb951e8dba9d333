#include <cstddef>
#include <cstdio>
#include <vector>

#include <ridge/search.hpp>

using namespace ridge::search;

int main() {
  const Band band{.channels = 256, .first_mhz = 1500, .step_mhz = -0.25, .interval = 256e-6};
  const std::vector<Pulse> pulses = {{.dm = 80, .time = 1, .samples = 4, .snr = 15},
                                     {.dm = 150, .time = 3, .samples = 16, .snr = 12},
                                     {.dm = 30, .time = 5, .samples = 2, .snr = 20}};
  std::vector<std::byte> power(32768 * band.channels);
  simulate({.band = band, .pulses = pulses}, 0, 32768, power);

  Stream stream(ridge::host(), band, {.dm_end = 200});
  stream.push(power);  // any number of bytes at a time: a stream need not fit the memory
  for (const Candidate& found : stream.finish()) {
    std::printf("DM %.0f at %.3f s, %zu samples wide, S/N %.0f\n", found.dm, found.time, found.samples, found.snr);
  }
}
