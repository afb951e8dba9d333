// The kernel dialect in plain C++, for CUDA-only kernels: emulated_cuda.hpp prepends this text to them.
#pragma once
#include <utility>

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#define RIDGE_VECTORS(type)                                               \
  struct alignas(2 * sizeof(type)) type##2 {                              \
    type x, y;                                                            \
  };                                                                      \
  struct alignas(4 * sizeof(type)) type##4 {                              \
    type x, y, z, w;                                                      \
  };                                                                      \
  static inline type##2 make_##type##2(type x, type y) { return {x, y}; } \
  static inline type##4 make_##type##4(type x, type y, type z, type w) { return {x, y, z, w}; }
RIDGE_VECTORS(char)
RIDGE_VECTORS(uchar)
RIDGE_VECTORS(short)
RIDGE_VECTORS(ushort)
RIDGE_VECTORS(int)
RIDGE_VECTORS(uint)
RIDGE_VECTORS(float)
RIDGE_VECTORS(double)

// Interface of the emulator to a work-item.
struct RidgeItem {
  uint group[3], item[3], groups[3], items[3], rank;
};
struct RidgeMachine {
  const RidgeItem* now;
  unsigned char* (*block)();                             // local memory of the running group
  unsigned char* (*array)(int number, ulong bytes);      // a LOCAL_ARRAY of the running group
  unsigned char* (*peer)(const void* place, uint rank);  // the same address in another group of the cluster
  void (*barrier)();
  void (*cluster_arrive)();
  void (*cluster_wait)();
  void (*others)();  // yields to other work-items
  ulong (*shuffle)(ulong bits, int lane);
  void (*tile)(const void* map, int column, int row, int array, void* local, bool store);
  void (*meet)(int number, int count, bool wait);  // a named barrier; wait = false only arrives
};
extern "C" {
RidgeMachine* ridge_machine;
}

#define KERNEL extern "C"
#define WORK_GROUP(x, y, z)
#define WORK_GROUP_RESIDENT(x, y, z, n)
#define CLUSTER(n)
#define FUNCTION static inline
#define GLOBAL
#define LOCAL
#define CONSTANT const
#define RESTRICT __restrict__
#define CONSTANT_TABLE static const
#define UNROLL
#define LOCAL_ARRAY(type, name, n) \
  auto& name = *reinterpret_cast<type(*)[n]>(ridge_machine->array(__COUNTER__, sizeof(type) * (n)))
#define LOCAL_BLOCK(type, name, n) type* const name = reinterpret_cast<type*>(ridge_machine->block())
#define BARRIER() ridge_machine->barrier()
#define BARRIER_GLOBAL() ridge_machine->barrier()
#define AFTER_PREVIOUS_KERNEL() ((void)0)
#define GROUP_ID(d) (ridge_machine->now->group[d])
#define LOCAL_ID(d) static_cast<int>(ridge_machine->now->item[d])
#define GROUPS(d) (ridge_machine->now->groups[d])
#define ITEMS(d) static_cast<int>(ridge_machine->now->items[d])
#define GLOBAL_ID(d) (GROUP_ID(d) * ridge_machine->now->items[d] + ridge_machine->now->item[d])

#define SUB_GROUP_WIDTH 32
template <class T>
static inline T ridge_shuffle(T v, int lane) {
  ulong bits = 0;
  __builtin_memcpy(&bits, &v, sizeof(T));
  bits = ridge_machine->shuffle(bits, lane);
  __builtin_memcpy(&v, &bits, sizeof(T));
  return v;
}
#define RIDGE_LANE static_cast<int>((LOCAL_ID(0) + ITEMS(0) * (LOCAL_ID(1) + ITEMS(1) * LOCAL_ID(2))) % 32)
#define SHUFFLE(v, lane) ridge_shuffle(v, (lane)&31)
#define SHUFFLE_UP(v, n) ridge_shuffle(v, RIDGE_LANE - (int)(n) < 0 ? RIDGE_LANE : RIDGE_LANE - (int)(n))
#define SHUFFLE_DOWN(v, n) ridge_shuffle(v, RIDGE_LANE + (int)(n) > 31 ? RIDGE_LANE : RIDGE_LANE + (int)(n))
#define SHUFFLE_XOR(v, m) ridge_shuffle(v, RIDGE_LANE ^ (int)(m))
#define SUB_GROUP_BARRIER() ((void)ridge_shuffle(0, 0))

static inline float ridge_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline double ridge_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
#define FMA(a, b, c) ridge_fma(a, b, c)
#define KEEPS_DENORMALS 1
static inline uint ridge_bits(float f) { return __builtin_bit_cast(uint, f); }
static inline float ridge_float(uint u) { return __builtin_bit_cast(float, u); }
#define BITS_OF(f) ridge_bits(f)
#define FLOAT_OF(u) ridge_float(u)
#ifdef __aarch64__
typedef __fp16 ridge_half;
#else
typedef _Float16 ridge_half;
#endif
static inline float ridge_float_of_half(ushort u) { return static_cast<float>(__builtin_bit_cast(ridge_half, u)); }
static inline ushort ridge_half_of(float f) { return __builtin_bit_cast(ushort, static_cast<ridge_half>(f)); }
#define FLOAT_OF_HALF(u) ridge_float_of_half(u)
#define HALF_OF_FLOAT(f) ridge_half_of(f)
// OpenCL qualifiers and types that kernels use without CUDA.
#define __private
typedef ridge_half half;
static inline float vload_half(int, const half* p) { return static_cast<float>(*p); }
static inline void vstore_half_rte(float f, int i, half* p) { p[i] = static_cast<half>(f); }
#define as_float(u) ridge_float(u)
#define EXP2_FAST(f) __builtin_exp2f(f)
#define ROUND_EVEN(f) static_cast<int>(__builtin_rintf(f))
template <class T, class V>
static inline T ridge_atomic_add(T* p, V v) {
  const T was = *p;
  *p = was + static_cast<T>(v);
  return was;
}
#define ATOMIC_ADD(p, v) ridge_atomic_add(p, v)

#define LOAD_ONCE(p) (*(p))
#define STORE_ONCE(p, v) (*(p) = (v))
#define LOAD_CACHED(p) (*(p))
#define LOAD_L2(p) (*(p))
#define COPY_ASYNC_4(to, from) __builtin_memcpy(to, from, 4)
#define COPY_ASYNC_8(to, from) __builtin_memcpy(to, from, 8)
#define COPY_ASYNC_16(to, from) __builtin_memcpy(to, from, 16)
#define COPY_ASYNC_COMMIT()
#define COPY_ASYNC_WAIT(n)

// Messages between work-groups (codegen/mailbox.cl).
template <class T>
static inline uint MAIL_ARRIVED(T v) {
  T empty;
  __builtin_memset(&empty, 0xff, sizeof(T));
  return __builtin_memcmp(&v, &empty, sizeof(T)) != 0;
}
template <class T>
static inline T MAIL_VALUE(T v) {
  return MAIL_ARRIVED(v) ? v : static_cast<T>(__builtin_nanf(""));
}
template <class T>
static inline void MAIL_SEND(T* p, const T* v, uint on) {
  if (on) __builtin_memcpy(p, v, 16);
}
template <class T>
static inline void MAIL_LOAD(const T* p, T* v, uint on) {
  if (on) __builtin_memcpy(v, p, 16);
}
static inline void MAIL_CLEAR(void* p, uint on) {
  if (on) __builtin_memset(p, 0xff, 16);
}
#define MAIL_FENCE() ((void)0)
#define SUB_GROUP_ANY(condition) (ridge_machine->others(), (condition) != 0)

#define CLUSTER_ARRIVE() ridge_machine->cluster_arrive()
#define CLUSTER_WAIT() ridge_machine->cluster_wait()
template <class T>
static inline void ridge_store_peer(T* p, uint rank, T v) {
  *reinterpret_cast<T*>(ridge_machine->peer(p, rank)) = v;
}
#define PEER(rank) (rank)
#define STORE_PEER(peer, p, v) ridge_store_peer(p, peer, v)

// Emulated copy barrier: copies complete immediately. The word holds the bytes still expected and the number of
// completed phases.
struct RidgeArrival {
  int expected;
  uint turns;
};
static inline void ridge_arrived(ulong* p, int more, bool announced) {
  RidgeArrival& arrival = *reinterpret_cast<RidgeArrival*>(p);
  arrival.expected += more;
  if ((!announced || more == 0) && arrival.expected == 0) ++arrival.turns;
}
template <class T>
static inline void ridge_send_peer(T* p, uint rank, T v, ulong* arrived) {
  ridge_store_peer(p, rank, v);
  ridge_arrived(reinterpret_cast<ulong*>(ridge_machine->peer(arrived, rank)), -static_cast<int>(sizeof(T)), false);
}
#define SEND_PEER(peer, p, v, arrived) ridge_send_peer(p, peer, v, arrived)
#define COPY_BARRIER_INIT(p) (*(p) = 0)
#define COPY_BARRIER_EXPECT(p, bytes) ridge_arrived(p, static_cast<int>(bytes), true)
#define BULK_COPY(p, to, from, bytes) \
  (__builtin_memcpy(to, from, bytes), ridge_arrived(p, -static_cast<int>(bytes), false))
#define BULK_COPY_EXPECT(p, to, from, bytes) (COPY_BARRIER_EXPECT(p, bytes), BULK_COPY(p, to, from, bytes))
#define MBARRIER_WAIT(p, parity) \
  while ((reinterpret_cast<const volatile RidgeArrival*>(p)->turns & 1) == (parity)) ridge_machine->others()
#define TMA_LOAD_TILE_ONCE(p, to, map, column, line, number) TMA_LOAD_TILE(p, to, map, column, line, number)
#define ASYNC_PROXY_FENCE()
struct RidgeCounted {  // emulated mbarrier with a count; `turns` has the same offset as in RidgeArrival
  unsigned short all, left;
  uint turns;
};
static inline void ridge_arrive(ulong* p) {
  RidgeCounted& counted = *reinterpret_cast<RidgeCounted*>(p);
  if (--counted.left > 0) return;
  counted.left = counted.all;
  ++counted.turns;
}
static inline uint ridge_have_arrived(const ulong* p, uint parity) {
  ridge_machine->others();
  return (reinterpret_cast<const volatile RidgeCounted*>(p)->turns & 1) != parity;
}
#define MBARRIER_INIT(p, n) (*reinterpret_cast<RidgeCounted*>(p) = {n, n, 0})
#define MBARRIER_ARRIVE(p) ridge_arrive(p)
#define MBARRIER_TEST(p, parity) ridge_have_arrived(p, parity)
#define COMPUTE_UNIT_ID() (ridge_machine->now->group[0] % 4)
#define TIMED_LOAD(p, seen) (100 + COMPUTE_UNIT_ID() % 2 * 50)
#define CLAIM_REGISTERS(n)
#define RELEASE_REGISTERS(n)
#define NAMED_BARRIER(i, n) ridge_machine->meet((i) + 1, n, true)
struct alignas(64) RidgeTileMap {  // filled by emulated_cuda.hpp
  ulong base, columns, rows, row, arrays, array, box, element;
};
#define TILE_MAP(name) const RidgeTileMap name, const RidgeTileMap name##_rest
#define TMA_LOAD_TILE(p, to, map, column, line, number)          \
  (ridge_machine->tile(&(map), column, line, number, to, false), \
   ridge_arrived(p, -static_cast<int>(((map).box & 0xffffffffu) * ((map).box >> 32) * (map).element), false))
#define TMA_STORE_TILE(map, column, line, number, from) \
  ridge_machine->tile(&(map), column, line, number, const_cast<void*>(static_cast<const void*>(from)), true)
#define TILE_STORE_FENCE()
#define TILE_STORE_WAIT_READ()
#define TILE_STORE_WAIT()
#define ATOMIC_INCREMENT(p) ridge_atomic_add(p, 1u)
#define SIGNAL(p) ridge_atomic_add(p, 1u)
static inline uint ridge_signals(const uint* p) {
  ridge_machine->others();
  return *static_cast<const volatile uint*>(p);
}
#define SIGNAL_COUNT(p) ridge_signals(p)

template <class... A, unsigned long... I>
static inline void ridge_call_by(void (*kernel)(A...), void* const* arguments, std::index_sequence<I...>) {
  kernel(*static_cast<A*>(arguments[I])...);
}
template <class... A>
static inline void ridge_call(void (*kernel)(A...), void* const* arguments) {
  ridge_call_by(kernel, arguments, std::make_index_sequence<sizeof...(A)>());
}
