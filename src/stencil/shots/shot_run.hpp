// A run of single steps with sources, receivers and snapshots, on the host or a device.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "stencil/chosen.hpp"
#include "stencil/shots/points.hpp"

namespace ridge::stencil {

// How snapshots are stored: as cells, or as 16-bit or 8-bit integers with a scale per kSnapshotBlock cells.
enum class SnapshotBits { whole, sixteen, eight };
inline constexpr std::size_t kSnapshotBlock = 32;
inline constexpr std::size_t kTogether = 8;  // steps that are correlated at once
inline std::size_t bytes_of(SnapshotBits bits) { return bits == SnapshotBits::eight ? 1 : 2; }  // not of whole ones
inline double largest_of(SnapshotBits bits) { return bits == SnapshotBits::eight ? 127 : 32767; }

// Snapshots of one field, shared by the forward run that writes them and the adjoint run that reads them.
template <class T>
class Snapshots {
 public:
  virtual ~Snapshots() = default;
};

// Values of chosen cells after each step; a run in reverse reads the cells here that it cannot compute.
template <class T>
class Frames {
 public:
  virtual ~Frames() = default;
};

template <class T>
class ShotRun {
 public:
  virtual ~ShotRun() = default;
  virtual void clear() = 0;  // zero fields and memory variables, but not the image
  virtual void step() = 0;
  virtual void wait() {}  // until all enqueued work is done
  // Attaches points with `rows` rows of values, one value per point; returns their number.
  virtual std::size_t attach(const PointTable& table, std::size_t rows) = 0;
  virtual void put_rows(std::size_t points, std::size_t begin, std::size_t count, const T* values) = 0;
  virtual void get_rows(std::size_t points, std::size_t begin, std::size_t count, T* values) = 0;  // blocks
  // Adds a row's values to the new level, times coefficient 0 of each cell; takes values from the new level to a row.
  // Devices have one launch for both: values are taken with the next add().
  virtual void add(std::size_t points, std::size_t row) = 0;
  virtual void take(std::size_t points, std::size_t row) = 0;
  // Snapshots hold new - 2 now + previous of a step: open() before the step, close() after it and its sources.
  // `streamed`: integer snapshots in host memory, except those that the device is writing or reading.
  virtual std::shared_ptr<Snapshots<T>> snapshots(std::size_t count, SnapshotBits bits, bool streamed = false) = 0;
  // Snapshots that need no copies: levels() makes the run write the new levels of consecutive steps to fields of their
  // own; `count` steps from slot 0 on, after clear(), restore() or put_state(). The adjoint run that reads them keeps
  // `steps` levels and correlates as many steps at once, at most kTogether. Both need has_levels() and run without
  // values.
  virtual bool has_levels() const { return false; }
  virtual std::shared_ptr<Snapshots<T>> levels(std::size_t /*count*/) { return nullptr; }
  virtual void correlate_together(std::size_t /*steps*/) {}
  virtual void open(Snapshots<T>& snapshots, std::size_t slot) = 0;
  virtual void close(Snapshots<T>& snapshots, std::size_t slot) = 0;
  // Adds weight * snapshot * (new level) to the image.
  virtual void correlate(Snapshots<T>& snapshots, std::size_t slot, double weight) = 0;
  virtual void read_image(Grid<T>& image) = 0;
  // Root mean square of the error of each cell of the image that the rounding of integer snapshots causes, if the
  // roundings are independent: at most the block's scale times its largest adjoint value, over sqrt(12), per snapshot.
  virtual void read_rounding(Grid<T>& rounding) = 0;
  // The image and the roundings as they are stored, for interrupted runs.
  std::size_t image_values() const { return field_values() + (field_values() + kSnapshotBlock - 1) / kSnapshotBlock; }
  virtual void save_image(T* values) = 0;
  virtual void restore_image(const T* values) = 0;
  // Copies the new level of the cells, (z * height + y) * width + x, to a slot, and back.
  virtual std::shared_ptr<Frames<T>> frames(const std::vector<std::uint32_t>& cells, std::size_t slots) = 0;
  virtual void keep_frame(Frames<T>& frames, std::size_t slot) = 0;
  virtual void put_frame(Frames<T>& frames, std::size_t slot) = 0;
  virtual std::size_t state_values() const = 0;
  virtual void save(T* state) = 0;
  virtual void restore(const T* state) = 0;
  // States in host memory, copied while the run continues: kept in ascending order of their slots, then restored in
  // descending order. False: not available.
  virtual bool open_states(std::size_t /*slots*/) { return false; }
  virtual void keep_state(std::size_t /*slot*/) {}
  virtual void put_state(std::size_t /*slot*/) {}
  virtual void read(Grid<T>& fields) = 0;
  // Elements of a field as stored, padding included.
  virtual std::size_t field_values() const = 0;
  // Fields that the run holds: both levels, as often as they are stored, and the medium.
  virtual std::size_t held_fields() const { return 5; }
  virtual std::size_t held_layers() const { return 2 * (state_values() - 2 * field_values()); }  // memory variables
};

class SpareMemory;  // snapshot_store.hpp

// `spare`: host memory for streamed snapshots and states; null: none is kept.
template <class T>
std::unique_ptr<ShotRun<T>> start_shot(const Device& device, const Chosen<T>& chosen, const Grid<T>& coefficients,
                                       const std::shared_ptr<SpareMemory>& spare = nullptr);
template <class T>
std::unique_ptr<ShotRun<T>> host_shot(const Chosen<T>& chosen, const Grid<T>& coefficients);
// Kernels of points; of snapshots with 16 bits; with 8 bits.
template <class T>
std::vector<KernelSource> shot_sources();
template <class T>
std::unique_ptr<ShotRun<T>> device_shot(const Device& device, const Chosen<T>& chosen, const Grid<T>& coefficients,
                                        std::shared_ptr<SpareMemory> spare);

}  // namespace ridge::stencil
