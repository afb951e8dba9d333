// Binary format of a saved stream: a magic line, numbers and arrays in little-endian order, and a checksum.
#include "filterbank/saved_state.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#include <ridge/error.hpp>

namespace ridge::filterbank {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are stored in native byte order");

constexpr std::string_view kMagic = "ridge filterbank state 2\n";

std::uint64_t checksum(std::string_view text) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

class Writer {
 public:
  void number(std::uint64_t value) { text_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  template <class Items>
  void items(const Items& items) {
    number(items.size());
    text_.append(reinterpret_cast<const char*>(items.data()), items.size() * sizeof items[0]);
  }
  std::string take() {
    const std::uint64_t sum = checksum(text_);
    number(sum);
    return std::string(kMagic) + text_;
  }

 private:
  std::string text_;
};

class Reader {
 public:
  explicit Reader(std::string_view text) {
    if (text.substr(0, kMagic.size()) != kMagic) fail("its first line is not \"ridge filterbank state 2\"");
    text.remove_prefix(kMagic.size());
    if (text.size() < sizeof(std::uint64_t)) fail("it is truncated");
    text_ = text.substr(0, text.size() - sizeof(std::uint64_t));
    std::uint64_t sum = 0;
    std::memcpy(&sum, text.data() + text_.size(), sizeof sum);
    if (sum != checksum(text_)) fail("its checksum is wrong");
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  template <class Items>
  void items(Items& items) {
    const std::uint64_t count = number();
    if (count > text_.size() / sizeof items[0]) fail("it is truncated");
    const auto bytes = static_cast<std::size_t>(count) * sizeof items[0];
    const std::string_view from = take(bytes);
    items.resize(static_cast<std::size_t>(count));
    if (bytes > 0) std::memcpy(items.data(), from.data(), bytes);
  }
  void weights(std::vector<double>& weights) {
    items(weights);
    for (const double weight : weights) {
      if (!std::isfinite(weight)) fail("a weight is not finite");
    }
  }
  void finish() const {
    if (!text_.empty()) fail("it has extra data at the end");
  }
  [[noreturn]] static void fail(const char* what) {
    throw Error(ErrorKind::io, std::string("not a saved state of a filter bank: ") + what);
  }

 private:
  std::string_view take(std::size_t bytes) {
    if (bytes > text_.size()) fail("it is truncated");
    const std::string_view taken = text_.substr(0, bytes);
    text_.remove_prefix(bytes);
    return taken;
  }
  std::string_view text_;
};

}  // namespace

std::string write_state(const SavedState& state) {
  Writer writer;
  writer.items(state.problem);
  writer.items(state.variant);
  writer.number(state.spectra);
  writer.number(state.held_from);
  writer.items(state.held);
  writer.items(state.weights);
  writer.number(state.waiting.size());
  for (const auto& one : state.waiting) {
    writer.number(one.spectrum);
    writer.items(one.weights);
  }
  writer.number(state.delays.size());
  for (const auto& one : state.delays) {
    writer.number(one.sample);
    writer.items(one.delays);
  }
  return writer.take();
}

SavedState read_state(std::string_view text) {
  Reader reader(text);
  SavedState state;
  reader.items(state.problem);
  reader.items(state.variant);
  state.spectra = reader.number();
  state.held_from = reader.number();
  reader.items(state.held);
  reader.weights(state.weights);
  const std::uint64_t waiting = reader.number();
  for (std::uint64_t i = 0; i < waiting; ++i) {
    SavedState::Waiting one;
    one.spectrum = reader.number();
    reader.weights(one.weights);
    state.waiting.push_back(std::move(one));
  }
  const std::uint64_t delays = reader.number();
  for (std::uint64_t i = 0; i < delays; ++i) {
    SavedState::Delays one;
    one.sample = reader.number();
    reader.items(one.delays);
    state.delays.push_back(std::move(one));
  }
  reader.finish();
  return state;
}

}  // namespace ridge::filterbank
