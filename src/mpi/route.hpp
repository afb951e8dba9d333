// Redistribution of points from one set of boxes to another: pack per peer, send, unpack.
#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include <ridge/mpi/box.hpp>
#include <ridge/mpi/communicator.hpp>

#include "base/aligned.hpp"

namespace ridge::mpi {

// Copies a three-dimensional box between two memory layouts.
// Extents of the three axes, and strides in elements of `element` bytes (1, 2, 4, 8 or 16).
struct Copy {
  std::array<std::size_t, 3> extent{}, from{}, to{};
};
void copy_box(const Copy& copy, std::size_t element, const void* from, void* to);

// Gathers every process's box. Throws on all processes if the boxes do not tile the shape.
std::vector<Box> gather_boxes(const Communicator& all, const Shape& shape, const Box& mine, const char* what);

class Route {
 public:
  Route(const Communicator& all, const std::vector<Box>& from, const std::vector<Box>& to, std::size_t element,
        std::size_t batch);
  void run(const void* in, void* out) const;
  std::size_t bytes_sent() const { return sent_ * batch_; }
  std::size_t in_elements() const { return from_.size() * batch_; }
  std::size_t out_elements() const { return to_.size() * batch_; }
  std::size_t element() const { return element_; }
  const Communicator& all() const { return all_; }

 private:
  struct Peer {
    std::size_t rank = 0, points = 0;
    Copy copy = {};          // between the box and the packed message
    std::size_t in_box = 0;  // offset of the first point in the box
    std::size_t at = 0;      // offset in the packed memory
  };
  Peer peer(std::size_t rank, const Box& mine, const Box& common, bool sending) const;

  Communicator all_;
  Box from_, to_;
  std::size_t element_, batch_, sent_ = 0;
  std::vector<Peer> out_, in_;
  Copy own_;  // points that stay on this process
  std::size_t own_from_ = 0, own_to_ = 0;
  mutable base::AlignedArray<std::byte> packed_out_, packed_in_;
};

}  // namespace ridge::mpi
