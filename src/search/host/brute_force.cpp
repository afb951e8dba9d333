// Brute force: every channel of every trial is delayed by the nearest number of samples and added. A strip of times is
// summed over 32 channels in registers for one trial after another, so that its bytes stay in L1.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/threads.hpp"
#include "search/host/sums.hpp"
#include "search/variant.hpp"

namespace ridge::search {
namespace {

constexpr std::size_t kChannelsAtOnce = 32;

class BruteForce final : public Variant {
 public:
  explicit BruteForce(const Layout& layout) : layout_(layout), delays_(layout.trials * layout.channels) {
    for (std::size_t d = 0; d < layout.trials; ++d) {
      for (std::size_t c = 0; c < layout.channels; ++c) delays_[d * layout.channels + c] = layout_.nearest(d, c);
    }
  }

  void run(const std::uint8_t* in, float* out) const override {
    const std::size_t strip = sum_kernels().strip, strips = layout_.times / strip;
    base::parallel(layout_.threads, [&](std::size_t thread, std::size_t threads) {
      const base::Share mine = base::share(strips, thread, threads);
      for (std::size_t i = mine.begin; i < mine.end; ++i) add_strip(in, out, i * strip);
      if (thread + 1 < threads || layout_.times % strip == 0) return;
      if (strips > 0) return add_remainder(in, out, strips * strip);
      add_remainder(in, out, 0);
    });
  }
  void enqueue(Queue&, const Buffer& in, const Buffer& out) const override {
    run(reinterpret_cast<const std::uint8_t*>(in.native()), reinterpret_cast<float*>(out.native()));
  }
  std::vector<std::int32_t> delays(std::size_t trial) const override { return nearest_delays(layout_, trial); }

 private:
  void add_strip(const std::uint8_t* in, float* out, std::size_t time) const {
    const auto add = sum_kernels().add_strip;
    for (std::size_t c = 0; c < layout_.channels; c += kChannelsAtOnce) {
      for (std::size_t d = 0; d < layout_.trials; ++d) {
        add({.in = in + c * layout_.row + time,
             .row = layout_.row,
             .delays = delays_.data() + d * layout_.channels + c,
             .channels = std::min(kChannelsAtOnce, layout_.channels - c),
             .out = out + d * layout_.times + time,
             .add = c > 0});
      }
    }
  }
  // Times after the last whole strip.
  void add_remainder(const std::uint8_t* in, float* out, std::size_t begin) const {
    for (std::size_t d = 0; d < layout_.trials; ++d) {
      float* to = out + d * layout_.times;
      std::fill(to + begin, to + layout_.times, 0.0F);
      for (std::size_t c = 0; c < layout_.channels; ++c) {
        const std::uint8_t* from = in + c * layout_.row + delays_[d * layout_.channels + c];
        for (std::size_t t = begin; t < layout_.times; ++t) to[t] += static_cast<float>(from[t]);
      }
    }
  }

  Layout layout_;
  std::vector<std::int32_t> delays_;
};

}  // namespace

void list_host_brute_force(const Device&, const Layout& layout, std::vector<Entry>& entries) {
  // Bytes are added 64 per vector, four times as many as floats: an addition counts as a quarter of a float operation.
  entries.push_back({.candidate = planner::Candidate{.variant = "brute_force",
                                                     .parameters = {{"threads", std::to_string(layout.threads)}},
                                                     .refusal = {},
                                                     .cost = {.flops = layout.additions() / 2,
                                                              .bytes = static_cast<double>(layout.input_bytes() +
                                                                                           layout.output_bytes()),
                                                              .launches = 1,
                                                              .efficiency = 0.5,
                                                              .float64 = false,
                                                              .threads = layout.threads}},
                     .build = [layout] { return std::make_shared<BruteForce>(layout); }});
}

}  // namespace ridge::search
