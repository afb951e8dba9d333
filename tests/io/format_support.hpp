// Helpers for tests of file formats: small files, complete, truncated and damaged.
#pragma once
#include <sys/resource.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <ridge/error.hpp>

#include "io/telescopes/samples.hpp"
#include "support/scratch.hpp"

namespace ridge::io::formats {

// Peak memory of this process in bytes.
inline std::size_t peak_memory() {
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

class FormatTest : public testing::Test {
 protected:
  std::unique_ptr<InputStream> open(const std::string& bytes) {
    const std::string name = (folder_ / "stream").string();
    std::ofstream(name, std::ios::binary) << bytes;
    return std::make_unique<InputStream>(name);
  }

  static std::vector<std::byte> all(SampleReader& reader, std::size_t most = std::size_t{1} << 22) {
    std::vector<std::byte> bytes(most);
    bytes.resize(reader.read(bytes.data(), bytes.size()));
    return bytes;
  }

  // The message of a failing call, which must be an Error of kind io.
  static std::string says(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io) << error.what();
      return error.what();
    }
    return "no error";
  }

  // Truncated at every byte and damaged at random: an Error or a result, nothing else.
  void fuzz(const std::string& good, const std::function<void(std::unique_ptr<InputStream>)>& read, int rounds = 400) {
    const auto attempt = [&](const std::string& bytes) {
      try {
        read(open(bytes));
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::io) << error.what();
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
      }
    };
    for (std::size_t length = 0; length < good.size(); length += 1 + good.size() / 150) attempt(good.substr(0, length));
    std::mt19937 random(7);
    for (int i = 0; i < rounds; ++i) {
      std::string damaged = good;
      for (unsigned hit = 0; hit <= random() % 4; ++hit)
        damaged[random() % damaged.size()] = static_cast<char>(random());
      attempt(damaged);
    }
  }

  ridge::test::ScratchFolder folder_;
};

}  // namespace ridge::io::formats
