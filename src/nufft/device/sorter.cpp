// Launches the sorting kernels and cuts tiles into pieces.
#include "nufft/device/sorter.hpp"

#include <algorithm>
#include <limits>

#include "nufft/farthest.hpp"

namespace ridge::nufft {
namespace {

constexpr std::size_t kGroup = 256, kScanned = 2048;  // as in nonuniform.cl
constexpr std::uint32_t kMostPerPiece = 1024;         // points of a work-group of spread_window

std::uint64_t groups_for(std::size_t count, std::size_t group) { return (count + group - 1) / group; }

}  // namespace

template <class T>
DeviceSorter<T>::DeviceSorter(const Device& device, const DeviceDesign& design, const Program& program, bool fold)
    : device_(device),
      design_(design),
      farthest_(farthest<T>(fold)),
      count_(program.kernel("count_points")),
      scan_(program.kernel("scan_counts")),
      scan_totals_(program.kernel("scan_totals")),
      find_(program.kernel("find_tiles")),
      move_(program.kernel("move_points")) {}

// Grows a buffer that all sorts share.
template <class T>
Buffer DeviceSorter<T>::scratch(Buffer& buffer, std::size_t elements, const char* name) const {
  const std::size_t bytes = elements * sizeof(std::uint32_t);
  if (!buffer || buffer.size() < bytes) buffer = device_.buffer(bytes, {.name = name});
  return buffer;
}

template <class T>
void DeviceSorter<T>::list_pieces(Queue& queue, const std::vector<std::uint32_t>& starts, DevicePoints& points) const {
  std::vector<std::uint32_t> pieces;
  for (std::size_t tile = 0; tile + 1 < starts.size(); ++tile) {
    for (std::uint32_t from = starts[tile]; from < starts[tile + 1]; from += kMostPerPiece) {
      pieces.insert(pieces.end(),
                    {static_cast<std::uint32_t>(tile), from, std::min(from + kMostPerPiece, starts[tile + 1])});
    }
  }
  points.pieces_count = static_cast<std::uint32_t>(pieces.size() / 3);
  points.pieces = device_.buffer(pieces.size() * sizeof pieces[0], {.name = "nufft pieces"});
  queue.upload(pieces.data(), points.pieces, points.pieces.size());
  queue.finish();
}

template <class T>
std::shared_ptr<const DevicePoints> DeviceSorter<T>::sort(Queue& queue, const std::array<Buffer, 3>& axis,
                                                          std::size_t count, std::size_t& bad) const {
  auto points = std::make_shared<DevicePoints>(count);
  bad = count;
  if (count == 0) return points;
  std::lock_guard lock(busy_);
  const std::size_t keys = design_.tiles() * design_.keys_per_tile() + 1, tiles = design_.tiles();
  const auto number = static_cast<std::uint32_t>(count);
  const Buffer key = scratch(keys_, count, "nufft keys"), rank = scratch(ranks_, count, "nufft ranks");
  const Buffer counts = scratch(counts_, keys, "nufft counts");
  const Buffer totals = scratch(totals_, groups_for(keys, kScanned), "nufft totals");
  const Buffer start = scratch(starts_, tiles + 1, "nufft starts"), first_bad = scratch(bad_, 1, "nufft bad");
  const auto cells = [&](std::size_t i) { return static_cast<std::int32_t>(design_.cells[i]); };
  const auto across = static_cast<std::int32_t>(design_.tiles_across());
  const Buffer& x = axis[0];
  const Buffer& y = axis[1] ? axis[1] : axis[0];
  const Buffer& z = axis[2] ? axis[2] : axis[0];
  points->records = device_.buffer(4 * sizeof(T) * count, {.name = "nufft points"});
  queue.fill(counts, std::byte{0});
  queue.fill(first_bad, std::byte{0xff});
  const Launch per_point{.groups = {groups_for(count, kGroup)}, .items = {kGroup}};
  queue.launch(count_, per_point,
               {x, y, z, key, rank, counts, first_bad, farthest_, number, cells(0), cells(1), cells(2), across});
  const auto key_count = static_cast<std::uint32_t>(keys),
             sums = static_cast<std::uint32_t>(groups_for(keys, kScanned));
  queue.launch(scan_, {.groups = {sums}, .items = {kGroup}}, {counts, totals, key_count});
  queue.launch(scan_totals_, {.groups = {1}, .items = {1}}, {totals, sums});
  queue.launch(
      find_, {.groups = {groups_for(tiles + 1, kGroup)}, .items = {kGroup}},
      {counts, totals, start, static_cast<std::uint32_t>(tiles), static_cast<std::uint32_t>(design_.keys_per_tile())});
  std::uint32_t found = 0;
  std::vector<std::uint32_t> starts(tiles + 1);
  queue.download(first_bad, &found, sizeof found);
  queue.download(start, starts.data(), starts.size() * sizeof starts[0]);
  queue.finish();
  if (found != std::numeric_limits<std::uint32_t>::max()) {
    bad = found;
    return nullptr;
  }
  queue.launch(move_, per_point, {x, y, z, key, rank, counts, totals, points->records, number});
  if (design_.spreading == Spreading::window) {
    list_pieces(queue, starts, *points);
  } else {
    queue.finish();
  }
  return points;
}

template class DeviceSorter<float>;
template class DeviceSorter<double>;

}  // namespace ridge::nufft
