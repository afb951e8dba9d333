// What a failing call says.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include <ridge/error.hpp>

namespace ridge::test {

// The message of the Error, which must be of this kind; empty where the call throws none.
inline std::string error_of(const std::function<void()>& call, ErrorKind kind = ErrorKind::io) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  return "";
}

}  // namespace ridge::test
