// Pragmas about loops in the user's text: OpenMP, OpenACC, Ridgeline's own, and hints to compilers. They are read as
// comments of the same length, so that no old pragma stays beside a new one and byte positions do not change.
#pragma once
#include <cstddef>
#include <optional>
#include <set>
#include <string>

namespace ridge::place {

// "#pragma omp for" becomes "//ridge omp for", _Pragma("omp for") becomes /*ridge  omp for*/. Lines of macros stay.
std::string pragmas_as_comments(std::string text);

// Undoes pragmas_as_comments() in the bytes from `begin` to `end`.
void restore_pragmas(std::string& text, std::size_t begin, std::size_t end);

// A claim that the iterations of a loop are independent.
struct Claim {
  std::string text{};                // as the user wrote it, shortened
  std::set<std::string> except{};    // variables of private and reduction clauses: the claim says nothing about them
  std::set<std::string> privates{};  // variables of private clauses
  int loops = 1;                     // number of nested loops it covers (collapse)
  std::size_t begin = 0;             // its first byte
  bool attribute = false;            // [[ridge::independent]], which belongs to the statement
};

// The claim before the loop that begins at byte `loop` of a text with pragmas as comments.
std::optional<Claim> claim_before(const std::string& text, std::size_t loop);

// Makes the claim that begins there a comment that claims nothing, of the same length.
void drop_claim(std::string& text, std::size_t begin);

// True if the text has a pragma by which threads wait for each other (atomic, critical, ordered, tasks).
bool synchronizes(const std::string& text);

}  // namespace ridge::place
