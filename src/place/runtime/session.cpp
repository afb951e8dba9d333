#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include <ridge/placed.hpp>

#include "base/log.hpp"

namespace ridge::placed {

bool apart(std::initializer_list<Range> ranges) {
  for (auto a = ranges.begin(); a != ranges.end(); ++a)
    for (auto b = std::next(a); b != ranges.end(); ++b) {
      if (!a->written && !b->written) continue;
      if (a->bytes <= 0 || b->bytes <= 0) continue;
      const auto x = reinterpret_cast<std::uintptr_t>(a->data), y = reinterpret_cast<std::uintptr_t>(b->data);
      if (x < y + static_cast<std::uintptr_t>(b->bytes) && y < x + static_cast<std::uintptr_t>(a->bytes)) return false;
    }
  return true;
}

struct Kernels::State {
  std::optional<Device> device{};
  std::optional<Program> program{};
  std::mutex mutex{};
  std::map<std::string, Kernel> kernels{};
  std::multimap<std::size_t, Buffer> pool{};  // buffers of earlier runs, by size
};

Kernels::Kernels(const char* name, const char* source) : state_(std::make_shared<State>()) {
  try {
    Device device = ridge::device();
    if (device.is_host() || device.limits().work_group < 256) return;
    state_->program.emplace(device.compile({.name = name, .text = source}));
    state_->device.emplace(device);
  } catch (const Error& error) {  // the loops are still there
    base::warn(std::string(name) + " runs on the host: " + error.what());
  }
}

struct Session::State {
  std::shared_ptr<Kernels::State> kernels;
  std::optional<Queue> queue{};
  std::map<const char*, Copy> copies{};  // by the host's address; they never overlap
  std::map<const char*, Int> known{};
  std::vector<Buffer> scratch{};
  bool uploading = false;
};

Session::Session(const Kernels& kernels) : state_(std::make_unique<State>()) {
  state_->kernels = kernels.state();
  if (state_->kernels->device) state_->queue.emplace(state_->kernels->device->queue());
}

Session::~Session() {
  try {
    finish();
    if (state_->queue) {
      state_->queue->finish();
      const std::lock_guard lock(state_->kernels->mutex);
      auto& pool = state_->kernels->pool;
      for (auto& [data, copy] : state_->copies) pool.emplace(copy.buffer.size(), copy.buffer);
      while (pool.size() > 32) pool.erase(pool.begin());
    }
  } catch (const std::exception& error) {
    base::warn(std::string("placed code: ") + error.what());
  }
}

Session::operator bool() const { return state_->queue.has_value(); }

bool Session::room(std::initializer_list<Range> ranges) const {
  if (!state_->queue) return false;
  const Limits& limits = state_->kernels->device->limits();
  std::size_t all = 0;
  for (const Range& r : ranges) {
    const auto bytes = static_cast<std::size_t>(std::max<Int>(r.bytes, 0));
    if (limits.allocation > 0 && bytes > limits.allocation) return false;
    all += bytes;
  }
  return limits.memory == 0 || all <= limits.memory / 8 * 7;
}

// Everything known of this memory ends; `save`: what only the device has comes back first.
void Session::drop(const void* data, Int bytes, bool save) {
  const char* from = static_cast<const char*>(data);
  const char* to = from + bytes;
  for (auto at = state_->copies.begin(); at != state_->copies.end();) {
    if (at->first >= to || at->first + at->second.bytes <= from) {
      ++at;
      continue;
    }
    if (save) settle(at->first, at->second);
    at = state_->copies.erase(at);
  }
}

void Session::settle(const char* data, Copy& copy) {
  if (!copy.host) download(copy.buffer, const_cast<char*>(data), copy.bytes);
  copy.host = true;
}

void Session::download(const Buffer& from, void* to, Int bytes) {
  if (bytes <= 0) return;
  state_->queue->download(from, to, static_cast<std::size_t>(bytes));
  state_->queue->finish();
}

Buffer Session::scratch_bytes(Int bytes) {
  state_->scratch.push_back(
      state_->kernels->device->buffer(static_cast<std::size_t>(std::max<Int>(bytes, 16)), {.name = "scratch"}));
  return state_->scratch.back();
}

Buffer Session::copied_bytes(const void* data, Int bytes) {
  const Buffer& from = on_device(data, bytes, false, false);
  Buffer to = scratch_bytes(bytes);
  if (bytes > 0) state_->queue->copy(from, to, static_cast<std::size_t>(bytes));
  return to;
}

const Buffer& Session::on_device(const void* data, Int bytes, bool written, bool whole) {
  const char* key = static_cast<const char*>(data);
  bytes = std::max<Int>(bytes, 4);
  const auto found = state_->copies.find(key);
  if (found == state_->copies.end() || found->second.bytes < bytes) {
    drop(data, bytes, true);
    Copy made;
    made.bytes = bytes;
    {
      const std::lock_guard lock(state_->kernels->mutex);
      auto& pool = state_->kernels->pool;
      if (const auto old = pool.find(static_cast<std::size_t>(bytes)); old != pool.end()) {
        made.buffer = old->second;
        pool.erase(old);
      }
    }
    if (!made.buffer) made.buffer = state_->kernels->device->buffer(static_cast<std::size_t>(bytes), {.name = "copy"});
    state_->copies.insert_or_assign(key, made);
  }
  Copy& copy = state_->copies.find(key)->second;
  if (!copy.device && !(whole && copy.bytes == bytes)) {
    state_->queue->upload(data, copy.buffer, static_cast<std::size_t>(copy.bytes));
    state_->uploading = true;
  }
  copy.device = true;
  if (written) copy.host = false;
  return copy.buffer;
}

Grid Session::grid(std::initializer_list<Int> iterations, bool reduces, Int most) const {
  static constexpr std::uint64_t sides[4][3] = {{1, 1, 1}, {256, 1, 1}, {32, 8, 1}, {32, 4, 2}};
  Grid g;
  std::array<Int, 3> counts{1, 1, 1};
  std::copy_n(iterations.begin(), std::min<std::size_t>(iterations.size(), 3), counts.begin());
  g.count = g.all = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    g.items[a] = sides[iterations.size()][a];
    const Int groups = (std::max<Int>(counts[a], 1) + static_cast<Int>(g.items[a]) - 1) / static_cast<Int>(g.items[a]);
    g.groups[a] = static_cast<std::uint64_t>(std::min<Int>(groups, a == 0 ? (Int{1} << 22) : 65535));
  }
  const auto total = [&] { return static_cast<Int>(g.groups[0] * g.groups[1] * g.groups[2]); };
  const Int in_group = static_cast<Int>(g.items[0] * g.items[1] * g.items[2]);
  Int limit = reduces ? 1024 : 0;
  if (most > 0) limit = std::max<Int>(1, std::min(limit > 0 ? limit : most, most / in_group));
  for (std::size_t a = 2; limit > 0 && total() > limit; a = a == 0 ? 2 : a - 1) {
    const auto others = total() / static_cast<Int>(g.groups[a]);
    g.groups[a] = static_cast<std::uint64_t>(std::max<Int>(1, limit / others));
    if (a == 0 && total() > limit) g.groups = Extent(static_cast<std::uint64_t>(limit), 1, 1);
  }
  g.count = total();
  g.all = g.count * in_group;
  return g;
}

void Session::run(const char* kernel, const Grid& grid, const std::vector<Argument>& arguments) {
  Kernel chosen;
  {
    const std::lock_guard lock(state_->kernels->mutex);
    auto& known = state_->kernels->kernels;
    auto at = known.find(kernel);
    if (at == known.end()) at = known.emplace(kernel, state_->kernels->program->kernel(kernel)).first;
    chosen = at->second;
  }
  state_->queue->launch(chosen, {.groups = grid.groups, .items = grid.items}, arguments);
}

void Session::host_reads(const void* data, Int bytes) {
  const char* from = static_cast<const char*>(data);
  for (auto& [at, copy] : state_->copies)
    if (at < from + bytes && from < at + copy.bytes) settle(at, copy);
}

void Session::unknow(const void* data, Int bytes) {
  const char* from = static_cast<const char*>(data);
  for (auto at = state_->known.begin(); at != state_->known.end();)
    at = at->first < from + bytes && at->first + at->second > from ? state_->known.erase(at) : std::next(at);
}

void Session::host_takes(const void* data, Int bytes) {
  unknow(data, bytes);
  if (!state_->queue) return;
  drop(data, bytes, true);
  if (state_->uploading) state_->queue->finish();  // the host may write what is still being read
  state_->uploading = false;
}

void Session::host_takes_over() {
  finish();
  if (state_->queue) state_->queue->finish();
  state_->uploading = false;
  state_->copies.clear();
  state_->known.clear();
}

void Session::forget(const void* data, Int bytes) {
  unknow(data, bytes);
  if (state_->queue && bytes > 0) {
    state_->queue->finish();
    drop(data, bytes, false);
  }
}

void Session::finish() {
  for (auto& [data, copy] : state_->copies) settle(data, copy);
}

void Session::knows(const void* data, Int bytes) { state_->known[static_cast<const char*>(data)] = bytes; }

Int Session::reach(const void* data) const {
  const char* from = static_cast<const char*>(data);
  auto at = state_->known.upper_bound(from);
  if (at == state_->known.begin()) return 0;
  --at;
  return std::max<Int>(0, at->first + at->second - from);
}

}  // namespace ridge::placed
