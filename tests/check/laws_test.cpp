// Tests the identities, the listed problems and their text form.
#include "check/laws.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>
#include <set>

#include <ridge/error.hpp>

#include "check/systematic.hpp"
#include "support/scratch.hpp"

namespace {

using ridge::check::Draw;
using ridge::check::Outcome;
using ridge::check::Random;
using ridge::check::TextProblem;

TEST(CheckLaws, HoldOnTheHost) {
  for (const ridge::check::Workload& workload : ridge::check::laws()) {
    ridge::check::Options options{.seconds = 1e9, .seed = 3};
    options.shrink = 3;
    for (std::uint64_t number = 0; number < 25; ++number) {
      options.only = number;
      for (const auto& failure : ridge::check::run(ridge::host(), std::span(&workload, 1), options).failures)
        ADD_FAILURE() << failure.workload << ": " << failure.problem << ": " << failure.outcome.wrong;
    }
  }
}

// At sizes for which plain sums would take minutes.
TEST(CheckLaws, HoldForMillionsOfPoints) {
  for (const std::uint64_t seed : {4, 9}) {
    Draw draw{ridge::host(), Random(seed), std::size_t{1} << 20};
    const Outcome outcome = ridge::check::fft_laws(draw);
    EXPECT_EQ(outcome.wrong, "") << draw.problem;
  }
}

// Every identity notices a single wrong value at any position.
TEST(CheckLaws, NoticeASpoiltAnswer) {
  for (const ridge::check::Workload& workload : ridge::check::laws()) {
    int answers = 0, noticed = 0;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      Draw draw{ridge::host(), Random(seed), 2000};
      bool answered = false;
      draw.tamper = [&](std::span<std::byte> answer) {
        if (answer.size() < 64) return;
        answered = true;
        // Multiplies a float or double in the middle by 1.5; for a transpose changes another element. For an image in
        // its first row, because padding after a row is not compared.
        const bool image = workload.name == std::string("image");
        const std::size_t at = image ? 4 * seed % 32 : answer.size() * (seed % 3 + 1) / 4 / 16 * 16;
        if (workload.name == std::string("transpose")) {
          answer[at] ^= std::byte{1};
          return;
        }
        const bool wide = draw.problem.starts_with("f64");
        double number = 0;
        float narrow = 0;
        std::memcpy(wide ? static_cast<void*>(&number) : &narrow, answer.data() + at, wide ? 8 : 4);
        number = number * 1.5 + 1, narrow = narrow * 1.5F + 1;
        std::memcpy(answer.data() + at, wide ? static_cast<void*>(&number) : &narrow, wide ? 8 : 4);
      };
      std::string wrong;
      try {
        wrong = workload.check(draw).wrong;
      } catch (const ridge::Error&) {
        continue;
      }
      answers += answered;
      noticed += answered && !wrong.empty();
    }
    EXPECT_GT(answers, 10) << workload.name;
    EXPECT_GE(noticed, answers - answers / 10) << workload.name;
  }
}

// Of all runs of a check one is changed: the identity that uses it notices.
TEST(CheckLaws, NoticeEveryRunThatIsSpoilt) {
  const std::map<std::string, std::set<std::string>> names{
      {"nufft", {"linearity", "adjoint", "impulse", "shift", "energy"}},
      {"sar", {"linearity", "shift", "impulse"}},
      {"search", {"linearity", "constant", "shift", "impulse", "parallelogram"}}};
  for (const ridge::check::Workload& workload : ridge::check::laws()) {
    if (!names.contains(workload.name)) continue;
    std::set<std::string> noticed;
    const std::size_t points = workload.name == std::string("sar") ? 1 << 16 : 2000;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      for (int spoilt = -1, runs = 0; spoilt < runs; ++spoilt) {
        Draw draw{ridge::host(), Random(seed), points};
        int run = 0;
        draw.tamper = [&](std::span<std::byte> answer) {
          if (run++ != spoilt) return;
          const auto change = [&]<class T>(T number) {
            for (std::size_t at = 0; at + sizeof(T) <= answer.size(); at += sizeof(T)) {
              std::memcpy(&number, answer.data() + at, sizeof(T));
              number = number * T(1.5) + 1;
              std::memcpy(answer.data() + at, &number, sizeof(T));
            }
          };
          draw.problem.starts_with("f64") ? change(double{}) : change(float{});
        };
        const Outcome outcome = ridge::check::guarded([&] { return workload.check(draw); });
        if (!outcome.refused.empty()) break;
        if (spoilt < 0) {
          EXPECT_EQ(outcome.wrong, "") << draw.problem;
          runs = run;
          continue;
        }
        EXPECT_NE(outcome.wrong, "") << workload.name << " " << seed << ": run " << spoilt << " of " << draw.problem;
        noticed.insert(outcome.wrong.substr(0, outcome.wrong.find(':')));
      }
    }
    EXPECT_EQ(noticed, names.at(workload.name)) << workload.name;
  }
}

// A factor off by ten times the bound is noticed: bounds are twice 0.6 epsilon sqrt(log2 N), 1e-5, 2e-5.
TEST(CheckLaws, GatesAreNarrow) {
  const std::pair<const char*, double> gates[] = {{"fft", 2.4 * 3.5 * 1.2e-7}, {"filterbank", 1e-5}, {"image", 2e-5}};
  for (const auto& [name, allowed] : gates) {
    const auto found = std::find_if(ridge::check::laws().begin(), ridge::check::laws().end(),
                                    [&](const auto& one) { return one.name == std::string(name); });
    ASSERT_NE(found, ridge::check::laws().end());
    int spoilt = 0, noticed = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      Draw draw{ridge::host(), Random(seed), 2000};
      bool changed = false;
      draw.tamper = [&](std::span<std::byte> answer) {
        if (draw.problem.starts_with("f64") || answer.size() < 256) return;
        changed = true;
        for (std::size_t at = 0; at + 4 <= answer.size(); at += 4) {
          float number;
          std::memcpy(&number, answer.data() + at, 4);
          number += static_cast<float>(10 * allowed * (found->name == std::string("image") ? 1 : number));
          std::memcpy(answer.data() + at, &number, 4);
        }
      };
      try {
        const std::string wrong = found->check(draw).wrong;
        spoilt += changed;
        noticed += changed && !wrong.empty();
      } catch (const ridge::Error&) {
      }
    }
    EXPECT_GT(spoilt, 10) << name;
    EXPECT_GE(noticed, spoilt - spoilt / 10) << name;
  }
}

TEST(CheckProblems, ParsedWordsArePrintedUnchanged) {
  for (const std::string word : {"cf1", "cb1024", "drf12x10x9", "irb64x64*8", "idcf7", "rf60*200"})
    EXPECT_EQ(to_text(ridge::check::parse_problem(word)), word);
  const TextProblem problem = ridge::check::parse_problem("bir64x30*3");
  EXPECT_EQ(to_text(problem), "irb64x30*3");
  EXPECT_EQ(problem.problem.shape, (std::vector<std::size_t>{64, 30}));
  EXPECT_EQ(problem.problem.batch, 3u);
  EXPECT_TRUE(problem.inverse && problem.problem.in_place && !problem.float64);
  EXPECT_EQ(problem.problem.kind, ridge::fft::Kind::real);
  for (const std::string word : {"", "cf", "cf0", "cf-3", "cf8x", "cf8x8x8x8", "crf8", "ff8", "zf8", "cf8*", "cf8*0",
                                 "cf8 ", "cf99999999999999999999999", "cf8y4"}) {
    try {
      ridge::check::parse_problem(word);
      ADD_FAILURE() << word << " was read";
    } catch (const ridge::Error& error) {
      EXPECT_EQ(error.kind(), ridge::ErrorKind::invalid_argument) << word;
      EXPECT_THAT(error.what(), testing::HasSubstr("\"" + word + "\""));
    }
  }
}

TEST(CheckProblems, FilesNameTheLineAtFault) {
  const ridge::test::ScratchFolder folder;
  const std::string path = (folder / "some.txt").string();
  const auto write = [&](const std::string& text) { std::ofstream(path) << text; };
  write("# nothing\ncf8 rf9 # two\n\nicb16*2\n");
  EXPECT_EQ(ridge::check::read_problems(path).size(), 3u);
  write("cf8\nrf9 what\n");
  EXPECT_THROW(
      {
        try {
          ridge::check::read_problems(path);
        } catch (const ridge::Error& error) {
          EXPECT_THAT(error.what(), testing::HasSubstr("some.txt:2: problem \"what\""));
          throw;
        }
      },
      ridge::Error);
  write("# none\n");
  EXPECT_THROW(ridge::check::read_problems(path), ridge::Error);
  EXPECT_THROW(ridge::check::read_problems((folder / "gone.txt").string()), ridge::Error);
}

// The list in the source tree, which benchmarks read too.
TEST(CheckProblems, TheListedProblemsAreTransformedCorrectly) {
  const auto problems = ridge::check::read_problems(RIDGE_PROBLEMS);
  EXPECT_GT(problems.size(), 30u);
  for (const auto& cell : ridge::check::check_problems(ridge::host(), problems)) {
    EXPECT_EQ(cell.outcome.wrong, "") << cell.problem;
    EXPECT_EQ(cell.outcome.refused, "") << cell.problem;
  }
}

TEST(CheckProblems, EveryLengthRankKindAndDirectionIsThere) {
  double last = -1;
  const auto rows = ridge::check::check_systematically(ridge::host(), 6, [&](double share, const std::string&) {
    EXPECT_GE(share, last);
    last = share;
  });
  EXPECT_EQ(last, 1);
  std::set<std::string> names, problems;
  for (const auto& row : rows) {
    names.insert(row.name);
    ASSERT_EQ(row.cells.size(), 6u);
    for (const auto& cell : row.cells) {
      EXPECT_EQ(cell.outcome.wrong, "") << cell.problem;
      EXPECT_EQ(cell.outcome.refused, "") << cell.problem;
      problems.insert(cell.problem);
    }
  }
  EXPECT_EQ(names.size(), rows.size());
  for (const char* problem : {"cf5", "rb6", "idrf3", "cf4x6", "drb5x2", "irb6x3x4", "cb3x5x4", "drf4x3x6"})
    EXPECT_TRUE(problems.contains(problem)) << problem;
}

}  // namespace
