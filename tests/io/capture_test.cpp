// Packets in order: formats, losses, duplicates, reordering, jumps of the counter. Rings between processes, also killed
// ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <random>

#include <ridge/error.hpp>

#include "io/capture/assembler.hpp"
#include "io/capture/capture.hpp"
#include "io/capture/packet_format.hpp"
#include "io/capture/udp.hpp"
#include "io/telescopes/samples.hpp"
#include "io/telescopes/stream.hpp"

namespace ridge::io {
namespace {

constexpr std::size_t kPayload = 24;

std::vector<std::byte> payload_of(std::uint64_t counter, std::uint32_t stream) {
  std::vector<std::byte> bytes(kPayload);
  for (std::size_t i = 0; i < kPayload; ++i)
    bytes[i] = static_cast<std::byte>(1 + (counter * 31 + stream * 7 + i) % 255);
  return bytes;
}

// Collects what the assembler hands on.
class Collector {
 public:
  explicit Collector(AssemblerOptions options, std::size_t blocks = 100) : options_(options), left_(blocks) {
    options_.payload = kPayload;
    assembler = std::make_unique<Assembler>(
        options_,
        [this]() -> CaptureBlock* {
          if (left_ == 0) return nullptr;
          --left_;
          made_.push_back(std::make_unique<CaptureBlock>(options_.slots * options_.streams, kPayload));
          return made_.back().get();
        },
        [this](std::uint64_t first, std::size_t counters, CaptureBlock* block) { hand(first, counters, block); });
  }
  void send(std::uint64_t counter, std::uint32_t stream = 0, std::uint64_t sender = 1) {
    const auto bytes = payload_of(counter, stream);
    assembler->take({.counter = counter, .stream = stream, .begin = 0, .bytes = kPayload}, bytes.data(), sender);
  }
  // Counts and contents must agree: every stored slot holds its own payload.
  void check(std::uint64_t received) const {
    const CaptureCounts& c = assembler->counts();
    EXPECT_EQ(c.received(), received);
    EXPECT_EQ(c.delivered + c.lost, slots);
    EXPECT_EQ(c.delivered, good);
    EXPECT_EQ(wrong, 0U);
    EXPECT_EQ(slots, (assembler->newest() + 1 - assembler->first()) * options_.streams);
  }
  std::unique_ptr<Assembler> assembler;
  std::uint64_t slots = 0, good = 0, wrong = 0;
  std::vector<std::uint64_t> lost;  // counters

 private:
  void hand(std::uint64_t first, std::size_t counters, CaptureBlock* block) {
    EXPECT_EQ(first, assembler->first() + slots / options_.streams);
    for (std::size_t i = 0; i < counters * options_.streams; ++i, ++slots) {
      const std::uint64_t counter = first + i / options_.streams;
      if (block == nullptr || block->states[i] != SlotState::stored) {
        lost.push_back(counter);
        continue;
      }
      ++good;
      const auto bytes = payload_of(counter, static_cast<std::uint32_t>(i % options_.streams));
      wrong += std::memcmp(block->data.data() + i * kPayload, bytes.data(), kPayload) != 0 ? 1 : 0;
    }
  }
  AssemblerOptions options_;
  std::size_t left_;
  std::vector<std::unique_ptr<CaptureBlock>> made_;
};

TEST(Capture, CountsRandomLossesDuplicatesAndReordering) {
  for (const std::size_t streams : {1, 3}) {
    for (const std::size_t slots : {1, 7, 64}) {
      Collector all({.streams = streams, .slots = slots, .window = 16}, 5000);
      std::mt19937_64 random(slots);
      std::uint64_t sent = 0, lost = 0, doubled = 0;
      std::multimap<std::uint64_t, std::pair<std::uint64_t, std::uint32_t>> order;
      for (std::uint64_t c = 0; c < 3000; ++c) {
        for (std::uint32_t s = 0; s < streams; ++s) {
          const bool edge = c == 0 || c == 2999;
          if (!edge && random() % 50 == 0) {
            ++lost;
            continue;
          }
          const std::uint64_t late = edge ? 0 : random() % 15;
          order.insert({c == 2999 ? 1 << 20 : c + late, {c, s}});
          ++sent;
          if (!edge && random() % 40 == 0) order.insert({c + random() % 15, {c, s}}), ++sent, ++doubled;
        }
      }
      for (const auto& [time, packet] : order) all.send(1000 + packet.first, packet.second);
      all.assembler->finish();
      all.check(sent);
      EXPECT_EQ(all.lost.size(), lost);
      EXPECT_EQ(all.assembler->counts().duplicates, doubled);
      EXPECT_EQ(all.assembler->counts().late, 0U);
    }
  }
}

// A first packet with a counter near 2^64 once opened blocks without end: the next block's counter wrapped to 0.
TEST(Capture, CountersNearTheLargestNumberAreDamaged) {
  Collector all({.streams = 1, .slots = 4, .window = 4});
  for (const std::uint64_t counter : {~std::uint64_t{0}, ~std::uint64_t{0} - 9, (std::uint64_t{1} << 62) + 1})
    all.send(counter);
  EXPECT_EQ(all.assembler->counts().damaged, 3U);
  EXPECT_FALSE(all.assembler->begun());
  for (std::uint64_t c = 0; c < 40; ++c) all.send(c);
  all.send(~std::uint64_t{0});
  all.send(40);
  all.assembler->finish();
  all.check(45);
  EXPECT_TRUE(all.lost.empty());
  EXPECT_EQ(all.assembler->counts().damaged, 4U);
}

TEST(Capture, DropsLatePacketsAndSecondSenders) {
  Collector all({.streams = 1, .slots = 4, .window = 4});
  for (std::uint64_t c = 0; c < 40; ++c) {
    if (c != 5) all.send(c);
    all.send(c, 0, 2);  // the same counters from another port
  }
  all.send(5);
  all.send(6, 1);  // no such stream
  all.assembler->finish();
  all.check(81);
  EXPECT_THAT(all.lost, testing::ElementsAre(5));
  EXPECT_EQ(all.assembler->counts().late, 1U);
  EXPECT_EQ(all.assembler->counts().foreign, 40U);
  EXPECT_EQ(all.assembler->counts().unknown_stream, 1U);
}

TEST(Capture, DropsBothOfTwoDifferentPackets) {
  Collector all({.streams = 1, .slots = 4, .window = 4});
  for (std::uint64_t c = 0; c < 8; ++c) all.send(c);
  const auto other = payload_of(99, 0);
  all.assembler->take({.counter = 6, .stream = 0, .begin = 0, .bytes = kPayload}, other.data(), 1);
  all.assembler->finish();
  all.check(9);
  EXPECT_THAT(all.lost, testing::ElementsAre(6));
  EXPECT_EQ(all.assembler->counts().conflicts, 2U);
}

TEST(Capture, BelievesAGapButNotADamagedCounter) {
  Collector all({.streams = 1, .slots = 8, .window = 8, .longest_gap = 1000});
  std::uint64_t sent = 0;
  for (std::uint64_t c = 0; c < 100; ++c, ++sent) all.send(c);
  all.send(900), ++sent;                     // damaged: nothing agrees with it
  all.send(std::uint64_t{1} << 60), ++sent;  // damaged: too far
  for (std::uint64_t c = 100; c < 200; ++c, ++sent) all.send(c);
  for (std::uint64_t c = 500; c < 600; ++c, ++sent) all.send(c);  // 300 packets were lost
  all.assembler->finish();
  all.check(sent);
  EXPECT_EQ(all.assembler->counts().unconfirmed, 2U);
  EXPECT_EQ(all.lost.size(), 300U);
  EXPECT_EQ(all.lost.front(), 200U);
  EXPECT_EQ(all.assembler->ended(), "");
}

// Whole blocks of a gap are counted without memory for them.
TEST(Capture, CountsTheStreamsOfLostBlocks) {
  Collector all({.streams = 3, .slots = 8, .window = 8, .longest_gap = 1000});
  for (std::uint64_t c = 0; c < 800; ++c) {
    for (std::uint32_t stream = 0; stream < 3; ++stream) {
      if (c < 100 || c >= 700) all.send(c, stream);
    }
  }
  all.assembler->finish();
  all.check(3 * 200);
  EXPECT_EQ(all.assembler->counts().lost, 3U * 600);
}

TEST(Capture, CopiesOfAPacketConfirmNoGap) {
  Collector all({.streams = 2, .slots = 8, .window = 8, .longest_gap = 1000});
  for (std::uint64_t c = 0; c < 100; ++c) all.send(c, 0), all.send(c, 1);
  for (int copy = 0; copy < 4; ++copy) all.send(900, 1);
  for (std::uint64_t c = 100; c < 200; ++c) all.send(c, 0), all.send(c, 1);
  all.assembler->finish();
  all.check(404);
  EXPECT_EQ(all.assembler->counts().unconfirmed, 4U);
  EXPECT_TRUE(all.lost.empty());
}

TEST(Capture, EndsIfTheCounterStaysElsewhere) {
  for (const std::uint64_t elsewhere : {std::uint64_t{0}, std::uint64_t{1} << 40}) {
    Collector all({.streams = 1, .slots = 8, .window = 8, .longest_gap = 1000});
    for (std::uint64_t c = 5000; c < 5100; ++c) all.send(c);
    std::uint64_t more = 0;
    while (all.assembler->ended().empty() && more < 10000) all.send(elsewhere + more++);
    EXPECT_THAT(all.assembler->ended(), testing::HasSubstr("another observation"));
    all.assembler->finish();
    all.check(100 + more);
    EXPECT_EQ(all.good, 100U);
  }
}

TEST(Capture, FlagsBlocksWithoutMemory) {
  Collector all({.streams = 2, .slots = 4, .window = 4}, 3);
  for (std::uint64_t c = 0; c < 40; ++c) all.send(c, 0), all.send(c, 1);
  all.assembler->finish();
  all.check(80);
  EXPECT_EQ(all.good, 3U * 4 * 2);
  EXPECT_EQ(all.assembler->counts().overrun, 80U - 24);
}

TEST(PacketFormats, PlaceWhatTheyWrite) {
  const std::string text = "format_" + std::to_string(::getpid()) + ".txt";
  std::ofstream(text) << "# a receiver\ncounter 4 6 big\nstream 2 2 big\nsamples 16\nstep 8\n";
  for (const std::string& name : {std::string("counter"), std::string("vdif"), std::string("spead"), text}) {
    PacketFormat format = packet_format(name);
    format.payload = format.kind == PacketKind::vdif ? 64 : 48;
    format.per_second = 1000;
    if (format.kind == PacketKind::spead) format.heap = 3;
    std::vector<std::byte> packet(format.header + format.payload);
    if (format.kind == PacketKind::vdif) packet[8] = std::byte{8};  // frame length / 8
    const bool streams = format.stream.bytes > 0 || format.kind == PacketKind::vdif;
    for (const std::uint64_t counter : {0, 1, 2, 3, 999, 1000, 123456}) {
      format.write_header(packet, counter, streams ? 3 : 0);
      PacketPlace place;
      ASSERT_EQ(format.locate(packet, packet.size(), place), nullptr) << name << " " << counter;
      EXPECT_EQ(place.counter, counter) << name;
      EXPECT_EQ(place.stream, streams ? 3U : 0U) << name;
      EXPECT_NE(format.locate(packet, packet.size() - 1, place), nullptr) << name;
    }
  }
  std::filesystem::remove(text);
}

// A frame of 1000 samples of one byte, 1032 bytes long.
std::vector<std::byte> vdif_frame(std::uint32_t epoch, std::uint32_t rate, bool megahertz) {
  std::vector<std::byte> frame(1032);
  const std::uint32_t words[8] = {5, epoch << 24, 1032 / 8, 7U << 26, 1U << 24 | (megahertz ? 1U << 23 : 0U) | rate};
  std::memcpy(frame.data(), words, sizeof words);
  return frame;
}

TEST(PacketFormats, OfVdifReadTheRateAndKeepTheEpoch) {
  for (const bool megahertz : {true, false}) {
    PacketFormat format = packet_format("vdif");
    EXPECT_EQ(format.learn(vdif_frame(40, 16, megahertz)), "");
    EXPECT_EQ(format.per_second, megahertz ? 16000U : 16U);
    PacketPlace place;
    std::vector<std::byte> frame = vdif_frame(40, 16, megahertz);
    format.write_header(frame, 7 * format.per_second + 3, 700);
    ASSERT_EQ(format.locate(frame, frame.size(), place), nullptr);
    EXPECT_EQ(place.counter, 7 * format.per_second + 3);
    EXPECT_EQ(place.stream, 700U);
    EXPECT_NE(format.locate(vdif_frame(41, 16, megahertz), 1032, place), nullptr) << "another epoch";
    PacketFormat faster = format;
    ++faster.per_second;
    faster.write_header(frame, format.per_second, 0);
    EXPECT_NE(format.locate(frame, frame.size(), place), nullptr) << "the number of a second's last frame and one";
  }
}

// A lost frame has its own number and thread, is marked invalid and is zero behind the header.
TEST(PacketFormats, OfVdifFillLostFrames) {
  PacketFormat format = packet_format("vdif");
  const std::vector<std::byte> model = vdif_frame(40, 16, true);
  ASSERT_EQ(format.learn(model), "");
  std::vector<std::byte> slot(model.size(), std::byte{0x55});
  format.fill_lost(slot, model, 9 * format.per_second + 11, 700);
  std::uint32_t words[8];
  std::memcpy(words, slot.data(), sizeof words);
  EXPECT_EQ(words[0], 1U << 31 | 9U);
  EXPECT_EQ(words[1], 40U << 24 | 11U);
  EXPECT_EQ(words[3], 7U << 26 | 700U << 16);
  EXPECT_TRUE(std::all_of(slot.begin() + 32, slot.end(), [](std::byte b) { return b == std::byte{0}; }));
}

TEST(PacketFormats, RefuseOtherHeapsAndCountersBetweenSteps) {
  PacketFormat spead = packet_format("spead");
  spead.payload = 48, spead.heap = 3;
  std::vector<std::byte> packet(spead.header + spead.payload);
  spead.write_header(packet, 4, 0);
  PacketPlace place;
  ASSERT_EQ(spead.locate(packet, packet.size(), place), nullptr);
  spead.heap = 6;
  EXPECT_NE(spead.locate(packet, packet.size(), place), nullptr);
  PacketFormat counted = packet_format("counter");
  counted.payload = 48;
  counted.write_header(packet, 9, 0);
  counted.step = 3;
  ASSERT_EQ(counted.locate(packet, counted.header + 48, place), nullptr);
  EXPECT_EQ(place.counter, 3U);
  counted.step = 8;
  EXPECT_NE(counted.locate(packet, counted.header + 48, place), nullptr);
}

TEST(Capture, DaysBeginAtTheirMidnight) {
  const auto days = [] { return 40587 + static_cast<std::int64_t>(::time(nullptr)) / 86400; };
  const std::int64_t before = days();
  const StartTime now = utc_now();
  EXPECT_GE(now.day, before);
  EXPECT_LE(now.day, days());
  EXPECT_GE(now.second, 0);
  EXPECT_LT(now.second, 86400);
}

TEST(PacketFormats, NameTheMistake) {
  const std::string text = "format_" + std::to_string(::getpid()) + ".txt";
  for (const auto& [line, words] : std::map<std::string, std::string>{{"counter 0 9 big", "BYTES (1 to 8)"},
                                                                      {"counter 4 8 big", "within the 8 bytes"},
                                                                      {"offset 3", "needs kind"},
                                                                      {"payload x", "not a whole number"},
                                                                      {"step 0", "a step above 0"}}) {
    std::ofstream(text) << line << "\n";
    try {
      packet_format(text);
      ADD_FAILURE() << line;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(words)) << line;
    }
  }
  std::filesystem::remove(text);
  EXPECT_THROW(udp_address("udp://127.0.0.1"), Error);
  EXPECT_THROW(udp_address("127.0.0.1:70000"), Error);
  EXPECT_TRUE(udp_address("udp://127.0.0.1:4001").is_loopback());
  EXPECT_FALSE(udp_address("10.0.0.1:4001").is_loopback());
}

// --- rings -----------------------------------------------------------------------------------------------------------

std::string ring_name(const char* what) { return "ring:test-" + std::to_string(::getpid()) + what; }

// Runs `work` in a child process; its exit code is 0, or 1 after an Error.
pid_t in_child(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::alarm(60);  // never hangs
  try {
    work();
  } catch (const std::exception&) {
    ::_exit(1);
  }
  ::_exit(0);
}
int code_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::vector<std::uint32_t> numbers(std::size_t count) {
  std::vector<std::uint32_t> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<std::uint32_t>(i * 2654435761U);
  return all;
}

// Reads everything in odd pieces; true if it is numbers(count).
bool reads_all(const std::string& name, std::size_t count) {
  InputStream in(name);
  std::vector<std::uint32_t> got(count + 1);
  std::size_t bytes = 0;
  while (const std::size_t some =
             in.read(reinterpret_cast<char*>(got.data()) + bytes, std::min<std::size_t>(777, got.size() * 4 - bytes)))
    bytes += some;
  got.resize(count);
  return bytes == count * 4 && got == numbers(count) && in.take_lost().empty();
}

TEST(Ring, CarriesAStreamToSeveralReaders) {
  const std::string name = ring_name("several");
  constexpr std::size_t kCount = 100'003;
  std::vector<pid_t> readers;
  for (int i = 0; i < 3; ++i) readers.push_back(in_child([&] { ::_exit(reads_all(name, kCount) ? 0 : 2); }));
  OutputStream out(name + ",blocks=3,block=8K,readers=3");
  const auto all = numbers(kCount);
  out.write(all.data(), 5);
  out.write(reinterpret_cast<const char*>(all.data()) + 5, kCount * 4 - 5);
  out.finish();
  for (const pid_t reader : readers) EXPECT_EQ(code_of(reader), 0);
}

TEST(Ring, KeepsTheMarksOfLostBytes) {
  const std::string name = ring_name("marks");
  const pid_t reader = in_child([&] {
    SampleInfo info;
    info.type = SampleType::int8;
    info.polarizations = 1;
    const auto samples = raw_reader(std::make_unique<InputStream>(name), info);
    std::vector<std::byte> got(50000);
    const bool whole = samples->read(got.data(), got.size()) == 40000;
    const auto& gaps = samples->gaps();
    // Bytes 3 to 4, and 8190 to 20000 over two blocks.
    const bool right = gaps.size() == 2 && gaps[0].first == 1 && gaps[0].samples == 2 && gaps[1].first == 4095 &&
                       gaps[1].samples == 10000 - 4095 && samples->counts_losses();
    ::_exit(whole && right ? 0 : 2);
  });
  OutputStream out(name + ",blocks=4,block=8K");
  const std::vector<std::byte> zeros(40000);
  out.mark_lost(3, 2);
  out.mark_lost(8190, 20000 - 8190);
  out.write(zeros.data(), zeros.size());
  out.finish();
  EXPECT_EQ(code_of(reader), 0);
}

TEST(Ring, ContinuesWithoutAKilledReader) {
  const std::string name = ring_name("killed");
  constexpr std::size_t kCount = 100'000;
  const pid_t good = in_child([&] { ::_exit(reads_all(name, kCount) ? 0 : 2); });
  const pid_t bad = in_child([&] {
    InputStream in(name);
    char some[100];
    in.read(some, sizeof some);
    ::raise(SIGKILL);
  });
  OutputStream out(name + ",blocks=3,block=8K,readers=2");
  const auto all = numbers(kCount);
  out.write(all.data(), kCount * 4);
  out.finish();
  EXPECT_EQ(code_of(good), 0);
  EXPECT_EQ(code_of(bad), 128 + SIGKILL);
}

TEST(Ring, EndsWithAnErrorIfEveryReaderWasKilled) {
  const std::string name = ring_name("alone");
  const pid_t bad = in_child([&] {
    InputStream in(name);
    char some[100];
    in.read(some, sizeof some);
    ::raise(SIGKILL);
  });
  OutputStream out(name + ",blocks=3,block=8K");
  const auto all = numbers(100'000);
  EXPECT_THROW(out.write(all.data(), all.size() * 4), Error);
  EXPECT_EQ(code_of(bad), 128 + SIGKILL);
}

TEST(Ring, ReportsAKilledWriterToReaders) {
  const std::string name = ring_name("writer");
  const auto all = numbers(10'000);
  const auto write_some = [&] {
    OutputStream out(name + ",blocks=4,block=8K");  // full until the reader has begun
    out.write(all.data(), all.size() * 4);
    ::raise(SIGKILL);
  };
  const pid_t writer = in_child(write_some);
  InputStream in(name);
  std::vector<std::byte> got(40'000);
  EXPECT_THROW(in.read(got.data(), got.size()), Error);
  EXPECT_EQ(std::memcmp(got.data(), all.data(), 8192 * 4), 0);  // what it wrote is there
  EXPECT_EQ(code_of(writer), 128 + SIGKILL);
  // A new writer replaces the ring.
  const pid_t reader = in_child([&] { ::_exit(reads_all(name, all.size()) ? 0 : 2); });
  OutputStream out(name + ",blocks=8,block=8K");
  EXPECT_THROW(OutputStream(name + ",blocks=8,block=8K"), Error);  // only one writer
  out.write(all.data(), all.size() * 4);
  out.finish();
  EXPECT_EQ(code_of(reader), 0);
}

TEST(Ring, CountsTheBlocksThatASlowReaderMissed) {
  const std::string name = ring_name("drop");
  int ready[2], begun[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(begun), 0);
  const pid_t reader = in_child([&] {
    InputStream in(name);
    std::vector<std::uint32_t> got(100'000);
    bool right = in.read(got.data(), 4096) == 4096;
    char wait = 0;
    right = right && ::write(begun[1], "x", 1) == 1;
    right = right && ::read(ready[0], &wait, 1) == 1;  // the writer has finished by then
    right = right && in.read(got.data() + 1024, 400'000 - 4096) == 400'000 - 4096;
    right = right && in.read(&wait, 1) == 0;
    const auto all = numbers(got.size());
    const auto lost = in.take_lost();
    std::uint64_t zeros = 0;
    std::vector<bool> is_lost(400'000);
    for (const LostBytes& one : lost) {
      for (std::uint64_t i = one.first; i < one.first + one.bytes; ++i) is_lost[i] = true;
    }
    for (std::size_t i = 0; i < got.size(); ++i) {
      right = right && (is_lost[4 * i] ? got[i] == 0 : got[i] == all[i]);
      zeros += is_lost[4 * i] ? 4 : 0;
    }
    ::_exit(right && zeros > 200'000 ? 0 : 2);
  });
  {
    OutputStream out(name + ",blocks=4,block=8K,drop");
    const auto all = numbers(100'000);
    out.write(all.data(), 8192);
    char wait = 0;
    ASSERT_EQ(::read(begun[0], &wait, 1), 1);  // the reader has taken its first bytes
    out.write(all.data() + 2048, 400'000 - 8192);
    ASSERT_EQ(::write(ready[1], "x", 1), 1);
    out.finish();
  }
  EXPECT_EQ(code_of(reader), 0);
  for (const int end : {ready[0], ready[1], begun[0], begun[1]}) ::close(end);
}

TEST(Ring, NeedsAReaderInTime) {
  OutputStream out(ring_name("nobody") + ",blocks=2,block=4K,wait=1");
  const std::vector<char> bytes(20'000);
  EXPECT_THROW(out.write(bytes.data(), bytes.size()), Error);
  for (const char* bad : {"ring:", "ring:a/b", "ring:a,blocks=1", "ring:a,block=x", "ring:a,what"})
    EXPECT_THROW(parse_ring(bad), Error) << bad;
  EXPECT_TRUE(has_ending("ring:power.fil,blocks=4", ".fil"));
}

}  // namespace
}  // namespace ridge::io
