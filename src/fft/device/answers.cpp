// Launches the kernels that compare results on the device (answers.cl), and sums up their answers.
#include "fft/device/answers.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "device/kernel_text.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::size_t kGroupItems = 256, kGroupsEach = 16;  // work-groups per compute unit

std::size_t groups_of(const Device& device, std::uint64_t all) {
  const std::uint64_t most = device.limits().compute_units * kGroupsEach;
  return static_cast<std::size_t>(std::clamp<std::uint64_t>((all + kGroupItems - 1) / kGroupItems, 1, most));
}

std::size_t number_bytes(NumberFormat format) {
  return format == NumberFormat::float64 ? 8 : format == NumberFormat::float32 ? 4 : 2;
}

using Defines = std::vector<std::pair<std::string, std::string>>;

Kernel answer_kernel(const Device& device, NumberFormat format, const char* name, const Defines& more = {}) {
  const std::size_t bytes = number_bytes(format);
  Defines defines{{"WORD", bytes == 8   ? "ulong"
                           : bytes == 4 ? "uint"
                                        : "ushort"},
                  {"REAL", bytes == 8 ? "double" : "float"},
                  {"GROUP_ITEMS", std::to_string(kGroupItems)}};
  defines.insert(defines.end(), more.begin(), more.end());
  return device.compile({.name = "answers", .text = ridge::detail::kernel_text("fft/answers"), .defines = defines})
      .kernel(name);
}

template <class T>
std::vector<T> downloaded(Queue& queue, const Buffer& from, std::size_t count) {
  std::vector<T> values(count);
  queue.download(from, std::span<T>(values));
  queue.finish();
  return values;
}

template <class T>
planner::Comparison compared(Queue& queue, const Buffer& answer, const Buffer& expected, std::uint64_t all,
                             double allowed) {
  const Device device = queue.device();
  const std::size_t groups = groups_of(device, all), parts = groups * kGroupItems;
  const Kernel kernel =
      answer_kernel(device, sizeof(T) == sizeof(double) ? NumberFormat::float64 : NumberFormat::float32, "differ_most");
  const Buffer distances = device.buffer(parts * sizeof(T), {.name = "distances"});
  const Buffer squares = device.buffer(parts * sizeof(T), {.name = "squares"});
  const Buffer places = device.buffer(parts * sizeof(std::uint64_t), {.name = "places"});
  queue.launch(kernel, {.groups = {groups}, .items = {kGroupItems}},
               {answer, expected, distances, places, squares, all});
  const auto most = downloaded<T>(queue, distances, parts);
  const auto sums = downloaded<T>(queue, squares, parts);
  const auto at = downloaded<std::uint64_t>(queue, places, parts);
  const double size = std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(all));
  const double unit = size > 0 || std::isnan(size) ? size : 1;
  planner::Comparison result{.worst = 0, .allowed = allowed};
  for (std::size_t part = 0; part < parts && !std::isnan(result.worst); ++part) {
    const double error = static_cast<double>(most[part]) / unit;
    if (error <= result.worst) continue;
    result.worst = error;
    result.where = fmt::format("element {}", at[part]);
  }
  return result;
}

}  // namespace

std::uint64_t count_nan(Queue& queue, const Buffer& answer, NumberFormat format) {
  const std::uint64_t infinity = format == NumberFormat::float64   ? 0x7ff0000000000000U
                                 : format == NumberFormat::float32 ? 0x7f800000U
                                 : format == NumberFormat::float16 ? 0x7c00U
                                                                   : 0x7f80U;
  const std::size_t bytes = number_bytes(format);
  const std::uint64_t mask = ~std::uint64_t{0} >> (65 - 8 * bytes), all = answer.size() / bytes;
  const Device device = queue.device();
  const std::size_t groups = groups_of(device, all), parts = groups * kGroupItems;
  const Buffer counts = device.buffer(parts * sizeof(std::uint32_t), {.name = "counts"});
  queue.launch(answer_kernel(device, format, "count_nan"), {.groups = {groups}, .items = {kGroupItems}},
               {answer, counts, all, mask, infinity});
  const auto found = downloaded<std::uint32_t>(queue, counts, parts);
  return std::accumulate(found.begin(), found.end(), std::uint64_t{0});
}

std::vector<std::byte> gathered_runs(Queue& queue, const Buffer& answer, NumberFormat format, const Runs& runs) {
  const Device device = queue.device();
  const std::uint64_t all = runs.starts.size() * runs.points * runs.numbers;
  const std::size_t bytes = static_cast<std::size_t>(all) * number_bytes(format);
  const Buffer starts = device.buffer(runs.starts.size() * sizeof(std::uint64_t), {.name = "starts"});
  const Buffer gathered = device.buffer(bytes, {.name = "gathered"});
  queue.upload(std::span<const std::uint64_t>(runs.starts), starts);
  queue.launch(answer_kernel(device, format, "gather_runs"),
               {.groups = {groups_of(device, all)}, .items = {kGroupItems}},
               {answer, starts, gathered, all, runs.points, runs.step, static_cast<std::uint32_t>(runs.numbers)});
  return downloaded<std::byte>(queue, gathered, bytes);
}

std::vector<std::complex<double>> line_sums(Queue& queue, const Buffer& values, bool float64, Direction direction,
                                            const LineSums& lines) {
  const Device device = queue.device();
  const std::size_t count = lines.wanted.size();
  // Few sums are divided among enough work-groups to fill the device.
  const std::uint64_t most = std::max<std::uint64_t>(1, device.limits().compute_units * kGroupsEach / count);
  const std::uint64_t parts = std::clamp<std::uint64_t>(lines.points / (16 * kGroupItems), 1, most);
  const std::uint64_t part = (lines.points + parts - 1) / parts;
  const Buffer starts = device.buffer(count * sizeof(std::uint64_t), {.name = "starts"});
  const Buffer wanted = device.buffer(count * sizeof(std::uint64_t), {.name = "wanted"});
  const Buffer sums = device.buffer(count * parts * sizeof(std::complex<double>), {.name = "sums"});
  queue.upload(std::span<const std::uint64_t>(lines.starts), starts);
  queue.upload(std::span<const std::uint64_t>(lines.wanted), wanted);
  const Kernel kernel =
      answer_kernel(device, float64 ? NumberFormat::float64 : NumberFormat::float32, "line_sums", {{"SUMS", ""}});
  queue.launch(kernel, {.groups = {count, parts}, .items = {kGroupItems}},
               {values, starts, wanted, sums, lines.length, lines.points, lines.step, part,
                static_cast<std::uint32_t>(lines.numbers), direction == Direction::forward ? -1.0 : 1.0});
  const auto found = downloaded<std::complex<double>>(queue, sums, count * parts);
  std::vector<std::complex<double>> result(count);
  for (std::size_t i = 0; i < found.size(); ++i) result[i / parts] += found[i];
  return result;
}

planner::Comparison compare_arrays(Queue& queue, const Buffer& answer, const Buffer& expected, std::size_t bytes,
                                   bool float64, double allowed) {
  return float64 ? compared<double>(queue, answer, expected, bytes / sizeof(double), allowed)
                 : compared<float>(queue, answer, expected, bytes / sizeof(float), allowed);
}

}  // namespace ridge::fft::on_device
