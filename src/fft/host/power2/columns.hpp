// Columns of a power of two points, any number side by side.
#pragma once
#include <vector>

#include "fft/host/power2/descent.hpp"
#include "fft/host/power2/engine.hpp"
#include "fft/host/power2/tables.hpp"
#include "fft/variant.hpp"

namespace ridge::fft::power2 {

template <class T>
class Columns {
 public:
  Columns(const Engine<T>& engine, size_t n);  // n at least 2
  size_t scratch() const;                      // in points
  void run(int direction, const T* in, size_t in_row, T* out, size_t out_row, size_t columns, T* scratch) const;

 private:
  void run_strip(int direction, const T* in, size_t in_row, T* out, size_t out_row, T* scratch) const;
  void descend(int direction, size_t level, T* block, size_t output_block, size_t output_step, T* out, size_t out_row,
               T* scratch) const;
  size_t work() const { return descent_.span() + pad(); }
  size_t pad() const { return 128 / (2 * sizeof(T)) > engine_.lanes ? 128 / (2 * sizeof(T)) : engine_.lanes; }

  const Engine<T>& engine_;
  size_t n_;
  const ColumnLine<T>* line_ = nullptr;
  Descent descent_;  // in points of the strip: a row is `strip` of them
  std::vector<const ColumnLevel<T>*> levels_;
  std::vector<Table<T>> level_tables_;
  LineTables<T> line_tables_;
};

}  // namespace ridge::fft::power2
