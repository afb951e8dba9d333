// What programs written by `ridge place` stand on: arrays of the host and their copies on a device, each copied only
// when the side that needs it does not have it. People may use it too; the generated code is meant to be read.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <ridge/device.hpp>

namespace ridge::placed {

using Int = std::int64_t;
inline Int max(Int a, Int b) { return a < b ? b : a; }
inline Int min(Int a, Int b) { return b < a ? b : a; }
inline Int floord(Int n, Int d) { return n < 0 ? -((-n + d - 1) / d) : n / d; }

// Few enough that an int can step past the last one.
inline bool countable(std::initializer_list<Int> iterations) {
  for (const Int n : iterations)
    if (n > (Int{1} << 30)) return false;
  return true;
}

// Memory that a nest touches.
struct Range {
  const void* data = nullptr;
  Int bytes = 0;
  bool written = false;
};
bool apart(std::initializer_list<Range> ranges);  // none that is written overlaps another

// The kernels of a program, compiled once and shared by all calls. On a machine without a device that takes them it is
// empty, and the program runs its own loops.
class Kernels {
 public:
  Kernels(const char* name, const char* source);  // the device is RIDGE_DEVICE's or the best one
  struct State;
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

struct Grid {
  Extent groups{}, items{};
  Int count = 0;  // work-groups
  Int all = 0;    // work-items
};

// One run of a placed function. Belongs to one thread.
class Session {
 public:
  explicit Session(const Kernels& kernels);
  ~Session();  // finishes
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  explicit operator bool() const;                        // there is a device
  bool room(std::initializer_list<Range> ranges) const;  // they fit the device

  // Copies on the device, made and filled where they are missing or stale. `whole`: every element will be written.
  template <class T>
  const Buffer& read(const T* data, Int elements) {
    return on_device(data, elements * static_cast<Int>(sizeof(T)), false, false);
  }
  template <class T>
  const Buffer& write(T* data, Int elements, bool whole = false) {
    return on_device(data, elements * static_cast<Int>(sizeof(T)), true, whole);
  }
  // A second copy on the device, as it is now.
  template <class T>
  Buffer copied(const T* data, Int elements) {
    return copied_bytes(data, elements * static_cast<Int>(sizeof(T)));
  }
  // Memory of the device alone.
  template <class T>
  Buffer scratch(Int elements) {
    return scratch_bytes(elements * static_cast<Int>(sizeof(T)));
  }
  template <class T>
  std::vector<T> fetch(const Buffer& from, Int elements) {
    std::vector<T> values(static_cast<std::size_t>(elements));
    download(from, values.data(), elements * static_cast<Int>(sizeof(T)));
    return values;
  }

  // Iterations along each axis, innermost loop first. A reduction takes few groups; `most` bounds the work-items.
  Grid grid(std::initializer_list<Int> iterations, bool reduces = false, Int most = 0) const;
  void run(const char* kernel, const Grid& grid, const std::vector<Argument>& arguments);

  // Before the host touches memory.
  void host_reads(const void* data, Int bytes);
  void host_takes(const void* data, Int bytes);  // it may write: the device's copy ends
  void host_takes_over();                        // all of it
  void forget(const void* data, Int bytes);      // the memory ends; nobody needs what the device has
  void finish();                                 // everything the device wrote is on the host

  // Who owns memory knows how much there is; a callee that only has the address may ask.
  void knows(const void* data, Int bytes);
  Int reach(const void* data) const;  // bytes from there to the end; 0: not known

 private:
  struct Copy {
    Buffer buffer{};
    Int bytes = 0;
    bool host = true, device = false;  // where it is up to date
  };
  const Buffer& on_device(const void* data, Int bytes, bool written, bool whole);
  Buffer scratch_bytes(Int bytes);
  Buffer copied_bytes(const void* data, Int bytes);
  void download(const Buffer& from, void* to, Int bytes);
  void settle(const char* data, Copy& copy);  // on the host
  void drop(const void* data, Int bytes, bool save);
  void unknow(const void* data, Int bytes);
  struct State;
  std::unique_ptr<State> state_;
};

// Stands behind a local array in generated code: what the device has of it ends with it.
template <class Array>
class Owner {
 public:
  Owner(Session& session, const Array& array) : session_(session), array_(array) {}
  ~Owner() { session_.forget(std::data(array_), static_cast<Int>(std::size(array_) * sizeof(*std::data(array_)))); }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;

 private:
  Session& session_;
  const Array& array_;
};

// Stands behind a local object that owns memory in ways of its own: before it ends, all is on the host.
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
