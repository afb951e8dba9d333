// The command as users run it: output, one-line errors, exit codes, no files left behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/json.hpp"
#include "io/images/picture.hpp"
#include "io/images/pixels.hpp"

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct Result {
  int code = -1;
  std::string out, err;
};

class Command : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("ridge-cli-" + std::to_string(getpid()));
    fs::create_directories(folder_ / "cache");
  }
  void TearDown() override { fs::remove_all(folder_); }

  Result run(const std::string& arguments, const std::string& environment = "") const {
    const std::string err = (folder_ / "stderr").string();
    const std::string line = "cd " + folder_.string() +
                             " && RIDGE_CHECK=0 RIDGE_CACHE_DIR=" + (folder_ / "cache").string() + " " + environment +
                             " " RIDGE_COMMAND " " + arguments + " 2>" + err;
    Result result;
    FILE* pipe = popen(line.c_str(), "r");
    std::array<char, 4096> piece{};
    for (std::size_t n; (n = fread(piece.data(), 1, piece.size(), pipe)) > 0;) result.out.append(piece.data(), n);
    const int status = pclose(pipe);
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    std::stringstream text;
    text << std::ifstream(err).rdbuf();
    result.err = text.str();
    return result;
  }

  static void expect_one_line(const Result& result, int code, const std::string& part) {
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr(part));
    EXPECT_THAT(result.err, testing::StartsWith("ridge: "));
  }

  fs::path folder_;
};

// True if the picture shows the text in the font of legends, dark on light.
bool shows(const ridge::io::Pixels& picture, const std::string& text, std::size_t scale) {
  using namespace ridge::io;
  const auto dark = [&](std::size_t x, std::size_t y) {
    return std::to_integer<int>(picture.bytes[(y * picture.width + x) * picture.channels]) < 128;
  };
  const auto letter_at = [&](char letter, std::size_t x, std::size_t y) {
    const auto rows = glyph(letter);
    for (std::size_t r = 0; r < kGlyphHeight * scale; ++r) {
      for (std::size_t c = 0; c < kGlyphWidth * scale; ++c) {
        if (dark(x + c, y + r) != ((rows[r / scale] >> (kGlyphWidth - 1 - c / scale) & 1) != 0)) return false;
      }
    }
    return true;
  };
  const std::size_t width = text.size() * kGlyphPitch * scale, height = kGlyphHeight * scale;
  for (std::size_t y = 0; y + height <= picture.height; ++y) {
    for (std::size_t x = 0; x + width <= picture.width; ++x) {
      std::size_t i = 0;
      while (i < text.size() && letter_at(text[i], x + i * kGlyphPitch * scale, y)) ++i;
      if (i == text.size()) return true;
    }
  }
  return false;
}

TEST_F(Command, SarPicturesHaveAxes) {
  for (const std::string method : {"range-doppler", "backprojection"}) {
    const Result drawn =
        run("sar --pulses 64 --samples 1024 --frames 1 --device host --png image.png --method " + method);
    if (drawn.code == 1 && drawn.err.find("built without") != std::string::npos) GTEST_SKIP() << drawn.err;
    ASSERT_EQ(drawn.code, 0) << drawn.err;
    const ridge::io::Pixels picture = ridge::io::read_pixels(folder_ / "image.png");
    const auto found = [&](const std::string& text) { return shows(picture, text, 1) || shows(picture, text, 2); };
    EXPECT_TRUE(found("along the track, m")) << method;
    EXPECT_TRUE(found("range, m")) << method;
    EXPECT_TRUE(found("dB below the peak")) << method;
    EXPECT_TRUE(found("-60")) << method;
    EXPECT_FALSE(found("no such text")) << method;
  }
}

TEST_F(Command, HelpShowsCommandsAndDevices) {
  for (const char* ask : {"", "--help"}) {
    const Result result = run(ask);
    EXPECT_EQ(result.code, 0);
    for (const char* part : {"ridge tour", "Telescopes and radar:", "bench transpose", "opencl:pocl"}) {
      EXPECT_THAT(result.out, HasSubstr(part));
    }
  }
}

TEST_F(Command, EveryCommandShowsAnExampleOfItself) {
  const ridge::base::Json commands = ridge::base::Json::parse(run("manual --json").out);
  EXPECT_GE(commands.size(), 30u);
  for (const auto& command : commands) {
    const std::string name = command["command"].get<std::string>();
    if (name == "ridge") continue;
    const Result result = run(name.substr(sizeof("ridge")) + " --help");
    EXPECT_EQ(result.code, 0) << name;
    const auto examples = result.out.find("Examples:");
    ASSERT_NE(examples, std::string::npos) << name;
    EXPECT_NE(result.out.find(name, examples), std::string::npos) << name;
  }
}

TEST_F(Command, MistakesOfTheCallerAreOneLineAndExit1) {
  expect_one_line(run("nonsense"), 1, "nonsense");
  expect_one_line(run("bench transpose --device gpu9"), 1, "gpu9");
  expect_one_line(run("bench nothing"), 1, "nothing");
  expect_one_line(run("wisdom"), 1, "--help");
  expect_one_line(run("machine --no-such-option"), 1, "--no-such-option");
  expect_one_line(run("bench transpose --rows 0 --columns 5 --device host"), 1, "must be at least 1");
  expect_one_line(run("bench transpose --rows 5000000000 --columns 5000000000 --device host"), 1, "overflows 64 bits");
  expect_one_line(run("bench transpose --rows 1000000 --columns 1000000 --device host"), 1, "matrix");
  expect_one_line(run("bench transpose --rows 3 --columns 4 --in-place --device host"), 1, "square");
  expect_one_line(run("bench transpose --rows 8 --columns 8 --variant nobody --device host"), 1, "nobody");
  expect_one_line(run("bench transpose --rows 8 --columns 8 --type f99 --device host"), 1, "f99");
  expect_one_line(run("bench transpose --rows 8 --columns 8 --against nobody --device host"), 1, "nobody");
  expect_one_line(run("bench transpose --rows 8 --columns 8 --device host --seconds 0.001 --json /nowhere/x.json"), 1,
                  "/nowhere/x.json");
}

TEST_F(Command, DevicesAsTextAndJson) {
  const Result text = run("devices");
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out, HasSubstr("host"));
  const Result result = run("devices --json");
  ASSERT_EQ(result.code, 0);
  const auto json = ridge::base::parse_json(result.out);
  EXPECT_EQ(json["devices"][0]["id"], "host");
  EXPECT_GT(json["devices"][0]["limits"]["memory"].get<double>(), 0);
}

TEST_F(Command, BenchWritesTheDocumentedJson) {
  const Result result =
      run("bench transpose --rows 300 --columns 200 --device host --seconds 0.001 --json rows.json --explain");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("memcpy"));
  std::stringstream text;
  text << std::ifstream(folder_ / "rows.json").rdbuf();
  const auto json = ridge::base::parse_json(text.str());
  ASSERT_TRUE(json.contains("machine"));
  ASSERT_GT(json["rows"].size(), 2u);
  int chosen = 0;
  for (const auto& row : json["rows"]) {
    EXPECT_EQ(row["device"], "host");
    EXPECT_GT(row["seconds"].get<double>(), 0);
    EXPECT_NEAR(row["gbytes_per_s"].get<double>() * 1e9 * row["seconds"].get<double>(), 2.0 * 300 * 200 * 8, 1);
    EXPECT_GT(row["peers"]["memcpy"].get<double>(), 0);
    chosen += row.value("chosen", false) ? 1 : 0;
  }
  EXPECT_EQ(chosen, 1);
  EXPECT_TRUE(json["summary"]["memcpy"].contains("geomean_speedup"));
}

TEST_F(Command, WisdomGrowsIsShownAndForgotten) {
  EXPECT_THAT(run("wisdom show").out, HasSubstr("no wisdom yet"));
  ASSERT_EQ(run("bench transpose --rows 300 --columns 200 --device host --seconds 0.001").code, 0);
  EXPECT_THAT(run("wisdom show").out, HasSubstr("300x200"));
  expect_one_line(run("wisdom forget nonsense"), 1, "no saved choice of workload \"nonsense\"");
  expect_one_line(run("wisdom unpin nonsense"), 1, "no pinned choice for \"nonsense\"");
  EXPECT_THAT(run("wisdom unpin").out, HasSubstr("released 0"));
  EXPECT_THAT(run("wisdom forget transpose").out, HasSubstr("forgot 1"));
  EXPECT_THAT(run("wisdom forget").out, HasSubstr("forgot 0"));
  EXPECT_THAT(run("wisdom show").out, HasSubstr("no wisdom yet"));
}

TEST_F(Command, AnOverrideFileMakesADeviceActSmaller) {
  std::ofstream(folder_ / "limits.json") << R"({"host": {"memory": 1048576, "allocation": 1048576}})";
  const std::string setting = "RIDGE_LIMITS=" + (folder_ / "limits.json").string();
  EXPECT_THAT(run("devices", setting).out, HasSubstr("limit overridden"));
  expect_one_line(run("bench transpose --rows 4096 --columns 4096 --device host", setting), 1, "larger than");
  std::ofstream(folder_ / "limits.json") << "{\"host\": {\"memory\": [[[[[[[[";
  const Result damaged = run("devices", setting);
  EXPECT_EQ(damaged.code, 0);
  EXPECT_THAT(damaged.err, HasSubstr("keeps its own limits"));
}

}  // namespace
