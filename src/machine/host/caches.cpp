// Reads caches and free memory from /sys and /proc.
#include "machine/host/caches.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/files.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"

namespace ridge::machine {
namespace {

// The first line of a file under /sys or /proc, without the newline; nothing if it cannot be read.
std::optional<std::string> first_line(const std::filesystem::path& path) {
  try {
    auto text = base::read_file(path, 1u << 16);
    if (!text) return std::nullopt;
    return text->substr(0, text->find('\n'));
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<std::size_t> number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

// Counts the cores of a list: "0-3,8-11" has eight.
std::size_t count_cores(std::string_view list) {
  std::size_t cores = 0;
  while (!list.empty()) {
    const auto comma = list.find(',');
    const auto part = list.substr(0, comma);
    const auto dash = part.find('-');
    const auto first = number(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number(part.substr(dash + 1));
    if (first && last && *last >= *first && *last < (1u << 20)) cores += *last - *first + 1;
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
  return std::max<std::size_t>(cores, 1);
}

std::optional<Cache> read_cache(const std::filesystem::path& folder) {
  const auto type = first_line(folder / "type");
  const auto level = first_line(folder / "level");
  const auto size = first_line(folder / "size");
  if (!type || !level || !size || (*type != "Data" && *type != "Unified")) return std::nullopt;
  const auto level_number = number(*level);
  const auto bytes = base::parse_bytes(*size);
  if (!level_number || *level_number < 1 || *level_number > 4 || !bytes || *bytes < 1024 || *bytes > (1ull << 34))
    return std::nullopt;
  const auto sharers = first_line(folder / "shared_cpu_list");
  return Cache{static_cast<int>(*level_number), *bytes, sharers ? count_cores(*sharers) : 1};
}

std::optional<std::size_t> available_memory() {
  try {
    const auto text = base::read_file("/proc/meminfo", 1u << 16);
    if (!text) return std::nullopt;
    const auto at = text->find("MemAvailable:");
    if (at == std::string::npos) return std::nullopt;
    const auto digit = text->find_first_of("0123456789", at);
    if (digit == std::string::npos) return std::nullopt;
    const auto kilobytes = number(std::string_view(*text).substr(digit));
    return kilobytes ? std::optional(*kilobytes * 1024) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<Cache> host_caches(const std::filesystem::path& folder) {
  std::vector<Cache> caches;
  for (int index = 0; index < 16; ++index)
    if (const auto cache = read_cache(folder / fmt::format("index{}", index))) caches.push_back(*cache);
  std::stable_sort(caches.begin(), caches.end(), [](const Cache& a, const Cache& b) { return a.level < b.level; });
  if (caches.empty()) caches = {{1, 32u << 10, 1}, {2, 512u << 10, 1}, {3, 8u << 20, base::hardware_threads()}};
  for (auto& cache : caches) cache.shared_by = std::min(cache.shared_by, base::hardware_threads());
  return caches;
}

std::size_t free_host_memory() {
  std::size_t free = available_memory().value_or(0);
  const auto limit = first_line("/sys/fs/cgroup/memory.max");
  const auto used = first_line("/sys/fs/cgroup/memory.current");
  const auto most = limit ? number(*limit) : std::nullopt;  // "max" is not a number: no limit
  const auto now = used ? number(*used) : std::nullopt;
  if (most && now) {
    const std::size_t room = *most > *now ? *most - *now : 0;
    free = free == 0 ? room : std::min(free, room);
  }
  return free;
}

}  // namespace ridge::machine
