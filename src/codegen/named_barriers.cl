// Named barriers between the two halves of a group of 512: one side arrives and continues, the other waits. CUDA only.
#define NAMED_BARRIER_ARRIVE(id) asm volatile("bar.arrive %0, 512;" ::"n"(id) : "memory")
#define NAMED_BARRIER_SYNC(id) asm volatile("bar.sync %0, 512;" ::"n"(id) : "memory")
