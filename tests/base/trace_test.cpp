// Recordings of spans: what they keep, and what a span costs.
#include "base/trace.hpp"

#include <time.h>

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/json.hpp"
#include "support/scratch.hpp"

namespace ridge::base {
namespace {

// The events of a recording of `work`.
template <class Work>
Json recorded(const Work& work) {
  const test::ScratchFolder folder;
  const std::string file = folder / "trace.json";
  trace::start(file);
  work();
  trace::stop();
  return parse_json(*read_file(file, std::size_t{1} << 26))["traceEvents"];
}

double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

constexpr int kCalls = 50000;

// The least processor time of kCalls calls in several rounds.
template <class Call>
double cost(const Call& call) {
  double least = 1e9;
  for (int round = 0; round < 9; ++round) {
    const double begin = processor_seconds();
    for (int i = 0; i < kCalls; ++i) call();
    least = std::min(least, processor_seconds() - begin);
  }
  return least;
}

void counter_reads() {
  static volatile std::int64_t last = 0;
  last = last + trace::ticks();
}
void short_span() {
  const trace::Span span("short");
  asm volatile("" ::: "memory");
}
void span_with_text() {
  const trace::Span span("short", [] { return std::string("a text that is longer than a string holds in place"); });
  asm volatile("" ::: "memory");
}

TEST(Trace, ShortSpansAreOneEventForAnyNumberOfCalls) {
  for (const int calls : {10, 10000}) {
    const Json events = recorded([&] {
      for (int i = 0; i < calls; ++i) span_with_text();
    });
    std::size_t counted = 0, drawn = 0;
    for (const Json& event : events) {
      if (event["ph"] == "X") ++drawn;
      if (event["name"] == "short calls") counted += event["args"]["count"].get<std::size_t>();
    }
    EXPECT_EQ(counted + drawn, static_cast<std::size_t>(calls));
    EXPECT_LE(drawn, 1 + static_cast<std::size_t>(calls) / 50) << "only spans that were interrupted take 3 us";
  }
}

TEST(Trace, SpansCostLittle) {
  const double read = cost(counter_reads);
  const double off = cost(short_span), off_with_text = cost(span_with_text);
  double on = 0, on_with_text = 0;
  recorded([&] {
    on = cost(short_span);
    on_with_text = cost(span_with_text);
  });
  RecordProperty("off", std::to_string(off / read));
  RecordProperty("on", std::to_string(on / read));
  RecordProperty("on_with_text", std::to_string(on_with_text / read));
  EXPECT_LT(off, 3 * read) << "a load and a branch";
  EXPECT_LT(off_with_text, 3 * read) << "the text is not made";
  EXPECT_LT(on, 25 * read) << "two counter reads and an addition";
  EXPECT_LT(on_with_text, 40 * read) << "the same and the text";
}

}  // namespace
}  // namespace ridge::base
