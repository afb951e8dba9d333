// Finds compiled kernels in the cache folder, compiles missing ones in parallel, and limits the folder's size.
#include "device/compile_cache.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/files.hpp"
#include "base/log.hpp"

namespace ridge::detail {
namespace {

namespace fs = std::filesystem;

// A file: magic, version, key's length, key, binary's length, checksum of key and binary, binary. Numbers are 64 bits,
// little-endian.
constexpr std::string_view kMagic = "RIDGEKRN";
constexpr std::uint64_t kVersion = 2;
constexpr std::size_t kNumber = 8;
constexpr std::size_t kFixed = kMagic.size() + 4 * kNumber;
constexpr std::size_t kLargestFile = std::size_t{64} << 20;
constexpr std::uintmax_t kLargestFolder = std::uintmax_t{256} << 20;
constexpr std::string_view kExtension = ".kernel";

std::uint64_t checksum(std::string_view key, std::string_view binary) { return hash_of(binary, hash_of(key)); }

void append(std::string& text, std::uint64_t number) {
  for (std::size_t i = 0; i < kNumber; ++i) text += static_cast<char>(number >> (8 * i) & 0xff);
}

// Parses a file from the front; every field is checked against the remaining size first.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}
  std::optional<std::string_view> take(std::uint64_t length) {
    if (length > left_.size()) return std::nullopt;
    const auto piece = left_.substr(0, static_cast<std::size_t>(length));
    left_.remove_prefix(piece.size());
    return piece;
  }
  std::optional<std::uint64_t> number() {
    const auto bytes = take(kNumber);
    if (!bytes) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < kNumber; ++i) {
      value |= std::uint64_t{static_cast<unsigned char>((*bytes)[i])} << (8 * i);
    }
    return value;
  }
  bool empty() const { return left_.empty(); }

 private:
  std::string_view left_;
};

std::string encode(std::string_view key, std::string_view binary) {
  std::string file(kMagic);
  file.reserve(kFixed + key.size() + binary.size());
  append(file, kVersion);
  append(file, key.size());
  file += key;
  append(file, binary.size());
  append(file, checksum(key, binary));
  file += binary;
  return file;
}

struct Entry {
  std::string_view key;
  std::string_view binary;
};

// Sets `damage` to the reason if the file is incomplete or foreign.
std::optional<Entry> decode(std::string_view file, std::string& damage) {
  Reader reader(file);
  const auto refuse = [&](const char* reason) {
    damage = reason;
    return std::nullopt;
  };
  if (reader.take(kMagic.size()) != kMagic) return refuse("it is not a compiled kernel of Ridgeline");
  if (reader.number() != kVersion) return refuse("it has another format version");
  const auto key_length = reader.number();
  const auto key = key_length ? reader.take(*key_length) : std::nullopt;
  const auto binary_length = key ? reader.number() : std::nullopt;
  const auto sum = reader.number();
  const auto binary = binary_length && sum ? reader.take(*binary_length) : std::nullopt;
  if (!binary) return refuse("it is truncated");
  if (!reader.empty()) return refuse("it is longer than its header says");
  if (checksum(*key, *binary) != *sum) return refuse("its checksum does not match");
  return Entry{*key, *binary};
}

// Empty if nothing can be stored.
fs::path folder() {
  if (compile_cache_is_off()) return {};
  const fs::path cache = base::cache_folder();
  if (cache.empty()) return {};
  const fs::path kernels = cache / "kernels";
  if (!base::make_private_folder(kernels).empty()) return {};
  // Cached code is executed, so the folder must belong to this user alone.
  for (const fs::path& one : {cache, kernels}) {
    if (const std::string why = base::why_untrusted(one); !why.empty()) {
      base::warn(fmt::format("compile cache: {} is not used: {}", one.string(), why));
      return {};
    }
  }
  return kernels;
}

fs::path path_in(const fs::path& folder, std::string_view key) {
  return folder / fmt::format("{:016x}{}", hash_of(key), kExtension);
}

void remove_damaged(const fs::path& path, const std::string& damage) {
  base::warn(fmt::format("compile cache: {}: {}; it is removed and the kernel compiled again", path.string(), damage));
  std::error_code ignored;
  fs::remove(path, ignored);
}

struct Stored {
  fs::path path;
  fs::file_time_type used;
  std::uintmax_t size;
};

// Other processes may add and remove files concurrently: files that cannot be inspected are skipped.
std::vector<Stored> stored_files(const fs::path& folder) {
  std::vector<Stored> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() != kExtension) continue;
    std::error_code gone;
    const auto size = it->file_size(gone);
    const auto used = gone ? fs::file_time_type{} : it->last_write_time(gone);
    if (!gone) files.push_back({it->path(), used, size});
  }
  return files;
}

// `newest` was just written and is kept, regardless of the clock of its file system.
void make_room(const fs::path& folder, const fs::path& newest) {
  auto files = stored_files(folder);
  std::uintmax_t total = 0;
  for (const Stored& file : files) total += file.size;
  if (total <= kLargestFolder) return;
  std::sort(files.begin(), files.end(), [](const Stored& a, const Stored& b) { return a.used < b.used; });
  for (const Stored& file : files) {
    if (total <= kLargestFolder) return;
    if (file.path == newest) continue;
    std::error_code ignored;
    fs::remove(file.path, ignored);
    total -= file.size;
  }
}

}  // namespace

// As FNV-1a, but eight bytes at a time: sufficient to detect accidental damage; the stored key detects collisions.
std::uint64_t hash_of(std::string_view text, std::uint64_t state) {
  const auto mix = [&state](std::uint64_t word) {
    state = (state ^ word) * 0x9e3779b97f4a7c15u;
    state ^= state >> 32;
  };
  std::size_t at = 0;
  for (; at + kNumber <= text.size(); at += kNumber) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, kNumber);
    mix(word);
  }
  for (; at < text.size(); ++at) mix(static_cast<unsigned char>(text[at]));
  mix(text.size());
  return state;
}

bool compile_cache_is_off() {
  const char* value = std::getenv("RIDGE_COMPILE_CACHE");
  return value != nullptr && (std::string_view(value) == "off" || std::string_view(value) == "0");
}

bool compile_cache_takes_all() {
  const char* value = std::getenv("RIDGE_COMPILE_CACHE");
  return value != nullptr && std::string_view(value) == "all";
}

std::optional<std::string> find_compiled(std::string_view key) {
  const fs::path where = folder();
  if (where.empty()) return std::nullopt;
  const fs::path path = path_in(where, key);
  std::optional<std::string> file;
  try {
    file = base::read_trusted_file(path, kLargestFile);
  } catch (const Error& error) {
    remove_damaged(path, error.what());
    return std::nullopt;
  }
  if (!file) return std::nullopt;
  std::string damage;
  const auto entry = decode(*file, damage);
  if (!entry) {
    remove_damaged(path, damage);
    return std::nullopt;
  }
  if (entry->key != key) return std::nullopt;  // hash collision: the next store replaces the file
  std::error_code ignored;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  return std::string(entry->binary);
}

void store_compiled(std::string_view key, std::string_view binary) {
  if (key.size() + binary.size() > kLargestFile - kFixed) return;
  const fs::path where = folder();
  if (where.empty()) return;
  const fs::path path = path_in(where, key);
  try {
    base::write_private_file(path, encode(key, binary));
  } catch (const Error&) {
    return;
  }
  make_room(where, path);
}

std::string compile_key(std::string_view device, std::string_view compiler, std::string_view options,
                        std::string_view source) {
  std::string key;
  for (const std::string_view part : {device, compiler, options, source}) {
    // Each part is preceded by its length, so that no two lists of parts give the same key.
    key += fmt::format("{}:", part.size());
    key += part;
    key += '\n';
  }
  return key;
}

}  // namespace ridge::detail

namespace ridge {

void compile_together(const Device& device, std::vector<KernelSource> sources) {
  if (device.info().backend != Backend::cuda) return;
  // Longest first, duplicates removed.
  std::sort(sources.begin(), sources.end(), [](const KernelSource& a, const KernelSource& b) {
    if (a.text.size() != b.text.size()) return a.text.size() > b.text.size();
    return std::tie(a.text, a.defines) < std::tie(b.text, b.defines);
  });
  const auto same = [](const KernelSource& a, const KernelSource& b) {
    return a.text == b.text && a.defines == b.defines && a.relaxed_math == b.relaxed_math;
  };
  sources.erase(std::unique(sources.begin(), sources.end(), same), sources.end());
  if (sources.size() < 2) return;
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < sources.size(); i = next++) {
      try {
        device.compile(sources[i]);
      } catch (const Error&) {  // NOLINT: reported when the kernel is built
      }
    }
  };
  std::vector<std::jthread> threads;
  const std::size_t count = std::min<std::size_t>(sources.size(), std::max(1U, std::thread::hardware_concurrency()));
  for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work);
  work();
}

}  // namespace ridge
