// What the writers of a pass's kernel share: the design with its stages and tables, the text so far, and the names in
// it of the items, lines and rounds.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "codegen/text.hpp"
#include "fft/device/pass/codegen.hpp"
#include "fft/device/pass/exchange_layout.hpp"

namespace ridge::fft::on_device {

// A kernel's parameter for a table of factors, with a comma behind it; nothing where there are none.
std::string factor_parameter(FactorKind kind, const char* name);

// What an element is on its way in, or two of them.
std::string sample_type(const PassDesign& design, bool pair);

// Pairs of reals can be moved as one where every line starts at an even element.
bool even_lines(const PassSide& side);

// number, numbers: what 16 bits stand for; stored, stored2: back.
std::string halves_text(Storage storage);

// Which of the points constant .. constant + butterflies - 1 of a line are there.
enum class Validity { none, some, all };
Validity validity_of(const PassSide& side, std::uint64_t constant, std::size_t butterflies);

struct PassContext {
  PassContext(const PassDesign& pass, codegen::Text& text, std::size_t first_table = 0);

  const PassDesign& design;
  std::vector<StageDesign> stages;
  TableOffsets tables;
  std::vector<ExchangeLayout> layouts;  // between the stages
  std::size_t held = 1;                 // points in the registers of a work-item
  std::size_t pitch = 1;                // of a run's lines in local memory
  codegen::Text& source;
  const char* group = "GROUP_ID(0)";  // which lines
  bool mirror = false;                // the mirror of a row is being written
  std::string all_loaded = {};        // said once every work-item of the group has loaded its points
  std::string taken = {};             // said by a work-item that has loaded its points out of what came ahead
  std::string before_store = {};      // said before the first point is stored

  // --- sizes
  std::size_t element_bytes() const { return (design.float64 ? 16 : 8) / (design.split ? 2 : 1); }
  std::size_t exchange_bytes() const;
  std::size_t local_bytes() const;
  std::size_t part() const { return design.length / design.parts; }  // points of a line that an exchange holds at once
  std::size_t half_pitch() const { return (design.length + 1) | 1; }

  // --- names
  bool inverse() const { return design.direction == Direction::inverse; }
  bool two_orders() const { return stages.size() > 1 && design.load_order != design.store_order; }
  bool last_order(const StageDesign& stage) const { return two_orders() && &stage == &stages.back(); }
  const char* t(const StageDesign& stage) const { return last_order(stage) ? "t_out" : "t"; }
  const char* c(const StageDesign& stage) const { return last_order(stage) ? "c_out" : "c"; }
  // Between the way there and the way back of a convolution nothing moves: the last stage's outputs are the first
  // stage's inputs.
  bool seam(std::size_t i) const { return design.method != PrimeMethod::none && i + 1 == design.radices.size(); }
  std::string in_type() const;
  std::string out_type() const;

  // --- the head of a kernel
  void title();
  void header(const std::set<std::size_t>& radices);
  void halves();
  std::string signature() const;
  void declare();
  void place_items(Order order, const char* suffix);

  // --- indices
  // The line's digits times their strides.
  std::string line_offset(const std::string& line, const Address& at) const;
  // The same into a table, by work-items whose line may not be there. All digits but the last are taken modulo their
  // counts; where the last one counts, the line that is not there reads what belongs to the first.
  std::string table_offset(const std::string& line, const Address& at) const;
  // (index + constant) * stride, in 32 bits where that suffices.
  static std::string scaled_index(const std::string& index, std::uint64_t constant, std::uint64_t stride,
                                  std::size_t most_points);
  static std::string valid_text(const PassSide& side, const char* name, std::uint64_t constant);
  // Row r of a folded line, or its mirror.
  std::string folded_row(bool of_mirror) const;
  // A point of Bluestein's method times its chirp; others as they are.
  std::string chirped(const std::string& value, const std::string& place) const;

  // --- blocks
  // The butterflies of a round that there are, and `also`.
  void open_round(const StageDesign& stage, std::size_t round, const std::string& also = "");
  void close_round();
  // A barrier before local memory is written again.
  void local_free();

 private:
  bool guarded_ = false, local_used_ = false;
};

// A writer of some part: the context and short names of what is in it.
class PassPart {
 protected:
  explicit PassPart(PassContext& context)
      : p_(context), d_(context.design), stages_(context.stages), tables_(context.tables), text_(context.source) {}

  PassContext& p_;
  const PassDesign& d_;
  const std::vector<StageDesign>& stages_;
  const TableOffsets& tables_;
  codegen::Text& text_;
};

}  // namespace ridge::fft::on_device
