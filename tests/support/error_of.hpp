// Returns the message of the Error that a call throws.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include <ridge/error.hpp>

namespace ridge::test {

// The message of the Error, which must be of this kind; empty if the call does not throw.
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
