// The kernel dialect: device kernels are written once, in the words below, and compiled by OpenCL and by NVRTC.
// docs/device.md teaches it. Everything else in a kernel is the common ground of OpenCL C 1.2 and C++.
//
// clang-format off
//   KERNEL WORK_GROUP(x, y, z) void name(GLOBAL const float* RESTRICT in, GLOBAL float* RESTRICT out, ulong n)
//   WORK_GROUP_RESIDENT(x, y, z, n)   the same, and n groups should fit a compute unit at once: bounds the registers
//   FUNCTION                      a helper function (static inline)
//   GLOBAL LOCAL CONSTANT         address spaces of pointers (empty in CUDA where it needs none)
//   LOCAL_ARRAY(type, name, n)    n elements of local memory, at most 48 KB in all, at the top of a kernel
//   LOCAL_BLOCK(type, name, n)    the one large local array of a kernel; the launch repeats its bytes in local_bytes
//   CONSTANT_TABLE                before a file-scope constant array
//   BARRIER()                     all work-items of the group; orders local memory
//   BARRIER_GLOBAL()              the same, and orders global memory within the group
//   GROUP_ID(d) LOCAL_ID(d) GROUPS(d) ITEMS(d) GLOBAL_ID(d)     int for LOCAL_ID and ITEMS, uint for the others
//   SUB_GROUP_WIDTH               lanes that can shuffle, 0 where there are none (then SHUFFLE* must not be used)
//   SHUFFLE(v, lane) SHUFFLE_UP(v, n) SHUFFLE_DOWN(v, n) SHUFFLE_XOR(v, m)   float, double, int or uint
//   SUB_GROUP_BARRIER()           lanes of a sub-group; orders local memory. As the shuffles, only where there are any
//   COPY_AHEAD_4(to, from) .._8 .._16   so many aligned bytes from global to local memory, past the registers where the
//                                 device can; each work-item's own copies are in batches:
//   COPIES_CLOSE() COPIES_WAIT(n) end a batch; wait until at most n batches are on their way (a barrier shows it to others)
//   FMA(a, b, c)                  one rounding
//   KEEPS_DENORMALS               1 where floats below 2^-126 are kept as they are, and multiplied as fast as others
//   BYTES_APART(a, b)             |a - b| of each of the four bytes of two uints
//   BYTES_DOT(a, b, start)        start plus the products of the four bytes of two uints, unsigned
//   BYTES_DOT_SIGNED(a, b, start) the same with signed bytes; start and result are int
//   CHOOSE_BYTES(a, b, which)     four of the eight bytes of two uints: which has a digit of 0 to 7 for each, the lowest first
//   BITS_OF(f) FLOAT_OF(u)        a float's bits as a uint, and back
//   FLOAT_OF_HALF(u) HALF_OF_FLOAT(f)      what a ushort with the bits of a float16 stands for, and back, to the nearest
//   FLOAT_OF_BFLOAT(u) BFLOAT_OF_FLOAT(f)  the same of a bfloat16
//   EXP2_FAST(f)                  2^f in the device's own quick way: relative error about 2^-22, results below 2^-126 are 0
//   ROUND_EVEN(f)                 the nearest int, halves to even
//   ATOMIC_ADD(p, v)              what stood at p, in global or local memory, to which v is added; int, uint or float
//   ATOMIC_MIN(p, v) ATOMIC_MAX(p, v)   the same; int or uint
//   LOAD_ONCE(p) STORE_ONCE(p, v) streaming access that should not stay in cache
//   LOAD_CACHED(p)                through the read-only path: only what no work-item writes during the launch
//   LOAD_FAR(p)                   past the nearest cache, from the one that all compute units share
//   CLUSTER(n)                    CUDA from Hopper on, beside WORK_GROUP: n neighbouring groups that run at once
//   CLUSTER_ARRIVE() CLUSTER_WAIT()   the two halves of a barrier of all work-items of the cluster
//   PEER(rank)                    a uint that stands for the cluster's group of that number
//   STORE_PEER(peer, p, v)        float2 or double2 to the place p of that group's local memory
//   SEND_PEER(peer, p, v, arrived)   the same, and that group's `arrived` (ASYNC_COPY_OPEN) counts the bytes
//   ASYNC_COPY_OPEN(p)               CUDA from Hopper on, one work-item: p (LOCAL ulong*) will say when a long copy has arrived
//   ASYNC_COPY_START(p, to, from, bytes)   one work-item: copies so many bytes, a multiple of 16 and aligned, to local memory
//   ASYNC_COPY_EXPECT(p, bytes)      the same in parts: one work-item says how many bytes in all, and any work-items
//   ASYNC_COPY_PART(p, to, from, bytes)   start the copies of them
//   TILE_MAP(name)                a parameter, the last ones of a kernel: two arguments, the halves of a TileMap
//                                 (src/device/tile_map.hpp), which says how arrays lie in memory
//   ASYNC_COPY_TILE(p, to, map, column, row, array)   as ASYNC_COPY_PART: a box of rows from there on, to 128 aligned bytes
//   ASYNC_COPY_TILE_ONCE(..)      the same of what comes once: it should not stay in the cache that all compute units share
//   TILE_STORE(map, column, row, array, from)      one work-item: a box of rows from local memory, when TILES_WRITTEN() was
//                                 said by all work-items that wrote it, and a barrier after it
//   TILES_READ() TILES_STORED()   the same work-item: until local memory of its boxes is free; until they are in memory
//   ASYNC_COPY_WAIT(p, parity)       every work-item: until the copy is there; parity 0 for the first, then 1, 0, 1 ...
//   ARRIVALS_OPEN(p, n)              CUDA from Hopper on, one work-item: p (LOCAL ulong*) counts turns of n arrivals
//   ARRIVE(p) ARRIVED(p, parity)     one of them, when what this work-item read and wrote is done; whether all of a turn have
//                                 arrived (ASYNC_COPY_WAIT waits for it), which shows what they wrote
//   PART_BARRIER(i, n)            CUDA: the barrier number i of n work-items of the group, whole sub-groups; i < 15
//   GIVE_REGISTERS(n) TAKE_REGISTERS(n)   CUDA from Hopper on, four neighbouring sub-groups at once, the first a multiple of
//                                 four: from here on each work-item has so many registers, of those the group had (or nothing
//                                 happens, where the text is not for this very card)
//   COPIES_SEE_WRITTEN()          CUDA from Hopper on: copies started after it see what SIGNALS showed to this work-item
//   MATRIX_TF32(scratch, d, a0, a1, a2, a3, b0, b1)   32 neighbouring work-items at once: d (float[4]) += a b, 16 x 8 by
//                                 8 x 8, of the factors' upper 19 bits, in the fragments of CUDA's mma.m16n8k8. A device
//                                 without such an instruction does it slowly through
//   MATRIX_F16(scratch, d, a0, a1, a2, a3, b0, b1, c)   d = a b + c (d or another float[4]) of float16, two in a uint: 16 x 16
//                                 by 16 x 8, in the fragments of mma.m16n8k16
//   MATRIX_U8(scratch, d, a0, a1, a2, a3, b0, b1, c)   the same of bytes without a sign, four in a uint, with int d and c:
//   MATRIX_S8(scratch, d, a0, a1, a2, a3, b0, b1, c)   16 x 32 by 32 x 8, in the fragments of mma.m16n8k32; a has signs
//   MATRIX_SCRATCH(scratch, n)    at the top of a kernel of n work-items; all of them must then come along
//   UNIT_ID()                     CUDA: the number of the compute unit that this group runs on
//   TIMED_LOAD(p, seen)           CUDA: cycles that a uint takes from the cache that all compute units share; seen is LOCAL uint*
//   COUNT_ON(p)                   CUDA: one more in a counter (uint) that all groups share; gives what it was
//   SIGNAL(p)                     CUDA: the same, when what this work-item, and by a barrier its group, read and wrote is done
//   SIGNALS(p)                    CUDA: how many signals were given; LOAD_FAR then sees what was written before them
//   UNROLL                        before a loop with constant bounds
//   make_float2(..) make_float4(..) make_double2(..) make_int2(..) make_int4(..) make_uint2(..) make_uint4(..)
//   uchar ushort uint ulong long  64-bit where long; members .x .y .z .w; no operators on vectors
// clang-format on
#pragma once
#include <cstddef>
#include <string>

#include <ridge/device.hpp>

namespace ridge::detail {

std::string opencl_prelude(const DeviceInfo& info);
std::string cuda_prelude();

// Prelude, defines and text, in that order; `first_line` receives the line the caller's text starts on, so that
// compiler messages can be shown against it.
std::string assemble(const std::string& prelude, const KernelSource& source, int& first_line);

// Registers a work-item may take so that the groups asked for by WORK_GROUP_RESIDENT fit into `registers` of a compute
// unit, where the text has its numbers in figures; 0: no bound. For compilers that take one bound a program, the
// loosest.
int register_bound(const std::string& text, std::size_t registers);

// A compiler's log turned into one message: the first error, and the generated source around it.
std::string compile_message(const KernelSource& source, const std::string& assembled, const std::string& log);

}  // namespace ridge::detail
