// Loops of an OpenMP nest: which can be collapsed, the schedule clause, and headers rewritten for blocks or counters.
#pragma once
#include <set>
#include <string>

#include "place/emit/kernel.hpp"
#include "place/program.hpp"

namespace ridge::place::emit {

// Images of which each iteration of the outermost loop needs its own: firstprivate would copy only their headers.
std::set<std::string> own_images(const Kernel& kernel, const Nest& nest);

// Number of loops for a collapse clause: perfectly nested, with bounds that do not depend on each other. The innermost
// loop is excluded, because the compiler vectorizes it only if it is left whole.
int collapsible(const Kernel& kernel, const Nest& nest);

// The collapse and schedule clauses of a nest.
std::string schedule_clauses(const Kernel& k, const Nest& nest);

// The init statement of a for loop as written; "" if the loop is not a plain for.
std::string first_part(const Program& program, const Loop& loop);

// True if the result of a reduction depends on the order of its operands.
bool rounds(const Reduction& r, const Nest& nest);

// True if blocks of iterations are reduced separately and combined in order: sums that round, and the first position of
// an extreme.
bool blockwise(const Reduction& r, const Nest& nest);

// Replacement for a loop's header: `open` before the body, `close` after it.
struct Rewritten {
  std::string open{}, close{};
};

// Reduces blocks of iterations, each into local variables that shadow the user's, then the blocks in order.
Rewritten in_blocks(const Kernel& k, const Nest& nest, const std::string& first, const std::string& pragma,
                    const std::string& order, const std::string& pad);

// Counts the loop's iterations, so that any test is possible.
Rewritten counted(const Kernel& k, const Nest& nest, int loop, const std::string& first, const std::string& pragma,
                  bool permuted);

}  // namespace ridge::place::emit
