// Least-recently-used cache limited by memory: put() drops the oldest entries until the others fit.
#pragma once
#include <cstddef>
#include <iterator>
#include <list>
#include <unordered_map>
#include <utility>

namespace ridge::base {

// Map is std::unordered_map, or std::map for keys without a hash. Not thread-safe: callers lock.
template <class Key, class Value, template <class...> class Map = std::unordered_map>
class LruCache {
 public:
  // The newest `least_entries` entries are kept regardless of their size.
  explicit LruCache(std::size_t most_bytes, std::size_t least_entries = 1)
      : most_bytes_(most_bytes), least_entries_(least_entries) {}

  // Null for an unknown key; otherwise valid until the next put() or clear().
  Value* find(const Key& key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return &found->second->value;
  }

  // Replaces an entry with the same key. Returns the number of bytes dropped.
  std::size_t put(const Key& key, Value value, std::size_t bytes) {
    if (const auto found = places_.find(key); found != places_.end()) drop(found->second);
    entries_.push_front({key, std::move(value), bytes});
    places_[key] = entries_.begin();
    bytes_ += bytes;
    const std::size_t before = bytes_;
    while (bytes_ > most_bytes_ && entries_.size() > least_entries_) drop(std::prev(entries_.end()));
    return before - bytes_;
  }

  void clear() {
    places_.clear();
    entries_.clear();
    bytes_ = 0;
  }

  std::size_t size() const { return entries_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    Key key;
    Value value;
    std::size_t bytes;
  };
  using Place = typename std::list<Entry>::iterator;

  void drop(Place place) {
    bytes_ -= place->bytes;
    places_.erase(place->key);
    entries_.erase(place);
  }

  std::size_t most_bytes_, least_entries_;
  std::size_t bytes_ = 0;
  std::list<Entry> entries_;  // most recently used first
  Map<Key, Place> places_;
};

}  // namespace ridge::base
