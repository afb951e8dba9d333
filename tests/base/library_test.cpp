// Libraries opened by the first call of a function.
#include "base/library.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include <ridge/error.hpp>

namespace ridge::base {
namespace {

constexpr LibraryName kMath{"libm.so.6", "/lib/libm.so"}, kNone{"libridge-none.so.1", "/nowhere/libridge-none.so"},
    kElsewhere{"libridge-none.so.1", "libm.so.6"}, kC{"libc.so.6", ""};
const Library math{kMath, "tests"}, none{kNone, "NONE images"}, elsewhere{kElsewhere, "tests"}, c{kC, "tests"};
const Function<double(double, double)> power{math, "pow"}, missing{math, "no_such_function"}, absent{none, "pow"},
    by_path{elsewhere, "pow"};
const Function<int(char*, std::size_t, const char*, ...)> print{c, "snprintf"};

std::string message_of(const Function<double(double, double)>& function) {
  try {
    function(2, 3);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unavailable);
    return error.what();
  }
  return "no error";
}

TEST(Library, CallsFunctions) {
  EXPECT_TRUE(math.available());
  EXPECT_EQ(power(2, 10), 1024);
  EXPECT_EQ(by_path(2, 10), 1024);  // the soname is unknown, the path of the build is not
  char text[8] = {};
  EXPECT_EQ(print(text, sizeof text, "%d-%s", 7, "x"), 3);  // variable arguments
  EXPECT_STREQ(text, "7-x");
}

TEST(Library, ReportsWhatIsMissing) {
  EXPECT_FALSE(none.available());
  EXPECT_THAT(message_of(absent), testing::HasSubstr("NONE images need libridge-none.so.1"));
  EXPECT_THAT(message_of(absent), testing::HasSubstr("install that library"));
  EXPECT_THAT(message_of(missing), testing::HasSubstr("no_such_function"));
}

TEST(Library, FindsNoPluginThatDoesNotExist) { EXPECT_TRUE(find_plugin("libridge-no-such-plugin.so").empty()); }

}  // namespace
}  // namespace ridge::base
