// Transforms as short words, shared by benchmarks, checks and tests (tests/problems/fft.txt):
//
//   cf1024         complex, forward, 1024 points            letters in any order; the default is c and f
//   irb64x64*8     in place, real, backward, batch of 8     r: the shape is that of the samples
//   dcf1000        double precision (default: float)
#pragma once
#include <string>
#include <vector>

#include <ridge/fft.hpp>

namespace ridge::check {

struct TextProblem {
  fft::Problem problem{};
  bool float64 = false, inverse = false;
};

// Error{invalid_argument} names the word and what is wrong with it.
TextProblem parse_problem(const std::string& word);
std::string to_text(const TextProblem& problem);  // the word that parse_problem() reads

// One word per line; text after # is a comment. Errors name the line.
std::vector<TextProblem> read_problems(const std::string& path);

}  // namespace ridge::check
