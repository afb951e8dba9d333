// Barriers of a part of a group. The n consecutive work-items with number `number` synchronize; without such a barrier,
// the whole group does.
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
// Split barrier, once per loop iteration: each of WARPS warps arrives when it has read its points, and waits before it
// overwrites points in the next iteration. Devices without mbarrier use a full barrier in place of the wait.
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
