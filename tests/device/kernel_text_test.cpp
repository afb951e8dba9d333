// The files src/**/*.cl are embedded in the library unchanged, and their placeholders are filled in.
#include "device/kernel_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ridge/error.hpp>

#include "device/kernel_template.hpp"
#include "support/error_of.hpp"

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

TEST(KernelText, PlaceholdersAreFilledIn) {
  // The comment above the text is left out. Values may be empty.
  const std::string joined =
      fill_kernel_text("stencil/strip_joined",
                       {{"weights", ", REAL w"}, {"reals", "12"}, {"frame_weights", ", w"}, {"interior_weights", ""}});
  EXPECT_TRUE(joined.starts_with("KERNEL ")) << joined;
  EXPECT_THAT(joined, testing::HasSubstr("LOCAL_ARRAY(REAL, part_block, 12);"));
  EXPECT_THAT(joined, testing::HasSubstr("keep, scale, w);"));
  EXPECT_THAT(joined, testing::HasSubstr("chunk_rows, scale);"));
  EXPECT_EQ(joined.find('@'), std::string::npos);
  const std::vector<std::pair<std::string_view, std::string>> values{
      {"coefficients", ""}, {"locals", ""}, {"leave", "  if (strip >= strips) return;\n"}, {"march", "  a;\n  b;\n"}};
  const std::string rows = fill_kernel_text("stencil/system_rows", values);
  EXPECT_THAT(rows, testing::HasSubstr("chunk_rows) {\n  const int lane"));  // a line without text vanishes
  EXPECT_THAT(rows,
              testing::HasSubstr("SUB_GROUPS + LOCAL_ID(0) / LANES;\n  if (strip >= strips) return;\n  const int x"));
  EXPECT_TRUE(rows.ends_with("\n  a;\n  b;\n}\n")) << rows;
}

TEST(KernelText, PlaceholdersNeedValues) {
  EXPECT_THAT(ridge::test::error_of([] { fill_kernel_text("stencil/plane_march_head"); }, ErrorKind::internal),
              testing::HasSubstr("stencil/plane_march_head has no value for @weights@"));
  EXPECT_THAT(ridge::test::error_of([] { fill_kernel_text("machine/empty"); }, ErrorKind::internal),
              testing::HasSubstr("machine/empty needs a comment and a blank line"));
}

}  // namespace
}  // namespace ridge::detail
