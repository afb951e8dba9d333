// State shared by the writers of a pass kernel: the design with its stages and tables, the text so far, and the
// variable names of items, lines and rounds.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "codegen/text.hpp"
#include "fft/device/pass/exchange_layout.hpp"
#include "fft/device/pass/text/codegen.hpp"

namespace ridge::fft::on_device {

// Kernel parameter for a table of factors, with a trailing comma; empty without factors.
std::string factor_parameter(FactorKind kind, const char* name);

// Type of a loaded element, or of a pair of them.
std::string sample_type(const PassDesign& design, bool pair);

// True if every line starts at an even element, so that pairs of reals move as one element.
bool even_lines(const PassSide& side);

// Conversion functions for 16-bit floats: number, numbers (to float) and stored, stored2 (to 16 bits).
std::string float16_text(Storage storage);

// Validity of the points constant .. constant + butterflies - 1 of a line: none, some or all are valid.
enum class Validity { none, some, all };
Validity validity_of(const PassSide& side, std::uint64_t constant, std::size_t butterflies);

// Position of point i + constant in the box of a side, and which of the points are inside.
struct BoxPlace {
  std::string index;
  Validity validity;
};
BoxPlace box_place(const PassSide& side, std::size_t length, std::size_t constant, std::size_t butterflies);

// Stages, exchanges and local memory of a pass.
struct PassShape {
  explicit PassShape(const PassDesign& pass);

  const PassDesign& design;
  std::vector<StageDesign> stages;
  std::vector<ExchangeLayout> layouts;  // one per exchange between stages
  std::size_t held = 1;                 // points that a work-item holds in registers
  std::size_t pitch = 1;                // distance of a run's lines in local memory

  std::size_t element_bytes() const { return (design.float64 ? 16 : 8) / (design.split ? 2 : 1); }
  std::size_t exchange_bytes() const;
  std::size_t local_bytes() const;
  std::size_t part() const { return design.length / design.parts; }  // points of a line per part of an exchange
  std::size_t half_pitch() const { return (design.length + 1) | 1; }
  bool inverse() const { return design.direction == Direction::inverse; }
  // True between the forward and inverse transform of a convolution, where no exchange is needed: the outputs of the
  // last stage are the inputs of the next one.
  bool seam(std::size_t i) const { return design.convolution() && i + 1 == design.radices.size(); }
};

struct PassContext : PassShape {
  PassContext(const PassDesign& pass, codegen::Text& text, std::size_t first_table = 0);

  TableOffsets tables;
  codegen::Text& source;
  const char* group = "GROUP_ID(0)";  // expression for the index of the group of lines
  bool mirror = false;                // the text being written is for the mirror of a row
  std::string after_group_load = {};  // statement emitted after all work-items of the group have loaded their points
  std::string after_item_load = {};  // statement emitted after a work-item has loaded its points from a prefetched tile
  std::string before_store = {};     // statement emitted before the first point is stored

  // --- names
  bool two_orders() const { return stages.size() > 1 && design.load_order != design.store_order; }
  bool last_order(const StageDesign& stage) const { return two_orders() && &stage == &stages.back(); }
  const char* t(const StageDesign& stage) const { return last_order(stage) ? "t_out" : "t"; }
  const char* c(const StageDesign& stage) const { return last_order(stage) ? "c_out" : "c"; }
  std::string in_type() const;
  std::string out_type() const;

  // --- the head of a kernel
  void title();
  void header(const std::set<std::size_t>& radices);
  void float16();
  std::string signature() const;
  void declare();
  void place_items(Order order, const char* suffix);

  // --- indices
  // Offset of a line: its batch indices times their strides.
  std::string line_offset(const std::string& line, const Address& at) const;
  // The same into a table, for work-items whose line may be out of range. Batch indices except the last are reduced
  // modulo their counts; if the last one matters, a line out of range reads the entry of the first line.
  std::string table_offset(const std::string& line, const Address& at) const;
  // (index + constant) * stride, in 32 bits if that suffices.
  static std::string scaled_index(const std::string& index, std::uint64_t constant, std::uint64_t stride,
                                  std::size_t most_points);
  static std::string valid_text(const PassSide& side, const char* name, std::uint64_t constant);
  // Row r of a folded line, or its mirror.
  std::string folded_row(bool of_mirror) const;
  // Multiplies by the chirp for Bluestein's method; otherwise returns the value unchanged.
  std::string chirped(const std::string& value, const std::string& place) const;

  // --- blocks
  // Opens a block for the valid butterflies of a round that also satisfy `also`.
  void open_round(const StageDesign& stage, std::size_t round, const std::string& also = "");
  void close_round();
  // Emits a barrier if local memory was used before.
  void local_free();

 private:
  bool guarded_ = false, local_used_ = false;
};

// Base of the writers: the context and short names for its members.
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
