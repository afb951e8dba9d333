// Launches the sorting kernels and cuts tiles into pieces.
#include "nufft/device/sorter.hpp"

#include <algorithm>
#include <limits>

#include "nufft/farthest.hpp"

namespace ridge::nufft {
namespace {

constexpr std::size_t kGroup = 256, kScanned = 2048;  // as in nonuniform.cl
constexpr std::size_t kMostPerPiece = 1024;           // points per work-group; as in nonuniform.cl
constexpr std::size_t kListers = 8;                   // work-items that list the pieces of a tile; as in nonuniform.cl
// As in sort_parts.cl.
constexpr std::size_t kPartItems = DeviceDesign::kPartItems;
constexpr std::size_t kCounted = 16384, kMostParts = 2048, kMostInPart = 16384, kMostKeys = 1536;
constexpr std::size_t kInPart = 12288;  // expected points of a part
constexpr std::size_t kNotFound = std::numeric_limits<std::uint32_t>::max();

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
      move_(program.kernel("move_points")) {
  if (!design.parts) return;
  count_parts_ = program.kernel("count_parts");
  start_parts_ = program.kernel("start_parts");
  fill_parts_ = program.kernel("fill_parts");
  sort_part_ = program.kernel("sort_part");
}

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
  queue.launch(list_pieces_, {.groups = {groups_for((tiles + 1) * kListers, kGroup)}, .items = {kGroup}},
               {counts_, totals_, numbers, totals, points.pieces, found_, all, per_tile});
}

template <class T>
std::vector<Argument> DeviceSorter<T>::coordinates(const Given& given) const {
  return {given.axis[0], given.axis[1] ? given.axis[1] : given.axis[0], given.axis[2] ? given.axis[2] : given.axis[0]};
}

template <class T>
void DeviceSorter<T>::add_grid(std::vector<Argument>& arguments) const {
  for (const std::size_t cells : design_.cells) arguments.emplace_back(static_cast<std::int32_t>(cells));
  arguments.emplace_back(static_cast<std::int32_t>(design_.tiles_across()));
}

template <class T>
std::size_t DeviceSorter<T>::keys_per_part(std::size_t count) const {
  if (!design_.parts || count < DeviceDesign::kFewestByParts) return 0;
  const std::size_t parts = groups_for(count, kInPart), each = groups_for(keys(), parts);
  return parts <= kMostParts && each <= kMostKeys ? each : 0;
}

// Returns false, with nothing sorted, if a part has too many points or a coordinate is refused.
template <class T>
bool DeviceSorter<T>::sort_parts(Queue& queue, const Given& given, const Buffer& records) const {
  const auto number = [](std::size_t value) { return static_cast<std::uint32_t>(value); };
  const std::size_t each = keys_per_part(given.count), parts = groups_for(keys(), each);
  const Buffer part_counts = scratch(part_counts_, parts, "nufft points per part");
  const Buffer starts = scratch(starts_, parts + 1, "nufft starts of parts");
  const Buffer cursors = scratch(cursors_, parts, "nufft places in parts");
  queue.fill(part_counts, std::byte{0});
  std::vector<Argument> arguments = coordinates(given);
  arguments.insert(arguments.end(), {part_counts, found_, farthest_, number(given.count)});
  add_grid(arguments);
  arguments.insert(arguments.end(), {number(each), number(parts)});
  queue.launch(count_parts_, {.groups = {groups_for(given.count, kCounted)}, .items = {kPartItems}}, arguments);
  queue.launch(start_parts_, {.groups = {1}, .items = {kPartItems}},
               {part_counts, starts, cursors, found_, number(parts)});
  std::array<std::uint32_t, 3> words{};
  queue.download(found_, words.data(), sizeof words);
  queue.finish();
  if (words[0] != kNotFound || words[2] > kMostInPart) return false;
  constexpr std::size_t kRecord = 4 * sizeof(T), kMoved = sizeof(T) == 8 ? 2048 : 4096;
  const Buffer moved = scratch(moved_, given.count * kRecord / sizeof(std::uint32_t), "nufft points by part");
  arguments = coordinates(given);
  arguments.insert(arguments.end(), {cursors, moved, farthest_, number(given.count)});
  add_grid(arguments);
  arguments.insert(arguments.end(), {number(each), number(parts)});
  queue.launch(fill_parts_,
               {.groups = {groups_for(given.count, kMoved)}, .items = {kPartItems}, .local_bytes = kMoved * kRecord},
               arguments);
  arguments = {moved, starts, counts_, records};
  add_grid(arguments);
  arguments.insert(arguments.end(), {number(each), number(keys())});
  queue.launch(sort_part_,
               {.groups = {parts}, .items = {kPartItems}, .local_bytes = 2 * kMostInPart * sizeof(std::uint16_t)},
               arguments);
  queue.fill(totals_, std::byte{0});
  return true;
}

template <class T>
void DeviceSorter<T>::sort_points(Queue& queue, const Given& given, const Buffer& records) const {
  const Buffer key = scratch(keys_, given.count, "nufft keys"), rank = scratch(ranks_, given.count, "nufft ranks");
  const Launch per_point{.groups = {groups_for(given.count, kGroup)}, .items = {kGroup}};
  const auto count = static_cast<std::uint32_t>(given.count);
  queue.fill(counts_, std::byte{0});
  std::vector<Argument> arguments = coordinates(given);
  arguments.insert(arguments.end(), {key, rank, counts_, found_, farthest_, count});
  add_grid(arguments);
  queue.launch(count_, per_point, arguments);
  scan(queue, counts_, totals_, keys());
  arguments = coordinates(given);
  arguments.insert(arguments.end(), {key, rank, counts_, totals_, records, count});
  queue.launch(move_, per_point, arguments);
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
  scratch(found_, 3, "nufft found");
  points->records = device_.buffer(4 * sizeof(T) * count, {.name = "nufft points"});
  queue.fill(found_, std::byte{0xff});
  const Given given{axis, count};
  if (keys_per_part(count) == 0 || !sort_parts(queue, given, points->records)) {
    sort_points(queue, given, points->records);
  }
  if (design_.spreading != Spreading::atomic) list_pieces(queue, *points);
  std::array<std::uint32_t, 2> words{};
  queue.download(found_, words.data(), sizeof words);
  queue.finish();
  if (words[0] != kNotFound) {
    bad = words[0];
    return nullptr;
  }
  points->pieces_count = words[1];
  return points;
}

template class DeviceSorter<float>;
template class DeviceSorter<double>;

}  // namespace ridge::nufft
