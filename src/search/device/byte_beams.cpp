// Chooses the kernels of byte beams, packs weights, and launches them.
#include "search/device/byte_beams.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <ridge/half.hpp>

#include "base/text.hpp"
#include "codegen/text.hpp"
#include "device/kernel_text.hpp"
#include "device/traits.hpp"
#include "plan/arguments.hpp"

namespace ridge::search {
namespace {

constexpr std::size_t kStage = 64, kMostSums = 2048, kMostPlanes = 8;  // as in byte_beams.cl
constexpr std::size_t kWarpGroupStage = 128;                           // as in beam_warp_groups.cl
constexpr const char* kName = "beams";

std::uint32_t number(std::size_t value) { return static_cast<std::uint32_t>(value); }

std::size_t staged_bytes(const ByteBeamProblem& problem, const Device& device) {
  const std::size_t emulated = device.limits().matrix_units ? 0 : 6 * 4 * 32 * problem.warps();
  return 3 * kStage * problem.polarizations * problem.row_bytes() + emulated;
}

std::size_t warp_group_bytes(const ByteBeamProblem& problem) {
  return 3 * kWarpGroupStage * problem.polarizations * problem.row_bytes() + 1024;
}

void check_bytes(const ByteBeamProblem& problem) {
  if (!problem.float16) return;
  throw Error(ErrorKind::invalid_argument, "beams of bytes: pack() needs bytes, these beams have 16-bit floats");
}

}  // namespace

double ByteBeamProblem::operations() const {
  return 8.0 * static_cast<double>(stations * beams) * static_cast<double>(channels * polarizations * times);
}

std::string ByteBeams::refusal(const Device& device, const ByteBeamProblem& p) {
  if (device.is_host()) return "needs a device, got the host";
  if (p.stations == 0 || p.beams == 0 || p.channels == 0 || p.polarizations == 0)
    return "needs at least one station, beam, channel and polarization";
  if (p.polarizations > 2) return fmt::format("needs one or two polarizations, got {}", p.polarizations);
  if (p.times == 0 || p.times % kStage != 0)
    return fmt::format("needs a multiple of {} times, got {}", kStage, p.times);
  if (p.stations > 128) return fmt::format("needs at most 128 stations, got {}", p.stations);
  if (device.limits().work_group < 256)
    return fmt::format("needs work-groups of 256 work-items, the device has {}", device.limits().work_group);
  if (staged_bytes(p, device) > device.limits().local_memory) {
    return fmt::format("needs {} of local memory, the device has {}",
                       base::human_bytes(static_cast<double>(staged_bytes(p, device))),
                       base::human_bytes(static_cast<double>(device.limits().local_memory)));
  }
  const double most = 2e9, groups = static_cast<double>(p.channels * p.polarizations) * static_cast<double>(p.times);
  return groups > most ? "the work-groups exceed one launch: use fewer times" : "";
}

KernelSource ByteBeams::source(const ByteBeamProblem& p, bool warp_groups) {
  // Weights of up to 64 stations and two polarizations leave room for 16 warps per compute unit, others for 8. 16-bit
  // floats need more registers for addresses: 68 bytes were spilled at 16 warps.
  const std::size_t most = p.float16 ? 128 : 256;
  const std::size_t resident = (p.row_bytes() * p.polarizations <= most ? 16 : 8) / p.warps();
  return {.name = "search byte beams",
          .text = codegen::matrix_macros_text(32 * p.warps()) + ridge::detail::kernel_text("search/byte_beams"),
          .defines = {{"ROW_CHUNKS", std::to_string(p.row_bytes() / 16)},
                      {"SEGMENTS", std::to_string(p.row_bytes() / 64)},
                      {"POLARIZATIONS", std::to_string(p.polarizations)},
                      {"FLOAT16", p.float16 ? "1" : "0"},
                      {"SWIZZLED", warp_groups ? "1" : "0"},
                      {"RESIDENT", std::to_string(resident)},
                      {"WARPS", std::to_string(p.warps())}}};
}

std::string ByteBeams::warp_group_refusal(const Device& device, const ByteBeamProblem& p) {
  if (const std::string why = refusal(device, p); !why.empty()) return why;
  if (!ridge::detail::has_warp_group_products(device.limits()) || device.info().backend != Backend::cuda)
    return "needs products of warp groups (wgmma), which the device does not have";
  if (p.times % kWarpGroupStage != 0)
    return fmt::format("needs a multiple of {} times, got {}", kWarpGroupStage, p.times);
  const std::size_t bytes = p.polarizations * p.row_bytes();  // a lane holds weights in registers
  if (p.row_bytes() % 128 != 0 || bytes > 256 || p.beams <= 64) {
    return fmt::format(
        "needs rows of 128 bytes, or of 256 of one polarization, and more than 64 beams, got {} bytes, {} "
        "polarizations "
        "and {} beams",
        p.row_bytes(), p.polarizations, p.beams);
  }
  return "";
}

KernelSource ByteBeams::warp_group_source(const ByteBeamProblem& p) {
  return {.name = "search byte beams, warp groups",
          .text = ridge::detail::kernel_text("codegen/warp_groups") +
                  ridge::detail::kernel_text("codegen/warp_groups_128") +
                  ridge::detail::kernel_text("search/beam_warp_groups"),
          .defines = {{"POLARIZATIONS", std::to_string(p.polarizations)},
                      {"PARTS", std::to_string(p.row_bytes() / 128)},
                      {"FLOAT16", p.float16 ? "1" : "0"}}};
}

ByteBeams::ByteBeams(const Device& device, const ByteBeamProblem& problem, bool warp_groups)
    : problem_(problem), warp_groups_(warp_groups) {
  if (const std::string why = warp_groups ? warp_group_refusal(device, problem) : refusal(device, problem);
      !why.empty())
    throw Error(ErrorKind::invalid_argument, fmt::format("beams of bytes: {}", why));
  const auto program = device.compile(source(problem, warp_groups));
  if (!problem.float16) pack_ = program.kernel("pack_stations"), pack_bytes_ = program.kernel("pack_bytes");
  power_ = program.kernel("beam_power"), bytes_ = program.kernel("power_bytes");
  join_ = program.kernel("join_powers");
  if (warp_groups) power_ = device.compile(warp_group_source(problem)).kernel("beam_power_warp_groups");
}

void ByteBeams::pack(Queue& queue, const Buffer& spectra, float scale, const Buffer& packed) const {
  const ByteBeamProblem& p = problem_;
  check_bytes(p);
  const Device device = queue.device();
  planner::check_buffer(kName, "spectra", spectra, device, p.times * p.polarizations * p.stations * p.channels * 8);
  planner::check_buffer(kName, "packed samples", packed, device, p.packed_bytes());
  queue.launch(
      pack_, {.groups = {p.times * p.polarizations * ((p.channels + 31) / 32)}, .items = {256}},
      {spectra, packed, number(p.stations), number(p.channels), number(p.polarizations), number(p.times), scale});
}

void ByteBeams::pack(Queue& queue, const Buffer& spectra, const Buffer& packed) const {
  const ByteBeamProblem& p = problem_;
  check_bytes(p);
  const Device device = queue.device();
  if (p.channels % 2 != 0) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("beams of bytes: needs an even number of channels, got {}", p.channels));
  }
  planner::check_buffer(kName, "spectra", spectra, device, p.times * p.polarizations * p.stations * p.channels * 2);
  planner::check_buffer(kName, "packed samples", packed, device, p.packed_bytes());
  queue.launch(pack_bytes_, {.groups = {p.times * p.polarizations * ((p.channels + 63) / 64)}, .items = {256}},
               {spectra, packed, number(p.stations), number(p.channels), number(p.polarizations), number(p.times)});
}

void ByteBeams::power(Queue& queue, const Buffer& packed, const Buffer& weights, const Buffer& out, std::size_t bins,
                      std::size_t first) const {
  const ByteBeamProblem& p = problem_;
  const Device device = queue.device();
  planner::check_buffer(kName, "packed samples", packed, device, p.packed_bytes());
  planner::check_buffer(kName, "weights", weights, device, p.weight_bytes());
  planner::check_buffer(kName, "power", out, device, p.beams * p.channels * bins * sizeof(float));
  if (bins % 2 != 0 || first % 2 != 0 || first + p.times / 8 > bins) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("beams of bytes: needs even numbers of bins and first bin, with room for {} sums, got {} and {}",
                    p.times / 8, bins, first));
  }
  const std::size_t warps = p.warps(), beams = warp_groups_ ? 64 : 16 * warps;  // per work-group
  queue.launch(
      power_,
      {.groups = {p.padded() / beams * p.channels},
       .items = {32 * warps},
       .local_bytes = warp_groups_ ? warp_group_bytes(p) : staged_bytes(p, device)},
      {packed, weights, out, number(p.channels), number(p.times), number(p.beams), number(bins), number(first)});
}

void ByteBeams::join(Queue& queue, const Buffer& power, std::size_t length, std::size_t parts, float factor,
                     const Buffer& out, std::size_t rows, std::size_t bins) const {
  const ByteBeamProblem& p = problem_;
  planner::check_buffer(kName, "power", power, queue.device(), p.beams * p.channels * length * sizeof(float));
  planner::check_buffer(kName, "joined power", out, queue.device(), p.channels * rows * bins * sizeof(float));
  if (bins * parts > length || rows < p.beams) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("beams of bytes: needs at least {} sums and {} rows, got {} and {}", bins * parts, p.beams,
                            length, rows));
  }
  queue.launch(join_, {.groups = {(bins + 255) / 256 * p.beams * p.channels}, .items = {256}},
               {power, out, number(p.channels), number(p.beams), number(rows), number(length), number(parts),
                number(bins), factor});
}

void ByteBeams::bytes(Queue& queue, const Buffer& power, std::size_t beam, std::size_t bins, std::size_t joined,
                      std::span<const Buffer> planes, std::size_t row, std::size_t first) const {
  const ByteBeamProblem& p = problem_;
  planner::check_buffer(kName, "power", power, queue.device(), p.beams * p.channels * bins * sizeof(float));
  for (const Buffer& plane : planes) planner::check_buffer(kName, "plane", plane, queue.device(), p.channels * row);
  if (planes.empty() || planes.size() > kMostPlanes || beam + planes.size() > p.beams) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("beams of bytes: needs 1 to {} planes of the {} beams, got {} from beam {} on", kMostPlanes,
                            p.beams, planes.size(), beam));
  }
  if (joined == 0 || bins % joined != 0 || bins / joined > kMostSums || first + bins / joined > row) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("beams of bytes: needs 1 to {} whole sums that fit the row, got {} bins in sums of {}, row {}",
                    kMostSums, bins, joined, row));
  }
  std::vector<Argument> arguments{power};
  for (std::size_t i = 0; i < kMostPlanes; ++i) arguments.emplace_back(planes[std::min(i, planes.size() - 1)]);
  for (const std::size_t value : {beam, p.channels, bins, joined}) arguments.emplace_back(number(value));
  arguments.emplace_back(std::uint64_t{row});
  arguments.emplace_back(std::uint64_t{first});
  queue.launch(bytes_, {.groups = {p.channels, planes.size()}, .items = {256}}, arguments);
}

std::vector<std::byte> ByteBeams::weights(std::span<const std::complex<float>> of, float scale) const {
  const ByteBeamProblem& p = problem_;
  planner::check_length(kName, "weights", of.size(), p.channels * p.polarizations * p.beams * p.stations);
  std::vector<std::byte> table(p.weight_bytes(), std::byte{0});
  const std::size_t bytes = p.float16 ? 2 : 1;
  const auto store = [&](std::byte* row, std::size_t at, float value) {
    if (p.float16) {
      const std::uint16_t bits = to_float16(value * scale);
      std::memcpy(row + 2 * at, &bits, 2);
    } else {
      const float limited = std::clamp(value * scale, -127.0F, 127.0F);
      row[at] = static_cast<std::byte>(static_cast<std::int8_t>(std::lrint(limited)));
    }
  };
  for (std::size_t i = 0; i < of.size(); ++i) {
    const std::size_t station = i % p.stations, beam = i / p.stations % p.beams, signal = i / p.stations / p.beams;
    const std::size_t first = (signal * p.padded() / 8 + beam / 8) * 16 + beam % 8;
    std::byte* real = table.data() + first * p.row_bytes() + 2 * station * bytes;
    std::byte* imaginary = real + 8 * p.row_bytes();
    store(real, 0, of[i].real()), store(real, 1, -of[i].imag());
    store(imaginary, 0, of[i].imag()), store(imaginary, 1, of[i].real());
  }
  return table;
}

}  // namespace ridge::search
