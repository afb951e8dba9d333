// Detection of fields that hold the previous time level.
#include "stencil/time_levels.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace ridge::stencil {
namespace {

// The field whose value at the cell itself is the new value of `to`; none if anything is computed.
std::optional<std::size_t> copied_field(const std::optional<Affine>& sum) {
  if (!sum || sum->constant != 0 || sum->weights.size() != 1) return std::nullopt;
  const auto& [read, weight] = *sum->weights.begin();
  if (weight != 1 || read.second != Offset{}) return std::nullopt;
  return read.first;
}

}  // namespace

TimeLevels time_levels(const Tape& tape) {
  const std::size_t fields = tape.outputs.size();
  const auto sums = affine_sums(tape);
  TimeLevels levels;
  levels.is_older.resize(fields);
  std::vector<std::optional<std::size_t>> copies(fields);
  for (std::size_t to = 0; to < fields; ++to) copies[to] = copied_field(sums[tape.outputs[to]]);
  std::vector<int> uses(fields);
  for (std::size_t to = 0; to < fields; ++to) {
    // An unchanged field is not a time level; in a chain of levels only the first pair counts.
    if (!copies[to] || *copies[to] == to || copies[*copies[to]]) continue;
    levels.pairs.push_back({.newer = *copies[to], .older = to});
    levels.is_older[to] = true;
    ++uses[*copies[to]];
    ++uses[to];
  }
  if (levels.pairs.empty()) {
    levels.refusal = "needs two time levels: no field is a copy of another's previous level";
  } else if (std::any_of(uses.begin(), uses.end(), [](int count) { return count != 1; })) {
    levels.refusal = "needs every field to belong to one pair of time levels";
  }
  for (const Operation& operation : tape.operations) {
    if (levels.refusal.empty() && operation.kind == Node::Kind::read && levels.is_older[operation.field] &&
        operation.offset != Offset{})
      levels.refusal = fmt::format(
          "needs the older level to be read at the cell itself only; field {} is read at neighbours", operation.field);
  }
  return levels;
}

}  // namespace ridge::stencil
