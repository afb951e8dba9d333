// Detects updates of two stages, such as staggered waves: the new values of the first fields depend on old values only,
// those of the others on new values of the first ones at neighbours. In the update such a new value is the whole
// expression of its field, moved by an offset. Computed one stage after the other, each value is computed once, and new
// values may overwrite old ones.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <ridge/stencil/update.hpp>

namespace ridge::stencil {

struct Stages {
  std::vector<bool> first{};           // per field: of the first stage
  std::vector<Expression> outputs{};   // those of the second stage read new values of the first fields
  std::array<std::size_t, 3> reach{};  // largest offset of reads of new values, along z, y, x
  std::string refusal{};               // why there are no two stages; empty if there are
};

Stages find_stages(const std::vector<Expression>& outputs);

}  // namespace ridge::stencil
