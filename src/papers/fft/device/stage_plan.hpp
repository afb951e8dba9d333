// The variants of Burtsev's paper on the FFT in OpenCL: radix 2, decimation in time, Y -> X. Part 1 is the bit-reversal
// permutation, part 2 the log2 N stages of butterflies. A variant defines which launch does which stages, and its
// limits. variants.cpp has one function per variant.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <ridge/device.hpp>

#include "fft/variant.hpp"

namespace ridge::fft::papers {

inline constexpr int kMostStages = 30;    // 32-bit indices in the kernels
inline constexpr int kPrivateStages = 4;  // E and F: 16 points in the registers of a work-item
inline constexpr int kTileBits = 4;       // tiled bit reversal: squares of 16 x 16 points
inline constexpr std::size_t kPoint = 8;  // bytes: complex float
inline constexpr const char* kFamily = "burtsev";

// Limits that a variant is planned for: the device's, or those of a platform it is restricted to.
struct GroupLimits {
  std::size_t work_group = 1;    // largest work-group
  std::size_t local_memory = 0;  // bytes per group

  std::size_t items() const;  // the papers' M: the largest power of two not above work_group
  int stages() const;         // PW = log2 M + 1: stages that a group can do on 2 M points
};
GroupLimits group_limits(const Limits& limits);

enum class Reversal { table, computed, tiled };  // tiled: squares through local memory, from 2^8 points on
const char* to_string(Reversal reversal);

enum class Work {
  one_stage,     // one pair per work-item, in global memory
  group_global,  // stages of a group on a contiguous block, in global memory
  group_local,   // stages of a group on columns of the matrix with rows of 2^(first-1) points, in local memory
  own_points,    // stages of a work-item on its own contiguous points, in registers
};

// The stages first .. last, counted from 1, in one launch.
struct StageRun {
  Work work = Work::one_stage;
  int first = 1, last = 1;
  std::size_t items = 1;    // work-items per group
  std::size_t columns = 1;  // group_local: neighbouring columns per group

  int stages() const { return last - first + 1; }
  std::size_t local_bytes() const;
};

struct StagePlan {
  std::string variant{};  // "CL"
  int log_n = 0;
  Reversal reversal = Reversal::table;
  std::size_t plain_items = 1;  // work-items per group without shared data: part 1, one_stage, own_points
  std::vector<StageRun> runs{};
  std::string refusal{};  // the limit that is exceeded; empty: none
  Direction direction = Direction::forward;
  double scale = 1;

  std::size_t points() const { return std::size_t{1} << log_n; }
  bool in_tiles() const { return reversal == Reversal::tiled && log_n >= 2 * kTileBits; }  // shorter: as computed
  std::string stages_text() const;  // "1-4 registers, 5-11 local x16, 12 each"
};

struct Variant {
  const char* name;   // the paper's letter
  const char* what;   // description of part 2
  const char* limit;  // "N <= 2 M"
  StagePlan (*plan)(int log_n, const GroupLimits& limits);
};

// A, B, BL, C, CL, D, E, F in this order; F also with its local stages divided evenly, as "F/even".
std::span<const Variant> variants();
const Variant& variant(const std::string& name);  // Error{invalid_argument} lists the names

// The runs of a variant for 2^log_n points, or its refusal. Throws Error{invalid_argument} if log_n is out of range.
StagePlan plan_stages(const Variant& variant, int log_n, const GroupLimits& limits,
                      Reversal reversal = Reversal::table);

StagePlan plan_a(int log_n, const GroupLimits& limits);
StagePlan plan_b(int log_n, const GroupLimits& limits);
StagePlan plan_bl(int log_n, const GroupLimits& limits);
StagePlan plan_c(int log_n, const GroupLimits& limits);
StagePlan plan_cl(int log_n, const GroupLimits& limits);
StagePlan plan_d(int log_n, const GroupLimits& limits);
StagePlan plan_e(int log_n, const GroupLimits& limits);
StagePlan plan_f(int log_n, const GroupLimits& limits);
StagePlan plan_f_even(int log_n, const GroupLimits& limits);

// The paper's parameters of F: points of a work-item (NA), and of a group in the two local-memory launches (NB, NC).
// Powers of two; 0: the largest that the limits allow. Refused with the reason where a limit is exceeded.
struct StageSizes {
  std::size_t na = 0, nb = 0, nc = 0;
};
StagePlan plan_f_sizes(int log_n, const StageSizes& sizes, const GroupLimits& limits);

// --- shared by the variants ------------------------------------------------------------------------------------------
// Each adds nothing where last < first.

void add_each(StagePlan& plan, int first);  // one launch per stage, to the end
void add_global_block(StagePlan& plan, int last);
void add_local(StagePlan& plan, int first, int last, const GroupLimits& limits);
void add_own_points(StagePlan& plan, int last);
// Refusal if N > 2 M.
std::string beyond_one_group(int log_n, const GroupLimits& limits);
// Refusal if P > 2 PW.
std::string beyond_two_groups(int log_n, const GroupLimits& limits);

// --- the kernels of a stage plan, in the kernel dialect (stage_codegen.cpp) ------------------------------------------

std::string kernel_name(const StageRun& run);
inline constexpr const char* kReversalKernel = "reverse";

// Bounds of loops with a barrier are literals: PoCL 3.1 miscompiles them if they are known at run time only. N and the
// first stage are arguments, and each kernel is a program of its own, so that variants and lengths share them.
KernelSource reversal_text(const StagePlan& plan);
KernelSource run_text(const StagePlan& plan, const StageRun& run);
std::vector<KernelSource> stage_texts(const StagePlan& plan);  // part 1 and every distinct run

}  // namespace ridge::fft::papers
