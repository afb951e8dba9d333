// Peer liquid-dsp: its polyphase channelizer, complex float, one thread, one block of samples per call.
#include <complex>  // first: liquid.h takes these for its own complex numbers only where it finds them
#include <memory>

#include <liquid/liquid.h>

#include <ridge/error.hpp>

#include "base/library.hpp"
#include "bench/peers/peer.hpp"

namespace ridge::cli {
namespace {

constexpr base::LibraryName kNames{RIDGE_LIQUID};
const base::Library library{kNames, "comparisons with liquid-dsp"};
const base::Function<decltype(::firpfbch_crcf_create)> firpfbch_crcf_create{library, "firpfbch_crcf_create"};
const base::Function<decltype(::firpfbch_crcf_destroy)> firpfbch_crcf_destroy{library, "firpfbch_crcf_destroy"};
const base::Function<decltype(::firpfbch_crcf_reset)> firpfbch_crcf_reset{library, "firpfbch_crcf_reset"};
const base::Function<decltype(::firpfbch_crcf_analyzer_execute)> firpfbch_crcf_analyzer_execute{
    library, "firpfbch_crcf_analyzer_execute"};

std::function<void()> prepare(const ChannelizerProblem& problem, const std::int8_t* in, std::complex<float>* out) {
  std::vector<float> h(problem.prototype.begin(), problem.prototype.end());
  std::vector<std::shared_ptr<firpfbch_crcf_s>> banks;
  for (int p = 0; p < 2; ++p) {
    banks.emplace_back(firpfbch_crcf_create(LIQUID_ANALYZER, static_cast<unsigned>(problem.channels),
                                            static_cast<unsigned>(problem.taps), h.data()),
                       [](firpfbch_crcf bank) { firpfbch_crcf_destroy(bank); });
    if (!banks.back()) throw Error(ErrorKind::unavailable, "liquid-dsp does not support these channels and taps");
  }
  const std::size_t channels = problem.channels, blocks = problem.blocks;
  // Its input is complex float: each block is converted while in cache.
  return [banks, channels, blocks, in, out, room = std::vector<std::complex<float>>(channels)]() mutable {
    for (const auto& bank : banks) firpfbch_crcf_reset(bank.get());
    for (std::size_t b = 0; b < blocks; ++b) {
      for (std::size_t p = 0; p < 2; ++p) {
        const std::int8_t* from = in + b * channels * 4 + p * 2;
        for (std::size_t n = 0; n < channels; ++n) room[n] = {float(from[4 * n]), float(from[4 * n + 1])};
        firpfbch_crcf_analyzer_execute(banks[p].get(), room.data(), out + (b * 2 + p) * channels);
      }
    }
  };
}

}  // namespace

ChannelizerPeer liquid_peer() { return {.name = "liquid", .prepare = prepare}; }

}  // namespace ridge::cli
