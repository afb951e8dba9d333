// Copies snapshots between places on a device and host memory.
#include "stencil/shots/snapshot_store.hpp"

#include <utility>

namespace ridge::stencil {
namespace {

std::size_t all_bytes(const std::vector<SnapshotStore::Part>& parts) {
  std::size_t bytes = 0;
  for (const SnapshotStore::Part& part : parts) bytes += part.bytes;
  return bytes;
}

}  // namespace

base::AlignedArray<std::byte> SpareMemory::take(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  base::AlignedArray<std::byte> kept = std::move(kept_);
  kept_ = {};
  if (kept.size() >= bytes) return kept;
  kept = {};  // frees it first: memory may not suffice for both
  return base::AlignedArray<std::byte>(bytes);
}

void SpareMemory::give_back(base::AlignedArray<std::byte> memory) {
  const std::lock_guard lock(mutex_);
  if (memory.size() > kept_.size()) kept_ = std::move(memory);
}

SnapshotStore::SnapshotStore(const Device& device, std::size_t slots, std::vector<Part> parts,
                             std::shared_ptr<SpareMemory> spare)
    : queue_(device.queue()),
      transfer_(device),
      parts_(std::move(parts)),
      spare_(std::move(spare)),
      values_(spare_->take(slots * all_bytes(parts_))),
      places_(kSnapshotPlaces),
      thread_([this] { copy_jobs(); }) {}

SnapshotStore::~SnapshotStore() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    jobs_.clear();
  }
  changed_.notify_all();
  thread_.join();
  spare_->give_back(std::move(values_));
}

std::size_t SnapshotStore::place_to_write(std::size_t slot) {
  std::unique_lock lock(mutex_);
  wait_for(slot % kSnapshotPlaces, lock);
  return slot % kSnapshotPlaces;
}

void SnapshotStore::written(std::size_t slot, const Event& event) {
  const std::lock_guard lock(mutex_);
  places_[slot % kSnapshotPlaces].slot = slot;
  push({.slot = slot, .after = event});
}

std::size_t SnapshotStore::place_to_read(std::size_t slot) {
  std::unique_lock lock(mutex_);
  for (std::size_t ahead = 0; ahead < kSnapshotPlaces && ahead <= slot; ++ahead) fetch(slot - ahead);
  wait_for(slot % kSnapshotPlaces, lock);
  return slot % kSnapshotPlaces;
}

void SnapshotStore::used(std::size_t slot, const Event& event) {
  const std::lock_guard lock(mutex_);
  places_[slot % kSnapshotPlaces].used = event;
}

void SnapshotStore::fetch(std::size_t slot) {
  Place& place = places_[slot % kSnapshotPlaces];
  if (place.slot == slot) return;
  place.slot = slot;
  push({.slot = slot, .upload = true, .after = place.used});
}

void SnapshotStore::push(const Job& job) {
  ++places_[job.slot % kSnapshotPlaces].jobs;
  jobs_.push_back(job);
  changed_.notify_all();
}

void SnapshotStore::wait_for(std::size_t place, std::unique_lock<std::mutex>& lock) {
  changed_.wait(lock, [&] { return failure_ || places_[place].jobs == 0; });
  if (failure_) std::rethrow_exception(failure_);
}

void SnapshotStore::copy_jobs() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ends_ || !jobs_.empty(); });
    if (ends_) return;
    const Job job = jobs_.front();
    jobs_.pop_front();
    lock.unlock();
    try {
      copy(job);
      lock.lock();
    } catch (...) {
      lock.lock();
      failure_ = std::current_exception();
    }
    --places_[job.slot % kSnapshotPlaces].jobs;
    changed_.notify_all();
  }
}

void SnapshotStore::copy(const Job& job) {
  if (job.after) queue_.wait_for(job.after);
  std::byte* here = values_.data() + job.slot * all_bytes(parts_);
  for (const Part& part : parts_) {
    const std::size_t there = job.slot % kSnapshotPlaces * part.bytes;
    if (job.upload) {
      transfer_.upload(queue_, here, part.buffer, part.bytes, there);
    } else {
      transfer_.download(queue_, part.buffer, here, part.bytes, there);
    }
    here += part.bytes;
  }
}

}  // namespace ridge::stencil
