#include "filterbank/device/device_variant.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace ridge::filterbank::on_device {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{16} << 20;  // of spectra, overlapped
constexpr std::size_t kMostBytes = std::size_t{256} << 20;  // of spectra, in turn
constexpr std::size_t kSlots = 3;

// The bytes of the stream that spectra first .. first + count need, whole blocks at the front.
struct Range {
  std::uint64_t from = 0, end = 0;
};
Range range_of(const Geometry& g, std::uint64_t first, std::size_t count) {
  const auto oldest = g.oldest_row(first) * static_cast<std::int64_t>(g.channels);
  const std::uint64_t samples = static_cast<std::uint64_t>(g.newest(first + count - 1)) + 1;
  return {g.frame_start(oldest), (samples + g.block - 1) / g.block * g.frame_bytes()};
}

std::int64_t first_sample(const Geometry& g, std::uint64_t from) {
  return static_cast<std::int64_t>(from / g.frame_bytes() * g.block);
}

}  // namespace

planner::Cost device_cost(const Geometry& geometry, double efficiency, double passes, double launches) {
  return {.flops = geometry.flops(),
          .bytes = geometry.bytes() + passes * 16 * static_cast<double>(geometry.spectrum_size()),
          .launches = launches,
          .efficiency = efficiency};
}

DeviceVariant::DeviceVariant(const Device& device, const Geometry& geometry, std::shared_ptr<const DeviceBank> bank,
                             Transfers transfers)
    : device_(device), geometry_(geometry), bank_(std::move(bank)), transfers_(transfers) {}

std::shared_ptr<const Weights> DeviceVariant::prepare(std::span<const double> prototype) const {
  return bank_->prepare(prototype);
}

void DeviceVariant::enqueue(Queue& queue, const Resident& work, const Weights& weights) const {
  bank_->enqueue(queue,
                 {.samples = work.samples,
                  .start = static_cast<std::int64_t>(work.start),
                  .spectra = work.spectra,
                  .first = work.first,
                  .count = work.count},
                 static_cast<const DeviceWeights&>(weights));
}

// Spectra that go there and back at a time.
std::size_t DeviceVariant::piece(std::size_t spectra) const {
  const std::size_t each = geometry_.spectrum_size() * sizeof(std::complex<float>);
  const std::size_t bytes = transfers_ == Transfers::overlapped ? kPieceBytes : kMostBytes;
  // History is sent again with every piece: it must be a small part of it.
  const std::size_t least = 16 * geometry_.taps;
  return std::min(spectra, std::max({bytes / each, least, std::size_t{1}}));
}

void DeviceVariant::make_room(std::size_t spectra, std::size_t slots) const {
  Scratch& s = scratch_;
  if (!s.up) {
    s.up = device_.queue();
    s.compute = device_.queue();
    s.down = device_.queue();
  }
  const Geometry& g = geometry_;
  const std::size_t samples = spectra * g.hop + (g.taps + 1) * g.channels + 2 * g.block;
  const std::size_t bytes = (samples / g.block + 1) * g.frame_bytes(), values = spectra * g.spectrum_size();
  if (bytes <= s.sample_bytes && values <= s.spectrum_values && slots <= s.slots.size()) return;
  s.slots.clear();
  s.sample_bytes = std::max(bytes, s.sample_bytes);
  s.spectrum_values = std::max(values, s.spectrum_values);
  for (std::size_t i = 0; i < slots; ++i) {
    Slot slot;
    const BufferOptions mapped{.kind = MemoryKind::mapped, .name = "filter bank samples", .write_combined = true};
    slot.samples = transfers_ == Transfers::mapped ? device_.buffer(s.sample_bytes, mapped)
                                                   : device_.buffer(s.sample_bytes, {.name = "filter bank samples"});
    slot.spectra = device_.buffer(s.spectrum_values * sizeof(std::complex<float>), {.name = "filter bank spectra"});
    s.slots.push_back(std::move(slot));
  }
}

// Each run of host memory as it lies; what has not come yet is 0.
void DeviceVariant::send(Queue& queue, const RawView& raw, std::uint64_t from, std::size_t bytes,
                         const Buffer& to) const {
  if (transfers_ == Transfers::mapped) {
    const Mapping mapping = to.map();
    raw.copy(from, bytes, mapping.data());
    return;
  }
  std::size_t sent = 0;
  raw.each_run(from, bytes, [&](const std::byte* run, std::size_t length) {
    if (run != nullptr) queue.upload(run, to, length, sent);
    sent += length;
  });
}

void DeviceVariant::run(const Job& job) const {
  if (job.spectra == 0) return;
  const Geometry& g = geometry_;
  std::lock_guard lock(scratch_.mutex);
  const std::size_t each = piece(job.spectra), pieces = (job.spectra + each - 1) / each;
  const bool overlapped = transfers_ == Transfers::overlapped;
  const std::size_t slots = overlapped ? std::min(kSlots, pieces) : 1;
  make_room(each, slots);
  Scratch& s = scratch_;
  Queue& up = *s.up;
  Queue& compute = overlapped ? *s.compute : up;
  Queue& down = overlapped ? *s.down : up;
  const auto& weights = static_cast<const DeviceWeights&>(job.weights);
  for (std::size_t i = 0; i < pieces; ++i) {
    Slot& slot = s.slots[i % slots];
    const std::size_t done = i * each, now = std::min(each, job.spectra - done);
    const std::uint64_t first = job.first + done;
    const Range range = range_of(g, first, now);
    const std::uint64_t end = std::min(range.end, job.raw.end());
    if (overlapped && slot.computed) up.wait_for(slot.computed);
    if (transfers_ == Transfers::mapped) up.finish();  // the kernel may still read what is written now
    send(up, job.raw, range.from, static_cast<std::size_t>(end - range.from), slot.samples);
    if (overlapped) {
      slot.uploaded = up.record();
      compute.wait_for(slot.uploaded);
      if (slot.downloaded) compute.wait_for(slot.downloaded);
    }
    bank_->enqueue(compute,
                   {.samples = slot.samples,
                    .start = first_sample(g, range.from),
                    .spectra = slot.spectra,
                    .first = first,
                    .count = now},
                   weights);
    if (overlapped) {
      slot.computed = compute.record();
      down.wait_for(slot.computed);
    }
    down.download(slot.spectra, job.out + done * g.spectrum_size(),
                  now * g.spectrum_size() * sizeof(std::complex<float>));
    if (overlapped) slot.downloaded = down.record();
  }
  down.finish();
  for (Slot& slot : s.slots) slot.uploaded = slot.computed = slot.downloaded = Event();
}

}  // namespace ridge::filterbank::on_device
