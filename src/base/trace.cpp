// Collects spans per thread and writes them as a Chrome trace.
#include "base/trace.hpp"

#include <pthread.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/trace.hpp>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/new_file.hpp"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define RIDGE_HAVE_NVTX 1
#endif

namespace ridge::base::nvtx {

#ifdef RIDGE_HAVE_NVTX
namespace {

nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t one = nvtxDomainCreateA("ridge");
  return one;
}

}  // namespace

bool attached() { return std::getenv("NVTX_INJECTION64_PATH") != nullptr; }

void push(const std::string& text) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = text.c_str();
  nvtxDomainRangePushEx(domain(), &event);
}

void pop() { nvtxDomainRangePop(domain()); }
#else
bool attached() { return false; }
void push(const std::string&) {}
void pop() {}
#endif

}  // namespace ridge::base::nvtx

namespace ridge::base::trace {

std::int64_t ticks() {
#if defined(__x86_64__)
  return static_cast<std::int64_t>(__rdtsc());
#elif defined(__aarch64__)
  std::uint64_t counter;
  asm volatile("mrs %0, cntvct_el0" : "=r"(counter));
  return static_cast<std::int64_t>(counter);
#else
  return static_cast<std::int64_t>(now() * 1e9);
#endif
}

namespace {

constexpr std::size_t kMostEvents = std::size_t{1} << 20;  // per track; trace viewers open no more
constexpr double kShortest = 3e-6;                         // seconds; shorter spans are counted, not drawn

struct SpanEvent {
  std::string name, detail;
  double begin = 0, end = 0;  // seconds since the start; ticks until they are converted
};

struct ShortCalls {
  std::size_t count = 0;
  std::int64_t ticks = 0;
};

}  // namespace

class Track {
 public:
  Track(std::string title, int id) : name(std::move(title)), number(id) {}
  std::string name;
  int number;
  std::mutex mutex{};  // held by the owner for nanoseconds; by the writer at the end
  std::vector<SpanEvent> events{};
  std::map<std::string, ShortCalls> shorts{};
  std::size_t lost = 0;
  void push(SpanEvent event) {
    if (events.size() < kMostEvents) {
      events.push_back(std::move(event));
    } else {
      ++lost;
    }
  }
};

namespace {

struct Recorder {
  std::mutex mutex;
  std::string path;
  std::vector<std::shared_ptr<Track>> tracks;
  std::int64_t first_tick = 0;
  double first_second = 0;
  double seconds_per_tick = 1e-9;  // from the start, corrected at the end
  std::int64_t shortest_ticks = 0;
  unsigned generation = 0;
};

// Never destroyed: threads may end after static destructors have run.
Recorder& recorder() {
  static Recorder* const one = new Recorder;
  return *one;
}

// Length of a tick, from a millisecond of both clocks.
double tick_length() {
  const std::int64_t tick = ticks();
  const double second = now();
  while (now() - second < 1e-3) {
  }
  return (now() - second) / static_cast<double>(ticks() - tick);
}

Track& own_track() {
  thread_local std::shared_ptr<Track> track;
  thread_local unsigned generation = 0;
  Recorder& all = recorder();
  if (!track || generation != all.generation) {
    track = make_track(fmt::format("thread {}", ::gettid()));
    generation = all.generation;
  }
  return *track;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\', out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

class TraceWriter {
 public:
  explicit TraceWriter(const std::string& path) : file_(path), stream_(::fdopen(::dup(file_.descriptor()), "w")) {
    if (stream_ == nullptr) file_.fail(errno);
  }
  ~TraceWriter() {
    if (stream_ != nullptr) std::fclose(stream_);
  }
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  void line(const std::string& text) {
    fmt::print(stream_, "{}{}", first_ ? "" : ",\n", text);
    first_ = false;
  }
  void track(const Track& track, const Recorder& all, int process) {
    line(fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})", process,
                     track.number, quoted(track.name)));
    for (const SpanEvent& event : track.events) {
      line(fmt::format(R"({{"ph":"X","pid":{},"tid":{},"name":{},"ts":{:.3f},"dur":{:.3f},"args":{{"what":{}}}}})",
                       process, track.number, quoted(event.name), event.begin * 1e6, (event.end - event.begin) * 1e6,
                       quoted(event.detail)));
    }
    for (const auto& [name, calls] : track.shorts) {
      line(fmt::format(R"({{"ph":"i","pid":{},"tid":{},"name":"short calls","ts":0,"s":"t","args":{{"name":{},)"
                       R"("count":{},"seconds":{:.9f}}}}})",
                       process, track.number, quoted(name), calls.count,
                       static_cast<double>(calls.ticks) * all.seconds_per_tick));
    }
    if (track.lost > 0) {
      line(fmt::format(R"({{"ph":"i","pid":{},"tid":{},"name":"{} spans lost","ts":0,"s":"t"}})", process, track.number,
                       track.lost));
    }
  }
  void run(Recorder& all) {
    const int process = ::getpid();
    fmt::print(stream_, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    line(fmt::format(R"({{"ph":"M","pid":{},"tid":0,"name":"process_name","args":{{"name":"ridge"}}}})", process));
    for (const auto& one : all.tracks) {
      const std::lock_guard lock(one->mutex);
      track(*one, all, process);
    }
    fmt::print(stream_, "\n]}}\n");
    const bool written = std::fflush(stream_) == 0 && std::ferror(stream_) == 0;
    const int error = errno;
    std::fclose(stream_);
    stream_ = nullptr;
    if (!written) file_.fail(error);
    file_.commit();
  }

 private:
  NewFile file_;
  std::FILE* stream_;
  bool first_ = true;
};

// The parent's threads do not exist in a child, and its file is the parent's.
void in_child() { discard(); }

void at_exit() {
  try {
    stop();
  } catch (const Error& error) {
    warn(fmt::format("RIDGE_TRACE: {}", error.what()));
  }
}

// Starts a recording when the library is loaded with RIDGE_TRACE set, and NVTX ranges if a tool has been attached.
const bool started_by_environment = [] {
  if (nvtx::attached()) receivers.fetch_or(kNvtx);
  const char* const path = std::getenv("RIDGE_TRACE");
  if (path == nullptr || *path == 0) return false;
  start(path);
  return true;
}();

}  // namespace

void Span::open(std::string detail) {
  detail_ = std::move(detail);
  in_nvtx_ = (receivers.load() & kNvtx) != 0;
  if (in_nvtx_) nvtx::push(detail_.empty() ? name_ : fmt::format("{}: {}", name_, detail_));
  begin_ = ticks();
}

void Span::close() {
  add(name_, std::move(detail_), begin_, ticks());
  if (in_nvtx_) nvtx::pop();
}

std::string path() { return recorder().path; }

void discard() {
  receivers.fetch_and(~unsigned{kFile});
  recorder().path.clear();
}

double seconds_since_start() {
  const Recorder& all = recorder();
  return static_cast<double>(ticks() - all.first_tick) * all.seconds_per_tick;
}

std::shared_ptr<Track> make_track(const std::string& name) {
  Recorder& all = recorder();
  const std::lock_guard lock(all.mutex);
  all.tracks.push_back(std::make_shared<Track>(name, static_cast<int>(all.tracks.size()) + 1));
  return all.tracks.back();
}

void add(const char* name, std::string detail, std::int64_t begin, std::int64_t end) {
  if (!recording()) return;  // the recording ended while the span was open
  const Recorder& all = recorder();
  Track& track = own_track();
  const std::lock_guard lock(track.mutex);
  if (end - begin < all.shortest_ticks) {
    ShortCalls& calls = track.shorts[name];
    ++calls.count;
    calls.ticks += end - begin;
    return;
  }
  track.push({name, std::move(detail), static_cast<double>(begin - all.first_tick) * all.seconds_per_tick,
              static_cast<double>(end - all.first_tick) * all.seconds_per_tick});
}

void add(Track& track, const std::string& name, std::string detail, double begin, double end) {
  if (!recording()) return;
  const std::lock_guard lock(track.mutex);
  track.push({name, std::move(detail), begin, end});
}

void start(const std::string& path) {
  static const int registered = [] {
    std::atexit(at_exit);
    return ::pthread_atfork(nullptr, nullptr, in_child);
  }();
  static_cast<void>(registered);
  Recorder& all = recorder();
  const std::lock_guard lock(all.mutex);
  if (recording())
    throw Error(ErrorKind::invalid_argument, fmt::format("a trace to {} is in progress: stop it first", all.path));
  if (path.empty()) throw Error(ErrorKind::invalid_argument, "a trace needs the name of a file, got an empty one");
  all.path = path;
  all.tracks.clear();
  ++all.generation;
  all.seconds_per_tick = tick_length();
  all.shortest_ticks = static_cast<std::int64_t>(kShortest / all.seconds_per_tick);
  all.first_second = now();
  all.first_tick = ticks();
  receivers.fetch_or(kFile);
}

void stop() {
  Recorder& all = recorder();
  if ((receivers.fetch_and(~unsigned{kFile}) & kFile) == 0) return;
  const std::lock_guard lock(all.mutex);
  TraceWriter(all.path).run(all);
}

}  // namespace ridge::base::trace

namespace ridge::trace {

void start(const std::string& path) { base::trace::start(path); }
void stop() { base::trace::stop(); }
bool recording() { return base::trace::recording(); }

}  // namespace ridge::trace
