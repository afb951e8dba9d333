// Searches the padding of an exchange by counting bank accesses of a warp.
#include "fft/device/pass/exchange_layout.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <vector>

namespace ridge::fft::on_device {
namespace {

// Local memory of the supported GPUs: 32 banks of 4 bytes.
constexpr std::size_t kBankBytes = 4, kBanks = 32, kLanes = 32;
constexpr std::size_t kWarpsLookedAt = 2;

struct Item {
  std::size_t thread, line;
};

Item item_of(const PassDesign& design, Order order, std::size_t item) {
  if (order == Order::lines) return {item / design.lines, item % design.lines};
  return {item % design.threads, item / design.threads};
}

// Number of serialized bank accesses of one instruction of a warp.
template <class Index>
std::size_t bank_passes(const PassDesign& design, std::size_t warp, std::size_t element_bytes, const Index& index) {
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

namespace {

// Stops when the sum reaches `limit`.
std::size_t bank_accesses_below(const PassDesign& design, const StageDesign& from, const StageDesign& to,
                                const ExchangeLayout& layout, std::size_t element_bytes, std::size_t limit) {
  constexpr auto kNone = static_cast<std::size_t>(-1);
  const std::size_t warps = std::min((design.items() + kLanes - 1) / kLanes, kWarpsLookedAt);
  // All writes of a butterfly fall into one period of the padding, so they differ by a step that is the same for every
  // work-item: one write represents all. The same holds for reads if the period divides their distance.
  const bool alike = layout.period == 0 || to.butterflies % layout.period == 0;
  // Otherwise four of them are simulated.
  const std::size_t reads = alike ? 1 : std::min<std::size_t>(to.radix, 4), apart = to.radix / reads;
  std::size_t sum = 0;
  for (std::size_t warp = 0; warp < warps && sum < limit; ++warp) {
    sum += from.radix * from.rounds * bank_passes(design, warp, element_bytes, [&](std::size_t item) {
             const Item own = item_of(design, from.order, item);
             if (own.thread >= from.butterflies) return kNone;
             const std::size_t i = own.thread, k = i % from.before;
             return layout.at((i - k) * from.radix + k, own.line);
           });
    for (std::size_t s = 0; s < reads && sum < limit; ++s) {
      const std::size_t times = s + 1 < reads ? apart : to.radix - s * apart;
      sum += times * to.rounds * bank_passes(design, warp, element_bytes, [&](std::size_t item) {
               const Item own = item_of(design, to.order, item);
               if (own.thread >= to.butterflies) return kNone;
               return layout.at(own.thread + s * apart * to.butterflies, own.line);
             });
    }
  }
  return sum;
}

}  // namespace

std::size_t bank_accesses(const PassDesign& design, const StageDesign& from, const StageDesign& to,
                          const ExchangeLayout& layout, std::size_t element_bytes) {
  return bank_accesses_below(design, from, to, layout, element_bytes, static_cast<std::size_t>(-1));
}

namespace {

// Accesses without conflicts: one per part of a warp that moves data.
std::size_t least_accesses(const PassDesign& design, const StageDesign& from, const StageDesign& to,
                           std::size_t element_bytes) {
  const std::size_t words = element_bytes / kBankBytes, lanes = kLanes / words;
  const std::size_t warps = std::min((design.items() + kLanes - 1) / kLanes, kWarpsLookedAt);
  const auto passes_of = [&](const StageDesign& stage) {
    std::size_t busy = 0;
    for (std::size_t part = 0; part < warps * words; ++part) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const std::size_t item = part * lanes + lane;
        if (item >= design.items() || item_of(design, stage.order, item).thread >= stage.butterflies) continue;
        ++busy;
        break;
      }
    }
    return busy * stage.radix * stage.rounds;
  };
  return passes_of(from) + passes_of(to);
}

// Layouts worth simulating, with their sizes.
std::vector<ExchangeLayout> layouts_of(const PassDesign& design, const StageDesign& from, std::size_t phase) {
  const std::size_t run = from.before * from.radix;
  const std::size_t long_run = run * ((phase + run - 1) / run);
  std::vector<ExchangeLayout> layouts;
  for (const bool are_columns : {false, true}) {
    if (are_columns && design.lines == 1) break;
    for (const std::size_t period : long_run == run ? std::vector{run} : std::vector{run, long_run}) {
      for (const std::size_t extra : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{4}, from.before}) {
        if (extra > 0 && (extra > phase || period >= design.length)) continue;
        for (const std::size_t pitch : {0, 1, 2, 3, 4, 5, 6, 7, 8}) {
          if (pitch > 0 && (are_columns || design.lines == 1)) continue;
          ExchangeLayout layout{.interleaved_lines = are_columns,
                                .lines = design.lines,
                                .period = extra == 0 ? 0 : period,
                                .extra = extra,
                                .pitch = pitch};
          const std::size_t line = layout.place(design.length - 1) + 1;
          if (are_columns) {
            layout.elements = line * design.lines;
          } else {
            layout.pitch += line;
            layout.elements = layout.pitch * design.lines;
          }
          layouts.push_back(layout);
        }
      }
    }
  }
  return layouts;
}

// Cache key: everything that a layout depends on.
using LayoutKey = std::array<std::size_t, 14>;
LayoutKey key_of(const PassDesign& design, const StageDesign& from, const StageDesign& to, std::size_t element_bytes) {
  return {design.length,
          design.threads,
          design.lines,
          from.radix,
          from.before,
          from.butterflies,
          from.rounds,
          to.radix,
          to.before,
          to.butterflies,
          to.rounds,
          static_cast<std::size_t>(from.order),
          static_cast<std::size_t>(to.order),
          element_bytes};
}

}  // namespace

ExchangeLayout exchange_layout(const PassDesign& design, const StageDesign& from, const StageDesign& to,
                               std::size_t element_bytes) {
  // Planning requests the same layouts repeatedly: for the size of local memory and for each kernel's text.
  static std::mutex mutex;
  static std::map<LayoutKey, ExchangeLayout> known;
  const LayoutKey key = key_of(design, from, to, element_bytes);
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  std::vector<ExchangeLayout> layouts = layouts_of(design, from, kLanes / (element_bytes / kBankBytes));
  // Smallest first, so that the search can stop at the first layout without conflicts.
  std::stable_sort(layouts.begin(), layouts.end(),
                   [](const ExchangeLayout& a, const ExchangeLayout& b) { return a.elements < b.elements; });
  const std::size_t least = least_accesses(design, from, to, element_bytes);
  ExchangeLayout best = layouts.front();
  std::size_t best_accesses = static_cast<std::size_t>(-1);
  for (const ExchangeLayout& layout : layouts) {
    const std::size_t accesses = bank_accesses_below(design, from, to, layout, element_bytes, best_accesses);
    if (accesses >= best_accesses) continue;
    best_accesses = accesses;
    best = layout;
    if (accesses <= least) break;
  }
  const std::lock_guard lock(mutex);
  if (known.size() > 10000) known.clear();
  known.emplace(key, best);
  return best;
}

double conflicts(const PassDesign& design) {
  const std::vector<StageDesign> stages = stages_of(design);
  const std::size_t bytes = (design.float64 ? 16 : 8) / (design.split ? 2 : 1);
  double all = 0, least = 0;
  for (std::size_t i = 0; i + 1 < stages.size(); ++i) {
    const ExchangeLayout layout = exchange_layout(design, stages[i], stages[i + 1], bytes);
    all += static_cast<double>(bank_accesses(design, stages[i], stages[i + 1], layout, bytes));
    least += static_cast<double>(least_accesses(design, stages[i], stages[i + 1], bytes));
  }
  return least > 0 ? all / least : 1;
}

}  // namespace ridge::fft::on_device
