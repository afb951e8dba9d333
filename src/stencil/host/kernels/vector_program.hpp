// An update as a list of vector operations over blocks of a row. Each operation is applied to a few hundred cells that
// stay in the first-level cache, so that it costs one or two loads and a store besides its arithmetic, without
// decisions per cell. Weighted sums of neighbours, the main part of most updates, are one instruction.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "stencil/expression.hpp"
#include "stencil/host/kernels/vector_kernels.hpp"

namespace ridge::stencil {

template <class T>
class VectorProgram {
 public:
  // A row of a field or coefficient that some instruction reads.
  struct Row {
    bool coefficient = false;
    std::size_t field = 0;
    int dz = 0, dy = 0;
    auto operator<=>(const Row&) const = default;
  };

  // Fields in `skipped` get no new values. If `fused`, sums are combined and products fused with additions: results
  // then differ from the tape's by rounding. The output rows of a block are consecutive along `axis`, 0 or 1.
  VectorProgram(const Tape& tape, const std::vector<bool>& skipped, bool fused, std::size_t axis);

  // The whole program as a star (vector_kernels.hpp), and its inputs.
  struct Wave {
    Star<T> star{};
    std::size_t field = 0, older = 0;
    std::size_t media[kMostMedia]{};  // coefficients
  };

  const std::vector<Row>& rows() const { return rows_; }
  const std::optional<Wave>& wave() const { return wave_; }
  std::size_t outputs() const { return outputs_.size(); }               // not skipped
  std::size_t field(std::size_t i) const { return outputs_[i].field; }  // of output i
  // rows[i] points to x = 0 of rows()[i], out[i] to that of the row of field(i). An output may overwrite a row that is
  // read only at offset 0 along x. `ahead`: rows that the next call reads, prefetched here.
  void run(const T* const* rows, T* const* out, std::size_t begin, std::size_t end,
           std::span<const T* const> ahead = {}) const;
  // True if output i may overwrite the row of its field: it is read only at the cell, and not after that.
  bool may_replace(std::size_t i) const;
  // kBlockRows consecutive output rows along the axis: rows[i * kBlockRows + r] is an input of row r, out[i *
  // kBlockRows + r] its output. Identical to computing row by row.
  void run_block(const T* const* rows, T* const* out, std::size_t begin, std::size_t end,
                 std::span<const T* const> ahead = {}) const;

 private:
  enum class From { row, slot, constant };
  struct Operand {
    From from = From::slot;
    std::size_t index = 0;  // into rows_, slots or constants_
    std::ptrdiff_t dx = 0;
  };
  struct Instruction {
    bool sum = false;
    VectorWord word = VectorWord::copy;
    Operand operands[3]{};
    std::vector<Operand> terms{};  // rows, in the order of the runs
    std::vector<T> weights{};
    std::vector<WeightedRun> runs{};
    T constant{};
    std::size_t slot = 0;
    std::ptrdiff_t output = -1;  // output that is written instead of a slot
  };
  struct Output {
    std::size_t field = 0;
    Operand value{};
    bool written = false;  // by an instruction directly
  };
  class Builder;

  // The whole program as a sum times a row plus another sum: two of its three instructions.
  struct Product {
    std::size_t sum = 0, more = 0;
    Operand factor{};
  };
  void run_product(const T* const* rows, T* out, std::size_t begin, std::size_t end,
                   std::span<const T* const> ahead) const;
  void run_product_block(const T* const* rows, T* const* out, std::size_t begin, std::size_t end,
                         std::span<const T* const> ahead) const;
  // The pointers of a sum in a block, in the order of its runs.
  template <class At>
  static void point(const Instruction& sum, const At& at, const T** entry);
  template <std::size_t kRows>
  void stretches(const T* const* rows, T* const* out, std::size_t begin, std::size_t end,
                 std::span<const T* const> ahead) const;
  template <std::size_t kRows>
  void stretch(const T* const* rows, T* const* out, std::size_t begin, std::size_t count, T* slots) const;

  std::vector<Row> rows_{};
  std::vector<T> constants_{};  // one block each
  std::vector<Instruction> instructions_{};
  std::vector<Output> outputs_{};
  std::optional<Product> product_{};
  std::optional<Wave> wave_{};
  std::size_t slots_ = 0;
  std::size_t most_pointers_ = 1;  // of a sum in a block
};

// True if the tape has no comparisons, so that rounding differences in its results are acceptable.
bool is_smooth(const Tape& tape);

extern template class VectorProgram<float>;
extern template class VectorProgram<double>;

}  // namespace ridge::stencil
