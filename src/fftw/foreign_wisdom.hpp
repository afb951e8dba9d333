// FFTW's own wisdom in one precision: stored and written back as text, without interpreting it.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace ridge::fftw::wisdom {

// One list as read, with runs of blanks reduced to one: "(head (entry) (entry))".
struct List {
  std::string head;
  std::vector<std::string> entries;
};

// Returns false if the text is not such a list: unbalanced parentheses, or nested entries.
bool parse(std::string_view text, List& list);

// True for "fftw-3.3.10 fftw_wisdom #x1 #x2 #x3 #x4", or for a later version of our own list. `name` is "fftw_wisdom"
// or "fftwf_wisdom".
bool is_foreign_head(const std::string& head, const std::string& name);

// Lists of several FFTW configurations. The four numbers of a head identify a configuration (solvers, threads). FFTW
// only reads lists of its own configuration, so they are kept separate.
class ForeignLists {
 public:
  // Merges the lists. The configuration read last comes first in the text, because the program's FFTW reads the first
  // one. Returns false if the lists would exceed 64 MiB.
  bool take(const std::vector<List>& lists);
  void forget() { lists_.clear(), bytes_ = 0; }
  bool empty() const { return lists_.empty(); }
  // `more`: another list follows.
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
