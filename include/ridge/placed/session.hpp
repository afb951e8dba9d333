// Session of a placed program: tracks host arrays and their device copies, and copies an array only when the side that
// needs it has no valid copy. Standard C++ only: `ridge place --emit cuda` and `--emit opencl` write this text into the
// program.
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

// True if an int can count one past the last iteration of every loop.
inline bool countable(std::initializer_list<Int> iterations) {
  for (const Int n : iterations)
    if (n > (Int{1} << 30) - (Int{1} << 20)) return false;
  return true;
}

// Memory that a loop nest accesses.
struct Range {
  const void* data = nullptr;
  Int bytes = 0;
  bool written = false;
};
inline bool apart(std::initializer_list<Range> ranges) {  // no written range overlaps another
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

// Grid for the given iterations per axis; axis 0 is the one of neighbouring work-items. `most` limits the number of
// work-groups (0: no limit); a work-item computes `copies` iterations along each axis.
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

inline std::atomic<Int>& launches() {  // kernel launches since the program started
  static std::atomic<Int> count{0};
  return count;
}

// Long copy between pageable memory and the device through page-locked blocks, by several threads, because one thread's
// memcpy is slower than the bus. These threads also touch new pages first. A lane has two blocks in slot[]; start()
// begins the transfer of one, wait() returns when it is complete.
constexpr Int kPiece = Int{1} << 21, kLongCopy = Int{1} << 23;
inline std::size_t lanes_here() { return std::max(1u, std::min(8u, std::thread::hardware_concurrency() / 2)); }
template <class Lane>
void copy_by_lanes(std::vector<Lane>& lanes, char* host, Int bytes, bool up) {
  std::atomic<Int> next{0};
  const auto work = [&](Lane& lane) {
    const auto empty = [&](Int at, int turn) {  // copies a downloaded block out of its slot
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
      if (!up && before >= 0) empty(before, 1 - turn);  // while the next block is being transferred
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

using Strips = std::vector<std::pair<Int, Int>>;  // first and last iteration of each

// Disjoint ranges of bytes, in ascending order.
class Spans {
 public:
  using List = std::vector<std::pair<Int, Int>>;  // first byte, and one past the last
  void add(Int from, Int to) {
    if (from >= to) return;
    List kept;
    for (const auto& s : list_)
      if (s.second < from || s.first > to) {
        kept.push_back(s);
      } else {
        from = min(from, s.first);
        to = max(to, s.second);
      }
    kept.insert(std::lower_bound(kept.begin(), kept.end(), std::make_pair(from, to)), {from, to});
    list_ = std::move(kept);
  }
  void remove(Int from, Int to) {
    List kept;
    for (const auto& s : list_) {
      if (s.first < min(s.second, from)) kept.emplace_back(s.first, min(s.second, from));
      if (max(s.first, to) < s.second) kept.emplace_back(max(s.first, to), s.second);
    }
    list_ = std::move(kept);
  }
  List within(Int from, Int to) const {
    List found;
    for (const auto& s : list_)
      if (max(s.first, from) < min(s.second, to)) found.emplace_back(max(s.first, from), min(s.second, to));
    return found;
  }
  bool empty() const { return list_.empty(); }

 private:
  List list_{};
};

// One call of a placed function, or several that share the device copies of their arrays; used by a single thread.
// Device defines Memory and provides allocation, copies and launches. A caller that holds a session announces what it
// does with arrays between the calls: host_reads() and host_takes() before it reads and writes them, forget() before it
// frees them.
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
  template <class Kernels>
  Kernels use(const Kernels& kernels) {  // of the program whose function is called; returns those used before
    return device_.use(kernels);
  }
  void end_call() { device_.uploaded(); }  // the host may read and announce its writes from now on
  SessionOn(const SessionOn&) = delete;
  SessionOn& operator=(const SessionOn&) = delete;
  // True if there is a device and this kernel runs on it. The environment variable PLACED_WITHOUT lists kernels,
  // separated by commas, whose loops run on the host instead.
  bool takes(const char* kernel) const {
    static const char* const without = std::getenv("PLACED_WITHOUT");
    if (!device_.there()) return false;
    return without == nullptr ||
           ("," + std::string(without) + ",").find("," + std::string(kernel) + ",") == std::string::npos;
  }
  bool room(std::initializer_list<Range> ranges) const {  // they fit into 7/8 of the device's memory
    Int all = 0;
    for (const Range& r : ranges) {
      if (r.bytes > device_.largest()) return false;
      all += max(r.bytes, 0);
    }
    return all <= memory() / 8 * 7;
  }
  // Cuts the iterations into strips whose arrays fit; none if a single iteration does not fit, or there are too many.
  template <class Fits>
  Strips strips(Int low, Int high, const Fits& fits) {
    Strips all;
    for (Int from = low, more = high - low; from <= high; from = all.back().second + 1) {
      for (; !fits(from, min(high, from + more)); more /= 2)
        if (more == 0 || all.size() > 65536) return {};
      all.emplace_back(from, min(high, from + more));
    }
    host_takes_over();
    return all;
  }
  void end_strip() {  // downloads what the strip wrote, and frees its memory
    finish();
    copies_.clear();
  }

  // Device copy of an array, allocated and uploaded if it is missing or stale. `whole`: the kernel writes every
  // element, so no upload is needed.
  template <class T>
  Memory read(const T* data, Int elements) {
    return copy_of(data, elements * static_cast<Int>(sizeof(T)), false, false);
  }
  // Device copy for constant memory, in an allocation of at most 64 KiB.
  template <class T>
  Memory constant(const T* data, Int elements) {
    const Memory all = read(data, elements);
    const auto known = copies_.find(reinterpret_cast<const char*>(data));
    return known == copies_.end() || known->second.room <= (Int{64} << 10) ? all : copied(data, elements);
  }
  template <class T>
  Memory write(T* data, Int elements, bool whole = false) {
    return copy_of(data, elements * static_cast<Int>(sizeof(T)), true, whole);
  }
  // Device memory for one launch; the next grid() releases it.
  template <class T>
  Memory scratch(Int elements) {
    scratch_.push_back(device_.allocate(max(elements * static_cast<Int>(sizeof(T)), 16)));
    return scratch_.back();
  }
  // Snapshot of an array's device copy.
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

  // Called before the host accesses memory.
  void host_reads(const void* data, Int bytes) {
    each(data, bytes, [&](auto at) { settle(at->first, at->second, offset(data, at->first), bytes); });
  }
  void host_takes(const void* data, Int bytes) {  // the host may write: the device copy is stale there
    unknow(data, bytes);
    each(data, bytes, [&](auto at) {
      Copy& copy = at->second;
      const Int from = offset(data, at->first);
      settle(at->first, copy, from, bytes);
      if (from <= 0 && from + bytes >= copy.bytes) {
        device_.recycle(std::move(copy.memory));
        copies_.erase(at);
      } else {
        copy.stale.add(max(from, 0), min(from + bytes, copy.bytes));
      }
    });
    device_.uploaded();
  }
  void host_takes_over() {  // all memory
    finish();
    for (auto& [data, copy] : copies_) device_.recycle(std::move(copy.memory));
    copies_.clear();
    known_.clear();
    zeros_.clear();
  }
  template <class Array>
  void host_reads(const Array& array) {  // a std::vector, std::array or C array
    host_reads(std::data(array), bytes_of(array));
  }
  template <class Array>
  void host_takes(const Array& array) {
    host_takes(std::data(array), bytes_of(array));
  }
  template <class Array>
  void forget(const Array& array) {
    forget(std::data(array), bytes_of(array));
  }
  void forget(const void* data, Int bytes) {  // the memory is freed; the device copy is dropped without a download
    unknow(data, bytes);
    each(data, bytes, [&](auto at) {
      device_.recycle(std::move(at->second.memory));
      copies_.erase(at);
    });
    if (bytes > 0) device_.uploaded();
  }
  void finish() {  // downloads everything the device wrote
    for (auto& [data, copy] : copies_) settle(data, copy, 0, copy.bytes);
    device_.uploaded();
  }

  // Local array that replaces a std::vector and is resident on the device. The host has only its addresses: pages are
  // allocated when the host first reads or writes the data.
  template <class T>
  class Array {
   public:
    Array(SessionOn& session, std::size_t count) : Array(session, count, nullptr) {  // filled with zeros
      if (session.device_.there()) session.zeros_[bytes_of(data_)] = bytes();        // calloc also returns zeros
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

  // Records the size of an allocation, so that a callee which has only the address can ask for it.
  void knows(const void* data, Int bytes) { known_[static_cast<const char*>(data)] = bytes; }
  Int reach(const void* data) const {  // bytes from there to the end of the allocation; 0: unknown
    const char* from = static_cast<const char*>(data);
    auto at = known_.upper_bound(from);
    if (at == known_.begin()) return 0;
    --at;
    return max(0, at->first + at->second - from);
  }

 private:
  struct Copy {
    Memory memory{};
    Int bytes = 0;  // of the host's array, from its first byte on
    Int room = 0;   // of `memory`
    Spans stale{};  // bytes that the host has written since they were copied, or that were never copied
    Spans newer{};  // bytes that the device has written since they were copied; disjoint from `stale`
  };
  static constexpr Int kNear = Int{1} << 16;  // bytes copied in about the time in which a copy starts
  static Int offset(const void* data, const char* base) {
    return static_cast<Int>(reinterpret_cast<std::intptr_t>(data) - reinterpret_cast<std::intptr_t>(base));
  }
  template <class Array>
  static Int bytes_of(const Array& array) {
    return static_cast<Int>(std::size(array) * sizeof(*std::data(array)));
  }
  Int memory() const {  // of the device; at most PLACED_MEMORY bytes if that environment variable is set
    static const char* const allowed = std::getenv("PLACED_MEMORY");
    return allowed == nullptr ? device_.memory() : min(device_.memory(), std::atoll(allowed));
  }
  Device device_;
  std::map<const char*, Copy> copies_{};  // by host address; never overlapping
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
  // Makes a range of the host side up to date, in blocks of at least kNear.
  void settle(const char* data, Copy& copy, Int from, Int bytes) {
    const Int first = max(from, 0) / kNear * kNear, last = min((from + bytes + kNear - 1) / kNear * kNear, copy.bytes);
    for (const auto& [begin, end] : copy.newer.within(first, last))
      device_.download(copy.memory, const_cast<char*>(data) + begin, end - begin, begin);
    copy.newer.remove(first, last);
  }
  // Makes a range of the device side up to date. A copy includes valid bytes between two that are near each other.
  void refresh(const char* data, Copy& copy, Int bytes) {
    const Spans::List stale = copy.stale.within(0, bytes);
    for (std::size_t i = 0; i < stale.size();) {
      const Int from = stale[i].first;
      Int to = stale[i].second;
      for (++i; i < stale.size() && stale[i].first - to < kNear && copy.newer.within(to, stale[i].first).empty(); ++i)
        to = stale[i].second;
      device_.upload(data + from, copy.memory, to - from, from);
    }
    copy.stale.remove(0, bytes);
  }
  // Lengthens a copy; what it has stays on the device. An array that grew once is expected to grow again.
  void lengthen(const char* data, Copy& copy, Int bytes) {
    Int taken = bytes;
    for (const auto& other : copies_) taken += other.second.room;
    if (bytes > copy.room && taken <= memory() / 8 * 7) {
      const Int more = min(bytes, Int{1} << 26);
      const Int room = taken + more <= memory() / 2 && bytes + more <= device_.largest() ? bytes + more : bytes;
      Memory larger = device_.allocate(room);
      device_.copy(copy.memory, larger, copy.bytes);
      device_.recycle(std::exchange(copy.memory, std::move(larger)));
      copy.room = room;
    } else if (bytes > copy.room) {  // no memory for both
      settle(data, copy, 0, copy.bytes);
      copy = Copy{};
      copy.memory = device_.allocate(bytes);
      copy.room = bytes;
    }
    copy.stale.add(copy.bytes, bytes);
    copy.bytes = bytes;
  }
  void drop(const void* data, Int bytes) {  // downloads what only the device has, then drops the copies
    each(data, bytes, [&](auto at) {
      settle(at->first, at->second, 0, at->second.bytes);
      copies_.erase(at);
    });
  }
  // Creates new host memory `data` as a device copy of `from`. Returns false if the device has no room; `from` is then
  // up to date on the host.
  bool begin_as_copy(const void* data, const void* from, Int bytes) {
    const auto known = copies_.find(static_cast<const char*>(from));
    const bool there =
        known != copies_.end() && known->second.bytes >= bytes && known->second.stale.within(0, bytes).empty();
    if (!there) host_reads(from, bytes);
    Int taken = bytes;
    for (const auto& [at, copy] : copies_) taken += copy.room;
    if (!device_.there() || bytes > device_.largest() || taken > memory() / 8 * 7) {
      host_reads(from, bytes);
      return false;
    }
    Copy made;
    made.bytes = bytes;
    made.room = max(bytes, 4);
    made.memory = device_.allocate(made.room);
    made.newer.add(0, bytes);
    if (there)
      device_.copy(known->second.memory, made.memory, bytes);
    else
      device_.upload(from, made.memory, bytes, 0);
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
    if (bytes <= 0) return scratch<char>(4);
    auto found = copies_.find(key);
    if (found == copies_.end()) {
      drop(data, bytes);
      found = copies_.emplace(key, Copy{}).first;
      Copy& made = found->second;
      made.room = max(bytes, 4);
      made.memory = device_.allocate(made.room);
      made.bytes = bytes;
      made.stale.add(0, bytes);
    } else if (found->second.bytes < bytes) {
      drop(key + found->second.bytes, bytes - found->second.bytes);
      lengthen(key, found->second, bytes);
    }
    Copy& copy = found->second;
    const auto zero = zeros_.find(key);
    if (whole) {
      copy.stale.remove(0, bytes);
    } else if (zero != zeros_.end() && zero->second >= copy.bytes && !copy.stale.within(0, bytes).empty()) {
      device_.clear(copy.memory, copy.room);
      copy.stale.remove(0, copy.bytes);
    } else {
      refresh(key, copy, bytes);
    }
    if (written) {
      copy.newer.add(0, bytes);
      end_in(zeros_, key, bytes);
    }
    return copy.memory;
  }
};

// Declared after a local array in generated code: drops the device copy when the array goes out of scope.
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

// Declared in a placed function that is called with a session: launches kernels of its program, and at the end of the
// call those of its caller again.
template <class Session, class Kernels>
class Use {
 public:
  Use(Session& session, const Kernels& kernels) : session_(session), before_(session.use(kernels)) {}
  ~Use() {
    session_.end_call();
    session_.use(before_);
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  Session& session_;
  const Kernels before_;
};

// Declared after a local object with memory of its own: moves all data to the host before the object is destroyed.
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
