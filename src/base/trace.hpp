// Records spans of time per thread and per device queue while a trace is on (include/ridge/trace.hpp).
//
//   trace::Span span("compile", [&] { return source.name; });     // the text is made only while recording
//
// Off: a load and a branch. On: two reads of the processor's counter and one store into memory of this thread. Spans of
// less than 3 us are only counted, with their number and total time per name, so that short calls stay cheap.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace ridge::base::trace {

enum Receiver : unsigned { kFile = 1, kNvtx = 2 };  // NVTX: a tool such as Nsight Systems, attached before the start
inline std::atomic<unsigned> receivers{0};
inline bool recording() { return (receivers.load(std::memory_order_relaxed) & kFile) != 0; }

std::int64_t ticks();          // of the processor's counter
double seconds_since_start();  // of the recording

// Adds a finished span to this thread's track. `name` must outlive the recording: a literal.
void add(const char* name, std::string detail, std::int64_t begin, std::int64_t end);

class Span {
 public:
  explicit Span(const char* name) : name_(name) {
    if (receivers.load(std::memory_order_relaxed) != 0) [[unlikely]]
      open({});
  }
  template <class Text>
  Span(const char* name, const Text& text) : name_(name) {
    if (receivers.load(std::memory_order_relaxed) != 0) [[unlikely]]
      open(text());
  }
  ~Span() {
    if (begin_ != 0) [[unlikely]]
      close();
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  bool active() const { return begin_ != 0; }
  void note(std::string detail) { detail_ = std::move(detail); }  // replaces the text, except in NVTX

 private:
  void open(std::string detail);
  void close();

  const char* name_;
  std::int64_t begin_ = 0;
  bool in_nvtx_ = false;
  std::string detail_{};
};

// A track of spans that no thread of this process executes: a device's queue. Seconds count from the recording's start.
class Track;
std::shared_ptr<Track> make_track(const std::string& name);
void add(Track& track, const std::string& name, std::string detail, double begin, double end);

void start(const std::string& path);
void stop();
std::string path();  // of the recording's file; empty: none
void discard();      // ends the recording without a file

}  // namespace ridge::base::trace

// Ranges for NVIDIA's tools (NVTX 3). NVTX's header detects an attached tool; without one nothing is loaded.
namespace ridge::base::nvtx {

bool attached();  // a tool such as Nsight Systems has named its library in the environment
void push(const std::string& text);
void pop();

}  // namespace ridge::base::nvtx
