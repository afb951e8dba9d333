// The measurements published in Burtsev's paper, for comparison with ours.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace ridge::fft::papers {

inline constexpr int kFirstPublished = 8;  // 2^8 .. 2^24 (KOMDIV: 2^23)

// K2 of a variant on komdiv, intel or nvidia; empty if the paper gives none.
std::optional<double> published_k2(const std::string& platform, const std::string& variant, int log_n);

// The variant with the best published time; empty beyond the paper's tables.
std::string published_winner(const std::string& platform, int log_n);

// A row of the paper's tables 9 (intel) and 10 (nvidia).
struct PublishedRow {
  int log_n;
  const char* variant;
  double k1, k2, k2_up, k3, percent;
};
const std::vector<PublishedRow>& published_rows(const std::string& platform);

}  // namespace ridge::fft::papers
