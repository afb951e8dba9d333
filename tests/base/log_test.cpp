// Warnings: once per text, one line each.
#include "base/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/scratch.hpp"

namespace {

using ridge::base::on_warning;
using ridge::base::warn;

TEST(Log, EachTextOnceOnStderr) {
  testing::internal::CaptureStderr();
  warn("log test: the first");
  warn("log test: the second");
  warn("log test: the first");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "ridge: warning: log test: the first\nridge: warning: log test: the second\n");
}

TEST(Log, AListenerReceivesEveryWarningInsteadOfStderr) {
  testing::internal::CaptureStderr();
  {
    ridge::test::Warnings warnings;
    warn("log test: heard");
    warn("log test: heard");
    EXPECT_THAT(warnings.messages, testing::ElementsAre("log test: heard", "log test: heard"));
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Log, OnWarningReturnsThePreviousListener) {
  int first = 0;
  on_warning([&](const std::string&) { ++first; });
  auto before = on_warning([](const std::string&) {});
  before("called directly");
  EXPECT_EQ(first, 1);
  on_warning({});
}

TEST(Log, EveryMessageIsOneLine) {
  ridge::test::Warnings warnings;
  warn("a\nb\x1b[31mc\x7f");
  ASSERT_EQ(warnings.messages.size(), 1u);
  EXPECT_EQ(warnings.messages[0], "a b [31mc ");
}

}  // namespace
