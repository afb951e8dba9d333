// Transfers between host and device memory around the filter-bank kernels.
#include "filterbank/device/device_variant.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace ridge::filterbank::on_device {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{16} << 20;  // of spectra per chunk, overlapped transfers
constexpr std::size_t kMostBytes = std::size_t{256} << 20;  // of spectra per chunk, otherwise
constexpr std::size_t kSlots = 3;

// Byte range of the stream that spectra first .. first + count need, starting at a whole block.
struct Range {
  std::uint64_t from = 0, end = 0;
};
Range range_of(const Geometry& g, std::uint64_t first, std::size_t count) {
  const auto oldest = g.oldest_row(first) * static_cast<std::int64_t>(g.channels);
  const std::uint64_t samples = static_cast<std::uint64_t>(g.newest(first + count - 1)) + 1 + g.longest;
  return {g.frame_start(oldest), (samples + g.block - 1) / g.block * g.frame_bytes()};
}

std::int64_t first_sample(const Geometry& g, std::uint64_t from) {
  return static_cast<std::int64_t>(from / g.frame_bytes() * g.block);
}

}  // namespace

void refuse(const char* variant, const std::string& why, std::vector<Entry>& entries) {
  entries.push_back({.candidate = {.variant = variant, .refusal = why}});
}

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

void DeviceVariant::enqueue(Queue& queue, const Resident& work, const Weights& weights,
                            const ResidentDelays& delays) const {
  std::lock_guard lock(scratch_.mutex);
  if (geometry_.delayed) {
    scratch_.resident_shifts = uploaded(device_, std::span<const std::int32_t>(delays.shifts), "filter bank shifts");
    scratch_.resident_phases = uploaded(device_, std::span<const Phase>(delays.phases), "filter bank phases");
  }
  bank_->enqueue(queue,
                 {.samples = work.samples,
                  .start = static_cast<std::int64_t>(work.start),
                  .spectra = work.spectra,
                  .first = work.first,
                  .count = work.count,
                  .shifts = scratch_.resident_shifts,
                  .phases = scratch_.resident_phases},
                 static_cast<const DeviceWeights&>(weights));
}

// Spectra per chunk: whole output blocks.
std::size_t DeviceVariant::piece(std::size_t spectra) const {
  const Geometry& g = geometry_;
  const std::size_t each = g.spectrum_size() * sizeof(std::complex<float>);
  const std::size_t bytes = transfers_ == Transfers::overlapped ? kPieceBytes : kMostBytes;
  const std::size_t wanted = std::min(spectra, std::max({bytes / each, 16 * g.taps, std::size_t{1}}));
  return (wanted + g.times - 1) / g.times * g.times;
}

void DeviceVariant::make_room(std::size_t spectra, std::size_t slots) const {
  Scratch& s = scratch_;
  if (!s.up) {
    s.up = device_.queue();
    s.compute = device_.queue();
    s.down = device_.queue();
  }
  const Geometry& g = geometry_;
  const std::size_t samples = spectra * g.hop + (g.taps + 1) * g.channels + g.longest + 2 * g.block;
  const std::size_t bytes = (samples / g.block + 1) * g.frame_bytes();
  const std::size_t values = (spectra / g.times + 1) * g.times * g.spectrum_size();
  if (bytes <= s.sample_bytes && values <= s.spectrum_values && slots <= s.slots.size()) return;
  s.slots.clear();
  s.sample_bytes = std::max(bytes, s.sample_bytes);
  s.spectrum_values = std::max(values, s.spectrum_values);
  for (std::size_t i = 0; i < slots; ++i) {
    Slot slot;
    const BufferOptions mapped{.kind = MemoryKind::mapped, .name = "filter bank samples", .write_combined = true};
    slot.samples = transfers_ == Transfers::mapped ? device_.buffer(s.sample_bytes, mapped)
                                                   : device_.buffer(s.sample_bytes, {.name = "filter bank samples"});
    // A kernel may read past the end of the received samples; those must read as 0.
    if (transfers_ != Transfers::mapped) s.up->fill(slot.samples, std::byte{0});
    slot.spectra = device_.buffer(s.spectrum_values * sizeof(std::complex<float>), {.name = "filter bank spectra"});
    if (g.delayed) {
      slot.shifts = device_.buffer(g.stations * sizeof(std::int32_t), {.name = "filter bank shifts"});
      slot.phases = device_.buffer(s.spectrum_values / g.channels * sizeof(Phase), {.name = "filter bank phases"});
    }
    s.slots.push_back(std::move(slot));
  }
}

// Copies what the device already holds, and uploads the rest from host memory. Samples not yet received are 0.
void DeviceVariant::send(const RawView& raw, std::uint64_t from, std::uint64_t end, const Held& held,
                         const Buffer& to) const {
  Queue& queue = *scratch_.up;
  if (transfers_ == Transfers::mapped) {
    queue.finish();  // the kernel may still read the buffer that is written now
    const Mapping mapping = to.map();
    raw.copy(from, static_cast<std::size_t>(end - from), mapping.data());
    return;
  }
  std::size_t sent = 0;
  if (held.bytes && held.from <= from && held.end > from) {
    sent = static_cast<std::size_t>(std::min(held.end, end) - from);
    queue.copy(held.bytes, to, sent, static_cast<std::size_t>(from - held.from));
  }
  raw.each_run(from + sent, static_cast<std::size_t>(end - from) - sent, [&](const std::byte* run, std::size_t length) {
    if (run != nullptr) queue.upload(run, to, length, sent);
    sent += length;
  });
}

void DeviceVariant::send_delays(const Job& job, std::size_t done, std::size_t count, const Slot& slot) const {
  if (!geometry_.delayed) return;
  Queue& queue = *scratch_.up;
  const std::size_t each = geometry_.polarizations * geometry_.stations;
  queue.upload(std::span<const std::int32_t>(scratch_.shifts), slot.shifts);
  queue.upload(job.phases.subspan(done * each, count * each), slot.phases);
}

void DeviceVariant::receive(Queue& queue, const Slot& slot, std::uint64_t first, std::size_t count,
                            std::complex<float>* out, std::vector<Shared>& shared) const {
  const Geometry& g = geometry_;
  const std::size_t blocks = static_cast<std::size_t>((first + count + g.times - 1) / g.times - first / g.times);
  const std::size_t values = blocks * g.times * g.spectrum_size();
  if (first % g.times == 0 && (first + count) % g.times == 0) {
    queue.download(slot.spectra, out, values * sizeof *out);
    return;
  }
  shared.push_back({.first = first, .count = count, .out = out});
  shared.back().values.resize(values);
  queue.download(slot.spectra, std::span(shared.back().values));
}

void DeviceVariant::hand_over(const Shared& shared) const {
  const Geometry& g = geometry_;
  for (std::uint64_t t = shared.first; t < shared.first + shared.count; ++t) {
    for (std::size_t k = 0; k < g.channels; ++k) {
      for (std::size_t s = 0; s < g.stations; ++s) {
        for (std::size_t p = 0; p < g.polarizations; ++p) {
          const std::size_t at = g.place(shared.first, t, p, s, k);
          shared.out[at] = shared.values[at];
        }
      }
    }
  }
}

// Keeps the end of the samples on the device for the stream's next spectra.
void DeviceVariant::keep(const Job& job, const Held& last) const {
  if (job.memory == nullptr || transfers_ == Transfers::mapped) return;
  const Geometry& g = geometry_;
  const std::uint64_t from =
      g.frame_start(g.oldest_row(job.first + job.spectra) * static_cast<std::int64_t>(g.channels));
  if (from < last.from || from >= last.end) {
    job.memory->reset();
    return;
  }
  const auto bytes = static_cast<std::size_t>(last.end - from);
  auto held = std::static_pointer_cast<Held>(*job.memory);
  if (!held) *job.memory = held = std::make_shared<Held>();
  if (!held->bytes || held->bytes.size() < bytes) {
    held->bytes = device_.buffer(bytes, {.name = "filter bank history"});
  }
  scratch_.up->copy(last.bytes, held->bytes, bytes, static_cast<std::size_t>(from - last.from));
  held->from = from;
  held->end = last.end;
}

void DeviceVariant::run(const Job& job) const {
  if (job.spectra == 0) return;
  const Geometry& g = geometry_;
  std::lock_guard lock(scratch_.mutex);
  const std::size_t each = piece(job.spectra);
  const bool overlapped = transfers_ == Transfers::overlapped;
  const std::size_t slots = overlapped ? std::min(kSlots, job.spectra / each + 1) : 1;
  make_room(each, slots);
  Scratch& s = scratch_;
  Queue& up = *s.up;
  Queue& compute = overlapped ? *s.compute : up;
  Queue& down = overlapped ? *s.down : up;
  const auto& weights = static_cast<const DeviceWeights&>(job.weights);
  s.shifts.resize(g.stations);
  for (std::size_t i = 0; i < g.stations; ++i) s.shifts[i] = static_cast<std::int32_t>(job.raw.shift(i));
  Held held;
  if (job.memory != nullptr && *job.memory) held = *std::static_pointer_cast<Held>(*job.memory);
  std::vector<Shared> shared;
  std::size_t now = 0;
  for (std::size_t done = 0, i = 0; done < job.spectra; done += now, ++i) {
    Slot& slot = s.slots[i % slots];
    const std::uint64_t first = job.first + done;
    now = std::min(each - static_cast<std::size_t>(first % g.times), job.spectra - done);
    const Range range = range_of(g, first, now);
    const std::uint64_t end = std::min(range.end, job.raw.end());
    if (overlapped && slot.computed) up.wait_for(slot.computed);
    send(job.raw, range.from, end, held, slot.samples);
    send_delays(job, done, now, slot);
    held = slots > 1 || done + now == job.spectra ? Held{slot.samples, range.from, end} : Held{};
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
                    .count = now,
                    .shifts = slot.shifts,
                    .phases = slot.phases},
                   weights);
    if (overlapped) {
      slot.computed = compute.record();
      down.wait_for(slot.computed);
    }
    receive(down, slot, first, now, job.out + block_place(g, job.first, first), shared);
    if (overlapped) slot.downloaded = down.record();
  }
  keep(job, held);
  up.finish();
  down.finish();
  for (const Shared& one : shared) hand_over(one);
  for (Slot& slot : s.slots) slot.uploaded = slot.computed = slot.downloaded = Event();
}

}  // namespace ridge::filterbank::on_device
