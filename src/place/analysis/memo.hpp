// Verdicts on nests that have been judged before: a program is read again for every transformation that is tried, and
// all of its nests but one are then what they were.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "place/analysis/verdicts.hpp"

namespace ridge::place::analysis {

struct Judged {
  Relations relations{isl::ctx(nullptr)};
  std::vector<Verdict> verdicts{};
};

// All that relations and verdicts are made of: not where the nest lies in the text, nor what its loops are called.
std::string fingerprint(const Nest& nest);

// Operations that isl may take from here to the end of the scope: one nest that is too much for it is refused, with an
// isl::exception, and does not keep the others waiting.
class Quota {
 public:
  explicit Quota(isl::ctx context);
  Quota(const Quota&) = delete;
  Quota& operator=(const Quota&) = delete;
  ~Quota();

 private:
  isl::ctx context_;
  unsigned long before_;
};

class Memo {
 public:
  explicit Memo(isl::ctx context) : context_(context) {}
  // Of this nest, which must outlive the answer.
  Judged judged(const Nest& nest);
  isl::ctx context() const { return context_; }
  int asked() const { return asked_; }
  int judged_anew() const { return static_cast<int>(known_.size() + failed_.size()); }

 private:
  isl::ctx context_;
  int asked_ = 0;
  std::map<std::string, Judged> known_{};
  std::map<std::string, isl::exception> failed_{};  // too much for isl
};

}  // namespace ridge::place::analysis
