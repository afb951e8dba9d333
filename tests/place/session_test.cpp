// The session of placed programs on a fake device in host memory that counts the bytes copied.
#include <memory>
#include <numeric>
#include <random>
#include <utility>

#include <gtest/gtest.h>
#include <ridge/placed/session.hpp>

namespace {

using ridge::placed::Int;

struct Counts {
  Int uploaded = 0, downloaded = 0, memory = Int{1} << 20;
};

class FakeDevice {
 public:
  using Memory = std::shared_ptr<std::vector<char>>;
  explicit FakeDevice(Counts& counts) : counts_(counts) {}
  bool there() const { return true; }
  Int memory() const { return counts_.memory; }
  Int largest() const { return counts_.memory; }
  Memory allocate(Int bytes) const { return std::make_shared<std::vector<char>>(static_cast<std::size_t>(bytes), 77); }
  void recycle(Memory) const {}
  void upload(const void* from, const Memory& to, Int bytes, Int at) {
    std::memcpy(to->data() + at, from, static_cast<std::size_t>(bytes));
    counts_.uploaded += bytes;
  }
  void download(const Memory& from, void* to, Int bytes, Int at = 0) {
    std::memcpy(to, from->data() + at, static_cast<std::size_t>(bytes));
    counts_.downloaded += bytes;
  }
  void copy(const Memory& from, const Memory& to, Int bytes) {
    std::memcpy(to->data(), from->data(), static_cast<std::size_t>(bytes));
  }
  void clear(const Memory& memory, Int bytes) { std::memset(memory->data(), 0, static_cast<std::size_t>(bytes)); }
  void uploaded() const {}
  int use(int program) { return std::exchange(program_, program); }
  template <class... Actual>
  void launch(void (*kernel)(Actual...), const ridge::placed::Grid&, const Actual&... actual) {
    kernel(actual...);
  }

 private:
  Counts& counts_;
  int program_ = 0;
};

using Session = ridge::placed::SessionOn<FakeDevice>;

float& element(const FakeDevice::Memory& memory, std::size_t i) { return reinterpret_cast<float*>(memory->data())[i]; }

TEST(PlacedSession, ALocalArrayOfZerosIsNeverCopied) {
  Counts counts;
  Session session(counts);
  {
    Session::Array<float> local(session, 100);
    const auto memory = session.write(local.data(), 100);
    EXPECT_EQ(element(memory, 99), 0);
    element(memory, 3) = 5;
    EXPECT_EQ(element(session.read(local.data(), 100), 3), 5);
  }
  EXPECT_EQ(counts.uploaded, 0);
  EXPECT_EQ(counts.downloaded, 0);
}

TEST(PlacedSession, TheHostSeesWhatTheDeviceWroteIntoALocalArray) {
  Counts counts;
  Session session(counts);
  Session::Array<float> local(session, 8);
  element(session.write(local.data(), 8), 2) = 7;
  session.host_takes_over();
  EXPECT_EQ(local[2], 7);
  EXPECT_EQ(local[3], 0);
  local[3] = 4;
  EXPECT_EQ(element(session.read(local.data(), 8), 3), 4);
}

// A part is written, then the whole array is read: the initial zeros must not overwrite the part.
TEST(PlacedSession, ZerosEndWithTheFirstWrite) {
  Counts counts;
  Session session(counts);
  Session::Array<float> local(session, 8);
  element(session.write(local.data(), 4), 1) = 9;
  const auto all = session.read(local.data(), 8);
  EXPECT_EQ(element(all, 1), 9);
  EXPECT_EQ(element(all, 7), 0);
}

TEST(PlacedSession, ACopyIsMadeOnTheDevice) {
  std::vector<float> from(16);
  std::iota(from.begin(), from.end(), 1.0f);
  Counts counts;
  Session session(counts);
  element(session.write(from.data(), 16), 0) = 50;  // only the device has this value
  counts.uploaded = 0;
  Session::Array<float> local(session, from.data(), from.data() + 16);
  EXPECT_EQ(counts.uploaded, 0);
  EXPECT_EQ(element(session.read(local.data(), 16), 0), 50);
  EXPECT_EQ(element(session.read(local.data(), 16), 15), 16);
  session.host_takes(local.data(), 64);
  EXPECT_EQ(local[0], 50);
}

TEST(PlacedSession, AnArrayThatDoesNotFitStaysOnTheHost) {
  Counts counts;
  counts.memory = 64;
  Session session(counts);
  const std::vector<float> from(100, 3.0f);
  Session::Array<float> local(session, from.data(), from.data() + 100);
  EXPECT_EQ(counts.uploaded, 0);
  EXPECT_EQ(local[99], 3);
}

TEST(PlacedSession, StripsFitAndCoverAllIterations) {
  Counts counts;
  counts.memory = 800;  // 700 bytes may be used: 175 floats
  Session session(counts);
  std::vector<float> data(1000, 1.0f);
  const auto fits = [&](Int from, Int to) { return session.room({{&data[0], (to - from + 11) * 4}}); };
  const auto strips = session.strips(3, 902, fits);
  Int next = 3;
  for (const auto& [from, to] : strips) {
    EXPECT_EQ(from, next);
    EXPECT_TRUE(fits(from, to));
    next = to + 1;
  }
  EXPECT_EQ(next, 903);
  EXPECT_EQ(strips.size(), 8U);
  EXPECT_TRUE(session.strips(5, 4, fits).empty());
  EXPECT_TRUE(session.strips(0, 9, [](Int, Int) { return false; }).empty());
  element(session.write(data.data() + 10, 20), 4) = 6;
  session.end_strip();
  EXPECT_EQ(data[14], 6);
  EXPECT_EQ(data[13], 1);
}

// Two functions of different programs called with one session: the second finds the data of the first on the device.
TEST(PlacedSession, DataStayBetweenTheCallsOfACaller) {
  Counts counts;
  Session session(counts);
  std::vector<float> data(16, 1.0f);
  {
    const ridge::placed::Use use(session, 1);
    element(session.write(data.data(), 16), 3) = 8;
  }
  {
    const ridge::placed::Use use(session, 2);
    { const ridge::placed::Use inner(session, 3); }
    EXPECT_EQ(session.use(2), 2) << "the kernels of the caller are restored";
    EXPECT_EQ(element(session.read(data.data(), 16), 3), 8);
  }
  EXPECT_EQ(session.use(0), 0);
  EXPECT_EQ(counts.uploaded, 64);
  EXPECT_EQ(counts.downloaded, 0);
  session.host_reads(data);
  EXPECT_EQ(data[3], 8);
  session.host_takes(data);
  data[3] = 9;
  EXPECT_EQ(element(session.read(data.data(), 16), 3), 9);
  session.forget(data);
  EXPECT_EQ(counts.downloaded, 64);
  EXPECT_EQ(counts.uploaded, 128);
}

// A loop whose kernels use more of an array in every iteration, and a host that writes single elements of it.
TEST(PlacedSession, AGrowingArrayIsUploadedOnce) {
  constexpr Int kSide = 200, kBytes = kSide * kSide * 4;
  Counts counts;
  Session session(counts);
  std::vector<float> data(kSide * kSide, 1.0f);
  for (Int step = 0; step < kSide; ++step) {
    const auto memory = session.write(data.data(), (kSide - 1) * kSide + step + 1);
    element(memory, static_cast<std::size_t>(step)) += 2;
  }
  EXPECT_EQ(counts.uploaded, kBytes);
  EXPECT_EQ(counts.downloaded, 0);
  session.host_takes(&data[100], 4);
  EXPECT_EQ(data[100], 3);
  data[100] = 9;
  EXPECT_LE(counts.downloaded, 1 << 16);
  EXPECT_EQ(element(session.read(data.data(), kSide * kSide), 100), 9);
  EXPECT_EQ(counts.uploaded, kBytes + 4);
  session.finish();
  EXPECT_EQ(data[199], 3);
  EXPECT_EQ(data[200], 1);
  EXPECT_EQ(counts.downloaded, kBytes);
}

// Random kernels and accesses of the host on parts of three arrays in one allocation, compared with the same operations
// on plain memory.
TEST(PlacedSession, RandomPartsEqualPlainMemory) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    constexpr std::size_t kOne = 30000, kAll = 3 * kOne;
    Counts counts;
    counts.memory = seed % 2 == 0 ? Int{1} << 20 : Int{300000};
    std::vector<float> host(kAll), expected;
    for (float& x : host) x = static_cast<float>(below(1000));
    expected = host;
    Session session(counts);
    for (int step = 0; step < 60; ++step) {
      const std::size_t first = below(3) * kOne + (below(8) == 0 ? below(kOne / 2) : 0);
      const std::size_t n = 1 + below(std::min(below(4) == 0 ? kAll - first : kOne, kAll - first));
      float* const at = &host[first];
      const Int count = static_cast<Int>(n), bytes = 4 * count;
      const std::size_t one = first + below(n);
      switch (below(6)) {
        case 0:
          ASSERT_EQ(std::memcmp(session.read(at, count)->data(), &expected[first], 4 * n), 0) << seed << " " << step;
          break;
        case 1:
        case 2: {
          const auto memory = session.write(at, count);
          ASSERT_EQ(std::memcmp(memory->data(), &expected[first], 4 * n), 0) << seed << " " << step;
          element(memory, one - first) = expected[one] = static_cast<float>(step);
          break;
        }
        case 3: {
          const auto memory = session.write(at, count, true);
          for (std::size_t i = 0; i < n; ++i)
            element(memory, i) = expected[first + i] = static_cast<float>(step + i % 7);
          break;
        }
        case 4:
          session.host_reads(at, bytes);
          ASSERT_EQ(std::memcmp(at, &expected[first], 4 * n), 0) << seed << " " << step;
          break;
        default:
          if (below(2) == 0) {
            session.host_takes(&host[one], 4);
            ASSERT_EQ(host[one], expected[one]) << seed << " " << step;
            host[one] = expected[one] = -1;
          } else {
            session.host_takes(at, bytes);
            for (std::size_t i = first; i < first + n; i += 3) host[i] = expected[i] = expected[i] + 1;
          }
      }
      if (below(20) == 0) session.grid({1}, {1, 1, 1});
    }
    session.finish();
    ASSERT_EQ(host, expected) << seed;
  }
}

struct Lane {
  char slot[2][std::size_t{1} << 21];
  std::vector<char>* device = nullptr;
  Int at[2] = {-1, -1}, count[2] = {0, 0};
  bool fetch[2] = {false, false};
  void start(int turn, Int from, Int n, bool up) {
    at[turn] = from;
    count[turn] = n;
    fetch[turn] = !up;
    if (up) std::memcpy(device->data() + from, slot[turn], static_cast<std::size_t>(n));
  }
  void wait(int turn) {  // copies late on purpose, so that reading a block too early is detected
    if (fetch[turn] && at[turn] >= 0)
      std::memcpy(slot[turn], device->data() + at[turn], static_cast<std::size_t>(count[turn]));
    at[turn] = -1;
  }
};

TEST(PlacedSession, LongCopiesByLanes) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{1} << 21, (std::size_t{5} << 21) + 13}) {
    std::vector<char> host(bytes), device(bytes, 0), back(bytes, 1);
    std::uint32_t state = 1;
    for (char& c : host) c = static_cast<char>((state = state * 1664525u + 1013904223u) >> 24);
    std::vector<Lane> lanes(2);
    for (Lane& l : lanes) l.device = &device;
    ridge::placed::copy_by_lanes(lanes, host.data(), static_cast<Int>(bytes), true);
    EXPECT_EQ(device, host);
    ridge::placed::copy_by_lanes(lanes, back.data(), static_cast<Int>(bytes), false);
    EXPECT_EQ(back, host);
  }
}

}  // namespace
