// Computes the stages of a pass and the places of their tables.
#include "fft/device/pass/design.hpp"

#include <algorithm>
#include <bit>

#include "fft/device/pass/real_kind.hpp"

namespace ridge::fft::on_device {
namespace {

// Larger step tables would displace the data from the caches.
constexpr std::uint64_t kMostStepColumns = 8192;

// Number of loaded_powers().
std::size_t loaded(std::size_t radix, bool few) {
  return few ? std::min<std::size_t>(radix - 1, 3) + (radix - 1) / 4 : radix - 1;
}

}  // namespace

std::vector<std::size_t> loaded_powers(std::size_t radix, bool few) {
  std::vector<std::size_t> powers;
  for (std::size_t s = 1; s < radix; ++s) {
    if (!few || s < 4 || s % 4 == 0) powers.push_back(s);
  }
  return powers;
}

std::vector<StageDesign> stages_of(const PassDesign& design) {
  std::vector<StageDesign> stages;
  std::size_t table = 0;
  const auto add = [&](std::size_t radix, std::size_t& before) {
    const std::size_t butterflies = design.length / radix;
    stages.push_back(
        {radix, before, butterflies, (butterflies + design.threads - 1) / design.threads, table, design.load_order});
    if (before > 1) table += before * loaded(radix, design.few_twiddles);
    before *= radix;
  };
  std::size_t before = 1;
  for (const std::size_t radix : design.radices) add(radix, before);
  if (design.convolution()) {
    before = 1;
    for (std::size_t i = design.radices.size(); i-- > 0;) add(design.radices[i], before);
  }
  if (stages.size() > 1) stages.back().order = design.store_order;
  return stages;
}

TableOffsets table_offsets(const PassDesign& design) {
  TableOffsets offsets;
  std::size_t at = 0;
  for (const StageDesign& stage : stages_of(design)) {
    if (stage.before > 1) at = stage.table + stage.before * loaded(stage.radix, design.few_twiddles);
  }
  if (design.twiddle) {
    const std::uint64_t order = design.twiddle->order;
    offsets.fine_bits = static_cast<int>((std::bit_width(order - 1) + 1) / 2);
    offsets.fine = at;
    at += std::size_t{1} << offsets.fine_bits;
    offsets.coarse = at;
    at += ((order - 1) >> offsets.fine_bits) + 1;
    offsets.step_table = design.twiddle->columns <= kMostStepColumns;
    offsets.step = at;
    if (offsets.step_table) {
      at += loaded(stages_of(design).back().radix, design.few_twiddles) * design.twiddle->columns;
    }
  }
  offsets.filter = at;
  if (design.convolves_by(Convolution::rader) || design.convolves_by(Convolution::bluestein)) at += design.length;
  offsets.chirp = at;
  if (design.convolves_by(Convolution::bluestein)) at += design.points;
  offsets.half = at;
  if (design.load.values == Values::half || design.store.values == Values::half) at += design.length;
  offsets.kind = at;
  if (design.real_to_real()) at += real_kind_roots(design.real_to_real()->kind, design.real_to_real()->points).count;
  offsets.end = std::max<std::size_t>(at, 1);
  return offsets;
}

}  // namespace ridge::fft::on_device
