// Launches the sorting kernels and cuts tiles into pieces.
#include "nufft/device/sorter.hpp"

#include <algorithm>
#include <limits>

#include "nufft/farthest.hpp"

namespace ridge::nufft {
namespace {

constexpr std::size_t kGroup = 256, kScanned = 2048;  // as in nonuniform.cl
constexpr std::size_t kMostPerPiece = 1024;           // points of a work-group; as there

std::uint64_t groups_for(std::size_t count, std::size_t group) { return (count + group - 1) / group; }

}  // namespace

template <class T>
DeviceSorter<T>::DeviceSorter(const Device& device, const DeviceDesign& design, const Program& program, bool fold)
    : device_(device),
      design_(design),
      farthest_(farthest<T>(fold)),
      count_(program.kernel("count_points")),
      scan_(program.kernel("scan_counts")),
      count_pieces_(program.kernel("count_pieces")),
      list_pieces_(program.kernel("list_pieces")),
      move_(program.kernel("move_points")) {}

// Grows a buffer that all sorts share.
template <class T>
Buffer DeviceSorter<T>::scratch(Buffer& buffer, std::size_t elements, const char* name) const {
  const std::size_t bytes = elements * sizeof(std::uint32_t);
  if (!buffer || buffer.size() < bytes) buffer = device_.buffer(bytes, {.name = name});
  return buffer;
}

// Exclusive sums of `count` counts: of blocks of kScanned in place, and of all blocks before each block in `totals`.
template <class T>
void DeviceSorter<T>::scan(Queue& queue, const Buffer& counts, const Buffer& totals, std::size_t count) const {
  const std::uint64_t blocks = groups_for(count, kScanned);
  const auto number = [](std::size_t value) { return static_cast<std::uint32_t>(value); };
  queue.launch(scan_, {.groups = {blocks}, .items = {kGroup}},
               {counts, totals, number(count), number(kScanned / kGroup)});
  queue.launch(scan_, {.groups = {1}, .items = {kGroup}},
               {totals, scratch(total_, 1, "nufft total"), number(blocks), number(groups_for(blocks, kGroup))});
}

template <class T>
void DeviceSorter<T>::list_pieces(Queue& queue, DevicePoints& points) const {
  const std::size_t tiles = design_.tiles(), most = tiles + points.count() / kMostPerPiece;
  const Buffer numbers = scratch(numbers_, tiles + 1, "nufft pieces per tile");
  const Buffer totals = scratch(number_totals_, groups_for(tiles + 1, kScanned), "nufft piece totals");
  const auto per_tile = static_cast<std::uint32_t>(design_.keys_per_tile()), all = static_cast<std::uint32_t>(tiles);
  const Launch launch{.groups = {groups_for(tiles + 1, kGroup)}, .items = {kGroup}};
  points.pieces = device_.buffer(3 * most * sizeof(std::uint32_t), {.name = "nufft pieces"});
  queue.launch(count_pieces_, launch, {counts_, totals_, numbers, all, per_tile});
  scan(queue, numbers, totals, tiles + 1);
  queue.launch(list_pieces_, launch, {counts_, totals_, numbers, totals, points.pieces, found_, all, per_tile});
}

template <class T>
std::shared_ptr<const DevicePoints> DeviceSorter<T>::sort(Queue& queue, const std::array<Buffer, 3>& axis,
                                                          std::size_t count, std::size_t& bad) const {
  auto points = std::make_shared<DevicePoints>(count);
  bad = count;
  if (count == 0) return points;
  std::lock_guard lock(busy_);
  const std::size_t keys = design_.tiles() * design_.keys_per_tile() + 1;
  const auto number = static_cast<std::uint32_t>(count);
  const Buffer key = scratch(keys_, count, "nufft keys"), rank = scratch(ranks_, count, "nufft ranks");
  const Buffer counts = scratch(counts_, keys, "nufft counts"), found = scratch(found_, 2, "nufft found");
  const Buffer totals = scratch(totals_, groups_for(keys, kScanned), "nufft totals");
  const auto cells = [&](std::size_t i) { return static_cast<std::int32_t>(design_.cells[i]); };
  const auto across = static_cast<std::int32_t>(design_.tiles_across());
  const Buffer& x = axis[0];
  const Buffer& y = axis[1] ? axis[1] : axis[0];
  const Buffer& z = axis[2] ? axis[2] : axis[0];
  points->records = device_.buffer(4 * sizeof(T) * count, {.name = "nufft points"});
  queue.fill(counts, std::byte{0});
  queue.fill(found, std::byte{0xff});
  const Launch per_point{.groups = {groups_for(count, kGroup)}, .items = {kGroup}};
  queue.launch(count_, per_point,
               {x, y, z, key, rank, counts, found, farthest_, number, cells(0), cells(1), cells(2), across});
  scan(queue, counts, totals, keys);
  queue.launch(move_, per_point, {x, y, z, key, rank, counts, totals, points->records, number});
  if (design_.spreading != Spreading::atomic) list_pieces(queue, *points);
  std::array<std::uint32_t, 2> words{};
  queue.download(found, words.data(), sizeof words);
  queue.finish();
  if (words[0] != std::numeric_limits<std::uint32_t>::max()) {
    bad = words[0];
    return nullptr;
  }
  points->pieces_count = words[1];
  return points;
}

template class DeviceSorter<float>;
template class DeviceSorter<double>;

}  // namespace ridge::nufft
