// Wisdom of FFTW itself, in one precision: kept as text, never understood.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace ridge::fftw::wisdom {

// One list as it was read, blanks reduced to one: "(head (entry) (entry))".
struct List {
  std::string head;
  std::vector<std::string> entries;
};

// False where the text is no such list: parentheses that do not match, or entries inside entries.
bool parse(std::string_view text, List& list);

// "fftw-3.3.10 fftw_wisdom #x1 #x2 #x3 #x4", or a later version of our own list. `name` is "fftw_wisdom" or
// "fftwf_wisdom".
bool is_foreign_head(const std::string& head, const std::string& name);

// The four numbers of a head identify FFTW's configuration (its solvers, whether it has threads): FFTW reads only lists
// of its own, so those of different configurations stay apart.
class ForeignLists {
 public:
  // Merges them. The configuration read last comes first in the text: it is the one that the program's FFTW reads.
  // False where they would hold more than 64 MiB.
  bool take(const std::vector<List>& lists);
  void forget() { lists_.clear(), bytes_ = 0; }
  bool empty() const { return lists_.empty(); }
  // `more`: another list follows the last one.
  std::string text(bool more) const;

 private:
  struct Kept {
    List list;
    std::unordered_set<std::string> known;
  };
  std::vector<Kept> lists_;
  std::size_t bytes_ = 0;
};

}  // namespace ridge::fftw::wisdom
