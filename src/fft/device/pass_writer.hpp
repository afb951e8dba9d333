// The text of one pass, written part by part: the items and their rounds (pass_writer.cpp), the way in (load_text.cpp),
// butterflies and exchanges (stage_text.cpp), the way out (store_text.cpp), runs through local memory (run_text.cpp),
// rows of real lines (mirrored_text.cpp).
#pragma once
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "fft/device/exchange.hpp"
#include "fft/device/kernel_text.hpp"
#include "fft/device/text.hpp"

namespace ridge::fft::on_device {

// What an element is on its way in, or two of them.
std::string sample_type(const PassDesign& design, bool pair);

// Pairs of reals can be moved as one where every line starts at an even element.
bool even_lines(const PassSide& side);

class PassWriter {
 public:
  explicit PassWriter(const PassDesign& design, Text& text, std::size_t first_table = 0);
  std::size_t local_bytes() const;
  std::size_t exchange_bytes() const;
  std::size_t held() const { return held_; }
  PassText write();

  // A group takes lines after lines, and the next are always on their way (CUDA, Hopper and later).
  PassText write_ahead();

  // --- the two halves of a pass that a cluster of groups shares
  // Columns: from memory to the local memory of whichever group of the cluster has the row.
  void write_columns(const PassDesign& rows, std::size_t pitch, bool mirrored = false);
  // Rows: from local memory, as the columns left them, to memory.
  void write_rows(std::size_t pitch);
  // The same where the columns were of pairs of samples: what is stored is the spectrum of the samples. A group has
  // rows and their mirrors (real_cluster_text.cpp).
  void write_real_rows(std::size_t pitch, std::size_t groups);
  void header(const std::set<std::size_t>& radices);

  // --- one of the passes of a ring, whose tile, arrays and offsets are variables of the kernel
  struct RingHooks {
    std::string all_loaded = {};    // said once every work-item of the group has loaded its points
    std::string before_store = {};  // said before the first point is stored
  };
  void write_in_ring(const RingHooks& hooks);

 private:
  // --- names
  std::size_t element_bytes() const { return (d_.float64 ? 16 : 8) / (d_.split ? 2 : 1); }
  bool two_orders() const { return stages_.size() > 1 && d_.load_order != d_.store_order; }
  bool last_order(const StageDesign& stage) const { return two_orders() && &stage == &stages_.back(); }
  const char* t(const StageDesign& stage) const { return last_order(stage) ? "t_out" : "t"; }
  const char* c(const StageDesign& stage) const { return last_order(stage) ? "c_out" : "c"; }
  // Points of a line that an exchange holds at once.
  std::size_t part() const { return d_.length / d_.parts; }
  std::size_t half_pitch() const { return (d_.length + 1) | 1; }
  bool inverse() const { return d_.direction == Direction::inverse; }
  // Between the way there and the way back of a convolution nothing moves: the last stage's outputs are the first
  // stage's inputs.
  bool seam(std::size_t i) const { return d_.method != PrimeMethod::none && i + 1 == d_.radices.size(); }
  void title();
  std::string in_type() const;
  std::string out_type() const;
  std::string signature();

  // --- lines that come ahead (ahead_text.cpp)
  bool in_one_run() const { return d_.load.at.point == d_.lines; }
  void start_landing(const std::string& tile);
  // Where a tile begins: `column` and `array`, of the map of one side.
  void tile_place(const std::string& line, const Address& at);
  void store_tile(const StageDesign& last);

  // --- who does what
  void place_items(Order order, const char* suffix);
  void declare();
  // `offset` plus the line's digits times their strides.
  std::string line_offset(const std::string& line, const Address& at);
  // The same into a table, by work-items whose line may not be there. All digits but the last are taken modulo their
  // counts; where the last one counts, the line that is not there reads what belongs to the first.
  std::string table_offset(const std::string& line, const Address& at);
  // (index + constant) * stride, in 32 bits where that suffices.
  std::string scaled_index(const std::string& index, std::uint64_t constant, std::uint64_t stride,
                           std::size_t most_points) const;
  void open_round(const StageDesign& stage, std::size_t round, const std::string& also = "");
  void close_round();

  // --- which points are there
  enum class Validity { none, some, all };
  // Of the points constant .. constant + butterflies - 1 of a line.
  static Validity validity_of(const PassSide& side, std::uint64_t constant, std::size_t butterflies);
  std::string valid_text(const PassSide& side, const char* name, std::uint64_t constant) const;
  // A barrier before local memory is written again.
  void local_free();

  // --- load
  // The value of point `p` (an expression: i plus a constant) of the line at `from`.
  std::string fetched(const std::string& index, std::uint64_t constant);
  std::string factored(const std::string& value, const std::string& index, std::uint64_t constant);
  void load_pointers();
  void load();
  void load_point(std::size_t slot, std::uint64_t constant);
  std::string chirped(const std::string& value, const std::string& place) const;
  // An element of the half spectrum by its number, with its factor.
  std::string spectrum_value(const std::string& number);
  void load_half(std::size_t slot, const std::string& place, std::uint64_t constant);
  void load_hermitian(std::size_t slot, const std::string& place);

  // --- runs of memory through local memory
  // The group's lines in one run, 16 bytes an access where two points take them.
  void stage_in();
  // `points` a line in memory.
  void run_limits(std::size_t points);
  struct Run {
    std::size_t points, items;
    bool wide, wide_local;  // 16 bytes an access, in local memory too
    bool float64;
    bool uneven() const { return !wide && !float64; }
    std::size_t turns() const { return (points / 2 + items - 1) / items; }
  };
  Run run_of(std::size_t points, std::size_t pitch) const;
  static std::string run_place(const std::string& e, std::size_t points, std::size_t pitch);
  void each_turn(const Run& run, const std::function<void(std::size_t turn)>& emit);
  void each_of_run(std::size_t points, const std::function<void()>& emit);
  void uneven_run_out(const Run& run, std::size_t points, std::size_t pitch);
  void stage_out(const StageDesign& last, const char* line);
  // The group's lines from local memory, one run of memory.
  void run_out(std::size_t points, std::size_t pitch);

  // --- stages and exchanges
  void stages();
  std::string power(std::size_t s) const;
  void stage(std::size_t number);
  std::string local_index(const ExchangeLayout& layout, const StageDesign& stage, const std::string& index) const;
  void write_local(const ExchangeLayout& layout, const StageDesign& stage, const char* array, const char* member);
  void read_local(const ExchangeLayout& layout, const StageDesign& stage, const char* array, const char* member);
  void exchange(std::size_t number);
  // Points too many for local memory cross it a part at a time: those of a part are written by some work-items and read
  // by all, into registers beside the points that wait.
  void exchange_in_parts(std::size_t number, const char* member);
  // Two equal radices, as many work-items: point u of item t goes to place t of item u (shuffle_text.cpp).
  void exchange_by_shuffles();
  // Between the way there and the way back of a convolution.
  void middle();
  std::string table_product(const std::string& exponent) const;
  // exp(-2 pi i c (i + u * butterflies) / order), the second part the same for all butterflies of a column.
  void twiddle(const StageDesign& stage);

  // --- store
  // Out of the world where every transform goes forward.
  // `place` is the point's number.
  std::string natural(const std::string& value, const std::string& place) const;
  std::string store_factored(const std::string& value, const std::string& index, std::uint64_t constant);
  std::string store_index(const std::string& index, std::uint64_t constant) const;
  void store_point(const std::string& value, const std::string& index, std::uint64_t constant);
  void store_pointers(const char* line);
  void store_factors(const char* line);
  void store();
  // Pairs of values k and n - k of the transform of pairs of samples make the spectrum of the samples.
  void store_half(const StageDesign& last);

  // --- halves of a cluster's kernel
  void rows_received(std::size_t pitch);
  void to_row_or_mirror(std::size_t lines, std::size_t pitch, std::size_t slot);
  void real_row_results(std::size_t pitch);
  void real_values(std::uint64_t step, const std::string& k, const std::string& a, const std::string& b);

  // --- rows of a transform of pairs, each with its mirror: the spectrum of the samples (mirrored_text.cpp)
  void row_and_mirror();
  void store_spectrum();
  std::string mirrored_row(const char* line, bool mirror) const;

  const PassDesign& d_;
  std::vector<StageDesign> stages_;
  TableOffsets tables_;
  std::vector<ExchangeLayout> layouts_;
  std::size_t held_ = 1, pitch_ = 1;
  Text& text_;
  bool guarded_ = false, local_used_ = false;
  const char* group_ = "GROUP_ID(0)";
  RingHooks hooks_ = {};
  bool mirror_ = false;  // the mirror of a row is being written
};

}  // namespace ridge::fft::on_device
