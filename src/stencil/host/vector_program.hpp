// Any update as a list of vector operations over stretches of a row: each is applied to a few hundred cells that stay
// in the first cache, so an operation costs a load or two and a store beside its arithmetic and nothing is decided cell
// by cell. Weighted sums of neighbours, which most updates of fields consist of, are one instruction.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "stencil/expression.hpp"
#include "stencil/host/vector_kernels.hpp"

namespace ridge::stencil {

template <class T>
class VectorProgram {
 public:
  // A row some instruction reads: of a field, or of a coefficient.
  struct Row {
    bool coefficient = false;
    std::size_t field = 0;
    int dz = 0, dy = 0;
    auto operator<=>(const Row&) const = default;
  };

  // Fields in `skipped` get no new values. Sums are folded and products fused with additions where `fused`: results
  // then differ from the tape's by rounding. Output rows of a block follow each other along `axis`, 0 or 1.
  VectorProgram(const Tape& tape, const std::vector<bool>& skipped, bool fused, std::size_t axis);

  // The whole program as a star (vector_kernels.hpp), and what it reads.
  struct Wave {
    Star<T> star{};
    std::size_t field = 0, older = 0;
    std::size_t media[kMostMedia]{};  // coefficients
  };

  const std::vector<Row>& rows() const { return rows_; }
  const std::optional<Wave>& wave() const { return wave_; }
  std::size_t outputs() const { return outputs_.size(); }               // those not skipped,
  std::size_t field(std::size_t i) const { return outputs_[i].field; }  // and their fields
  // rows[i] is x = 0 of rows()[i], out[i] of the row of field(i). An output may lie over a row that is read at offset 0
  // along x alone.
  // `ahead`: rows that come from memory for whoever is next, fetched on the way.
  void run(const T* const* rows, T* const* out, std::size_t begin, std::size_t end,
           std::span<const T* const> ahead = {}) const;
  // kBlockRows output rows, one after the other along the axis: rows[i * kBlockRows + r] is what row r reads,
  // out[i * kBlockRows + r] where it goes. The same numbers as row by row.
  void run_block(const T* const* rows, T* const* out, std::size_t begin, std::size_t end,
                 std::span<const T* const> ahead = {}) const;

 private:
  enum class From { row, slot, constant };
  struct Operand {
    From from = From::slot;
    std::size_t index = 0;  // of rows_, slots, constants_
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
    std::ptrdiff_t output = -1;  // written there instead of to a slot
  };
  struct Output {
    std::size_t field = 0;
    Operand value{};
    bool written = false;  // by an instruction itself
  };
  class Builder;

  // The whole program as a sum times a row and another sum: two of its three instructions.
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
  std::vector<T> constants_{};  // a stretch each
  std::vector<Instruction> instructions_{};
  std::vector<Output> outputs_{};
  std::optional<Product> product_{};
  std::optional<Wave> wave_{};
  std::size_t slots_ = 0;
  std::size_t most_pointers_ = 1;  // of a sum, in a block
};

// Whether results of the tape may be taken apart from its last bits: nothing in it compares.
bool is_smooth(const Tape& tape);

extern template class VectorProgram<float>;
extern template class VectorProgram<double>;

}  // namespace ridge::stencil
