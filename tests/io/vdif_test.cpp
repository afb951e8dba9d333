// VDIF: threads, order, losses, jumps, word formats and damaged headers.
#include "io/telescopes/vdif.hpp"

#include <cstring>

#include "format_support.hpp"

namespace ridge::io::formats {
namespace {

using testing::HasSubstr;
class Vdif : public FormatTest {};

// Two threads, one channel, int8 complex, 8 samples per frame, 4 frames per second. A header cannot express 32 Hz, so
// the number of frames is inferred.
VdifHeader usual_vdif() {
  VdifHeader header;
  header.seconds = 1000;
  header.epoch = 40;  // 2020
  header.frame_bytes = 32 + 16;
  return header;
}

// Every sample of a frame has the value 1 + frame since the start, with the thread in the imaginary part.
std::string frame(std::uint32_t thread, std::uint32_t number, bool invalid = false) {
  VdifHeader header = usual_vdif();
  header.thread = thread;
  header.seconds += number / 4;
  header.frame = number % 4;
  header.invalid = invalid;
  std::string bytes = vdif_header(header);
  for (int n = 0; n < 8; ++n) {
    bytes += static_cast<char>(128 + 1 + number);
    bytes += static_cast<char>(128 + thread);
  }
  return bytes;
}

std::string frames(std::initializer_list<std::uint32_t> numbers) {
  std::string bytes;
  for (const std::uint32_t number : numbers) bytes += frame(3, number) + frame(5, number);
  return bytes;
}

// Real parts of the first thread, one sample per frame.
std::vector<int> seen(const std::vector<std::byte>& bytes) {
  std::vector<int> values;
  for (std::size_t i = 0; i < bytes.size(); i += 8 * 4) values.push_back(static_cast<signed char>(bytes[i]));
  return values;
}

using testing::ElementsAre;

TEST_F(Vdif, ThreadsBecomePolarizations) {
  auto reader = vdif_reader(open(frames({0, 1, 2, 3, 4, 5})));
  EXPECT_EQ(reader->info().streams, 1u);
  EXPECT_EQ(reader->info().polarizations, 2u);
  EXPECT_EQ(reader->info().block, 1u);
  EXPECT_EQ(reader->info().start, (StartTime{58849, 1000}));
  const auto bytes = all(*reader);
  EXPECT_THAT(seen(bytes), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(bytes[1], std::byte{3});  // imaginary parts: the threads
  EXPECT_EQ(bytes[3], std::byte{5});
  EXPECT_TRUE(reader->gaps().empty());
  auto apart = vdif_reader(open(frames({0, 1})), 1);
  EXPECT_EQ(apart->info().streams, 2u);
}

TEST_F(Vdif, LostFramesAreZeroCountedAndNothingIsShifted) {
  auto reader = vdif_reader(open(frames({0, 1, 3, 4, 7})));
  const auto bytes = all(*reader);
  EXPECT_THAT(seen(bytes), ElementsAre(1, 2, 0, 4, 5, 0, 0, 8));
  ASSERT_EQ(reader->gaps().size(), 2u);
  EXPECT_EQ(reader->gaps()[0].first, 16u);
  EXPECT_EQ(reader->gaps()[0].samples, 8u);
  EXPECT_EQ(reader->gaps()[1].first, 40u);
  EXPECT_EQ(reader->gaps()[1].samples, 16u);
  EXPECT_EQ(reader->samples_lost(), 24u);
}

TEST_F(Vdif, OneThreadLostIsAGapOfThatTime) {
  std::string bytes = frames({0, 1}) + frame(5, 2) + frames({3, 4});
  auto reader = vdif_reader(open(bytes));
  const auto samples = all(*reader);
  EXPECT_THAT(seen(samples), ElementsAre(1, 2, 0, 4, 5));
  EXPECT_EQ(samples[2 * 32 + 2], std::byte{3});  // the other thread's frame is present
  EXPECT_EQ(reader->samples_lost(), 8u);
}

TEST_F(Vdif, InvalidFramesAreZero) {
  auto reader = vdif_reader(open(frames({0, 1}) + frame(3, 2, true) + frame(5, 2, true) + frames({3})));
  EXPECT_THAT(seen(all(*reader)), ElementsAre(1, 2, 0, 4));
  EXPECT_EQ(reader->samples_lost(), 8u);
}

TEST_F(Vdif, FramesOutOfOrderAreSorted) {
  auto reader = vdif_reader(open(frames({1, 0, 3, 2, 4, 7, 6, 5})));
  EXPECT_THAT(seen(all(*reader)), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_TRUE(reader->gaps().empty());
}

// Flips a bit of the seconds.
std::string flipped(std::uint32_t thread, std::uint32_t number, int bit = 8) {
  std::string bytes = frame(thread, number);
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
  return bytes;
}

TEST_F(Vdif, AJumpOfOneFrameIsADamagedHeader) {
  for (const std::uint32_t where : {0u, 1u, 2u, 3u, 5u, 11u, 19u}) {
    for (const int bit : {8, 4, 29}) {  // 1000 to 1004: 256 s back, 16 s and 17 years ahead
      std::string bytes;
      for (std::uint32_t n = 0; n < 20; ++n) bytes += frame(3, n) + (n == where ? flipped(5, n, bit) : frame(5, n));
      auto reader = vdif_reader(open(bytes));
      const auto samples = all(*reader);
      ASSERT_EQ(samples.size(), 20u * 32) << where << " " << bit;
      for (std::uint32_t n = 0; n < 20; ++n) {
        EXPECT_EQ(static_cast<signed char>(samples[n * 32]), static_cast<int>(n + 1)) << where << " " << bit;
        EXPECT_EQ(static_cast<signed char>(samples[n * 32 + 2]), n == where ? 0 : static_cast<int>(n + 1))
            << where << " " << bit << " " << n;
      }
      EXPECT_EQ(reader->samples_lost(), 8u) << where << " " << bit;
    }
  }
}

TEST_F(Vdif, OneThreadAlone) {
  for (const std::uint32_t where : {2u, 4u, 9u}) {  // 3 would give a second of three frames
    std::string bytes;
    for (std::uint32_t n = 0; n < 10; ++n) bytes += n == where ? flipped(3, n, 29) : frame(3, n);
    auto reader = vdif_reader(open(bytes), 1);
    const auto samples = all(*reader);
    ASSERT_EQ(samples.size(), 10u * 16) << where;
    for (std::uint32_t n = 0; n < 10; ++n) {
      EXPECT_EQ(static_cast<signed char>(samples[n * 16]), n == where ? 0 : static_cast<int>(n + 1)) << where;
    }
    EXPECT_EQ(reader->samples_lost(), 8u) << where;
  }
  std::string bytes;  // the last frame begins a second
  for (std::uint32_t n = 0; n < 5; ++n) bytes += frame(3, n);
  auto reader = vdif_reader(open(bytes), 1);
  EXPECT_EQ(all(*reader).size(), 5u * 16);
  EXPECT_EQ(reader->samples_lost(), 0u);
}

TEST_F(Vdif, AThreadThatIsAlwaysWrongDoesNotTakeTheOthersAlong) {
  std::string bytes;
  for (std::uint32_t n = 0; n < 40; ++n) bytes += frame(3, n) + (n < 6 ? frame(5, n) : flipped(5, n, 29));
  auto reader = vdif_reader(open(bytes));
  const auto samples = all(*reader);
  ASSERT_EQ(samples.size(), 40u * 32);
  for (std::uint32_t n = 0; n < 40; ++n) {
    EXPECT_EQ(static_cast<signed char>(samples[n * 32]), static_cast<int>(n + 1));
    EXPECT_EQ(static_cast<signed char>(samples[n * 32 + 2]), n < 6 ? static_cast<int>(n + 1) : 0);
  }
  EXPECT_EQ(reader->samples_lost(), 34u * 8);
}

TEST_F(Vdif, ALongLossIsBelieved) {
  auto reader = vdif_reader(open(frames({0, 1, 2, 3, 4, 5, 60, 61, 62})));
  const auto samples = all(*reader);
  ASSERT_EQ(samples.size(), 63u * 32);
  EXPECT_EQ(static_cast<signed char>(samples[62 * 32]), 63);
  EXPECT_EQ(reader->samples_lost(), 54u * 8);
}

TEST_F(Vdif, TwoBitsRealSeveralChannelsAndTheRate) {
  VdifHeader header;
  header.frame_bytes = 32 + 8;
  header.is_complex = false;
  header.bits = 2;
  header.channels_log2 = 1;
  header.sample_rate = 16000;  // 16 samples per frame, 1000 frames per second
  std::string bytes = vdif_header(header) + std::string("\x1b\xff\0\0\0\0\0\0", 8);
  auto reader = vdif_reader(open(bytes));
  EXPECT_EQ(header.samples(), 16u);
  EXPECT_NEAR(reader->info().sample_seconds, 1 / 16000.0, 1e-12);
  const auto samples = all(*reader);
  ASSERT_EQ(samples.size(), 16u * 2 * 2);
  // 0x1b is 3, 2, 1, 0 from the lowest bits up: channels alternate, imaginary parts are 0.
  EXPECT_EQ(static_cast<signed char>(samples[0]), 3);
  EXPECT_EQ(static_cast<signed char>(samples[2]), 1);
  EXPECT_EQ(static_cast<signed char>(samples[4]), -1);
  EXPECT_EQ(static_cast<signed char>(samples[6]), -3);
  EXPECT_EQ(samples[1], std::byte{0});
}

TEST_F(Vdif, TheStartIsThatOfTheFirstFrame) {
  VdifHeader header = usual_vdif();
  header.sample_rate = 8000;  // 1000 frames per second
  header.frame = 250;
  auto reader = vdif_reader(open(vdif_header(header) + std::string(16, '\1')));
  EXPECT_EQ(reader->info().start, (StartTime{58849, 1000.25}));
  header.sample_rate = 0;
  auto with_rate = vdif_reader(open(vdif_header(header) + std::string(16, '\1')), 0, 8000);
  EXPECT_EQ(with_rate->info().start, (StartTime{58849, 1000.25}));
  auto unknown = vdif_reader(open(vdif_header(header) + std::string(16, '\1')));
  EXPECT_FALSE(unknown->info().start.known());
  header.epoch = 41;  // the second half of 2020 begins on 1 July
  auto later = vdif_reader(open(vdif_header(header) + std::string(16, '\1')), 0, 8000);
  EXPECT_EQ(later->info().start, (StartTime{58849 + 182, 1000.25}));
}

TEST_F(Vdif, TwoRecordingsInOneStreamAreAnError) {
  const auto reading = [&](const std::string& bytes) {
    return says([&] {
      auto reader = vdif_reader(open(bytes));
      all(*reader);
    });
  };
  std::string one, other;
  for (std::uint32_t n = 0; n < 20; ++n) one += frame(3, n) + frame(5, n);
  EXPECT_THAT(reading(one + one), HasSubstr("runs back to second 1000, frame 0"));
  EXPECT_THAT(reading(frames({0, 1, 2}) + frames({0, 1, 2})), "no error");  // the same frames, delivered twice
  std::string changed = frame(3, 1);
  changed.back() ^= 1;
  EXPECT_THAT(reading(frames({0, 1, 2}) + changed), HasSubstr("thread 3, second 1000, frame 1 comes twice"));
  VdifHeader station = usual_vdif();
  station.station = 7;
  station.thread = 3;
  station.frame = 2;
  EXPECT_THAT(reading(frames({0, 1}) + vdif_header(station) + std::string(16, '\1')), HasSubstr("station id"));
  // One repeated frame far behind is not used, and is counted.
  auto reader = vdif_reader(open(one + frame(3, 2)));
  EXPECT_EQ(seen(all(*reader)).size(), 20u);
  ASSERT_FALSE(reader->remarks().empty());
  EXPECT_THAT(reader->remarks()[0], HasSubstr("1 frames not used"));
}

TEST_F(Vdif, Levels) {
  EXPECT_EQ(vdif_level(0, 8), -128);
  EXPECT_EQ(vdif_level(255, 8), 127);
  EXPECT_EQ(vdif_level(0, 16), -32768);
  EXPECT_EQ(vdif_level(0, 1), -1);
  EXPECT_EQ(vdif_level(1, 1), 1);
  EXPECT_EQ(vdif_level(15, 4), 15);
}

TEST_F(Vdif, WordsAreThoseOfTheFormat) {
  VdifHeader header = usual_vdif();
  header.thread = 7;
  header.station = 0x4142;
  header.frame = 9;
  header.sample_rate = 32e6;
  const std::string bytes = vdif_header(header);
  std::uint32_t words[8];
  std::memcpy(words, bytes.data(), 32);
  EXPECT_EQ(words[0], 1000u);
  EXPECT_EQ(words[1], 40u << 24 | 9);
  EXPECT_EQ(words[2], 6u);
  EXPECT_EQ(words[3], 1u << 31 | 7u << 26 | 7u << 16 | 0x4142);
  EXPECT_EQ(words[4], 3u << 24 | 1u << 23 | 32);
  EXPECT_EQ(words[5], 0xACABFEEDu);
}

TEST_F(Vdif, IsRecognizedByTwoHeaders) {
  const auto looks = [&](const std::string& bytes) { return looks_like_vdif(*open(bytes)); };
  EXPECT_TRUE(looks(frames({0, 1})));
  EXPECT_TRUE(looks(frame(3, 2) + frame(3, 3)));
  EXPECT_TRUE(looks(frame(3, 3) + frame(3, 4)));  // the next second
  EXPECT_FALSE(looks(frame(3, 2) + frame(3, 2)));
  EXPECT_FALSE(looks(frame(3, 2) + frame(3, 0)));
  EXPECT_FALSE(looks(frame(3, 2)));
  EXPECT_FALSE(looks(frame(3, 2) + std::string(48, '\1')));
  for (const char byte : {'\0', '\1', '\x7f', '\xff'}) EXPECT_FALSE(looks(std::string(200000, byte))) << int{byte};
  EXPECT_FALSE(looks(""));
  const auto stream = open(frames({0, 1}));
  EXPECT_TRUE(looks_like_vdif(*stream));
  EXPECT_EQ(all(*vdif_reader(open(frames({0, 1})))).size(), 2u * 8 * 4);
  std::string front(48, ' ');
  EXPECT_EQ(stream->read(front.data(), 48), 48u);
  EXPECT_EQ(front, frame(3, 0));
}

TEST_F(Vdif, AWrongHeaderFieldIsNamed) {
  const auto reading = [&](const std::string& bytes) {
    return says([&] {
      auto reader = vdif_reader(open(bytes));
      all(*reader);
    });
  };
  const auto lie = [&](const std::function<void(VdifHeader&)>& change) {
    VdifHeader header = usual_vdif();
    change(header);
    return reading(frames({0, 1, 2}) + vdif_header(header) + std::string(16, '\0'));
  };
  EXPECT_THAT(lie([](auto& h) { h.frame_bytes = 32; }), HasSubstr("frame length is 32"));
  EXPECT_THAT(lie([](auto& h) { h.bits = 20; }), HasSubstr("bits per sample is 20"));
  EXPECT_THAT(lie([](auto& h) { h.frame_bytes = 4096; }), HasSubstr("frame whose length is 4096"));
  EXPECT_THAT(lie([](auto& h) { h.thread = 9; }), HasSubstr("thread id 9"));
  EXPECT_THAT(lie([](auto& h) { h.channels_log2 = 30; }), HasSubstr("number of channels"));
  EXPECT_THAT(lie([](auto& h) { h.bits = 4, h.thread = 3; }), HasSubstr("bits per sample is 4"));
  EXPECT_THAT(reading(""), HasSubstr("empty"));
  EXPECT_THAT(reading(frames({0}).substr(0, 20)), HasSubstr("within a frame header"));
  EXPECT_THAT(reading(frames({0, 1, 2, 3, 9})), HasSubstr("cannot be counted"));
  VdifHeader rated = usual_vdif();
  rated.sample_rate = 8000;
  std::string bytes = vdif_header(rated);
  bytes[20] ^= 1;
  EXPECT_THAT(reading(bytes + std::string(16, '\0')), HasSubstr("sync word"));
}

TEST_F(Vdif, Fuzz) {
  fuzz(frames({0, 1, 2, 3, 4, 5, 6, 7}), [](std::unique_ptr<InputStream> in) {
    auto reader = vdif_reader(std::move(in));
    all(*reader);
  });
}

}  // namespace
}  // namespace ridge::io::formats
