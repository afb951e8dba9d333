// Reports an error of the caller: one line, exit code 1.
#pragma once
#include <string>

#include <ridge/error.hpp>

namespace ridge::cli {

[[noreturn]] inline void mistake(const std::string& what) { throw Error(ErrorKind::invalid_argument, what); }

}  // namespace ridge::cli
