// Launches the sorting kernels and cuts tiles into pieces.
#include "nufft/device/sorter.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "nufft/farthest.hpp"

namespace ridge::nufft {
namespace {

constexpr std::size_t kGroup = 256, kScanned = 2048;  // as in nonuniform.cl
constexpr std::size_t kMostPerPiece = 1024;           // points of a work-group; as there
// As in sort_parts.cl. Parts of uniform points are filled to two thirds.
constexpr std::size_t kPartGroup = 512, kMostInPart = 24 * kPartGroup;
constexpr std::size_t kMostParts = 4096, kMostKeys = 2048, kPartPoints = 2 * kMostInPart / 3;
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

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
      move_(program.kernel("move_points")),
      count_parts_(program.kernel("count_parts")),
      fill_parts_(program.kernel("fill_parts")),
      sort_part_(program.kernel("sort_part")) {}

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
bool DeviceSorter<T>::sort_in_parts(Queue& queue, const std::array<Buffer, 3>& axis, std::size_t count,
                                    const Buffer& records) const {
  const std::size_t keys = this->keys(), per_part = groups_for(keys, groups_for(count, kPartPoints));
  const std::size_t parts = groups_for(keys, per_part);
  if (count < kMostInPart || parts > kMostParts || per_part > kMostKeys || device_.limits().work_group < kPartGroup)
    return false;
  const auto number = [](std::size_t value) { return static_cast<std::uint32_t>(value); };
  const auto cells = [&](std::size_t i) { return static_cast<std::int32_t>(design_.cells[i]); };
  const auto across = static_cast<std::int32_t>(design_.tiles_across());
  const Buffer ends = scratch(parts_, kMostParts, "nufft parts");
  const Launch slices{.groups = {groups_for(count, kPartGroup * (sizeof(T) == 8 ? 16 : 32))}, .items = {kPartGroup}};
  queue.fill(ends, std::byte{0});
  queue.launch(count_parts_, slices,
               {axis[0], axis[1], axis[2], ends, found_, farthest_, number(count), cells(0), cells(1), cells(2), across,
                number(per_part), number(parts)});
  ends_.resize(parts);
  std::uint32_t bad = kNone, before = 0;
  queue.download(ends, ends_.data(), parts * sizeof bad);
  queue.download(found_, &bad, sizeof bad);
  queue.finish();
  if (bad != kNone || *std::max_element(ends_.begin(), ends_.end()) > kMostInPart) return false;
  for (std::uint32_t& each : ends_) before += std::exchange(each, before);
  queue.upload(ends_.data(), ends, parts * sizeof before);
  const Buffer moved = scratch(moved_, 4 * count * sizeof(T) / sizeof(std::uint32_t), "nufft points by parts");
  queue.launch(fill_parts_, slices,
               {axis[0], axis[1], axis[2], ends, moved, number(count), cells(0), cells(1), cells(2), across,
                number(per_part), number(parts)});
  queue.fill(totals_, std::byte{0});
  queue.launch(sort_part_, {.groups = {parts}, .items = {kPartGroup}},
               {moved, ends, records, counts_, cells(0), cells(1), cells(2), across, number(per_part), number(keys)});
  return true;
}

template <class T>
void DeviceSorter<T>::sort_at_once(Queue& queue, const std::array<Buffer, 3>& axis, std::size_t count,
                                   const Buffer& records) const {
  const auto number = static_cast<std::uint32_t>(count);
  const Buffer key = scratch(keys_, count, "nufft keys"), rank = scratch(ranks_, count, "nufft ranks");
  const auto cells = [&](std::size_t i) { return static_cast<std::int32_t>(design_.cells[i]); };
  const Launch per_point{.groups = {groups_for(count, kGroup)}, .items = {kGroup}};
  queue.fill(counts_, std::byte{0});
  queue.launch(count_, per_point,
               {axis[0], axis[1], axis[2], key, rank, counts_, found_, farthest_, number, cells(0), cells(1), cells(2),
                static_cast<std::int32_t>(design_.tiles_across())});
  scan(queue, counts_, totals_, keys());
  queue.launch(move_, per_point, {axis[0], axis[1], axis[2], key, rank, counts_, totals_, records, number});
}

template <class T>
std::shared_ptr<const DevicePoints> DeviceSorter<T>::sort(Queue& queue, const std::array<Buffer, 3>& axis,
                                                          std::size_t count, std::size_t& bad) const {
  auto points = std::make_shared<DevicePoints>(count);
  bad = count;
  if (count == 0) return points;
  std::lock_guard lock(busy_);
  scratch(counts_, keys(), "nufft counts");
  scratch(totals_, groups_for(keys(), kScanned), "nufft totals");
  const Buffer found = scratch(found_, 2, "nufft found");
  const std::array<Buffer, 3> given{axis[0], axis[1] ? axis[1] : axis[0], axis[2] ? axis[2] : axis[0]};
  points->records = device_.buffer(4 * sizeof(T) * count, {.name = "nufft points"});
  queue.fill(found, std::byte{0xff});
  if (!sort_in_parts(queue, given, count, points->records)) sort_at_once(queue, given, count, points->records);
  if (design_.spreading != Spreading::atomic) list_pieces(queue, *points);
  std::array<std::uint32_t, 2> words{};
  queue.download(found, words.data(), sizeof words);
  queue.finish();
  if (words[0] != kNone) {
    bad = words[0];
    return nullptr;
  }
  points->pieces_count = words[1];
  return points;
}

template class DeviceSorter<float>;
template class DeviceSorter<double>;

}  // namespace ridge::nufft
