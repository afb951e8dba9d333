// The files src/**/*.cl are embedded in the library unchanged.
#include "device/kernel_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ridge/error.hpp>

namespace ridge::detail {
namespace {

TEST(KernelText, EveryFileIsEmbeddedUnderItsModulesName) {
  for (const auto& [name, text] : embedded_kernels()) {
    EXPECT_EQ(&kernel_text(name), &text);
    EXPECT_THAT(name, testing::MatchesRegex("[a-z0-9_]+/[a-z0-9_]+"));
    EXPECT_TRUE(text.ends_with('\n')) << name;
  }
}

TEST(KernelText, AMissingFileIsNamed) {
  try {
    kernel_text("image/nothing");
    FAIL() << "the file exists";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::internal);
    EXPECT_THAT(error.what(), testing::HasSubstr("image/nothing"));
  }
}

}  // namespace
}  // namespace ridge::detail
