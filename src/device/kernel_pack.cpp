// Writes and maps packs of kernels, and finds a kernel by its key.
#include "device/kernel_pack.hpp"

#include <bit>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/files.hpp"
#include "base/library.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "device/compile_cache.hpp"

namespace ridge::detail {
namespace {

// A file: header, description, index sorted by key, machine code. The last two begin at multiples of kPackAlignment.
constexpr std::size_t kPackAlignment = 64;
struct PackHeader {
  std::array<char, 8> magic{'R', 'I', 'D', 'G', 'E', 'P', 'C', '1'};
  std::uint64_t description = 0, kernels = 0, hash = 0;  // bytes, number, hash of the description and the index
};
struct PackEntry {
  PackKey key{};
  std::uint64_t begin = 0, size = 0, hash = 0;
};
static_assert(std::endian::native == std::endian::little && sizeof(PackHeader) == 32 && sizeof(PackEntry) == 40);

constexpr std::size_t pack_aligned(std::size_t bytes) {
  return (bytes + kPackAlignment - 1) / kPackAlignment * kPackAlignment;
}

PackEntry entry_at(std::string_view file, std::size_t index, std::size_t i) {
  PackEntry entry;
  std::memcpy(&entry, file.data() + index + i * sizeof(PackEntry), sizeof(PackEntry));
  return entry;
}

KernelPack open_pack() {
  const char* given = std::getenv("RIDGE_KERNELS");
  const bool named = given != nullptr && *given != 0;
  if (named && (std::string_view(given) == "off" || std::string_view(given) == "0")) return {};
  const std::filesystem::path path = named ? std::filesystem::path(given) : base::find_plugin("ridge-kernels.pack");
  if (path.empty()) return {};
  try {
    return KernelPack(path);
  } catch (const Error& error) {
    base::warn(fmt::format("shipped kernels are not used: {}", error.what()));
    return {};
  }
}

}  // namespace

KernelPack::KernelPack(const std::filesystem::path& file) : path_(file) {
  const auto refuse = [&](const char* why) {
    throw Error(ErrorKind::io, fmt::format("cannot use {}: {}", path_.string(), why));
  };
  const auto mapped = base::map_trusted_file(file);
  if (!mapped) refuse("there is no such file");
  PackHeader header;
  if (mapped->size() < sizeof(PackHeader) ||
      std::memcmp(mapped->data(), header.magic.data(), header.magic.size()) != 0) {
    refuse("it is not a file of ridge kernels build, or of another version");
  }
  std::memcpy(&header, mapped->data(), sizeof(PackHeader));
  const std::size_t room = mapped->size() - sizeof(PackHeader);
  if (header.description > room || header.kernels > room / sizeof(PackEntry)) refuse("it is truncated");
  const std::size_t index = pack_aligned(sizeof(PackHeader) + header.description);
  const std::size_t bytes = header.kernels * sizeof(PackEntry);
  if (index > mapped->size() || bytes > mapped->size() - index) refuse("it is truncated");
  description_ = mapped->substr(sizeof(PackHeader), header.description);
  if (hash_of(mapped->substr(index, bytes), hash_of(description_)) != header.hash)
    refuse("its checksum does not match");
  for (std::size_t i = 0; i < header.kernels; ++i) {
    const PackEntry entry = entry_at(*mapped, index, i);
    if (entry.begin > mapped->size() || entry.size > mapped->size() - entry.begin) refuse("it is truncated");
  }
  file_ = *mapped;
  index_ = index;
  kernels_ = header.kernels;
}

std::optional<std::string_view> KernelPack::find(const PackKey& key) const {
  std::size_t low = 0, high = kernels_;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    entry_at(file_, index_, middle).key < key ? low = middle + 1 : high = middle;
  }
  if (low == kernels_) return std::nullopt;
  const PackEntry entry = entry_at(file_, index_, low);
  if (entry.key != key) return std::nullopt;
  const std::string_view code = file_.substr(entry.begin, entry.size);
  if (hash_of(code) == entry.hash) return code;
  base::warn(fmt::format("{}: a kernel is damaged and is compiled again", path_.string()));
  return std::nullopt;
}

std::string KernelPack::describe() const {
  return fmt::format("{}: {} kernels, {}; {}", path_.string(), kernels_,
                     base::human_bytes(static_cast<double>(file_.size())), description_);
}

const KernelPack& shipped_kernels() {
  static const KernelPack opened = open_pack();
  return opened;
}

void write_kernel_pack(const std::filesystem::path& path, std::string_view description,
                       const std::map<PackKey, std::string>& kernels) {
  const std::size_t begin = pack_aligned(sizeof(PackHeader) + description.size());
  std::size_t end = pack_aligned(begin + kernels.size() * sizeof(PackEntry));
  std::string index;
  for (const auto& [key, code] : kernels) {
    const PackEntry entry{.key = key, .begin = end, .size = code.size(), .hash = hash_of(code)};
    index.append(reinterpret_cast<const char*>(&entry), sizeof(PackEntry));
    end = pack_aligned(end + code.size());
  }
  PackHeader header;
  header.description = description.size();
  header.kernels = kernels.size();
  header.hash = hash_of(index, hash_of(description));
  std::string file(reinterpret_cast<const char*>(&header), sizeof(PackHeader));
  file.reserve(end);
  (file += description).resize(begin);
  (file += index).resize(pack_aligned(begin + index.size()));
  for (const auto& [key, code] : kernels) (file += code).resize(pack_aligned(file.size()));
  base::write_file(path, file);
}

}  // namespace ridge::detail
