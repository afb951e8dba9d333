// Barriers of fewer than a group. The items of number `number`, n neighbours that have something to themselves, wait for
// each other; where there is no such barrier, all of the group do.
#if SUB_GROUP_WIDTH >= 32
#define LANES_WAIT() SUB_GROUP_BARRIER()
#else
#define LANES_WAIT() BARRIER()
#endif
#if defined(__CUDACC_RTC__) || defined(__CUDACC__)
#define SOME_WAIT(number, n) asm volatile("bar.sync %0, %1;" ::"r"(1 + (number)), "n"(n) : "memory")
#else
#define SOME_WAIT(number, n) BARRIER()
#endif
// A barrier of two halves, every turn of a loop: LEFT by each of WARPS warps, once it has read what it needs, and LEFT_WAIT
// before it writes there in the next turn. Where there is none, all wait there.
#if (defined(__CUDACC_RTC__) || defined(__CUDACC__)) && __CUDA_ARCH__ >= 900
#define LEFT_OPEN(p) \
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(ridge_local_address(p)), "n"(WARPS) : "memory")
FUNCTION void LEFT(const void* p) {
  __syncwarp();
  if (threadIdx.x % 32 != 0) return;
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(ridge_local_address(p)) : "memory");
}
#define LEFT_WAIT(p, turn) MBARRIER_WAIT((ulong*)(p), ((turn) + 1) & 1)
#else
#define LEFT_OPEN(p) ((void)0)
#define LEFT(p) ((void)0)
#define LEFT_WAIT(p, turn) BARRIER()
#endif
