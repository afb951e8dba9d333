// Searches the padding of an exchange by counting bank accesses of a warp.
#include "fft/device/pass/exchange_layout.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace ridge::fft::on_device {
namespace {

// Local memory of the supported GPUs: 32 banks of 4 bytes.
constexpr std::size_t kBankBytes = 4, kBanks = 32, kLanes = 32;
constexpr std::size_t kWarpsLookedAt = 2;
constexpr auto kNoLimit = static_cast<std::size_t>(-1);

struct Item {
  std::size_t thread, line;
};

Item item_of(const PassDesign& design, Order order, std::size_t item) {
  if (order == Order::lines) return {item / design.lines, item % design.lines};
  return {item % design.threads, item / design.threads};
}

// One load or store of a warp: the point and the line of every lane.
struct Instruction {
  std::array<std::uint32_t, kLanes> points{}, lines{};
  std::uint32_t moves = 0;  // bit per lane: it moves data
};

// The stores and loads of an exchange. They do not depend on its layout.
class Exchange {
 public:
  Exchange(const PassDesign& design, const StageDesign& from, const StageDesign& to, std::size_t element_bytes)
      : from_(from), to_(to), words_(element_bytes / kBankBytes) {
    const std::size_t warps = std::min((design.items() + kLanes - 1) / kLanes, kWarpsLookedAt);
    for (std::size_t warp = 0; warp < warps; ++warp) {
      stores_.push_back(instruction(design, from, warp, [&](std::size_t i) {
        const std::size_t k = i % from.before;
        return (i - k) * from.radix + k;
      }));
      for (std::size_t s = 0; s < some_reads(); ++s) {
        const std::size_t first = s * (to.radix / some_reads()) * to.butterflies;
        loads_.push_back(instruction(design, to, warp, [&](std::size_t i) { return i + first; }));
      }
    }
  }

  // Serialized accesses with a layout. Stops when their number reaches `limit`.
  std::size_t accesses(const ExchangeLayout& layout, std::size_t limit) const {
    // All writes of a butterfly fall into one period of the padding, so they differ by a step that is the same for
    // every work-item: one write represents all. The same holds for reads if the period divides their distance.
    const bool alike = layout.period == 0 || to_.butterflies % layout.period == 0;
    // Otherwise four of them are simulated.
    const std::size_t reads = alike ? 1 : some_reads(), apart = to_.radix / reads;
    std::size_t sum = 0;
    for (std::size_t warp = 0; warp < stores_.size() && sum < limit; ++warp) {
      sum += from_.radix * from_.rounds * passes(stores_[warp], layout);
      for (std::size_t s = 0; s < reads && sum < limit; ++s) {
        const std::size_t times = s + 1 < reads ? apart : to_.radix - s * apart;
        sum += times * to_.rounds * passes(loads_[warp * some_reads() + s], layout);
      }
    }
    return sum;
  }

  // Accesses without conflicts: one per part of a warp that moves data.
  std::size_t least() const {
    std::size_t sum = 0;
    for (std::size_t warp = 0; warp < stores_.size(); ++warp) {
      sum += from_.radix * from_.rounds * busy_parts(stores_[warp]);
      sum += to_.radix * to_.rounds * busy_parts(loads_[warp * some_reads()]);
    }
    return sum;
  }

 private:
  std::size_t some_reads() const { return std::min<std::size_t>(to_.radix, 4); }
  std::size_t part() const { return kLanes / words_; }  // lanes that are served at once

  template <class Point>
  static Instruction instruction(const PassDesign& design, const StageDesign& stage, std::size_t warp,
                                 const Point& point) {
    Instruction made;
    for (std::size_t lane = 0; lane < kLanes && warp * kLanes + lane < design.items(); ++lane) {
      const Item own = item_of(design, stage.order, warp * kLanes + lane);
      if (own.thread >= stage.butterflies) continue;
      made.points[lane] = static_cast<std::uint32_t>(point(own.thread));
      made.lines[lane] = static_cast<std::uint32_t>(own.line);
      made.moves |= 1U << lane;
    }
    return made;
  }

  std::size_t busy_parts(const Instruction& one) const {
    std::size_t busy = 0;
    for (std::size_t first = 0; first < kLanes; first += part())
      busy += (one.moves >> first & static_cast<std::uint32_t>((std::uint64_t{1} << part()) - 1)) != 0 ? 1 : 0;
    return busy;
  }

  // Number of serialized bank accesses of one instruction.
  std::size_t passes(const Instruction& one, const ExchangeLayout& layout) const {
    // point * inverse >> 32 is point / period for points and periods below 2^16, which local memory does not reach.
    const std::uint64_t inverse = layout.period == 0 ? 0 : (std::uint64_t{1} << 32) / layout.period + 1;
    const auto extra = static_cast<std::uint32_t>(layout.extra);
    const auto pitch = static_cast<std::uint32_t>(layout.pitch), lines = static_cast<std::uint32_t>(layout.lines);
    const std::uint32_t step = layout.interleaved_lines ? lines : 1, line_step = layout.interleaved_lines ? 1 : pitch;
    std::array<unsigned char, kLanes> banks;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::uint32_t point = one.points[lane];
      const std::uint32_t place = point + static_cast<std::uint32_t>(point * inverse >> 32) * extra;
      const std::uint32_t element = place * step + one.lines[lane] * line_step;  // modulo the banks
      banks[lane] = static_cast<unsigned char>(element * static_cast<std::uint32_t>(words_) % kBanks);
    }
    const std::size_t served = part();
    std::size_t sum = 0;
    for (std::size_t first = 0; first < kLanes; first += served) {
      std::array<unsigned char, kBanks> hits{};
      unsigned char most = 0;
      for (std::size_t lane = first; lane < first + served; ++lane) {
        if ((one.moves >> lane & 1U) != 0) most = std::max(most, ++hits[banks[lane]]);
      }
      sum += most;
    }
    return sum;
  }

  const StageDesign &from_, &to_;
  std::size_t words_;  // of an element
  std::vector<Instruction> stores_{}, loads_{};
};

// Layouts worth simulating, with their sizes.
std::vector<ExchangeLayout> layouts_of(const PassDesign& design, const StageDesign& from, std::size_t phase) {
  const std::size_t run = from.before * from.radix;
  const std::size_t long_run = run * ((phase + run - 1) / run);
  std::vector<ExchangeLayout> layouts;
  for (const bool are_columns : {false, true}) {
    if (are_columns && design.lines == 1) break;
    for (const std::size_t period : long_run == run ? std::vector{run} : std::vector{run, long_run}) {
      std::vector<std::size_t> extras{1, 2, 4};
      if (period == run) extras.insert(extras.begin(), 0);
      if (std::ranges::find(extras, from.before) == extras.end()) extras.push_back(from.before);
      for (const std::size_t extra : extras) {
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

namespace {

struct KnownLayout {
  ExchangeLayout layout{};
  std::size_t accesses = 0, least = 0;
};

KnownLayout known_layout(const PassDesign& design, const StageDesign& from, const StageDesign& to,
                         std::size_t element_bytes) {
  // Planning requests the same layouts repeatedly: for the size of local memory and for each kernel's text.
  static std::mutex mutex;
  static std::map<LayoutKey, KnownLayout> known;
  const LayoutKey key = key_of(design, from, to, element_bytes);
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  std::vector<ExchangeLayout> layouts = layouts_of(design, from, kLanes / (element_bytes / kBankBytes));
  // Smallest first, so that the search can stop at the first layout without conflicts.
  std::stable_sort(layouts.begin(), layouts.end(),
                   [](const ExchangeLayout& a, const ExchangeLayout& b) { return a.elements < b.elements; });
  const Exchange exchange(design, from, to, element_bytes);
  KnownLayout best{.layout = layouts.front(), .accesses = kNoLimit, .least = exchange.least()};
  for (const ExchangeLayout& layout : layouts) {
    const std::size_t accesses = exchange.accesses(layout, best.accesses);
    if (accesses >= best.accesses) continue;
    best.accesses = accesses;
    best.layout = layout;
    if (accesses <= best.least) break;
  }
  const std::lock_guard lock(mutex);
  if (known.size() > 10000) known.clear();
  known.emplace(key, best);
  return best;
}

}  // namespace

std::size_t bank_accesses(const PassDesign& design, const StageDesign& from, const StageDesign& to,
                          const ExchangeLayout& layout, std::size_t element_bytes) {
  return Exchange(design, from, to, element_bytes).accesses(layout, kNoLimit);
}

ExchangeLayout exchange_layout(const PassDesign& design, const StageDesign& from, const StageDesign& to,
                               std::size_t element_bytes) {
  return known_layout(design, from, to, element_bytes).layout;
}

double conflicts(const PassDesign& design) {
  const std::vector<StageDesign> stages = stages_of(design);
  const std::size_t bytes = (design.float64 ? 16 : 8) / (design.split ? 2 : 1);
  double all = 0, least = 0;
  for (std::size_t i = 0; i + 1 < stages.size(); ++i) {
    const KnownLayout known = known_layout(design, stages[i], stages[i + 1], bytes);
    all += static_cast<double>(known.accesses);
    least += static_cast<double>(known.least);
  }
  return least > 0 ? all / least : 1;
}

}  // namespace ridge::fft::on_device
