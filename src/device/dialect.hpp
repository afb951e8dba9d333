// The kernel dialect: device kernels are written once, in the words below, and compiled by OpenCL and by NVRTC.
// docs/device.md teaches it. Everything else in a kernel is the common subset of OpenCL C 1.2 and C++. Words for
// hardware features name the PTX instruction that they stand for.
//
// clang-format off
//   KERNEL WORK_GROUP(x, y, z) void name(GLOBAL const float* RESTRICT in, GLOBAL float* RESTRICT out, ulong n)
//   WORK_GROUP_RESIDENT(x, y, z, n)   as WORK_GROUP, and n groups should fit a compute unit at once: limits the registers
//   FUNCTION                      a helper function (static inline)
//   GLOBAL LOCAL CONSTANT         address spaces of pointers (empty in CUDA where none is needed)
//   LOCAL_ARRAY(type, name, n)    n elements of local memory, at most 48 KB in all, at the top of a kernel
//   LOCAL_BLOCK(type, name, n)    the one large local array of a kernel; the launch repeats its size in local_bytes
//   CONSTANT_TABLE                before a file-scope constant array
//   BARRIER()                     all work-items of the group; orders local memory
//   BARRIER_GLOBAL()              as BARRIER, and orders global memory within the group
//   GROUP_ID(d) LOCAL_ID(d) GROUPS(d) ITEMS(d) GLOBAL_ID(d)     int for LOCAL_ID and ITEMS, uint for the others
//   SUB_GROUP_WIDTH               lanes that can shuffle, 0 if there are none (then SHUFFLE* must not be used)
//   SHUFFLE(v, lane) SHUFFLE_UP(v, n) SHUFFLE_DOWN(v, n) SHUFFLE_XOR(v, m)   float, double, int or uint
//   SUB_GROUP_BARRIER()           lanes of a sub-group; orders local memory; only if SUB_GROUP_WIDTH > 0
//   COPY_ASYNC_4(to, from) .._8 .._16   cp.async: copies 4, 8 or 16 aligned bytes from global to local memory, bypassing
//                                 registers if the device can; each work-item groups its own copies in batches:
//   COPY_ASYNC_COMMIT() COPY_ASYNC_WAIT(n)   ends a batch; waits until at most n batches are pending (a BARRIER publishes the data)
//   FMA(a, b, c)                  a * b + c with one rounding
//   KEEPS_DENORMALS               1 if floats below 2^-126 are not flushed to zero and multiply at full speed
//   BYTES_ABSDIFF(a, b)           |a - b| of each of the four bytes of two uints
//   BYTES_DOT(a, b, start)        start plus the products of the four unsigned bytes of two uints
//   BYTES_DOT_SIGNED(a, b, start) the same with signed bytes; start and result are int
//   BYTE_PERMUTE(a, b, which)     prmt: four of the eight bytes of two uints; each hexadecimal digit of `which`, lowest first, is 0 to 7
//   BITS_OF(f) FLOAT_OF(u)        a float's bits as a uint, and the reverse
//   LONG_BITS_OF(d) DOUBLE_OF(u)  a double's bits as a ulong, and the reverse
//   FLOAT_OF_HALF(u) HALF_OF_FLOAT(f)      float16 stored in a ushort to float, and the reverse, rounded to nearest
//   FLOAT_OF_BFLOAT(u) BFLOAT_OF_FLOAT(f)  the same for bfloat16
//   EXP2_FAST(f)                  2^f by the device's fast instruction: relative error about 2^-22, results below 2^-126 are 0
//   ROUND_EVEN(f)                 the nearest int, ties to even
//   ATOMIC_ADD(p, v)              adds v to *p in global or local memory and returns the previous value; int, uint or float
//   ATOMIC_MIN(p, v) ATOMIC_MAX(p, v)   the same; int or uint
//   LOAD_ONCE(p) STORE_ONCE(p, v) streaming access that should not stay in cache
//   LOAD_CACHED(p)                load through the read-only path: only for data that no work-item writes during the launch
//   LOAD_L2(p)                    load that bypasses L1
//   CLUSTER(n)                    CUDA from Hopper on, after WORK_GROUP: n neighbouring groups that run concurrently
//   CLUSTER_ARRIVE() CLUSTER_WAIT()   the two parts of a split barrier of all work-items of the cluster
//   PEER(rank)                    a uint that identifies a group of the cluster by its rank
//   STORE_PEER(peer, p, v)        stores a float2 or double2 at p in that group's local memory
//   SEND_PEER(peer, p, v, arrived)   as STORE_PEER, and counts the bytes at that group's barrier `arrived` (COPY_BARRIER_INIT)
//   COPY_BARRIER_INIT(p)          CUDA from Hopper on, one work-item: initializes the mbarrier p (LOCAL ulong*) that counts copied bytes
//   BULK_COPY_EXPECT(p, to, from, bytes)   one work-item: cp.async.bulk of a multiple of 16 aligned bytes to local memory
//   COPY_BARRIER_EXPECT(p, bytes) the same in parts: one work-item announces the total number of bytes, and any work-items
//   BULK_COPY(p, to, from, bytes) start copies of them
//   TILE_MAP(name)                a tensor map parameter, the last ones of a kernel: two arguments, the two parts of a TileMap
//                                 (src/device/tile_map.hpp), which describes the layout of arrays
//   TMA_LOAD_TILE(p, to, map, column, row, array)   as BULK_COPY: a box of rows from that position, to a 128-byte aligned address
//   TMA_LOAD_TILE_ONCE(..)        the same with an L2 hint: the data are not read again
//   TMA_STORE_TILE(map, column, row, array, from)   one work-item: stores a box of rows from local memory, after all work-items that
//                                 wrote it have called TILE_STORE_FENCE() and a barrier
//   TILE_STORE_WAIT_READ() TILE_STORE_WAIT()   the same work-item: waits until local memory of its boxes may be reused; until they are stored
//   MBARRIER_WAIT(p, parity)      every work-item: waits for the phase with that parity: 0 for the first, then 1, 0, 1 ...
//   MBARRIER_INIT(p, n)           CUDA from Hopper on, one work-item: initializes the mbarrier p (LOCAL ulong*) for n arrivals per phase
//   MBARRIER_ARRIVE(p) MBARRIER_TEST(p, parity)   arrives, ordering this work-item's earlier accesses; tests whether the phase is complete
//   NAMED_BARRIER(i, n)           CUDA, bar.sync: barrier number i < 15 of n work-items of the group, whole sub-groups
//   RELEASE_REGISTERS(n) CLAIM_REGISTERS(n)   CUDA from Hopper on, setmaxnreg by a whole warpgroup: from here on each work-item has
//                                 n registers. No effect if the text is not compiled for this very architecture
//   ASYNC_PROXY_FENCE()           CUDA from Hopper on, fence.proxy.async: later bulk copies see what SIGNAL_COUNT showed to this work-item
//   MATRIX_TF32(scratch, d, a0, a1, a2, a3, b0, b1)   32 neighbouring work-items together: d (float[4]) += a b, 16 x 8 by
//                                 8 x 8, of the factors' upper 19 bits, in the fragments of CUDA's mma.m16n8k8. Devices
//                                 without such an instruction emulate it through `scratch`
//   MATRIX_F16(scratch, d, a0, a1, a2, a3, b0, b1, c)   d = a b + c (d or another float[4]) of float16, two per uint: 16 x 16
//                                 by 16 x 8, in the fragments of mma.m16n8k16
//   MATRIX_U8(scratch, d, a0, a1, a2, a3, b0, b1, c)   the same for unsigned bytes, four per uint, with int d and c:
//   MATRIX_S8(scratch, d, a0, a1, a2, a3, b0, b1, c)   16 x 32 by 32 x 8, in the fragments of mma.m16n8k32; a is signed
//   MATRIX_SCRATCH(scratch, n)    at the top of a kernel of n work-items; all of them must then take part
//   COMPUTE_UNIT_ID()             CUDA: the number of the compute unit that this group runs on
//   TIMED_LOAD(p, seen)           CUDA: cycles to load a uint from L2; seen is LOCAL uint*
//   ATOMIC_INCREMENT(p)           CUDA: adds one to a uint counter that all groups share and returns the previous value; relaxed order
//   SIGNAL(p)                     CUDA: the same with release order: after all earlier accesses of this work-item and, by a barrier, its group
//   TOGETHER                      CUDA, after WORK_GROUP, and {"TOGETHER", ""} in the defines: all groups run at the same time, so they
//                                 may wait for each other's signals; a launch of more groups than fit the device fails
//   SIGNAL_COUNT(p)               CUDA: reads a counter with acquire order; LOAD_L2 then sees what was written before the signals
//   STORE_RELAXED(p, v) LOAD_RELAXED(p)   a ulong in global memory, written and read as a whole; CUDA: by any group, without order
//   AFTER_PREVIOUS_KERNEL()       first statement of every kernel of a text, or of none. CUDA from Hopper on, griddepcontrol: groups
//                                 start while earlier kernels of the queue end, and wait here until these are complete
//   UNROLL                        before a loop with constant bounds
//   make_float2(..) make_float4(..) make_double2(..) make_int2(..) make_int4(..) make_uint2(..) make_uint4(..)
//   uchar ushort uint ulong long  long is 64-bit; members .x .y .z .w; no operators on vectors
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

// Largest number of registers per work-item with which the groups requested by WORK_GROUP_RESIDENT fit into `registers`
// of a compute unit, if the text gives literal numbers; 0: no bound. For compilers with one bound per program, returns
// the loosest.
int register_bound(const std::string& text, std::size_t registers);

// A compiler's log turned into one message: the first error, and the generated source around it.
std::string compile_message(const KernelSource& source, const std::string& assembled, const std::string& log);

}  // namespace ridge::detail
