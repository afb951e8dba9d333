// Transforms as short words, so that files of them serve benches, checks and tests alike (tests/problems/fft.txt):
//
//   cf1024         complex, forward, 1024 points            letters in any order; c and f where none is said
//   irb64x64*8     in place, real, backward, batch of 8     r: the shape is that of the samples
//   dcf1000        in double; else float
#pragma once
#include <string>
#include <vector>

#include <ridge/fft.hpp>

namespace ridge::check {

struct TextProblem {
  fft::Problem problem{};
  bool float64 = false, inverse = false;
};

// Error{invalid_argument} that names the word and what is wrong with it.
TextProblem parse_problem(const std::string& word);
std::string to_text(const TextProblem& problem);  // the word that parse_problem() reads

// A word a line; what follows # is a comment. Errors name the line.
std::vector<TextProblem> read_problems(const std::string& path);

}  // namespace ridge::check
