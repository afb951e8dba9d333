// Life-like cellular automata by birth and survival rules.
#include <cstdint>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/stencil/problems.hpp>

namespace ridge::stencil {
namespace {

struct Rule {
  unsigned born = 0, survives = 0;  // bit n: with n living neighbours
};

Rule parse(const std::string& text) {
  Rule rule;
  unsigned* to = nullptr;
  bool have_born = false, have_survives = false, bad = false;
  for (const char letter : text) {
    if ((letter == 'B' || letter == 'b') && !have_born) {
      have_born = true;
      to = &rule.born;
    } else if ((letter == 'S' || letter == 's') && !have_survives) {
      have_survives = true;
      to = &rule.survives;
    } else if (letter >= '0' && letter <= '8' && to != nullptr) {
      *to |= 1u << (letter - '0');
    } else if (letter != '/' || to == nullptr) {
      bad = true;
    }
  }
  if (bad || !have_born || !have_survives) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("no rule \"{}\"; write B3/S23 (born with 3 neighbours, survives "
                            "with 2 or 3)",
                            text));
  }
  return rule;
}

struct LifeStep {
  Rule rule;

  template <class Cells>
  auto operator()(const Cells& u) const {
    using V = std::remove_cvref_t<decltype(u(0, 0))>;
    const V neighbours = u(-1, -1) + u(-1, 0) + u(-1, 1) + u(0, -1) + u(0, 1) + u(1, -1) + u(1, 0) + u(1, 1);
    // Neighbour counts at which a dead or living cell is alive next; the rule is known when the update is recorded.
    const auto among = [&](unsigned counts) {
      V alive(0);
      for (int n = 0; n <= 8; ++n) {
        if ((counts >> n & 1u) != 0) alive = select(neighbours == V(n), V(1), alive);
      }
      return alive;
    };
    return select(u(0, 0) == V(0), among(rule.born), among(rule.survives));
  }
};

}  // namespace

template <class T>
Update<T> life(const std::string& rule) {
  return update<T>(2, LifeStep{parse(rule)}, "life " + rule);
}

template Update<std::int32_t> life(const std::string&);
template Update<std::uint8_t> life(const std::string&);

}  // namespace ridge::stencil
