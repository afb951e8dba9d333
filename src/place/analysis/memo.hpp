// Cache of relations and verdicts per nest: the search parses a program again for each transformation tried, and all
// nests but one are then unchanged.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "place/analysis/verdicts.hpp"

namespace ridge::place::analysis {

struct NestAnalysis {
  Relations relations{isl::ctx(nullptr)};
  std::vector<Verdict> verdicts{};
};

// Text of everything that relations and verdicts depend on; excludes the nest's position in the file and the loops'
// ids.
std::string fingerprint(const Nest& nest);

// Limits the number of isl operations until the end of the scope: a nest that needs more is refused with an
// isl::exception.
class Quota {
 public:
  Quota(isl::ctx context, unsigned long operations);
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
  // Relations and verdicts of the nest, which must outlive the result.
  NestAnalysis analyzed(const Nest& nest);
  isl::ctx context() const { return context_; }
  unsigned long operations = 20000000;  // quota of isl operations per nest; about one million per second
  int asked() const { return asked_; }
  int analyzed_nests() const { return static_cast<int>(known_.size() + failed_.size()); }

 private:
  isl::ctx context_;
  int asked_ = 0;
  Parsed parsed_{};
  std::map<std::string, NestAnalysis> known_{};
  std::map<std::string, isl::exception> failed_{};  // nests that exceeded the quota
};

}  // namespace ridge::place::analysis
