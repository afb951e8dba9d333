// Compiles an update's operations into vector instructions and runs them on rows.
#include "stencil/host/kernels/vector_program.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/aligned.hpp"
#include "stencil/host/levels.hpp"

namespace ridge::stencil {
namespace {

using Kind = Node::Kind;

constexpr std::size_t kStretchCells = 256;  // cells per block; the values in use fit the first-level cache
constexpr std::size_t kMostTerms = 64;      // of a sum in a product

bool is_leaf(Kind kind) { return kind == Kind::constant || kind == Kind::read || kind == Kind::coefficient; }

VectorWord word_of(Kind kind) {
  switch (kind) {
    case Kind::add:
      return VectorWord::add;
    case Kind::subtract:
      return VectorWord::subtract;
    case Kind::multiply:
      return VectorWord::multiply;
    case Kind::divide:
      return VectorWord::divide;
    case Kind::fma:
      return VectorWord::multiply_add;
    case Kind::minimum:
      return VectorWord::minimum;
    case Kind::maximum:
      return VectorWord::maximum;
    case Kind::absolute:
      return VectorWord::absolute;
    case Kind::square_root:
      return VectorWord::square_root;
    case Kind::negate:
      return VectorWord::negate;
    case Kind::less:
      return VectorWord::less;
    case Kind::less_equal:
      return VectorWord::less_equal;
    case Kind::equal:
      return VectorWord::equal;
    case Kind::both:
      return VectorWord::both;
    case Kind::either:
      return VectorWord::either;
    case Kind::opposite:
      return VectorWord::opposite;
    case Kind::select:
      return VectorWord::select;
    case Kind::constant:
    case Kind::read:
    case Kind::coefficient:
      break;
  }
  return VectorWord::copy;
}

}  // namespace

bool is_smooth(const Tape& tape) {
  return std::none_of(tape.operations.begin(), tape.operations.end(), [](const Operation& operation) {
    return is_truth(operation.kind) || operation.kind == Kind::minimum || operation.kind == Kind::maximum;
  });
}

template <class T>
class VectorProgram<T>::Builder {
 public:
  Builder(VectorProgram& program, const Tape& tape, const std::vector<bool>& skipped, bool fused, std::size_t axis)
      : program_(program), tape_(tape), skipped_(skipped), fused_(fused), axis_(axis), uses_(tape.operations.size()) {
    if (fused) sums_ = affine_sums(tape);
    as_sum_.resize(tape.operations.size());
    for (std::size_t i = 0; i < tape.operations.size(); ++i) as_sum_[i] = is_worth_a_sum(i);
    count_uses();
    gather_fused();
    emit();
    choose_outputs();
    find_product();
    find_wave();
    assign_slots();
  }

 private:
  // True if a weighted sum of rows replaces at least two operations and has no more terms than they.
  bool is_worth_a_sum(std::size_t index) const {
    if (!fused_ || is_leaf(tape_.operations[index].kind)) return false;
    const auto& sum = sums_[index];
    if (!sum || sum->is_constant()) return false;
    std::set<std::size_t> below;
    std::vector<std::size_t> stack{index};
    while (!stack.empty()) {
      const std::size_t at = stack.back();
      stack.pop_back();
      if (is_leaf(tape_.operations[at].kind) || !below.insert(at).second) continue;
      for (std::size_t k = 0; k < operand_count(tape_.operations[at].kind); ++k)
        stack.push_back(tape_.operations[at].from[k]);
    }
    return sum->weights.size() == 1 || (below.size() >= 2 && sum->weights.size() <= below.size() + 1);
  }

  void count_uses() {
    for (std::size_t field = 0; field < tape_.outputs.size(); ++field) {
      if (!skipped_[field]) ++uses_[tape_.outputs[field]];
    }
    for (std::size_t i = tape_.operations.size(); i-- > 0;) {
      if (uses_[i] == 0 || as_sum_[i]) continue;
      for (std::size_t k = 0; k < operand_count(tape_.operations[i].kind); ++k) ++uses_[tape_.operations[i].from[k]];
    }
  }

  bool is_lone_product(std::size_t index) const {
    return tape_.operations[index].kind == Kind::multiply && uses_[index] == 1 && !as_sum_[index];
  }

  // Marks products that are fused into an addition.
  void gather_fused() {
    for (std::size_t i = 0; fused_ && i < tape_.operations.size(); ++i) {
      const Operation& operation = tape_.operations[i];
      if (uses_[i] == 0 || as_sum_[i] || (operation.kind != Kind::add && operation.kind != Kind::subtract)) continue;
      for (const std::size_t k : {std::size_t{1}, std::size_t{0}}) {
        if (!is_lone_product(operation.from[k]) || taken_.contains(operation.from[k])) continue;
        taken_[operation.from[k]] = i;
        product_of_[i] = k;
        break;
      }
    }
  }

  std::size_t row_of(bool coefficient, std::size_t field, const Offset& offset) {
    const Row row{coefficient, field, offset[0], offset[1]};
    const auto found = std::find(program_.rows_.begin(), program_.rows_.end(), row);
    if (found != program_.rows_.end()) return static_cast<std::size_t>(found - program_.rows_.begin());
    program_.rows_.push_back(row);
    return program_.rows_.size() - 1;
  }

  Operand operand(std::size_t index) {
    const Operation& operation = tape_.operations[index];
    if (operation.kind == Kind::constant) {
      const auto [at, fresh] = constants_.try_emplace(operation.value, constants_.size());
      if (fresh) program_.constants_.resize(constants_.size() * kStretchCells, static_cast<T>(operation.value));
      return {From::constant, at->second, 0};
    }
    if (operation.kind == Kind::read || operation.kind == Kind::coefficient) {
      return {From::row, row_of(operation.kind == Kind::coefficient, operation.field, operation.offset),
              operation.offset[2]};
    }
    return values_.at(index);
  }

  // Groups neighbours along the block axis first, if there are at least two, then those along x.
  void gather_runs(const Affine& sum, Instruction& made) {
    auto left = sum.weights;
    const auto take = [&](std::size_t axis, std::size_t least) {
      for (auto it = left.begin(); it != left.end();) {
        auto [field, offset] = it->first;
        --offset[axis];
        if (left.contains({field, offset})) {  // not the first of its run, which included it or was too short
          ++it;
          continue;
        }
        std::size_t count = 0;
        for (++offset[axis]; left.contains({field, offset}); ++offset[axis]) ++count;
        if (count < least) {
          ++it;
          continue;
        }
        offset[axis] -= static_cast<int>(count);
        for (std::size_t k = 0; k < count; ++k, ++offset[axis]) {
          made.terms.push_back({From::row, row_of(false, field, offset), offset[2]});
          made.weights.push_back(static_cast<T>(left.at({field, offset})));
          if (k > 0) left.erase({field, offset});
        }
        made.runs.push_back({.count = count, .across = axis != 2});
        it = left.erase(it);
      }
    };
    take(axis_, 2);
    take(2, 1);
  }

  void emit_sum(std::size_t index) {
    const Affine& sum = *sums_[index];
    Instruction made{.sum = true};
    gather_runs(sum, made);
    made.constant = static_cast<T>(sum.constant);
    if (made.terms.size() == 1 && made.weights[0] == T{1} && made.constant == T{0}) {
      values_[index] = made.terms[0];
      return;
    }
    program_.most_pointers_ = std::max(program_.most_pointers_, made.terms.size() * kBlockRows);
    add(index, std::move(made));
  }

  void emit_operation(std::size_t index) {
    const Operation& operation = tape_.operations[index];
    Instruction made{.word = word_of(operation.kind)};
    if (const auto product = product_of_.find(index); product != product_of_.end()) {
      const Operation& factor = tape_.operations[operation.from[product->second]];
      made.operands[0] = operand(factor.from[0]);
      made.operands[1] = operand(factor.from[1]);
      made.operands[2] = operand(operation.from[1 - product->second]);
      made.word = operation.kind == Kind::add ? VectorWord::multiply_add
                  : product->second == 0      ? VectorWord::multiply_subtract
                                              : VectorWord::negative_multiply_add;
    } else {
      const std::size_t count = operand_count(operation.kind);
      for (std::size_t k = 0; k < 3; ++k) made.operands[k] = operand(operation.from[k < count ? k : 0]);
    }
    add(index, std::move(made));
  }

  void add(std::size_t index, Instruction&& instruction) {
    made_by_[index] = program_.instructions_.size();
    values_[index] = {From::slot, program_.instructions_.size(), 0};  // the slot's number is assigned later
    program_.instructions_.push_back(std::move(instruction));
  }

  void emit() {
    for (std::size_t i = 0; i < tape_.operations.size(); ++i) {
      if (uses_[i] == 0 || is_leaf(tape_.operations[i].kind) || taken_.contains(i)) continue;
      as_sum_[i] ? emit_sum(i) : emit_operation(i);
    }
  }

  // A sum's weights by field and offset; empty if the sum has other operands.
  std::optional<std::map<std::pair<std::size_t, Offset>, T>> weights_of(const Instruction& sum) const {
    std::map<std::pair<std::size_t, Offset>, T> weights;
    for (std::size_t i = 0; i < sum.terms.size(); ++i) {
      const Row& row = program_.rows_[sum.terms[i].index];
      if (row.coefficient || sum.constant != T{0}) return std::nullopt;
      weights[{row.field, {row.dz, row.dy, static_cast<int>(sum.terms[i].dx)}}] = sum.weights[i];
    }
    return weights;
  }

  // A coefficient times the result of an instruction, plus a third operand.
  struct Scaled {
    std::size_t coefficient, of;
    Operand rest;
  };
  std::optional<Scaled> scaled(const Instruction& one) const {
    if (one.sum || one.word != VectorWord::multiply_add) return std::nullopt;
    for (const std::size_t factor : {std::size_t{0}, std::size_t{1}}) {
      const Operand &row = one.operands[factor], &of = one.operands[1 - factor];
      if (row.from != From::row || of.from != From::slot || row.dx != 0) continue;
      const Row& read = program_.rows_[row.index];
      if (read.coefficient && read.dz == 0 && read.dy == 0) return Scaled{read.field, of.index, one.operands[2]};
    }
    return std::nullopt;
  }

  // Detects a star of one field with all neighbours within its radius and pairs of equal weight, plus the older level's
  // cell.
  void find_wave() {
    const auto& instructions = program_.instructions_;
    const auto remembered = std::find(skipped_.begin(), skipped_.end(), true);
    if (program_.outputs_.size() != 1 || instructions.empty() || instructions.back().output != 0 ||
        remembered == skipped_.end())
      return;
    Wave wave{.field = program_.outputs_[0].field, .older = static_cast<std::size_t>(remembered - skipped_.begin())};
    Star<T>& star = wave.star;
    std::size_t at = instructions.size() - 1, more = at;
    for (auto step = scaled(instructions[at]); step; step = scaled(instructions[at])) {
      if (star.media == kMostMedia) return;
      wave.media[star.media++] = step->coefficient;
      at = step->of;
      if (step->rest.from == From::slot) {
        more = step->rest.index;
        break;
      }
      const Row& row = program_.rows_[step->rest.index];
      if (step->rest.from != From::row || row != Row{false, wave.older, 0, 0} || step->rest.dx != 0) return;
    }
    if (instructions.size() != (star.media == 0 ? 1 : star.media + 2) || !instructions[at].sum) return;
    if (star.media == 2) std::swap(wave.media[0], wave.media[1]);  // the star's own first
    using Weights = std::map<std::pair<std::size_t, Offset>, T>;
    auto neighbours = weights_of(instructions[at]), others = weights_of(instructions[more]);
    if (!neighbours || !others) return;
    const auto take = [](Weights& from, std::size_t field, const Offset& offset, T& weight) {
      const auto found = from.find({field, offset});
      if (found == from.end() || found->second == T{0}) return false;
      weight = found->second;
      from.erase(found);
      return true;
    };
    const auto pairs = [&](std::size_t axis, T* to) {
      std::size_t radius = 0;
      for (; radius < kMostRadius; ++radius) {
        Offset before{}, behind{};
        behind[axis] = static_cast<int>(radius) + 1;
        before[axis] = -behind[axis];
        T second{};
        if (!take(*neighbours, wave.field, before, to[radius]) || !take(*neighbours, wave.field, behind, second)) break;
        if (to[radius] != second) return std::size_t{0};
      }
      return radius;
    };
    if (!take(star.media == 0 ? *neighbours : *others, wave.older, {}, star.older)) return;
    if (star.media > 0 && (!take(*others, wave.field, {}, star.own) || !others->empty())) return;
    star.beside = axis_ == 0;
    star.radius = pairs(axis_, star.across_weights);
    if (star.radius == 0 || pairs(2, star.along_weights) != star.radius ||
        (star.beside && pairs(1, star.beside_weights) != star.radius) ||
        !take(*neighbours, wave.field, {}, star.center) || !neighbours->empty())
      return;
    program_.wave_ = wave;
  }

  bool reads_remembered(const Instruction& instruction) const {
    const auto remembered = [&](const Operand& operand) {
      return operand.from == From::row && !program_.rows_[operand.index].coefficient &&
             skipped_[program_.rows_[operand.index].field];
    };
    if (instruction.sum) return std::any_of(instruction.terms.begin(), instruction.terms.end(), remembered);
    return std::any_of(std::begin(instruction.operands), std::end(instruction.operands), remembered);
  }

  // An output is written by the instruction that computes it, unless another instruction needs the value or a later one
  // still reads the row that it may overwrite.
  void choose_outputs() {
    auto& instructions = program_.instructions_;
    std::size_t last_reader = 0;
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      if (reads_remembered(instructions[i])) last_reader = i;
    }
    for (std::size_t field = 0; field < tape_.outputs.size(); ++field) {
      if (skipped_[field]) continue;
      const std::size_t index = tape_.outputs[field];
      Output output{.field = field};
      const auto made = made_by_.find(index);
      if (made != made_by_.end() && uses_[index] == 1 && made->second >= last_reader) {
        instructions[made->second].output = static_cast<std::ptrdiff_t>(program_.outputs_.size());
        output.written = true;
      } else {
        output.value = operand(index);
      }
      program_.outputs_.push_back(output);
    }
  }

  // Detects two sums and a row times one of them plus the other.
  void find_product() {
    const auto& instructions = program_.instructions_;
    if (instructions.size() != 3 || program_.outputs_.size() != 1) return;
    const Instruction& last = instructions[2];
    if (last.sum || last.word != VectorWord::multiply_add || last.output != 0) return;
    const auto is_sum = [&](const Operand& operand) {
      return operand.from == From::slot && instructions[operand.index].sum &&
             instructions[operand.index].terms.size() <= kMostTerms;
    };
    for (const std::size_t factor : {std::size_t{0}, std::size_t{1}}) {
      const Operand &sum = last.operands[1 - factor], &more = last.operands[2];
      if (last.operands[factor].from != From::row || !is_sum(sum) || !is_sum(more) || sum.index == more.index) continue;
      program_.product_ = Product{sum.index, more.index, last.operands[factor]};
    }
  }

  // A slot is reused after its last read, also by the instruction that reads it.
  void assign_slots() {
    auto& instructions = program_.instructions_;
    std::vector<std::size_t> last(instructions.size()), slot(instructions.size());
    const auto each_slot = [](Instruction& instruction, const auto& work) {
      if (instruction.sum) return;
      for (Operand& operand : instruction.operands) {
        if (operand.from == From::slot) work(operand);
      }
    };
    for (std::size_t i = 0; i < instructions.size(); ++i)
      each_slot(instructions[i], [&](const Operand& operand) { last[operand.index] = i; });
    for (const Output& output : program_.outputs_) {
      if (!output.written && output.value.from == From::slot) last[output.value.index] = instructions.size();
    }
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      std::set<std::size_t> ended;
      each_slot(instructions[i], [&](Operand& operand) {
        if (last[operand.index] == i) ended.insert(slot[operand.index]);
        operand.index = slot[operand.index];
      });
      free.insert(free.end(), ended.begin(), ended.end());
      if (instructions[i].output >= 0) continue;
      if (free.empty()) {
        slot[i] = program_.slots_++;
      } else {
        slot[i] = free.back();
        free.pop_back();
      }
      instructions[i].slot = slot[i];
    }
    for (Output& output : program_.outputs_) {
      if (!output.written && output.value.from == From::slot) output.value.index = slot[output.value.index];
    }
  }

  VectorProgram& program_;
  const Tape& tape_;
  const std::vector<bool>& skipped_;
  bool fused_;
  std::size_t axis_;
  std::vector<std::optional<Affine>> sums_{};
  std::vector<bool> as_sum_{};
  std::vector<int> uses_;
  std::map<std::size_t, std::size_t> taken_{}, product_of_{}, made_by_{};
  std::map<double, std::size_t> constants_{};
  std::map<std::size_t, Operand> values_{};
};

template <class T>
VectorProgram<T>::VectorProgram(const Tape& tape, const std::vector<bool>& skipped, bool fused, std::size_t axis) {
  Builder(*this, tape, skipped, fused, axis);
}

template <class T>
void VectorProgram<T>::run(const T* const* rows, T* const* out, std::size_t begin, std::size_t end,
                           std::span<const T* const> ahead) const {
  if (product_) return run_product(rows, out[0], begin, end, ahead);
  stretches<1>(rows, out, begin, end, ahead);
}

template <class T>
void VectorProgram<T>::run_product(const T* const* rows, T* out, std::size_t begin, std::size_t end,
                                   std::span<const T* const> ahead) const {
  const auto at = [&](const Operand& operand) {
    return rows[operand.index] + static_cast<std::ptrdiff_t>(begin) + operand.dx;
  };
  const T *in[2][kMostTerms], *fetched[kMostTerms];
  const auto part = [&](std::size_t instruction, const T** from) -> typename SumProduct<T>::Part {
    const Instruction& sum = instructions_[instruction];
    for (std::size_t i = 0; i < sum.terms.size(); ++i) from[i] = at(sum.terms[i]);
    return {from, sum.weights.data(), sum.terms.size(), sum.constant};
  };
  const std::size_t count = std::min(ahead.size(), kMostTerms);
  for (std::size_t i = 0; i < count; ++i) fetched[i] = ahead[i] + begin;
  vector_kernels<T>().product(
      {part(product_->sum, in[0]), part(product_->more, in[1]), at(product_->factor), fetched, count}, out + begin,
      end - begin);
}

template <class T>
bool VectorProgram<T>::may_replace(std::size_t i) const {
  const auto is_cell = [&](const Operand& operand) {
    const Row& row = rows_[operand.index];
    return row == Row{false, outputs_[i].field, 0, 0} && operand.dx == 0;
  };
  bool written = false;
  for (const Instruction& one : instructions_) {
    const std::span<const Operand> operands = one.sum ? std::span<const Operand>(one.terms) : one.operands;
    for (const Operand& operand : operands) {
      if (operand.from != From::row || rows_[operand.index].coefficient) continue;
      if (rows_[operand.index].field == outputs_[i].field && (written || !is_cell(operand))) return false;
    }
    written = written || one.output == static_cast<std::ptrdiff_t>(i);
  }
  return true;
}

template <class T>
void VectorProgram<T>::run_block(const T* const* rows, T* const* out, std::size_t begin, std::size_t end,
                                 std::span<const T* const> ahead) const {
  if (product_) return run_product_block(rows, out, begin, end, ahead);
  stretches<kBlockRows>(rows, out, begin, end, ahead);
}

template <class T>
template <class At>
void VectorProgram<T>::point(const Instruction& sum, const At& at, const T** entry) {
  const Operand* term = sum.terms.data();
  for (const WeightedRun& run : sum.runs) {
    const Operand* const last = term + (run.count - 1);
    if (run.across) {
      for (; term != last; ++term) *entry++ = at(*term, 0);
      for (std::size_t r = 0; r < kBlockRows; ++r) *entry++ = at(*last, r);
    } else {
      for (std::size_t r = 0; r < kBlockRows; ++r) *entry++ = at(*term, r);
    }
    term = last + 1;
  }
}

template <class T>
void VectorProgram<T>::run_product_block(const T* const* rows, T* const* out, std::size_t begin, std::size_t end,
                                         std::span<const T* const> ahead) const {
  const auto at = [&](const Operand& operand, std::size_t row) {
    return rows[operand.index * kBlockRows + row] + static_cast<std::ptrdiff_t>(begin) + operand.dx;
  };
  const T *in[2][kMostTerms * kBlockRows], *factors[kBlockRows], *fetched[kMostTerms];
  T* to[kBlockRows];
  const auto part = [&](std::size_t instruction, const T** from) -> typename RowsProduct<T>::Part {
    const Instruction& sum = instructions_[instruction];
    point(sum, at, from);
    return {from, sum.runs.data(), sum.runs.size(), sum.weights.data(), sum.constant};
  };
  for (std::size_t r = 0; r < kBlockRows; ++r) {
    factors[r] = at(product_->factor, r);
    to[r] = out[r] + begin;
  }
  const std::size_t count = std::min(ahead.size(), kMostTerms);
  for (std::size_t i = 0; i < count; ++i) fetched[i] = ahead[i] + begin;
  vector_kernels<T>().rows({.sum = part(product_->sum, in[0]),
                            .more = part(product_->more, in[1]),
                            .factors = factors,
                            .ahead = fetched,
                            .ahead_count = count},
                           to, end - begin, false);
}

template <class T>
template <std::size_t kRows>
void VectorProgram<T>::stretches(const T* const* rows, T* const* out, std::size_t begin, std::size_t end,
                                 std::span<const T* const> ahead) const {
  // Sums that are written directly to their outputs need no blocks.
  const bool whole =
      ahead.empty() && slots_ == 0 &&
      std::all_of(instructions_.begin(), instructions_.end(), [](const Instruction& one) { return one.sum; });
  if (whole) return stretch<kRows>(rows, out, begin, end - begin, nullptr);
  // One per thread, as large as the largest update so far: a run does not allocate.
  thread_local base::AlignedArray<T> slots;
  if (slots.size() < kRows * slots_ * kStretchCells) slots = base::AlignedArray<T>(kRows * slots_ * kStretchCells);
  constexpr std::size_t kLineCells = kLine / sizeof(T);
  for (std::size_t x = begin; x < end; x += kStretchCells) {
    const std::size_t count = std::min(kStretchCells, end - x);
    for (const T* row : ahead) {
      for (std::size_t i = 0; i < count; i += kLineCells) __builtin_prefetch(row + x + i, 0, 2);
    }
    stretch<kRows>(rows, out, x, count, slots.data());
  }
}

template <class T>
template <std::size_t kRows>
void VectorProgram<T>::stretch(const T* const* rows, T* const* out, std::size_t begin, std::size_t count,
                               T* slots) const {
  const VectorKernels<T>& kernels = vector_kernels<T>();
  const auto at = [&](const Operand& operand, std::size_t row) -> const T* {
    switch (operand.from) {
      case From::row:
        return rows[operand.index * kRows + row] + static_cast<std::ptrdiff_t>(begin) + operand.dx;
      case From::slot:
        return slots + (operand.index * kRows + row) * kStretchCells;
      case From::constant:
        break;
    }
    return constants_.data() + operand.index * kStretchCells;
  };
  std::array<const T*, 128> few;
  std::vector<const T*> many;
  if (most_pointers_ > few.size()) many.resize(most_pointers_);
  const T** const in = most_pointers_ > few.size() ? many.data() : few.data();
  for (const Instruction& one : instructions_) {
    T* to[kRows];
    for (std::size_t r = 0; r < kRows; ++r) {
      to[r] = one.output >= 0 ? out[static_cast<std::size_t>(one.output) * kRows + r] + begin
                              : slots + (one.slot * kRows + r) * kStretchCells;
    }
    if (!one.sum) {
      for (std::size_t r = 0; r < kRows; ++r)
        kernels.apply(one.word, at(one.operands[0], r), at(one.operands[1], r), at(one.operands[2], r), to[r], count);
    } else if constexpr (kRows == 1) {
      for (std::size_t i = 0; i < one.terms.size(); ++i) in[i] = at(one.terms[i], 0);
      kernels.sum(in, one.weights.data(), one.terms.size(), one.constant, to[0], 0, count, one.output < 0);
    } else {
      point(one, at, in);
      kernels.rows({.sum = {in, one.runs.data(), one.runs.size(), one.weights.data(), one.constant}}, to, count,
                   one.output < 0);
    }
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].written) continue;
    for (std::size_t r = 0; r < kRows; ++r) {
      const T* const value = at(outputs_[i].value, r);
      T* const to = out[i * kRows + r] + begin;
      // A constant is only one block long.
      const std::size_t piece = outputs_[i].value.from == From::constant ? kStretchCells : count;
      for (std::size_t x = 0; x < count; x += piece) {
        const T* const from = outputs_[i].value.from == From::constant ? value : value + x;
        kernels.apply(VectorWord::copy, from, from, from, to + x, std::min(piece, count - x));
      }
    }
  }
}

template class VectorProgram<float>;
template class VectorProgram<double>;

}  // namespace ridge::stencil
