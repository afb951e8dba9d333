// Computes chirps and the spectra of their filters on a device.
#include "fft/device/routes/bluestein/chirp_tables.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <ridge/error.hpp>

#include "device/kernel_text.hpp"
#include "fft/device/route.hpp"
#include "fft/roots.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::uint64_t kChirpItems = 256;

Launch one_item_per_value(std::size_t values) {
  return {.groups = {(values + kChirpItems - 1) / kChirpItems}, .items = {kChirpItems}};
}

// The two tables of which a root is the product.
struct ChirpRoots {
  Buffer coarse{}, fine{};
  std::int32_t shift = 0;

  ChirpRoots(const Device& device, Queue& queue, std::size_t order)
      : shift(static_cast<std::int32_t>(std::bit_width(order) - 1) / 2) {
    const AnyRoots<double> roots(order);
    const std::size_t step = std::size_t{1} << shift;
    fine = uploaded(device, queue, roots, std::min(step, order), 1);
    coarse = uploaded(device, queue, roots, (order - 1) / step + 1, step);
  }

 private:
  static Buffer uploaded(const Device& device, Queue& queue, const AnyRoots<double>& roots, std::size_t count,
                         std::size_t step) {
    std::vector<double> parts;
    parts.reserve(4 * count);
    for (std::size_t k = 0; k < count; ++k) {
      const Point<DoubleDouble> root = roots.wide(k * step);
      parts.insert(parts.end(), {root.re.high, root.im.high, root.re.low, root.im.low});
    }
    const Buffer buffer = device.buffer(parts.size() * sizeof(double), {.name = "fft chirp roots"});
    queue.upload(std::span<const double>(parts), buffer);
    queue.finish();  // before the parts are released
    return buffer;
  }
};

// Calls make(queue); no buffer if the device cannot compute in double or its memory is exhausted.
template <class Make>
Buffer made_if_possible(const Device& device, std::size_t bytes, const Make& make) {
  const Limits& limits = device.limits();
  if (!limits.float64 || (limits.memory > 0 && bytes > limits.memory / 2)) return {};
  try {
    Queue queue = device.queue();
    const Buffer made = make(queue);
    queue.finish();
    return made;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::out_of_memory) throw;
    return {};
  }
}

// The route of least predicted time for one line of double; the caller's comparison covers its answer.
std::optional<Route> line_route(const Device& device, std::size_t points) {
  AxisProblem line{.float64 = true,
                   .length = points,
                   .counts = {1},
                   .in = {.point = 1, .line = {points}},
                   .out = {.point = 1, .line = {points}}};
  normalize(line);
  for (Route& route : list_routes(device, line)) {
    if (route.candidate.refusal.empty()) return std::move(route);
  }
  return {};
}

}  // namespace

KernelSource chirp_source(bool float64) {
  return {.name = "fft chirp",
          .text = ridge::detail::kernel_text("fft/chirp"),
          .defines = {{"NUMBER", float64 ? "double" : "float"}, {"PAIR", float64 ? "double2" : "float2"}}};
}

Buffer device_chirp(const Device& device, std::size_t n, bool conjugate, double scale, bool float64) {
  const std::size_t bytes = n * (float64 ? 16 : 8);
  return made_if_possible(device, bytes, [&](Queue& queue) {
    const ChirpRoots roots(device, queue, 2 * n);
    Buffer table = device.buffer(bytes, {.name = "fft chirp"});
    queue.launch(device.compile(chirp_source(float64)).kernel("chirp_table"), one_item_per_value(n),
                 {table, roots.coarse, roots.fine, roots.shift, std::uint64_t{n}, scale, conjugate ? -scale : scale});
    queue.finish();  // before the roots are released
    return table;
  });
}

Buffer device_chirp_filter(const Device& device, const ChirpFilter& filter, bool float64) {
  constexpr std::size_t kArrays = 4;  // of the transform in double, scratch included
  const std::size_t bytes = filter.padded * 16;
  return made_if_possible(device, kArrays * bytes, [&](Queue& queue) -> Buffer {
    const std::optional<Route> route = line_route(device, filter.padded);
    if (!route) return {};
    const ChirpRoots roots(device, queue, 2 * filter.points);
    const Program program = device.compile(chirp_source(float64));
    const Buffer values = device.buffer(bytes, {.name = "fft chirp filter"});
    const Buffer spectrum = device.buffer(bytes, {.name = "fft chirp filter, spectrum"});
    queue.launch(program.kernel("chirp_filter"), one_item_per_value(filter.padded),
                 {values, roots.coarse, roots.fine, roots.shift, std::uint64_t{filter.points},
                  std::uint64_t{filter.padded}, 1.0 / static_cast<double>(filter.padded)});
    const CompiledRoute transform(device, *route, true);
    transform.enqueue(queue, values, spectrum);
    Buffer table = device.buffer(filter.padded * (float64 ? 16 : 8), {.name = "fft filter"});
    queue.launch(program.kernel("chirp_rows"), one_item_per_value(filter.padded),
                 {spectrum, table, std::uint64_t{filter.padded}, std::uint64_t{filter.columns},
                  std::uint64_t{filter.rows}, filter.conjugate ? -1.0 : 1.0});
    queue.finish();  // before the arrays are released
    return table;
  });
}

}  // namespace ridge::fft::on_device
