// Opens and delivers blocks of slots as counters advance, and counts losses, copies and conflicts.
#include "io/capture/assembler.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace ridge::io {
namespace {

constexpr std::size_t kConfirm = 4;                                // packets that must agree on a jump of the counter
constexpr std::uint64_t kLargestCounter = std::uint64_t{1} << 62;  // larger ones would overflow sums of counters
constexpr std::size_t kRefusals = 256;  // packets in a row that cannot be placed: another observation

}  // namespace

Assembler::Assembler(const AssemblerOptions& options, Room room, Hand hand)
    : options_(options), room_(std::move(room)), hand_(std::move(hand)), senders_(options.streams) {}

std::byte* Assembler::slot(std::uint64_t counter, std::uint32_t stream) {
  if (open_.empty() || counter < open_.front().first || stream >= options_.streams || !held_.empty()) return nullptr;
  const std::uint64_t index = (counter - open_.front().first) / options_.slots;
  if (index >= open_.size() || open_[index].block == nullptr) return nullptr;
  Open& one = open_[index];
  const std::size_t at = static_cast<std::size_t>(counter - one.first) * options_.streams + stream;
  if (one.block->states[at] != SlotState::empty) return nullptr;
  return one.block->data.data() + at * options_.payload;
}

// Counts packets of unknown streams and of other senders.
bool Assembler::admit(const PacketPlace& place, std::uint64_t sender) {
  if (place.stream >= options_.streams) {
    ++counts_.unknown_stream;
    return false;
  }
  std::uint64_t& known = senders_[place.stream];
  if (known == 0) known = sender;
  if (known == sender) return true;
  ++counts_.foreign;
  return false;
}

void Assembler::refuse(const PacketPlace& place, std::uint64_t& count) {
  ++count;
  if (++refused_ < kRefusals) return;
  ended_ = fmt::format("the counter went from {} to {} and stayed there: another observation", newest_, place.counter);
}

void Assembler::take(const PacketPlace& place, const std::byte* payload, std::uint64_t sender) {
  if (place.counter > kLargestCounter) return take_damaged();
  if (!admit(place, sender)) return;
  if (!begun_) {
    begun_ = true;
    first_ = newest_ = next_ = place.counter;
    open_for(place.counter);
  }
  const std::uint64_t oldest = open_.empty() ? next_ : open_.front().first;
  if (place.counter < oldest) return refuse(place, counts_.late);
  const std::uint64_t ahead = place.counter > newest_ ? place.counter - newest_ : 0;
  if (ahead > options_.longest_gap) return refuse(place, counts_.unconfirmed);
  if (ahead > options_.window) return hold(place, payload);
  refused_ = 0;
  if (!held_.empty() && ++since_held_ >= 2 * kConfirm) drop_held();
  store(place, payload);
}

void Assembler::drop_held() {
  counts_.unconfirmed += held_.size();
  held_.clear();
}

// A counter far ahead is accepted once several packets agree; until then their samples are kept in a buffer.
void Assembler::hold(const PacketPlace& place, const std::byte* payload) {
  const auto apart = [&](const Held& one) {
    return std::max(one.place.counter, place.counter) - std::min(one.place.counter, place.counter);
  };
  if (!held_.empty() && apart(held_.back()) > options_.window) drop_held();
  since_held_ = 0;
  refused_ = 0;
  held_.push_back({place, {payload, payload + place.bytes}});
  if (held_.size() < kConfirm) return;
  std::vector<Held> all;
  all.swap(held_);
  const bool same = std::all_of(all.begin(), all.end(), [&](const Held& one) {
    return one.place.counter == all.front().place.counter && one.place.stream == all.front().place.stream;
  });
  if (same) {  // copies of one packet confirm nothing
    counts_.unconfirmed += all.size();
    return;
  }
  for (const Held& one : all) store(one.place, one.payload.data());
}

// Opens blocks up to the counter's, and delivers those that are `window` counters behind it.
void Assembler::open_for(std::uint64_t counter) {
  const std::uint64_t slots = options_.slots;
  while (!open_.empty() && counter >= open_.front().first + slots + options_.window) close_front(options_.slots);
  while (counter >= next_) {
    if (open_.empty() && counter >= next_ + slots + options_.window) {
      counts_.lost += slots * options_.streams;
      hand_(next_, options_.slots, nullptr);
    } else {
      open_.push_back({next_, room_()});
      if (open_.back().block != nullptr)
        std::fill(open_.back().block->states.begin(), open_.back().block->states.end(), SlotState::empty);
    }
    next_ += slots;
  }
}

void Assembler::store(const PacketPlace& place, const std::byte* payload) {
  if (!open_.empty() && place.counter < open_.front().first) return refuse(place, counts_.late);
  if (place.counter > newest_) {
    newest_ = place.counter;
    open_for(place.counter);
  }
  Open& one = open_[static_cast<std::size_t>((place.counter - open_.front().first) / options_.slots)];
  if (one.block == nullptr) {
    ++counts_.overrun;
    return;
  }
  const std::size_t at = static_cast<std::size_t>(place.counter - one.first) * options_.streams + place.stream;
  std::byte* to = one.block->data.data() + at * options_.payload;
  SlotState& state = one.block->states[at];
  if (state == SlotState::empty) {
    if (to != payload) std::memcpy(to, payload, options_.payload);
    state = SlotState::stored;
    ++counts_.stored;
  } else if (state == SlotState::stored && std::memcmp(to, payload, options_.payload) == 0) {
    ++counts_.duplicates;
  } else {
    // It is unknown which of the two is right, so both are dropped.
    if (state == SlotState::stored) --counts_.stored, ++counts_.conflicts;
    state = SlotState::conflict;
    ++counts_.conflicts;
  }
}

void Assembler::close_front(std::size_t counters) {
  const Open one = open_.front();
  open_.pop_front();
  const std::size_t slots = counters * options_.streams;
  std::size_t stored = 0;
  if (one.block != nullptr) {
    const auto begin = one.block->states.begin();
    stored = static_cast<std::size_t>(std::count(begin, begin + static_cast<std::ptrdiff_t>(slots), SlotState::stored));
  }
  counts_.delivered += stored;
  counts_.lost += slots - stored;
  hand_(one.first, counters, one.block);
}

void Assembler::finish() {
  drop_held();
  while (!open_.empty()) {
    const std::uint64_t left = newest_ + 1 - open_.front().first;
    close_front(static_cast<std::size_t>(std::min<std::uint64_t>(options_.slots, left)));
  }
}

}  // namespace ridge::io
