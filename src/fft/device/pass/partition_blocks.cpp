// Maps the points of a pass to blocks that are local to one L2 partition.
#include "fft/device/pass/partition_blocks.hpp"

#include <bit>
#include <vector>

#include <fmt/format.h>

namespace ridge::fft::on_device {

bool PartitionBlocks::swapped(std::uint64_t at) const {
  return std::popcount(placed(at) * element & kPartitionBits) % 2 != 0;
}

void PartitionPointers::begin(const std::string& at, const std::string& partition) {
  known_.clear();
  text_.line("const uint {}_at = (uint)({});", name_, at);
  text_.line("const uint {0}_placed = {0}_at + ({0}_at & ~{1}u);", name_, blocks_.block() - 1);
  std::string swapped = partition;
  for (std::uint64_t bits = kPartitionBits & ~kPartitionBlock; bits != 0; bits &= bits - 1) {
    swapped += fmt::format(" ^ {}_placed >> {}", name_, std::countr_zero(bits) - std::countr_zero(blocks_.element));
  }
  text_.line("const uint {}_swapped = {};", name_, swapped);
}

std::string PartitionPointers::operator()(std::uint64_t constant) {
  const std::uint64_t page = blocks_.page(constant);
  const std::string pointer = fmt::format("{}{}_{}", name_, page, blocks_.swapped(constant) ? 1 : 0);
  if (known_.insert(pointer).second) {
    text_.line(
        "{0}* const {1} = {2} + ({3}_placed + ((page_bits >> (({3}_placed >> {4}) + {5}u) ^ {3}_swapped{6}) & 1u) * "
        "{7}u);",
        type_, pointer, array_, name_, std::countr_zero(kPartitionPage / blocks_.element), page,
        blocks_.swapped(constant) ? " ^ 1u" : "", blocks_.block());
  }
  return fmt::format("{} + {}u", pointer, blocks_.placed(constant));
}

std::uint64_t partition_place(const PassSide& side, std::uint64_t point) {
  if (side.block == 0) return point * side.at.point;
  const std::uint64_t step = side.interleaved_partitions ? 2 * side.block : side.block;
  return point / step * side.block_step + point % side.block * side.at.point;
}

bool partition_local_serves(const PassDesign& pass, bool stores) {
  const PassSide& side = stores ? pass.store : pass.load;
  const StageDesign stage = stores ? stages_of(pass).back() : stages_of(pass).front();
  if (side.values != Values::complex || side.valid > 0 || side.factor != FactorKind::none || side.staged ||
      side.storage != Storage::same || pass.convolution()) {
    return false;
  }
  const bool folded = pass.folded() != nullptr;
  if (pass.mirror_rows() > 0 && (stores || (folded && !pass.fold_lanes()))) return false;
  const auto place = [&](std::uint64_t point) { return partition_place(side, folded ? point / 2 : point); };
  if (side.interleaved_partitions && stage.butterflies % (2 * side.block) != 0) return false;
  if (side.at.line.size() != pass.counts.size()) return false;
  std::uint64_t lines = 0, items = 0, points = 0;
  std::vector<std::uint64_t> counts = pass.counts;
  if (pass.mirror_rows() > 0) counts.front() = pass.mirror_rows();  // mirrors are loaded too
  std::uint64_t count = 1;
  for (const std::uint64_t each : counts) count *= each;
  for (std::uint64_t line = 0; line < count; ++line) {
    std::uint64_t rest = line, sum = 0;
    for (std::size_t dimension = 0; dimension < side.at.line.size(); ++dimension) {
      const std::uint64_t number = rest % counts[dimension];
      if ((sum & number * side.at.line[dimension]) != 0) return false;
      sum += number * side.at.line[dimension];
      rest /= counts[dimension];
    }
    lines |= sum;
  }
  for (std::uint64_t i = 0; i < stage.butterflies; ++i) items |= place(i);
  for (std::uint64_t u = 0; u < stage.radix; ++u) points |= place(u * stage.butterflies);
  for (std::uint64_t i = 0; i < pass.length; ++i) {
    const std::uint64_t rest = i % stage.butterflies;
    if (place(i) != place(rest) + place(i - rest)) return false;
  }
  return (lines & items) == 0 && ((lines | items) & points) == 0;
}

}  // namespace ridge::fft::on_device
