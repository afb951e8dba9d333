#include "fft/device/exchange.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace ridge::fft::on_device {
namespace {

// Local memory of every GPU this was written for: 32 banks of 4 bytes.
constexpr std::size_t kBankBytes = 4, kBanks = 32, kLanes = 32;
constexpr std::size_t kWarpsLookedAt = 2;

struct Item {
  std::size_t thread, line;
};

Item item_of(const PassDesign& design, Order order, std::size_t item) {
  if (order == Order::lines) return {item / design.lines, item % design.lines};
  return {item % design.threads, item / design.threads};
}

// How many turns the banks take to serve one instruction of one warp.
template <class Index>
std::size_t turns(const PassDesign& design, std::size_t warp, std::size_t element_bytes, const Index& index) {
  const std::size_t words = element_bytes / kBankBytes, lanes = kLanes / words;
  std::size_t sum = 0;
  for (std::size_t phase = 0; phase < words; ++phase) {
    std::array<unsigned char, kBanks> hits{};
    unsigned char most = 0;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::size_t item = warp * kLanes + phase * lanes + lane;
      if (item >= design.items()) break;
      const std::size_t element = index(item);
      if (element == static_cast<std::size_t>(-1)) continue;
      most = std::max(most, ++hits[element * words % kBanks]);
    }
    sum += most;
  }
  return sum;
}

}  // namespace

std::size_t bank_accesses(const PassDesign& design, const StageDesign& from, const StageDesign& to,
                          const ExchangeLayout& layout, std::size_t element_bytes) {
  constexpr auto kNone = static_cast<std::size_t>(-1);
  const std::size_t warps = std::min((design.items() + kLanes - 1) / kLanes, kWarpsLookedAt);
  std::size_t sum = 0;
  for (std::size_t warp = 0; warp < warps; ++warp) {
    for (std::size_t u = 0; u < from.radix; ++u) {
      sum += from.rounds * turns(design, warp, element_bytes, [&](std::size_t item) {
               const Item own = item_of(design, from.order, item);
               if (own.thread >= from.butterflies) return kNone;
               const std::size_t i = own.thread, k = i % from.before;
               return layout.at((i - k) * from.radix + k + u * from.before, own.line);
             });
    }
    for (std::size_t s = 0; s < to.radix; ++s) {
      sum += to.rounds * turns(design, warp, element_bytes, [&](std::size_t item) {
               const Item own = item_of(design, to.order, item);
               if (own.thread >= to.butterflies) return kNone;
               return layout.at(own.thread + s * to.butterflies, own.line);
             });
    }
  }
  return sum;
}

ExchangeLayout exchange_layout(const PassDesign& design, const StageDesign& from, const StageDesign& to,
                               std::size_t element_bytes) {
  const std::size_t run = from.before * from.radix;
  const std::size_t phase = kLanes / (element_bytes / kBankBytes);
  const std::size_t long_run = run * ((phase + run - 1) / run);
  ExchangeLayout best;
  std::tuple<std::size_t, std::size_t> best_cost{static_cast<std::size_t>(-1), 0};
  const auto consider = [&](ExchangeLayout layout) {
    layout.lines = design.lines;
    const std::size_t line = layout.place(design.length - 1) + 1;
    if (layout.lines_side_by_side) {
      layout.elements = line * design.lines;
    } else {
      layout.pitch += line;
      layout.elements = layout.pitch * design.lines;
    }
    const std::tuple cost{bank_accesses(design, from, to, layout, element_bytes), layout.elements};
    if (cost < best_cost) {
      best_cost = cost;
      best = layout;
    }
  };
  for (const bool side_by_side : {false, true}) {
    if (side_by_side && design.lines == 1) break;
    for (const std::size_t period : {run, long_run}) {
      for (const std::size_t extra : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{4}, from.before}) {
        if (extra > 0 && (extra > phase || period >= design.length)) continue;
        for (const std::size_t pitch : {0, 1, 2, 4, 8}) {
          if (pitch > 0 && (side_by_side || design.lines == 1)) continue;
          consider(
              {.lines_side_by_side = side_by_side, .period = extra == 0 ? 0 : period, .extra = extra, .pitch = pitch});
        }
      }
    }
  }
  return best;
}

}  // namespace ridge::fft::on_device
