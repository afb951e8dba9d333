// Writes and reads checkpoints with checksums, and chooses the newer complete generation.
#include "io/arrays/checkpoint.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/aligned.hpp"
#include "base/log.hpp"
#include "base/new_file.hpp"
#include "io/atomic_file.hpp"
#include "io/encoding.hpp"

namespace ridge::io {
namespace fs = std::filesystem;
namespace {

static_assert(std::endian::native == std::endian::little,
              "checkpoints are written in native, little-endian byte order");

constexpr std::string_view kCheckpointMagic = "RIDGECKP";
constexpr std::size_t kLongestHeader = std::size_t{1} << 20;
constexpr std::size_t kMostFields = 256;

std::string bytes_of_number(std::uint32_t number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

std::string header_text(const CheckpointState& state, const GridSource& source, std::size_t block) {
  base::Json json = base::Json::object();  // constructed as an object: a later conversion could fail for lack of memory
  json["step"] = state.step;
  json["time"] = state.time;
  json["shape"] = source.shape;
  json["type"] = name_of(source.type);
  json["fields"] = source.names;
  json["spacing"] = source.spacing;
  json["block"] = block;
  json["parameters"] = state.parameters;
  return json.dump();
}

std::size_t blocks_per_field(const GridSource& layout, std::size_t block) { return (layout.shape[0] - 1) / block + 1; }

std::size_t count_in(const base::Json& json, const char* field, double high) {
  const double value = base::number_in(json, field, 0, high);
  if (value != std::floor(value)) throw Error(ErrorKind::io, fmt::format("\"{}\" is not a whole number", field));
  return static_cast<std::size_t>(value);
}

ElementType type_named(const std::string& name) {
  for (const ElementType type : {ElementType::int8, ElementType::uint8, ElementType::int16, ElementType::uint16,
                                 ElementType::int32, ElementType::float32, ElementType::float64}) {
    if (name == name_of(type)) return type;
  }
  throw Error(ErrorKind::io, fmt::format("cells of type \"{:.40}\"", name));
}

// Step and cell counts up to this are exact in a double.
constexpr double kMostCounted = 9007199254740992.0;

}  // namespace

// Beside the target of a symbolic link, so that a rename stays on one file system.
fs::path previous_generation(const fs::path& path) { return base::link_target(path).string() + ".previous"; }

void write_checkpoint(const fs::path& path, const CheckpointState& state, const GridSource& source) {
  check(source);
  const std::size_t block = slabs_at_a_time(source);
  const std::string text = header_text(state, source, block);
  if (text.size() > kLongestHeader) throw Error(ErrorKind::invalid_argument, "a checkpoint's header above 1 MiB");
  std::string start(kCheckpointMagic);
  start += bytes_of_number(kCheckpointVersion) + bytes_of_number(static_cast<std::uint32_t>(text.size())) + text;
  start += bytes_of_number(crc32c(start.data(), start.size()));

  AtomicFile file(path);
  file.write(start);
  std::string sums;
  for_each_piece(source, [&](std::size_t, std::size_t begin, std::size_t end, const std::byte* piece) {
    const std::size_t bytes = (end - begin) * source.slab_cells() * bytes_of(source.type);
    file.write(piece, bytes);
    sums += bytes_of_number(crc32c(piece, bytes));
  });
  sums += bytes_of_number(crc32c(sums.data(), sums.size()));
  file.write(sums);
  file.commit(previous_generation(path));
}

Checkpoint::Checkpoint(const fs::path& path) : path_(path) {
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor_ < 0) {
    throw Error(ErrorKind::io,
                fmt::format("cannot read checkpoint {}: {}", path.string(), std::generic_category().message(errno)));
  }
  try {
    read_header();
    check_blocks();
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

Checkpoint::~Checkpoint() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Checkpoint::Checkpoint(Checkpoint&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      data_(other.data_),
      block_(other.block_),
      layout_(std::move(other.layout_)),
      state_(std::move(other.state_)) {}

void Checkpoint::refuse(const std::string& what) const {
  throw Error(ErrorKind::io, fmt::format("checkpoint {} is refused: {}", path_.string(), what));
}

void Checkpoint::read_at(std::uint64_t offset, void* to, std::size_t bytes) const {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = ::pread(descriptor_, at, std::min<std::size_t>(bytes, 1u << 30), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(std::generic_category().message(errno));
    if (got == 0) refuse("it ends too early");
    at += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
}

void Checkpoint::read_header() {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) refuse("not a regular file");
  const auto size = static_cast<std::uint64_t>(status.st_size);
  std::string start(kCheckpointMagic.size() + 8, '\0');
  if (size < start.size() + 4) refuse(fmt::format("{} bytes are too few for a checkpoint", size));
  read_at(0, start.data(), start.size());
  if (start.compare(0, kCheckpointMagic.size(), kCheckpointMagic) != 0) refuse("it does not begin with RIDGECKP");
  std::uint32_t version = 0, length = 0, sum = 0;
  std::memcpy(&version, start.data() + kCheckpointMagic.size(), 4);
  std::memcpy(&length, start.data() + kCheckpointMagic.size() + 4, 4);
  if (version != kCheckpointVersion) {
    refuse(fmt::format("format version {}; only version {} is supported", version, kCheckpointVersion));
  }
  if (length > kLongestHeader || size < start.size() + length + 4) refuse("its header's length is damaged");
  const std::size_t before = start.size();
  start.resize(before + length);
  read_at(before, start.data() + before, length);
  read_at(start.size(), &sum, 4);
  if (sum != crc32c(start.data(), start.size())) refuse("the checksum of its header is wrong");
  data_ = start.size() + 4;

  // A valid checksum does not make the file trusted: every number is checked before memory is allocated.
  try {
    const base::Json json = base::parse_json(std::string_view(start).substr(before), {.bytes = kLongestHeader});
    if (!json.is_object()) throw Error(ErrorKind::io, "its header is not a JSON object");
    state_.step = count_in(json, "step", kMostCounted);
    state_.time =
        base::number_in(json, "time", -std::numeric_limits<double>::max(), std::numeric_limits<double>::max());
    layout_.type = type_named(base::text_in(json, "type", 40));
    block_ = count_in(json, "block", kMostCounted);
    if (json.contains("parameters") && json["parameters"].is_object()) state_.parameters = json["parameters"];
    const auto list = [&](const char* name, std::size_t most) {
      if (!json.contains(name) || !json[name].is_array() || json[name].empty() || json[name].size() > most) {
        throw Error(ErrorKind::io, fmt::format("\"{}\" is not a list of up to {} values", name, most));
      }
      return json[name];
    };
    for (const auto& side : list("shape", 3)) {
      if (!side.is_number_unsigned() || side.get<double>() > kMostCounted) throw Error(ErrorKind::io, "its shape");
      layout_.shape.push_back(side.get<std::size_t>());
    }
    for (const auto& name : list("fields", kMostFields)) {
      if (!name.is_string()) throw Error(ErrorKind::io, "the names of its fields");
      layout_.names.push_back(name.get<std::string>());
    }
    if (block_ == 0) throw Error(ErrorKind::io, "blocks of 0 slabs");
    io::check(layout_);
  } catch (const Error& error) {
    refuse(fmt::format("its header is not understood ({})", error.what()));
  }
  std::uint64_t expected = 0, sums = 0;
  const std::uint64_t cell_bytes = layout_.cells() * bytes_of(layout_.type);
  const bool countable = !__builtin_mul_overflow(cell_bytes, layout_.names.size(), &expected) &&
                         !__builtin_mul_overflow(blocks_per_field(layout_, block_), layout_.names.size() * 4, &sums) &&
                         !__builtin_add_overflow(expected, sums, &expected) &&
                         !__builtin_add_overflow(expected, data_ + 4, &expected);
  if (!countable || size != expected) {
    refuse(fmt::format("it has {} bytes, its header states {}", size,
                       countable ? fmt::to_string(expected) : "more than can be counted"));
  }
}

void Checkpoint::check_blocks() const {
  const std::size_t in_field = blocks_per_field(layout_, block_);
  const std::size_t blocks = in_field * layout_.names.size();
  const std::size_t slab_bytes = layout_.slab_cells() * bytes_of(layout_.type);
  std::vector<std::uint32_t> sums(blocks + 1);
  read_at(data_ + layout_.cells() * bytes_of(layout_.type) * layout_.names.size(), sums.data(), sums.size() * 4);
  if (sums.back() != crc32c(sums.data(), blocks * 4)) refuse("the checksum of its checksums is wrong");
  base::AlignedArray<std::byte> piece(std::min(block_, layout_.shape[0]) * slab_bytes);
  for (std::size_t index = 0; index < blocks; ++index) {
    const std::size_t field = index / in_field, begin = index % in_field * block_;
    const std::size_t end = std::min(layout_.shape[0], begin + block_);
    read(field, begin, end, piece.data());
    if (sums[index] != crc32c(piece.data(), (end - begin) * slab_bytes)) {
      refuse(fmt::format("the checksum of block {} of {} (field \"{}\", slabs {} to {}) is wrong", index + 1, blocks,
                         layout_.names[field], begin, end - 1));
    }
  }
}

void Checkpoint::read(std::size_t field, std::size_t begin, std::size_t end, void* to) const {
  const std::uint64_t slab_bytes = layout_.slab_cells() * bytes_of(layout_.type);
  const std::uint64_t slab = field * layout_.shape[0] + begin;
  read_at(data_ + slab * slab_bytes, to, (end - begin) * slab_bytes);
}

std::optional<Checkpoint> newest_checkpoint(const fs::path& path) {
  std::string damaged;
  for (const fs::path& candidate : {path, previous_generation(path)}) {
    std::error_code ignored;
    if (!fs::exists(candidate, ignored)) continue;
    try {
      Checkpoint checkpoint(candidate);
      if (!damaged.empty()) {
        base::warn(fmt::format("{}; using {} of step {}", damaged, candidate.string(), checkpoint.state().step));
      }
      return checkpoint;
    } catch (const Error& error) {
      damaged += (damaged.empty() ? "" : "; ") + std::string(error.what());
    }
  }
  if (!damaged.empty()) throw Error(ErrorKind::io, damaged);
  return std::nullopt;
}

void set_aside_damaged(const Checkpoint& used, const fs::path& path) {
  if (used.path() == path) return;
  std::error_code ignored, error;
  const fs::path target = base::link_target(path);
  fs::rename(target, target.string() + ".damaged",
             ignored);  // the target may be missing after a kill between two renames
  fs::rename(used.path(), target, error);
  if (error) throw Error(ErrorKind::io, fmt::format("cannot rename {}: {}", used.path().string(), error.message()));
}

}  // namespace ridge::io
