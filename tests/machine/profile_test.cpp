// The profile file: round trip, damaged files, other hardware.
#include "machine/profile.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include <fmt/format.h>
#include <ridge/machine.hpp>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "support/scratch.hpp"

namespace {

namespace fs = std::filesystem;
using ridge::Error;
using ridge::ErrorKind;
using ridge::base::Json;
using ridge::machine::from_json;
using ridge::machine::Level;
using ridge::machine::Profile;
using ridge::machine::Sweep;
using ridge::machine::to_json;

// Provides a folder with RIDGE_PROFILE in it and records every warning.
class ProfileFile : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        fs::temp_directory_path() / fmt::format("ridge-{}-{}-{}", test->test_suite_name(), test->name(), getpid());
    fs::create_directories(folder_);
    use(folder_ / "machine.json");
    previous_ = ridge::base::on_warning([this](const std::string& text) { warnings_.push_back(text); });
  }
  void TearDown() override {
    ridge::base::on_warning(previous_);
    unsetenv("RIDGE_PROFILE");
    fs::remove_all(folder_);
  }
  void use(const fs::path& file) {
    file_ = file;
    setenv("RIDGE_PROFILE", file.c_str(), 1);
  }
  void write(const std::string& text) { std::ofstream(file_, std::ios::binary) << text; }

  fs::path folder_, file_;
  std::vector<std::string> warnings_;
  ridge::base::WarningListener previous_;
};

Profile sample_profile() {
  Profile profile;
  profile.hardware = ridge::machine::hardware_key();
  profile.measured_at = "2024-06-01 12:00:00";
  profile.seconds_taken = 41.5;
  profile.studies = false;
  ridge::machine::DeviceProfile host;
  host.id = "host";
  host.name = "A processor with \"quotes\" and µ";
  host.fingerprint = "f";
  auto& ceilings = host.ceilings;
  ceilings.measured = true;
  ceilings.flops_float = 1.0 / 3 * 1e12;
  ceilings.flops_double = 2;
  ceilings.flops_float_one = 3;
  ceilings.flops_double_one = 4;
  ceilings.levels = {Level{"L1", 65536, {5, 6, 7, 8, 9}, {10, 11, 12, 13, 14}},
                     Level{"memory", 1ull << 40, {1, 2, 3, 4, 5}, {}}};
  ceilings.launch_seconds = 1.5e-6;
  ceilings.transfers = {21, 22, 23, 24, 25, 26};
  ceilings.copy_while_others_busy = 27;
  ceilings.flops_float_while_others_busy = 28;
  ceilings.energy = {"RAPL package", "", 29, 30, 31};
  ceilings.sweeps = {Sweep{"t", "x", "y", {{"line", {{1, 2.5}, {2, -3}}}, {"empty", {}}}}};
  profile.devices = {host};
  host.id = "cuda:0";
  host.ceilings.energy = {"", "no NVML", 0, 0, 0};
  profile.devices.push_back(host);
  return profile;
}

std::string text_of(const fs::path& file) { return ridge::base::read_file(file, 64u << 20).value_or("no file"); }

bool refused(const std::string& text) {
  try {
    from_json(text);
    return false;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    return true;
  }
}

TEST(ProfileJson, RoundTripKeepsEverything) {
  const Profile profile = sample_profile();
  const std::string text = to_json(profile);
  const Profile back = from_json(text);
  EXPECT_EQ(to_json(back), text);
  EXPECT_EQ(back.devices.size(), 2u);
  const auto& ceilings = back.find("host")->ceilings;
  EXPECT_EQ(ceilings.flops_float, 1.0 / 3 * 1e12);
  EXPECT_EQ(ceilings.levels[0].one.copy_streaming, 14);
  EXPECT_EQ(ceilings.memory().capacity, 1ull << 40);
  EXPECT_EQ(ceilings.transfers.download_mapped, 26);
  EXPECT_EQ(ceilings.energy.flops_per_watt, 31);
  EXPECT_EQ(ceilings.sweeps[0].lines[0].points[1], (std::pair<double, double>{2, -3}));
  EXPECT_TRUE(ceilings.measured);
  EXPECT_EQ(back.find("cuda:0")->ceilings.energy.why_not, "no NVML");
  EXPECT_EQ(back.find("opencl:0"), nullptr);
}

TEST(ProfileJson, IsIndentedText) {
  const std::string text = to_json(sample_profile());
  EXPECT_NE(text.find("\n      \"flops_double\": 2.0,\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\"points\": [[1.0, 2.5], [2.0, -3.0]]"), std::string::npos) << text;
}

// Visits every value of the file.
template <class Visit>
void each_value(Json& value, const Visit& visit) {
  if (value.is_structured()) {
    for (auto& inner : value) each_value(inner, visit);
  }
  visit(value);
}

TEST(ProfileJson, EveryFieldIsChecked) {
  const Json good = Json::parse(to_json(sample_profile()));
  Json damaged = good;
  std::size_t tried = 0;
  each_value(damaged, [&](Json& value) {
    const Json kept = value;
    std::vector<Json> bad{nullptr, Json::object(), "text"};
    if (kept.is_number()) bad = {nullptr, "12", Json::array({1}), -1e300, 1e300, true};
    if (kept.is_boolean()) bad = {nullptr, 1, "true"};
    if (kept.is_string()) bad = {nullptr, 7, std::string(100000, 'x'), "a\x1b[2J", Json::array()};
    if (kept.is_object()) bad = {nullptr, Json::array(), 3};
    for (const Json& replacement : bad) {
      value = replacement;
      EXPECT_TRUE(refused(damaged.dump()))
          << kept.dump().substr(0, 60) << " replaced by " << replacement.dump().substr(0, 60);
      ++tried;
    }
    value = kept;
  });
  EXPECT_EQ(damaged, good);
  EXPECT_GT(tried, 400u);
}

TEST(ProfileJson, EveryMemberIsNeeded) {
  const Json good = Json::parse(to_json(sample_profile()));
  for (const auto& [name, ignored] : good.items()) {
    Json damaged = good;
    damaged.erase(name);
    EXPECT_TRUE(refused(damaged.dump())) << name;
  }
  for (const auto& [name, ignored] : good["devices"][0].items()) {
    Json damaged = good;
    damaged["devices"][0].erase(name);
    EXPECT_TRUE(refused(damaged.dump())) << name;
  }
}

TEST(ProfileJson, TruncationsAreRefused) {
  const std::string text = to_json(sample_profile());
  for (std::size_t length = 0; length + 2 < text.size(); length += 31)
    EXPECT_TRUE(refused(text.substr(0, length))) << length;
}

TEST(ProfileJson, CountsAreBounded) {
  const Json good = Json::parse(to_json(sample_profile()));
  const auto with_many = [&](const Json::json_pointer& list, std::size_t count) {
    Json json = good;
    const Json first = json[list][0];
    json[list] = Json::array();
    for (std::size_t i = 0; i < count; ++i) json[list].push_back(first);
    return json.dump();
  };
  using Pointer = Json::json_pointer;
  EXPECT_TRUE(refused(with_many(Pointer("/devices/0/levels"), 1000)));
  EXPECT_TRUE(refused(with_many(Pointer("/devices/0/levels"), 0)));
  EXPECT_TRUE(refused(with_many(Pointer("/devices/0/sweeps"), 10000)));
  EXPECT_TRUE(refused(with_many(Pointer("/devices/0/sweeps/0/lines"), 10000)));
  EXPECT_TRUE(refused(with_many(Pointer("/devices/0/sweeps/0/lines/0/points"), 100000)));
  EXPECT_TRUE(refused(with_many(Pointer("/devices"), 2))) << "one device twice";
  EXPECT_FALSE(refused(with_many(Pointer("/devices/0/levels"), 8)));
}

TEST_F(ProfileFile, SavedIsLoaded) {
  EXPECT_FALSE(ridge::machine::load().has_value());
  const Profile profile = sample_profile();
  ridge::machine::save(profile);
  EXPECT_EQ(ridge::machine::path(), file_.string());
  const auto loaded = ridge::machine::load();
  ASSERT_TRUE(loaded.has_value());
  EXPECT_EQ(to_json(*loaded), to_json(profile));
  EXPECT_TRUE(warnings_.empty());
}

// Files without a valid profile, by name.
std::vector<std::pair<std::string, std::string>> damaged_files() {
  const std::string good = to_json(sample_profile());
  std::string deep(100000, '[');
  std::string with_nan = good, with_infinity = good;
  const std::string number = "\"flops_double\": 2.0";
  with_nan.replace(with_nan.find(number), number.size(), "\"flops_double\": NaN");
  with_infinity.replace(with_infinity.find(number), number.size(), "\"flops_double\": 1e999");
  return {{"truncated", good.substr(0, good.size() / 2)},
          {"not_json", "hello"},
          {"binary", std::string("\0\xff\xfe\x01", 4)},
          {"deep", deep},
          {"deep_object", "{\"devices\": " + deep},
          {"nan", with_nan},
          {"infinity", with_infinity},
          {"other_json", "{\"a\": 1}"},
          {"list", "[]"},
          {"huge_count",
           "{\"format\": \"ridge machine profile\", \"version\": 1, \"hardware\": \"\", \"measured_at\": \"\", "
           "\"seconds_taken\": 0, \"devices\": 4000000000}"},
          {"long", std::string(17u << 20, ' ')}};
}

TEST_F(ProfileFile, ADamagedFileThatTheUserNamedIsIgnoredAndKept) {
  for (const auto& [name, text] : damaged_files()) {
    use(folder_ / (name + ".json"));
    write(text);
    warnings_.clear();
    EXPECT_FALSE(ridge::machine::load().has_value()) << name;
    ASSERT_EQ(warnings_.size(), 1u) << name;
    EXPECT_NE(warnings_[0].find(name + ".json"), std::string::npos) << warnings_[0];
    EXPECT_NE(ridge::machine::kept_file().find("not overwritten"), std::string::npos) << name;
    EXPECT_FALSE(ridge::machine::save(sample_profile())) << name;
    ASSERT_EQ(warnings_.size(), 2u) << name;
    EXPECT_NE(warnings_[1].find("is not saved"), std::string::npos) << warnings_[1];
    EXPECT_EQ(text_of(file_), text) << name;
  }
}

TEST_F(ProfileFile, ADamagedFileInTheCacheFolderIsReplaced) {
  unsetenv("RIDGE_PROFILE");
  const ridge::test::ScopedEnvironment cache("RIDGE_CACHE_DIR", folder_ / "cache");
  file_ = ridge::machine::path();
  for (const auto& [name, text] : damaged_files()) {
    write(text);
    warnings_.clear();
    EXPECT_FALSE(ridge::machine::load().has_value()) << name;
    EXPECT_EQ(warnings_.size(), 1u) << name;
    EXPECT_EQ(ridge::machine::kept_file(), "");
    EXPECT_TRUE(ridge::machine::save(sample_profile())) << name;
    EXPECT_TRUE(ridge::machine::load().has_value()) << name;
  }
}

TEST_F(ProfileFile, AnEmptyFileIsFilled) {
  write("");
  EXPECT_EQ(ridge::machine::kept_file(), "");
  EXPECT_TRUE(ridge::machine::save(sample_profile()));
  EXPECT_TRUE(ridge::machine::load().has_value());
}

TEST_F(ProfileFile, OtherHardwareIsReported) {
  Profile profile = sample_profile();
  profile.hardware = "some other machine";
  ridge::machine::save(profile);
  EXPECT_FALSE(ridge::machine::load().has_value());
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_NE(warnings_[0].find("other hardware (some other machine)"), std::string::npos) << warnings_[0];
  const std::string theirs = text_of(file_);
  EXPECT_FALSE(ridge::machine::save(sample_profile()));
  EXPECT_EQ(text_of(file_), theirs) << "another machine's profile is kept";
  EXPECT_TRUE(ridge::machine::save(profile)) << "its own machine may replace it";
}

TEST_F(ProfileFile, ADoubtfulProfileIsNotSaved) {
  ASSERT_TRUE(ridge::machine::save(sample_profile()));
  const std::string before = text_of(file_);
  Profile doubtful = sample_profile();
  doubtful.seconds_taken = 7;
  doubtful.doubts = {"one core is faster than all"};
  EXPECT_FALSE(ridge::machine::save(doubtful));
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_NE(warnings_[0].find("not saved: one core is faster than all"), std::string::npos) << warnings_[0];
  doubtful.doubts = {"a", "b", "c", "d", "other processes"};
  EXPECT_FALSE(ridge::machine::save(doubtful));
  EXPECT_NE(warnings_[1].find("not saved: a; b; 2 more; other processes. "), std::string::npos) << warnings_[1];
  EXPECT_EQ(text_of(file_), before);
}

TEST_F(ProfileFile, AFolderInItsPlaceIsAWarning) {
  fs::create_directories(file_);
  EXPECT_FALSE(ridge::machine::load().has_value());
  EXPECT_EQ(warnings_.size(), 1u);
}

TEST_F(ProfileFile, AnUnwritableFileIsAWarning) {
  write("a plain file");
  use(file_ / "below" / "machine.json");
  ridge::machine::save(sample_profile());
  EXPECT_EQ(warnings_.size(), 1u);
}

TEST_F(ProfileFile, AProfileThatCouldNotBeReadBackIsNotSaved) {
  ridge::machine::save(sample_profile());
  Profile broken = sample_profile();
  broken.devices[0].ceilings.flops_float = std::numeric_limits<double>::quiet_NaN();
  ridge::machine::save(broken);
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_NE(warnings_[0].find("flops_float"), std::string::npos) << warnings_[0];
  EXPECT_TRUE(ridge::machine::load().has_value()) << "the old one stays";
}

TEST_F(ProfileFile, SaversAndLoadersAtOnce) {
  ridge::machine::save(sample_profile());
  std::atomic<int> missing{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Profile mine = sample_profile();
      mine.measured_at = std::string(100 * (t + 1), 't');
      for (int i = 0; i < 10; ++i) {
        ridge::machine::save(mine);
        if (!ridge::machine::load()) ++missing;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(missing, 0);
  EXPECT_TRUE(warnings_.empty());
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(folder_)) files += entry.path().extension() == ".json";
  EXPECT_EQ(files, 1u) << "temporaries are left";
}

TEST(ProfilePath, IsNamedByTheHardware) {
  unsetenv("RIDGE_PROFILE");
  const std::string key = ridge::machine::hardware_key();
  EXPECT_EQ(key, ridge::machine::hardware_key());
  EXPECT_NE(key.find(ridge::host().info().name), std::string::npos);
  setenv("CUDA_VISIBLE_DEVICES", "7", 1);  // hides devices, so their measurements no longer apply
  EXPECT_NE(key, ridge::machine::hardware_key());
  unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_NE(ridge::machine::profile_file_name(key), ridge::machine::profile_file_name(key + "x"));
  EXPECT_EQ(fs::path(ridge::machine::path()).filename(), ridge::machine::profile_file_name(key));
}

TEST(ProfileText, ListsTheCeilings) {
  const std::string text = ridge::machine::to_text(sample_profile());
  for (const char* part : {"host  A processor", "333 GFLOP/s", "L1", "1 TiB", "no counter: no NVML", "RAPL package",
                           "measured 2024-06-01 12:00:00 in 41.5 s"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
  Profile doubtful = sample_profile();
  doubtful.doubts = {"one core is faster than all"};
  EXPECT_NE(to_text(doubtful).find("not reliable: one core is faster than all"), std::string::npos);
}

}  // namespace
