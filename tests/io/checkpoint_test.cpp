// Checkpoints: blocks with checksums, two generations, damage, kills and full disks.
#include "io/arrays/checkpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "io/atomic_file.hpp"
#include "io/encoding.hpp"
#include "io/grid_support.hpp"
#include "support/scratch.hpp"

namespace ridge::io {
namespace {

namespace fs = std::filesystem;
using test::contents;
using test::error_of;
using test::MemoryGrid;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

TEST(Crc32c, KnownValuesAndPieces) {
  EXPECT_EQ(crc32c("", 0), 0u);
  EXPECT_EQ(crc32c("123456789", 9), 0xE3069283u);  // the check value of the standard
  const std::string zeros(32, '\0');
  EXPECT_EQ(crc32c(zeros.data(), 32), 0x8A9136AAu);  // RFC 3720
  const std::string text = "several parts have the checksum of the whole";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    const auto first = crc32c(text.data(), cut);
    EXPECT_EQ(crc32c(text.data() + cut, text.size() - cut, first), crc32c(text.data(), text.size()));
  }
}

class CheckpointTest : public testing::Test {
 protected:
  test::ScratchFolder folder_;
  fs::path path_ = folder_ / "run.ckp";

  static CheckpointState state_of(std::size_t step) {
    CheckpointState state{step, 0.25 * static_cast<double>(step), base::Json::object()};
    state.parameters["problem"] = "heat";
    state.parameters["alpha"] = 0.4;
    return state;
  }
  template <class T>
  static void expect_holds(const Checkpoint& checkpoint, const MemoryGrid<T>& grid) {
    EXPECT_EQ(checkpoint.shape(), grid.shape);
    EXPECT_EQ(checkpoint.fields(), grid.names);
    ASSERT_EQ(checkpoint.type(), test::TypeOf<T>::value);
    for (std::size_t field = 0; field < grid.fields.size(); ++field) {
      std::vector<T> values(grid.fields[field].size());
      checkpoint.read(field, 0, grid.shape[0], values.data());
      EXPECT_EQ(values, grid.fields[field]);
    }
  }
  void overwrite(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }
};

TEST_F(CheckpointTest, IsReadBackCompletely) {
  const MemoryGrid<float> line({1001}, {"u"});
  const MemoryGrid<double> several({70, 33}, {"density", "energy"});
  const MemoryGrid<std::int32_t> cube({3, 4, 5}, {"alive"});
  write_checkpoint(folder_ / "a", state_of(7), line.source());
  write_checkpoint(folder_ / "b", state_of(8), several.source());
  write_checkpoint(folder_ / "c", state_of(9), cube.source());
  expect_holds(Checkpoint(folder_ / "a"), line);
  expect_holds(Checkpoint(folder_ / "b"), several);
  const Checkpoint third(folder_ / "c");
  expect_holds(third, cube);
  EXPECT_EQ(third.state().step, 9u);
  EXPECT_EQ(third.state().time, 2.25);
  EXPECT_EQ(third.state().parameters, state_of(9).parameters);
  std::int32_t part[20];
  third.read(0, 1, 2, part);
  EXPECT_EQ(part[3], cube.fields[0][23]);
}

TEST_F(CheckpointTest, LargeFieldsHaveSeveralBlocks) {
  const MemoryGrid<double> grid({1500, 1000}, {"a", "b"});  // 12 MB each: three blocks
  write_checkpoint(path_, state_of(1), grid.source());
  expect_holds(Checkpoint(path_), grid);
  std::string bytes = contents(path_);
  bytes[bytes.size() - 400] ^= 1;
  overwrite(path_, bytes);
  EXPECT_THAT(error_of([&] { Checkpoint{path_}; }), HasSubstr("block 6 of 6 (field \"b\""));
}

TEST_F(CheckpointTest, TwoGenerationsAreKept) {
  MemoryGrid<float> grid({8, 8}, {"u"});
  EXPECT_FALSE(newest_checkpoint(path_));
  for (std::size_t step = 1; step <= 3; ++step) {
    grid.fields[0][0] = static_cast<float>(step);
    write_checkpoint(path_, state_of(step), grid.source());
  }
  EXPECT_THAT(folder_.names(), UnorderedElementsAre("run.ckp", "run.ckp.previous"));
  EXPECT_EQ(Checkpoint(path_).state().step, 3u);
  EXPECT_EQ(Checkpoint(previous_generation(path_)).state().step, 2u);
  expect_holds(*newest_checkpoint(path_), grid);
}

TEST_F(CheckpointTest, EveryDamagedByteAndEveryTruncationIsNoticedAndTheOneBeforeIsUsed) {
  const MemoryGrid<float> grid({5, 3}, {"u", "v"});
  write_checkpoint(path_, state_of(1), grid.source());
  write_checkpoint(path_, state_of(2), grid.source());
  const std::string whole = contents(path_);
  test::Warnings warnings;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int change : {1, 0x80}) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ change);
      overwrite(path_, bytes);
      const auto used = newest_checkpoint(path_);
      ASSERT_TRUE(used);
      EXPECT_EQ(used->state().step, 1u) << "byte " << at;
    }
  }
  for (std::size_t length = 0; length < whole.size(); ++length) {
    overwrite(path_, whole.substr(0, length));
    EXPECT_THAT(error_of([&] { Checkpoint{path_}; }), HasSubstr("run.ckp is refused")) << length;
  }
  overwrite(path_, whole + "x");
  EXPECT_THAT(error_of([&] { Checkpoint{path_}; }), HasSubstr("its header states"));
  newest_checkpoint(path_);
  ASSERT_FALSE(warnings.messages.empty());
  for (const std::string& line : warnings.messages) {
    EXPECT_THAT(line, HasSubstr("checkpoint " + path_.string() + " is refused: "));
    EXPECT_THAT(line, HasSubstr("using " + previous_generation(path_).string() + " of step 1"));
  }
}

TEST_F(CheckpointTest, TwoDamagedGenerationsAreAnErrorThatNamesBoth) {
  const MemoryGrid<float> grid({5, 3}, {"u"});
  write_checkpoint(path_, state_of(1), grid.source());
  write_checkpoint(path_, state_of(2), grid.source());
  overwrite(path_, "RIDGECKP and nothing like it");
  overwrite(previous_generation(path_), "");
  const std::string message = error_of([&] { newest_checkpoint(path_); });
  EXPECT_THAT(message, HasSubstr("version"));
  EXPECT_THAT(message, HasSubstr("run.ckp.previous is refused: 0 bytes"));
}

TEST_F(CheckpointTest, ADamagedFileNeverPushesOutTheWholeOne) {
  const MemoryGrid<float> grid({5, 3}, {"u"});
  write_checkpoint(path_, state_of(1), grid.source());
  write_checkpoint(path_, state_of(2), grid.source());
  overwrite(path_, "damaged");
  test::Warnings warnings;
  const auto used = newest_checkpoint(path_);
  set_aside_damaged(*used, path_);
  EXPECT_THAT(folder_.names(), UnorderedElementsAre("run.ckp", "run.ckp.damaged"));
  expect_holds(*used, grid);  // it stays open under its new name
  write_checkpoint(path_, state_of(3), grid.source());
  EXPECT_EQ(Checkpoint(path_).state().step, 3u);
  EXPECT_EQ(Checkpoint(previous_generation(path_)).state().step, 1u);
}

TEST_F(CheckpointTest, AKillBetweenTheTwoRenamesLosesNothing) {
  const MemoryGrid<float> grid({5, 3}, {"u"});
  write_checkpoint(path_, state_of(1), grid.source());
  fs::rename(path_, previous_generation(path_));
  overwrite(path_.string() + ".part", "half a checkpoint");
  const auto used = newest_checkpoint(path_);
  ASSERT_TRUE(used);
  set_aside_damaged(*used, path_);
  write_checkpoint(path_, state_of(2), grid.source());
  EXPECT_THAT(folder_.names(), UnorderedElementsAre("run.ckp", "run.ckp.previous"));
}

// Writes beyond `bytes` fail as on a full disk.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }

 private:
  rlimit before_{};
  void (*signal_)(int);
};

TEST_F(CheckpointTest, NoSpaceLeavesTheGenerationsBefore) {
  const MemoryGrid<float> grid({64, 64}, {"u"});
  write_checkpoint(path_, state_of(1), grid.source());
  write_checkpoint(path_, state_of(2), grid.source());
  for (const rlim_t room : {0, 10, 100, 5000, 16384}) {
    std::string message;
    {
      const SmallDisk disk(room);
      message = error_of([&] { write_checkpoint(path_, state_of(3), grid.source()); });
    }
    EXPECT_THAT(message, HasSubstr("cannot write " + path_.string())) << room;
    EXPECT_THAT(folder_.names(), UnorderedElementsAre("run.ckp", "run.ckp.previous"));
    EXPECT_EQ(newest_checkpoint(path_)->state().step, 2u);
    EXPECT_EQ(Checkpoint(previous_generation(path_)).state().step, 1u);
  }
}

TEST_F(CheckpointTest, ReportsWhyItCannotBeWritten) {
  const MemoryGrid<float> grid({4}, {"u"});
  EXPECT_THAT(error_of([&] { write_checkpoint("/no/such/folder/x", state_of(1), grid.source()); }),
              HasSubstr("/no/such/folder/x"));
  EXPECT_THAT(error_of([&] { write_checkpoint(folder_.path(), state_of(1), grid.source()); }),
              HasSubstr("it is a folder"));
  const AtomicFile busy(path_);
  EXPECT_THAT(error_of([&] { write_checkpoint(path_, state_of(1), grid.source()); }), HasSubstr("another process"));
}

TEST_F(CheckpointTest, AWrongHeaderAllocatesNoMemory) {
  const auto with_header = [&](const std::string& json) {
    std::string start = "RIDGECKP";
    const std::uint32_t version = kCheckpointVersion, length = static_cast<std::uint32_t>(json.size());
    start.append(reinterpret_cast<const char*>(&version), 4).append(reinterpret_cast<const char*>(&length), 4);
    start += json;
    const std::uint32_t sum = crc32c(start.data(), start.size());
    start.append(reinterpret_cast<const char*>(&sum), 4);
    overwrite(path_, start + "data");
    return error_of([&] { Checkpoint{path_}; });
  };
  const std::string rest = R"("type":"float32","fields":["u"],"block":1,"parameters":{}})";
  EXPECT_THAT(with_header(R"({"step":1,"time":0,"shape":[4294967296,4294967296,4],)" + rest),
              HasSubstr("more cells than can be addressed"));
  EXPECT_THAT(with_header(R"({"step":1,"time":0,"shape":[4294967296,4294967],)" + rest),
              HasSubstr("its header states"));
  EXPECT_THAT(with_header(R"({"step":1,"time":0,"shape":[],)" + rest), HasSubstr("shape"));
  EXPECT_THAT(with_header(R"({"step":1,"time":0,"shape":[-3],)" + rest), HasSubstr("shape"));
  EXPECT_THAT(with_header(R"({"step":-1,"time":0,"shape":[3],)" + rest), HasSubstr("step"));
  EXPECT_THAT(with_header(R"({"step":1,"time":0,"shape":[3],"type":"complex64"})"), HasSubstr("complex64"));
  EXPECT_THAT(with_header("[]"), HasSubstr("not a JSON object"));
}

}  // namespace
}  // namespace ridge::io
