// The search for better versions of a program: transformations that are legal are tried one at a time, and kept when
// more of the program can be placed. Bounded in readings and in time; every decision is written down.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <ridge/place.hpp>

#include "place/program.hpp"

struct isl_ctx;

namespace ridge::place::transform {

struct Judged {
  Program program{};
  Report report{};
  std::map<std::pair<int, int>, std::vector<int>> chains{};  // by function and nest: loops on the grid
  isl_ctx* context = nullptr;
  bool on_host = false;  // loops become threads
};
using Judge = std::function<Judged(const std::string& text)>;

// The new text, "" where the program stays as it is. What was tried, and what the loops of `report` have become, is
// noted in it.
std::string search(Judged program, const Judge& judge, Report& report);

}  // namespace ridge::place::transform
