// What programs written by `ridge place` share, whatever their device: arrays of the host and their copies on the
// device, each copied only when the side that needs it does not have it. Standard C++ alone: `ridge place --emit cuda`
// and
// `--emit opencl` write this text into the program.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <iterator>
#include <map>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace ridge::placed {

using Int = std::int64_t;
inline Int max(Int a, Int b) { return a < b ? b : a; }
inline Int min(Int a, Int b) { return b < a ? b : a; }
inline Int floord(Int n, Int d) { return n < 0 ? -((-n + d - 1) / d) : n / d; }

// Few enough that an int can step past the last one.
inline bool countable(std::initializer_list<Int> iterations) {
  for (const Int n : iterations)
    if (n > (Int{1} << 30) - (Int{1} << 20)) return false;
  return true;
}

// Memory that a nest touches.
struct Range {
  const void* data = nullptr;
  Int bytes = 0;
  bool written = false;
};
inline bool apart(std::initializer_list<Range> ranges) {  // none that is written overlaps another
  for (auto a = ranges.begin(); a != ranges.end(); ++a)
    for (auto b = a + 1; b != ranges.end(); ++b) {
      if ((!a->written && !b->written) || a->bytes <= 0 || b->bytes <= 0) continue;
      const auto x = reinterpret_cast<std::uintptr_t>(a->data), y = reinterpret_cast<std::uintptr_t>(b->data);
      if (x < y + static_cast<std::uintptr_t>(b->bytes) && y < x + static_cast<std::uintptr_t>(a->bytes)) return false;
    }
  return true;
}

struct Grid {
  std::uint64_t groups[3] = {1, 1, 1}, items[3] = {1, 1, 1};
  Int count = 1;  // work-groups
  Int all = 1;    // work-items
};

// Iterations along each axis, the axis of neighbouring work-items first. `most` bounds the number of groups; an item
// takes so many `copies` along an axis.
inline Grid grid_over(std::initializer_list<Int> iterations, std::initializer_list<Int> items, Int most,
                      std::initializer_list<Int> copies) {
  Grid g;
  std::copy(items.begin(), items.end(), g.items);
  Int in_group = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    const Int n = a < iterations.size() ? max(iterations.begin()[a], 1) : 1;
    const Int side = static_cast<Int>(g.items[a]) * (a < copies.size() ? copies.begin()[a] : 1);
    g.groups[a] = static_cast<std::uint64_t>(min((n + side - 1) / side, a == 0 ? Int{1} << 22 : 65535));
    in_group *= static_cast<Int>(g.items[a]);
  }
  const auto total = [&] { return static_cast<Int>(g.groups[0] * g.groups[1] * g.groups[2]); };
  for (std::size_t a = 3; a-- > 0 && most > 0 && total() > most;) {
    const Int others = total() / static_cast<Int>(g.groups[a]);
    g.groups[a] = static_cast<std::uint64_t>(max(1, most / others));
  }
  g.count = total();
  g.all = g.count * in_group;
  return g;
}

inline std::atomic<Int>& launches() {  // of kernels, since the program started
  static std::atomic<Int> count{0};
  return count;
}

// A long copy between pageable memory and the device: through page-locked pieces, several threads at a time, because
// one thread's memcpy is slower than the bus. It is also these threads that first touch fresh pages. A lane has two
// pieces in slot[]; start() sends or fetches one, wait() ends when that is done.
constexpr Int kPiece = Int{1} << 21, kLongCopy = Int{1} << 23;
inline std::size_t lanes_here() { return std::max(1u, std::min(8u, std::thread::hardware_concurrency() / 2)); }
template <class Lane>
void copy_by_lanes(std::vector<Lane>& lanes, char* host, Int bytes, bool up) {
  std::atomic<Int> next{0};
  const auto work = [&](Lane& lane) {
    const auto empty = [&](Int at, int turn) {  // a piece that has come from the device
      lane.wait(turn);
      std::memcpy(host + at, lane.slot[turn], static_cast<std::size_t>(min(kPiece, bytes - at)));
    };
    Int before = -1;
    for (int turn = 0;; turn = 1 - turn) {
      const Int at = next.fetch_add(kPiece), n = min(kPiece, bytes - at);
      if (up && n > 0) {
        lane.wait(turn);
        std::memcpy(lane.slot[turn], host + at, static_cast<std::size_t>(n));
      }
      if (n > 0) lane.start(turn, at, n, up);
      if (!up && before >= 0) empty(before, 1 - turn);  // while this one is on its way
      before = at;
      if (n <= 0) break;
    }
    lane.wait(0);
    lane.wait(1);
  };
  auto failed = std::vector<std::exception_ptr>(lanes.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < lanes.size(); ++i)
    threads.emplace_back([&, i] {
      try {
        work(lanes[i]);
      } catch (...) {
        failed[i] = std::current_exception();
      }
    });
  for (std::thread& t : threads) t.join();
  for (const std::exception_ptr& f : failed)
    if (f) std::rethrow_exception(f);
}

// One run of a placed function. Belongs to one thread. The Device says what Memory is, makes it, copies and launches.
template <class Device>
class SessionOn {
 public:
  using Memory = typename Device::Memory;
  template <class... Made>
  explicit SessionOn(Made&... made) : device_(made...) {}
  ~SessionOn() {
    try {
      host_takes_over();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "placed code: %s\n", error.what());
    }
  }
  SessionOn(const SessionOn&) = delete;
  SessionOn& operator=(const SessionOn&) = delete;
  // There is a device, and this kernel is wanted on it: PLACED_WITHOUT names kernels, with commas, whose loops run on
  // the host instead.
  bool takes(const char* kernel) const {
    static const char* const without = std::getenv("PLACED_WITHOUT");
    if (!device_.there()) return false;
    return without == nullptr ||
           ("," + std::string(without) + ",").find("," + std::string(kernel) + ",") == std::string::npos;
  }
  bool room(std::initializer_list<Range> ranges) const {  // they fit the device
    Int all = 0;
    for (const Range& r : ranges) {
      if (r.bytes > device_.largest()) return false;
      all += max(r.bytes, 0);
    }
    return all <= device_.memory() / 8 * 7;
  }

  // Copies on the device, made and filled where they are missing or stale. `whole`: every element will be written.
  template <class T>
  Memory read(const T* data, Int elements) {
    return copy_of(data, elements * static_cast<Int>(sizeof(T)), false, false);
  }
  // A few elements for constant memory, in a piece that is no longer than they are.
  template <class T>
  Memory constant(const T* data, Int elements) {
    const Memory all = read(data, elements);
    const bool alone = copies_.find(reinterpret_cast<const char*>(data))->second.bytes <= (Int{64} << 10);
    return alone ? all : copied(data, elements);
  }
  template <class T>
  Memory write(T* data, Int elements, bool whole = false) {
    return copy_of(data, elements * static_cast<Int>(sizeof(T)), true, whole);
  }
  // Memory of the device alone, for one launch: the next grid() takes it back.
  template <class T>
  Memory scratch(Int elements) {
    scratch_.push_back(device_.allocate(max(elements * static_cast<Int>(sizeof(T)), 16)));
    return scratch_.back();
  }
  // A second copy on the device, as it is now.
  template <class T>
  Memory copied(const T* data, Int elements) {
    const Memory from = read(data, elements), to = scratch<T>(elements);
    if (elements > 0) device_.copy(from, to, elements * static_cast<Int>(sizeof(T)));
    return to;
  }
  template <class T>
  std::vector<T> fetch(const Memory& from, Int elements) {
    std::vector<T> values(static_cast<std::size_t>(elements));
    if (elements > 0) device_.download(from, values.data(), elements * static_cast<Int>(sizeof(T)));
    return values;
  }

  Grid grid(std::initializer_list<Int> iterations, std::initializer_list<Int> items, Int most = 0,
            std::initializer_list<Int> copies = {}) {
    for (Memory& m : scratch_) device_.recycle(std::move(m));
    scratch_.clear();
    return grid_over(iterations, items, most, copies);
  }
  template <class Kernel, class... Arguments>
  void run(const Kernel& kernel, const Grid& grid, const Arguments&... arguments) {
    device_.launch(kernel, grid, arguments...);
    ++launches();
  }

  // Before the host touches memory.
  void host_reads(const void* data, Int bytes) {
    each(data, bytes, [&](auto at) { settle(at->first, at->second); });
  }
  void host_takes(const void* data, Int bytes) {  // it may write: the device's copy ends
    unknow(data, bytes);
    drop(data, bytes);
    device_.uploaded();
  }
  void host_takes_over() {  // all of it
    finish();
    if (!device_.there()) return;
    for (auto& [data, copy] : copies_) device_.recycle(std::move(copy.memory));
    copies_.clear();
    known_.clear();
    zeros_.clear();
  }
  void forget(const void* data, Int bytes) {  // the memory ends; nobody needs what the device has
    unknow(data, bytes);
    each(data, bytes, [&](auto at) {
      device_.recycle(std::move(at->second.memory));
      copies_.erase(at);
    });
    if (bytes > 0) device_.uploaded();
  }
  void finish() {  // everything the device wrote is on the host
    for (auto& [data, copy] : copies_) settle(data, copy);
    device_.uploaded();
  }

  // A local array that began as a std::vector. It lives on the device; the host has addresses for it, whose pages are
  // only made when the host needs what is there.
  template <class T>
  class Array {
   public:
    Array(SessionOn& session, std::size_t count) : Array(session, count, nullptr) {  // of zeros
      if (session.device_.there()) session.zeros_[bytes_of(data_)] = bytes();        // calloc's are zeros too
    }
    Array(SessionOn& session, const T* from, const T* to) : Array(session, static_cast<std::size_t>(to - from), from) {
      if (count_ > 0 && !session.begin_as_copy(data_, from, bytes())) std::copy(from, to, data_);
    }
    ~Array() {
      session_.forget(data_, bytes());
      std::free(data_);
    }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    T* data() { return data_; }
    const T* data() const { return data_; }
    std::size_t size() const { return count_; }
    bool empty() const { return count_ == 0; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }

   private:
    SessionOn& session_;
    std::size_t count_ = 0;
    T* data_ = nullptr;
    Array(SessionOn& session, std::size_t count, const T*)
        : session_(session),
          count_(count),
          data_(static_cast<T*>(std::calloc(std::max<std::size_t>(count, 1), sizeof(T)))) {
      if (data_ == nullptr) throw std::bad_alloc();
    }
    static const char* bytes_of(const T* data) { return reinterpret_cast<const char*>(data); }
    Int bytes() const { return static_cast<Int>(count_ * sizeof(T)); }
  };

  // Who owns memory knows how much there is; a callee that only has the address may ask.
  void knows(const void* data, Int bytes) { known_[static_cast<const char*>(data)] = bytes; }
  Int reach(const void* data) const {  // bytes from there to the end; 0: not known
    const char* from = static_cast<const char*>(data);
    auto at = known_.upper_bound(from);
    if (at == known_.begin()) return 0;
    --at;
    return max(0, at->first + at->second - from);
  }

 private:
  struct Copy {
    Memory memory{};
    Int bytes = 0;
    bool host = true, device = false;  // where it is up to date
  };
  Device device_;
  std::map<const char*, Copy> copies_{};  // by the host's address; they never overlap
  std::map<const char*, Int> known_{}, zeros_{};
  std::vector<Memory> scratch_{};

  template <class Visit>
  void each(const void* data, Int bytes, const Visit& visit) {
    const char* from = static_cast<const char*>(data);
    for (auto at = copies_.begin(); at != copies_.end();) {
      const auto here = at++;
      if (here->first < from + bytes && from < here->first + here->second.bytes) visit(here);
    }
  }
  void settle(const char* data, Copy& copy) {  // on the host
    if (!copy.host) device_.download(copy.memory, const_cast<char*>(data), copy.bytes);
    copy.host = true;
  }
  void drop(const void* data, Int bytes) {  // what only the device has comes back first
    each(data, bytes, [&](auto at) {
      settle(at->first, at->second);
      copies_.erase(at);
    });
  }
  // New memory of the host that holds what lies at `from`, made on the device. False: there is no room for it; then
  // `from` is up to date on the host.
  bool begin_as_copy(const void* data, const void* from, Int bytes) {
    const auto known = copies_.find(static_cast<const char*>(from));
    const bool there = known != copies_.end() && known->second.device && known->second.bytes >= bytes;
    if (!there) host_reads(from, bytes);
    Int taken = bytes;
    for (const auto& [at, copy] : copies_) taken += copy.bytes;
    if (!device_.there() || bytes > device_.largest() || taken > device_.memory() / 8 * 7) {
      host_reads(from, bytes);
      return false;
    }
    Copy made{device_.allocate(max(bytes, 4)), bytes, false, true};
    if (there)
      device_.copy(known->second.memory, made.memory, bytes);
    else
      device_.upload(from, made.memory, bytes);
    device_.uploaded();
    copies_[static_cast<const char*>(data)] = std::move(made);
    return true;
  }
  void unknow(const void* data, Int bytes) {
    for (auto* list : {&known_, &zeros_}) end_in(*list, static_cast<const char*>(data), bytes);
  }
  static void end_in(std::map<const char*, Int>& list, const char* from, Int bytes) {
    for (auto at = list.begin(); at != list.end();)
      at = at->first < from + bytes && at->first + at->second > from ? list.erase(at) : std::next(at);
  }
  Memory copy_of(const void* data, Int bytes, bool written, bool whole) {
    const char* key = static_cast<const char*>(data);
    bytes = max(bytes, 4);
    auto found = copies_.find(key);
    if (found == copies_.end() || found->second.bytes < bytes) {
      drop(data, bytes);
      found = copies_.insert_or_assign(key, Copy{device_.allocate(bytes), bytes}).first;
    }
    Copy& copy = found->second;
    if (!copy.device && !(whole && copy.bytes == bytes)) {
      const auto zero = zeros_.find(key);
      if (zero != zeros_.end() && zero->second >= copy.bytes)
        device_.clear(copy.memory, copy.bytes);
      else
        device_.upload(data, copy.memory, copy.bytes);
    }
    copy.device = true;
    if (written) {
      copy.host = false;
      end_in(zeros_, key, bytes);
    }
    return copy.memory;
  }
};

// Stands behind a local array in generated code: what the device has of it ends with it.
template <class Session, class Array>
class Owner {
 public:
  Owner(Session& session, const Array& array) : session_(session), array_(array) {}
  ~Owner() { session_.forget(std::data(array_), bytes()); }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;

 private:
  Int bytes() const { return static_cast<Int>(std::size(array_) * sizeof(*std::data(array_))); }
  Session& session_;
  const Array& array_;
};

// Stands behind a local object that owns memory in ways of its own: before it ends, all is on the host.
template <class Session>
class Leaving {
 public:
  explicit Leaving(Session& session) : session_(session) {}
  ~Leaving() { session_.host_takes_over(); }
  Leaving(const Leaving&) = delete;
  Leaving& operator=(const Leaving&) = delete;

 private:
  Session& session_;
};

}  // namespace ridge::placed
